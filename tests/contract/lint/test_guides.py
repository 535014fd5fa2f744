"""The guides: every anchor that a rule names exists, and every block of YAML, JSON, Markdown and Python holds."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import beleg
from beleg.contract import document, draft
from beleg.contract.client.load import load
from beleg.contract.lint import Facts, lint
from beleg.contract.lint.cases import TODAY, merged
from beleg.contract.lint.rules import RULES
from beleg.contract.lint.table import page
from beleg.contract.lint.template import FILTERS
from beleg.contract.tiers import tier_policy
from beleg.core import yamlfile
from beleg.core.paths import shipped
from tests.contract.client.conftest import new_process
from tests.contract.client.released import Shop
from tests.contract.lint.support import CASES, contract
from tests.contract.run.double import answers, double

DOCS = shipped("docs") / "contract"
LANGUAGES = ("de", "en")
GUIDES = ("prompt", "output-schema", "tools", "models", "evaluation", "risk-tier", "publishing", "sdk")
_BLOCK = re.compile(r"^```(\w+)(?: ([^\n]+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_ANCHOR = re.compile(r'^<a id="([\w-]+)"></a>$', re.MULTILINE)
PARTS = {"providers.yaml": "providers", "evals.yaml": "evals"}


def _text(language: str, guide: str) -> str:
    return (DOCS / language / f"{guide}.md").read_text(encoding="utf-8")


def _blocks(*languages: str) -> list[Any]:
    return [
        pytest.param(kind, name, body, id=f"{folder}-{guide}-{number}")
        for folder in LANGUAGES
        for guide in GUIDES
        for number, (kind, name, body) in enumerate(_BLOCK.findall(_text(folder, guide)))
        if kind in languages
    ]


def test_there_is_every_guide_in_both_languages_and_nothing_else() -> None:
    for language in LANGUAGES:
        assert {each.stem for each in (DOCS / language).iterdir()} == set(GUIDES)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_every_rule_leads_to_an_anchor_of_a_guide(language: str, rule: Any) -> None:
    file, _, anchor = rule.guide.partition("#")
    assert anchor in _ANCHOR.findall(_text(language, file.removesuffix(".md")))


@pytest.mark.parametrize("guide", GUIDES)
def test_both_languages_have_the_same_anchors_and_blocks_and_no_anchor_twice(guide: str) -> None:
    german, english = (_text(language, guide) for language in LANGUAGES)
    assert sorted(_ANCHOR.findall(german)) == sorted(_ANCHOR.findall(english))
    assert len(set(_ANCHOR.findall(german))) == len(_ANCHOR.findall(german))
    assert [each[:2] for each in _BLOCK.findall(german)] == [each[:2] for each in _BLOCK.findall(english)]


def test_every_anchor_is_led_to_by_a_rule() -> None:
    led = {rule.guide for rule in RULES}
    there = {f"{guide}.md#{anchor}" for guide in GUIDES for anchor in _ANCHOR.findall(_text("en", guide))}
    assert there == led


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("guide", GUIDES)
def test_links_lead_to_files(language: str, guide: str) -> None:
    for target in re.findall(r"\]\(([^)#]+)", _text(language, guide)):
        if target.endswith("schema-changes.md"):
            continue  # a page of the comparison's own
        assert (DOCS / language / target).exists()


def _clean(over: dict[str, Any], rules: set[str]) -> None:
    found = lint(contract(over), Facts(today=TODAY))
    assert [each for each in found if each.rule in rules] == []


ALL = {rule.id for rule in RULES}


@pytest.mark.parametrize(("kind", "name", "body"), _blocks("json"))
def test_json_blocks_are_output_schemas_or_members_of_one(kind: str, name: str, body: str) -> None:
    schema = json.loads(body)
    if name != "output.schema.json":
        schema = merged(
            CASES["base"]["output_schema"], {"properties": {"old": schema, "gross_cents": {"type": "integer"}}}
        )
    given = contract({"examples": []})
    whole = document.contract({**given.document(), "output_schema": schema})
    rules = {"L04", "L05", "L06", "L07", "L08", "L10", "L11", "L13", "L15", "L16", "L39"}
    assert [each for each in lint(whole, Facts(today=TODAY)) if each.rule in rules] == []


@pytest.mark.parametrize(("kind", "name", "body"), _blocks("markdown"))
def test_markdown_blocks_are_prompts(kind: str, name: str, body: str) -> None:
    given = contract()
    whole = document.contract({**given.document(), "prompt": draft.prompt(body)})
    assert [each for each in lint(whole, Facts(today=TODAY)) if each.rule in ALL] == []


@pytest.mark.parametrize(("kind", "name", "body"), _blocks("yaml"))
def test_yaml_blocks_are_the_files_that_they_name(kind: str, name: str, body: str, tmp_path: Path) -> None:
    values = yamlfile.parse(body)
    if name == "feature.yaml":
        home = tmp_path / "vat-return-preparation"
        home.mkdir()
        (home / name).write_text(body, encoding="utf-8")
        assert draft.feature(home).risk_owner
        _clean({"risk_tier": values["risk_tier"], "governance": values["governance"]}, {"L35"})
    elif name == "tools.yaml":
        _clean({"tools": values["tools"]}, {"L17", "L18", "L42", "L43"})
    elif name == "review":
        send = {**CASES["tool"], "name": "send_reminder", "digest": ""}
        _clean({"tools": [{**send, **values}]}, {"L43"})
    elif name == "budget.yaml":
        assert document.contract(merged(CASES["base"], {"budget": values})).budget is not None
    elif name == "examples.yaml":
        schema = next(body for kind, name, body in _BLOCK.findall(_text("en", "output-schema")) if kind == "json")
        whole = {**contract().document(), "output_schema": json.loads(schema), "examples": values["examples"]}
        assert [each for each in lint(document.contract(whole)) if each.rule == "L09"] == []
    elif name == "change.yaml":
        _clean(values, {"L39", "L40", "L36"})
    elif name == "evals.yaml":
        _clean({"evals": values}, ALL - {"L49"})  # of another schema than that of cases.yaml
    else:
        _clean({PARTS[name]: values}, ALL)


@pytest.fixture
def released(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A registry with version 1.0.0 of the contract of cases.yaml, whose provider answers as the guide says."""
    monkeypatch.setenv("BELEG_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("BELEG_REGISTRY", str(tmp_path / "registry"))
    monkeypatch.setenv("BELEG_SPOOL", str(tmp_path / "spool"))
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setattr(beleg, "load", load, raising=False)
    new_process()
    with double() as model:
        model.will(answers({"total": "9.90"}))
        primary = {"api": "chat", "base_url": model.base_url("chat")}
        Shop(tmp_path / "registry").publish("1.0.0", contract({"providers": {"primary": primary, "fallbacks": []}}))
        yield
    new_process()


@pytest.mark.parametrize(("kind", "name", "body"), _blocks("python"))
@pytest.mark.usefixtures("released")
def test_python_blocks_run(kind: str, name: str, body: str) -> None:
    exec(compile(body, "guide", "exec"), {"__name__": "guide"})


def test_no_block_is_of_a_kind_that_nobody_checks() -> None:
    kinds = {
        kind for language in LANGUAGES for guide in GUIDES for kind, _, _ in _BLOCK.findall(_text(language, guide))
    }
    assert kinds <= {"json", "yaml", "markdown", "python"}


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_guides_say_what_the_tiers_demand(language: str) -> None:
    rows = re.findall(r"^\| ([123]) \|(.+)$", _text(language, "risk-tier"), re.MULTILINE)
    assert [int(tier) for tier, _ in rows] == [1, 2, 3]
    for tier, row in rows:
        policy = tier_policy(int(tier))
        assert f"| {policy.maturity[0]}–{policy.maturity[-1]} |" in row
        assert (f" {policy.evidence_max_age_days} " in row) == policy.evidence
    deadlines = _text(language, "publishing").rpartition("deadlines")[2]
    assert all(f" {tier_policy(tier).grace_days}" in deadlines for tier in (2, 3))


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_guides_list_the_filters_that_are_rendered(language: str) -> None:
    listed = re.search(r"(`upper`.+?)\.\n\n", _text(language, "prompt"), re.DOTALL)
    assert listed is not None
    assert set(re.findall(r"`(\w+)`", listed[1])) == FILTERS - {"d", "count"}  # second names of default and length


def test_the_page_of_rules_is_up_to_date() -> None:
    assert (DOCS / "lint.md").read_text(encoding="utf-8") == page(), (
        "run: python -m beleg.contract.lint.table > docs/contract/lint.md"
    )
