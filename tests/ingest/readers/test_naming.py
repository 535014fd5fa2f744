"""Naming rules: the first that fits decides a name; a trace without one lands under its format's own workflow."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from beleg.core.errors import UsageError
from beleg.core.paths import shipped
from beleg.ingest.readers.naming import FACTS, NAMES, Naming, Outcome, Rule, Taken
from beleg.ingest.readers.naming_file import FILE
from beleg.project import template
from beleg.trace import policy
from tests.ingest.readers.support import write

DOCS = shipped("contracts").parent / "docs"


def naming(folder: Path, *rules: Any) -> Naming:
    write(folder, FILE, yaml.safe_dump({"naming": 1, "rules": list(rules)}))
    return Naming.load(folder)


def facts(**more: Any) -> dict[str, Any]:
    return {"format": "langfuse", **{name.replace("__", "."): value for name, value in more.items()}}


def test_without_rules_a_trace_lands_under_its_format_and_is_counted(tmp_path: Path) -> None:
    for found in (Naming.load(None), Naming.load(tmp_path)):
        named = found.name(facts(service="x"))
        assert (named.workflow, named.purpose, named.rules, dict(found.unmapped)) == (
            "langfuse",
            "production",
            (),
            {"langfuse": 1},
        )


def test_a_part_that_only_stands_for_its_trace_is_not_counted() -> None:
    found = Naming()
    found.name(facts(), count=False)
    assert dict(found.unmapped) == {}


def test_a_trace_that_declares_its_workflow_has_it(tmp_path: Path) -> None:
    found = Naming()
    assert found.name(facts(workflow="checkout")).workflow == "checkout"
    assert found.name(facts(workflow="Please summarise this letter")).workflow == "langfuse"
    assert dict(found.unmapped) == {"langfuse": 1}
    ruled = naming(tmp_path, {"when": {"workflow": "check*"}, "workflow": "orders"})
    assert ruled.name(facts(workflow="checkout")).workflow == "orders"


def test_the_first_rule_to_give_a_name_decides_it_and_later_ones_what_is_open(tmp_path: Path) -> None:
    found = naming(
        tmp_path,
        {"when": {"service": "shop-*"}, "workflow": "orders", "units": {"orders": 1}},
        {"when": {"service": "nothing"}, "workflow": "other"},
        {"when": {"service": "*"}, "workflow": "late", "team": "sales", "units": {"orders": 9, "items": 2}},
        {"when": {"service": "*"}, "workflow": "later"},
    )
    named = found.name(facts(service="shop-eu"))
    assert (named.workflow, named.fields, named.units) == ("orders", {"team": "sales"}, {"orders": 1, "items": 2})
    assert named.rules == (1, 3), "the numbers of those that gave something"


@pytest.mark.parametrize(
    ("when", "fits"),
    [
        ({"service": "shop"}, True),
        ({"service": "Shop"}, False),
        ({"service": "sh?p"}, True),
        ({"service": "[s]hop"}, False),
        ({"service": "*[eu]"}, False),
        ({"span": "run [eu]"}, True),
        ({"tag": "b"}, True),
        ({"tag": ["x", "a"]}, True),
        ({"tag": ["x", "y"]}, False),
        ({"metadata.pages": 3}, True),
        ({"metadata.pages": "[0-9]"}, False),
        ({"metadata.live": True}, True),
        ({"metadata.live": "true"}, True),
        ({"metadata.nothing": "*"}, False),
        ({"resource.host.name": "a*"}, True),
        ({"service": "shop", "tag": "z"}, False),
        ({}, True),
    ],
)
def test_conditions(tmp_path: Path, when: dict[str, Any], fits: bool) -> None:
    found = naming(tmp_path, {"when": when, "workflow": "w"})
    given_facts = facts(
        service="shop",
        span="run [eu]",
        tag=["a", "b"],
        metadata__pages=3.0,
        metadata__live=True,
        resource__host__name="a1",
    )
    assert (found.name(given_facts).workflow == "w") is fits


@pytest.mark.parametrize(
    ("taken", "value", "want"),
    [
        ({"from": "session"}, "s-1", "s-1"),
        ({"from": "session", "pattern": r"^c(\d+)-"}, "c42-x", "42"),
        ({"from": "session", "pattern": r"\d+"}, "c42-x", "42"),
        ({"from": "session", "pattern": r"^(a)?c"}, "c42-x", None),
        ({"from": "session", "pattern": r"^x"}, "c42-x", None),
        ({"from": "session"}, "two words", None),
        ({"from": "session"}, ["first", "second"], "first"),
        ({"from": "session"}, [], None),
        ({"from": "session"}, {"a": 1}, None),
        ({"from": "session"}, 12, "12"),
        ({"from": "session"}, 2.0, "2"),
        ({"from": "session"}, float("nan"), None),
        ({"from": "session"}, 10**30, None),
        ({"from": "session"}, "x" * 5000, None),
        (7, None, "7"),
    ],
)
def test_names_taken_from_facts(tmp_path: Path, taken: Any, value: Any, want: str | None) -> None:
    named = naming(tmp_path, {"tenant": taken}).name(facts(session=value))
    assert named.fields.get("tenant") == want


@pytest.mark.parametrize(
    ("value", "want"), [("3", 3), (3, 3), (3.0, 3), ("03", 3), ("3.5", None), (-1, None), ("²", None), ("9" * 13, None)]
)
def test_units_and_outcomes_are_whole_numbers_or_unknown(tmp_path: Path, value: Any, want: int | None) -> None:
    count = {"from": "metadata.pages"}
    named = naming(tmp_path, {"units": {"pages": count}, "outcome": {"kind": "read", "count": count}}).name(
        facts(metadata__pages=value)
    )
    assert named.units.get("pages") == want
    assert named.outcome == (None if want is None else Outcome("read", want))


def test_an_outcome_counts_one_where_no_count_is_given(tmp_path: Path) -> None:
    assert naming(tmp_path, {"outcome": {"kind": "refund"}}).name(facts()).outcome == Outcome("refund", 1)


def test_facts_that_are_names_hold_where_no_rule_says_otherwise(tmp_path: Path) -> None:
    told = facts(tenant="acme", environment="live", prompt__version="3", user="anna", service="shop")
    assert Naming().name(told).fields == {"tenant": "acme", "environment": "live", "prompt_version": "3"}
    ruled = naming(tmp_path, {"tenant": {"from": "user"}, "purpose": "eval"}).name(told)
    assert (ruled.fields["tenant"], ruled.fields["environment"], ruled.purpose) == ("anna", "live", "eval")


WRONG = [
    ("naming: 2\nrules: []", "naming: 2 is no version of the format; write `naming: 1`"),
    ("rules: []", "naming: None is no version of the format"),
    ("[]", f"{FILE}: expected names with values, not list"),
    ("naming: 1", "rules: expected a list of rules"),
    ("naming: 1\nrules: {}", "rules: expected a list of rules"),
    ("naming: 1\nrules: []\nmore: 1", "unknown key 'more'; allowed are naming, rules"),
    ("naming: 1\nrules: [x]", "rules[1]: expected names with values, not str"),
    ("naming: 1\nrules: [{when: {service: x}}]", "rules[1]: gives no name; names are workflow, tenant"),
    ("naming: 1\nrules: [{workflow: a}, {workflw: a}]", "rules[2]: unknown key 'workflw'; allowed are "),
    ("naming: 1\nrules: [{when: x, workflow: a}]", "rules[1].when: expected names with values, not str"),
    ("naming: 1\nrules: [{when: , workflow: a}]", "rules[1].when: expected names with values, not NoneType"),
    ("naming: 1\nrules: [{when: {servce: x}, workflow: a}]", "rules[1].when: no fact 'servce'; facts are format, "),
    ("naming: 1\nrules: [{when: {service: []}, workflow: a}]", "rules[1].when.service: expected a text with * and ?"),
    ("naming: 1\nrules: [{when: {service: {a: 1}}, workflow: a}]", "rules[1].when.service: expected a text"),
    (
        "naming: 1\nrules: [{workflow: two words}]",
        "rules[1].workflow: 'two words' is no word without blanks of at most",
    ),
    ("naming: 1\nrules: [{workflow: [a]}]", "rules[1].workflow: None is no word"),
    ("naming: 1\nrules: [{workflow: {from: serv}}]", "rules[1].workflow.from: no fact 'serv'"),
    ("naming: 1\nrules: [{workflow: {pattern: a}}]", "rules[1].workflow.from: no fact None"),
    ("naming: 1\nrules: [{workflow: {from: span, patern: a}}]", "rules[1].workflow: unknown key 'patern'"),
    ("naming: 1\nrules: [{workflow: {from: span, pattern: '('}}]", "rules[1].workflow.pattern: missing )"),
    ("naming: 1\nrules: [{purpose: prod}]", "rules[1].purpose: 'prod' is none of production, eval, test, demo"),
    ("naming: 1\nrules: [{units: 3}]", "rules[1].units: expected names with values, not int"),
    ("naming: 1\nrules: [{units: {two words: 3}}]", "rules[1].units: 'two words' is no word"),
    ("naming: 1\nrules: [{units: {pages: many}}]", "rules[1].units.pages: 'many' is no count; write a whole number"),
    ("naming: 1\nrules: [{units: {pages: -1}}]", "rules[1].units.pages: -1 is no count"),
    ("naming: 1\nrules: [{units: {pages: true}}]", "rules[1].units.pages: True is no count"),
    ("naming: 1\nrules: [{units: {pages: {from: x}}}]", "rules[1].units.pages.from: no fact 'x'"),
    ("naming: 1\nrules: [{outcome: refund}]", "rules[1].outcome: expected names with values, not str"),
    ("naming: 1\nrules: [{outcome: {count: 1}}]", "rules[1].outcome.kind: None is no word"),
    ("naming: 1\nrules: [{outcome: {kind: a, count: x}}]", "rules[1].outcome.count: 'x' is no count"),
    ("naming: 1\nrules: [{outcome: {kind: a, number: 1}}]", "rules[1].outcome: unknown key 'number'"),
    ("naming: 1\nrules: [{workflow: a, workflow: b}]", "naming.yaml is no YAML: "),
    ("naming: [", "naming.yaml is no YAML: "),
    ("\udcff", "naming.yaml cannot be read: "),
]


@pytest.mark.parametrize(("text", "message"), WRONG)
def test_a_wrong_file_is_refused_with_what_is_wrong(tmp_path: Path, text: str, message: str) -> None:
    write(tmp_path, FILE, text.encode("utf-8", "surrogateescape"))
    with pytest.raises(UsageError, match=re.escape(message)) as raised:
        Naming.load(tmp_path)
    assert "docs/naming.md" in str(raised.value)


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@given(st.dictionaries(st.sampled_from([*FACTS, "metadata.a"]), ANYTHING))
def test_whatever_a_file_tells_names_are_storable(told: dict[str, Any]) -> None:
    fact = Taken(fact="metadata.a")
    rules = [Rule({}, {name: fact}) for name in NAMES]
    rules.append(Rule({"tag": ("*",)}, {}, units={"a": Taken(fact="user", pattern=re.compile(".*"))}))
    named = Naming(rules).name({**told, "format": "f"})
    assert policy.is_word(named.workflow, NAMES["workflow"])
    assert all(policy.is_word(text, NAMES[name]) for name, text in named.fields.items())
    assert all(0 <= count < policy.MAX_COUNT for count in named.units.values())


def test_a_new_project_has_the_file_with_examples_that_hold(tmp_path: Path) -> None:
    text = template.files("agents")[FILE]
    examples = re.sub(r"^# (- |  )", r"\1", text.replace("rules: []", "rules:"), flags=re.MULTILINE)
    assert yaml.safe_load(text) == {"naming": 1, "rules": []}
    assert len(yaml.safe_load(examples)["rules"]) == 3
    write(tmp_path, FILE, examples)
    assert len(Naming.load(tmp_path).rules) == 3


def test_the_examples_of_the_documentation_hold_and_every_fact_and_name_is_listed(tmp_path: Path) -> None:
    text = (DOCS / "naming.md").read_text(encoding="utf-8")
    examples = re.findall(r"```yaml\n(naming: 1\n.+?)```", text, re.DOTALL)
    assert examples
    for number, example in enumerate(examples):
        write(tmp_path / str(number), FILE, example)
        assert Naming.load(tmp_path / str(number)).rules
    words = (*FACTS, *NAMES, "purpose", "units", "outcome", "metadata.KEY", "resource.KEY")
    assert [word for word in words if f"`{word}`" not in text] == []
