"""The list a user is offered is a pure function of the context, core first, and the only way to call."""

import ast
import itertools
import json
import os
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beleg import traced_agent_run
from beleg.agent.errors import ToolUnknown
from beleg.agent.toolsets import Condition, Group, Toolset, cohorts, fact
from beleg.core.errors import UsageError
from beleg.testing import capture
from beleg.trace.canon import canonical
from beleg.trace.fingerprint import fingerprint
from tests.agent.offered import ADVISER, COMPANY, FREELANCER, Person, groups, numbered, toolset

PROPERTIES = {name: {"type": "string", "description": f"The {name}."} for name in ("b", "a", "d", "c")}


def shuffled(seed: int) -> dict[str, Any]:
    names = list(PROPERTIES)
    random.Random(seed).shuffle(names)
    return {"type": "object", "required": names, "properties": {n: PROPERTIES[n] for n in names}}


def test_case_01_properties_in_any_order_give_the_same_bytes() -> None:
    built = [
        Toolset([numbered(Group("core", rank=1), "e", "a", "c", "b", "d", schema=shuffled(seed))]).for_context(None)
        for seed in range(5)
    ]
    assert len({offer.cohort.data for offer in built}) == 1
    assert len({offer.cohort.digest for offer in built}) == 1


@given(st.permutations(["core", "accounts", "review"]), st.randoms())
def test_case_02_the_order_of_declaration_never_shows(order: list[str], rng: random.Random) -> None:
    by_name = {group.name: group for group in groups()}
    offer = Toolset([by_name[name] for name in order]).for_context(ADVISER)
    assert offer.cohort.data == toolset().for_context(ADVISER).cohort.data
    names = ["x", "y", "z"]
    rng.shuffle(names)
    again = Toolset([numbered(Group("core", rank=1), *names)]).for_context(None)
    assert [tool.name for tool in again.tools] == ["x", "y", "z"]


def test_case_03_a_tool_that_few_have_does_not_move_what_all_share() -> None:
    report = cohorts(toolset(), {"freelancer": FREELANCER, "company": COMPANY}, "o200k")
    (shared,) = report.shared
    assert shared.tools == 2
    assert shared.share > 0.4
    assert shared.share_by_name == 0  # `aaa_list_accounts` comes first there
    first = toolset().for_context(COMPANY).cohort
    assert [tool.name for tool in first.tools[: first.core]] == ["draft_note", "whoami"]


def test_users_with_other_tools_share_the_core_byte_for_byte() -> None:
    core = toolset().for_context(FREELANCER).cohort.data[:-1]
    for person in (COMPANY, ADVISER):
        assert toolset().for_context(person).cohort.data.startswith(core)


def test_the_bytes_are_canonical_json_of_the_definitions() -> None:
    offer = toolset().for_context(ADVISER)
    assert offer.cohort.data == canonical([tool.definition for tool in offer.tools]).data
    assert offer.cohort.digest == fingerprint([tool.definition for tool in offer.tools])


def test_another_process_with_another_hash_seed_gives_the_same_bytes() -> None:
    script = (
        "from tests.agent.offered import toolset, ADVISER\nprint(toolset().for_context(ADVISER).cohort.data.decode())"
    )
    seen = {
        subprocess.run(
            [sys.executable, "-c", script],
            capture_output=True,
            check=True,
            cwd=Path(__file__).parents[3],
            env={**os.environ, "PYTHONHASHSEED": seed, "LC_ALL": "C", "TZ": zone},
        ).stdout
        for seed, zone in (("1", "UTC"), ("2", "Asia/Tokyo"))
    }
    assert seen == {toolset().for_context(ADVISER).cohort.data + b"\n"}


def known_names() -> list[str]:
    return [*toolset().tools, "submit", "no_such_tool", "", "whoami ", "WHOAMI", "__class__", "x" * 10_000]


@pytest.mark.parametrize("person", [FREELANCER, COMPANY, ADVISER])
def test_what_is_not_listed_cannot_be_called(person: Person) -> None:
    offer = toolset().for_context(person)
    listed = {tool.name for tool in offer.tools}
    for name in known_names():
        if name in listed:
            assert offer.call(name, {"text": "a"} if name != "whoami" else {})
        else:
            with pytest.raises(ToolUnknown):
                offer.call(name, {"text": "a"})


def test_a_hidden_tool_and_none_at_all_are_refused_in_the_same_words() -> None:
    offer = toolset().for_context(FREELANCER)
    said = []
    for name in ("get_balance", "set_balance"):
        with pytest.raises(ToolUnknown) as refused:
            offer.call(name, {})
        said.append(str(refused.value).replace(name, "NAME"))
    assert said[0] == said[1]
    assert "whoami" not in said[0]


def test_the_listed_object_is_the_dispatch_table() -> None:
    cohort = toolset().for_context(COMPANY).cohort
    assert all(cohort.by_name[tool.name] is tool for tool in cohort.tools)
    with pytest.raises(TypeError):
        cohort.by_name["submit"] = cohort.tools[0]  # type: ignore[index]


def test_case_35_nothing_but_the_toolset_makes_an_offer_and_nothing_but_the_offer_calls() -> None:
    makers, callers = set(), set()
    package = Path(__file__).parents[3] / "beleg"
    for path in package.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call):
                name = ast.unparse(node.func)
                if name in {"Offer", "Cohort", "Cohort.of", "offer.Offer"}:
                    makers.add(path.relative_to(package).as_posix())
                if name.endswith("tool.function"):
                    callers.add(path.relative_to(package).as_posix())
    assert makers == {"agent/toolsets/toolset.py"}
    assert callers == {"agent/toolsets/offer.py"}


def test_the_context_reaches_the_tool_and_cannot_be_given_by_the_model() -> None:
    offer = toolset().for_context(COMPANY)
    assert offer.call("whoami", {}) == {"name": "Bob"}
    with pytest.raises(UsageError, match="context: unexpected_keyword"):
        offer.call("whoami", {"context": {"name": "Eve"}})


@pytest.mark.parametrize("arguments", [None, [], "text", 7])
def test_arguments_that_are_no_object_are_refused(arguments: Any) -> None:
    with pytest.raises(UsageError, match="they are no object"):
        toolset().for_context(FREELANCER).call("whoami", arguments)


@dataclass(frozen=True)
class Broken:
    is_incorporated: Any = None


@pytest.mark.parametrize("value", [None, 1, "true", lambda: True])
def test_a_condition_that_does_not_decide_is_an_error_and_no_shorter_list(value: Any) -> None:
    built = Toolset([numbered(Group("core", rank=1, when=fact("is_incorporated")), "look")])
    with pytest.raises(UsageError, match="`is_incorporated` gives a"):
        built.for_context(Broken(value))


def test_a_fact_that_is_not_there_is_an_error() -> None:
    built = Toolset([numbered(Group("core", rank=1, when=fact("company.is_incorporated")), "look")])
    with pytest.raises(UsageError, match="cannot be decided: AttributeError"):
        built.for_context(Broken())


def test_one_and_true_are_two_facts() -> None:
    assert fact("stage", 1) is not fact("stage", equals=True)
    assert fact("stage", 1) is fact("stage", 1)
    assert fact("stage", 1).name == "stage == 1"


@pytest.mark.parametrize("name", [None, 7, ["whoami"], {"name": "whoami"}])
def test_a_name_that_is_no_text_is_unknown(name: Any) -> None:
    with pytest.raises(ToolUnknown):
        toolset().for_context(FREELANCER).call(name, {})


def test_one_name_for_two_tools_groups_or_conditions_is_refused() -> None:
    a, b = numbered(Group("a", rank=1), "look"), numbered(Group("b", rank=2), "look")
    with pytest.raises(UsageError, match="groups `a` and `b` both have a tool `look`"):
        Toolset([a, b])
    with pytest.raises(UsageError, match="two groups have one name"):
        Toolset([Group("a", rank=1), Group("a", rank=2)])
    conditions = [Condition("same", bool), Condition("same", callable)]
    with pytest.raises(UsageError, match="two conditions have one name"):
        Toolset([Group(str(n), rank=n, when=each) for n, each in enumerate(conditions)])


def holding(number: int) -> Condition:
    return Condition(f"c{number:02}", lambda held: number in held)


def many(conditions: int) -> Toolset[Any]:
    made = [numbered(Group(f"g{n:02}", rank=n, when=holding(n)), f"t{n:02}") for n in range(conditions)]
    return Toolset([numbered(Group("core", rank=0), "look"), *made], max_cohorts=4)


def test_cohorts_beyond_the_bound_are_served_alike_but_reported(caplog: pytest.LogCaptureFixture) -> None:
    built = many(6)
    contexts = {str(held): frozenset(held) for r in range(3) for held in itertools.combinations(range(6), r)}
    report = cohorts(built, contexts, "o200k")
    assert len(report.cohorts) == 22
    assert "22 cohorts are more than 4" in report.warnings[0]
    assert "more than 4 cohorts" in caplog.text
    held = frozenset({0, 5})
    assert built.for_context(held).cohort.data == many(6).for_context(held).cohort.data


def test_fifty_tools_are_the_most_that_pass_without_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    names = [f"t{n:02}" for n in range(51)]
    Toolset([numbered(Group("core", rank=1), *names[:50])]).for_context(None)
    assert not caplog.text
    Toolset([numbered(Group("core", rank=1), *names)]).for_context(None)
    assert "offered 51 tools, past 50" in caplog.text


def test_threads_get_the_same_list() -> None:
    built = toolset()
    with ThreadPoolExecutor(8) as pool:
        seen = list(pool.map(lambda n: built.for_context((FREELANCER, COMPANY, ADVISER)[n % 3]).cohort.data, range(60)))
    assert len(set(seen)) == 3


def test_a_cohort_is_written_to_the_trace_once_and_names_no_user() -> None:
    cohort = toolset().for_context(ADVISER).cohort
    with capture() as seen:
        digests = {cohort.record("o200k"), cohort.record("o200k")}
        with traced_agent_run(workflow="chat", input_payload={}) as run, run.step("model", toolset_hash=cohort.digest):
            pass
    (event,) = [each for each in seen.events if each["event"] == "toolset"]
    assert digests == {event["toolset_hash"]} == {cohort.digest}
    assert event["cohort"] == "accounts+review"
    assert [tool["name"] for tool in event["tools"]] == [tool.name for tool in cohort.tools]
    assert all(tool["tokens"] > 0 and tool["binding"] is False for tool in event["tools"])
    assert "Eve" not in str(event)
    (step,) = [each for each in seen.events if each["event"] == "step"]
    assert step["toolset_hash"] == cohort.digest
    schema = json.loads((Path(__file__).parents[3] / "contracts/events/toolset/v1.schema.json").read_text())
    jsonschema.validate(event, schema)


def test_import_beleg_does_not_import_the_agent() -> None:
    script = "import sys, beleg; assert not [m for m in sys.modules if m.startswith(('beleg.agent', 'pydantic'))]"
    subprocess.run([sys.executable, "-c", script], check=True, cwd=Path(__file__).parents[3])
