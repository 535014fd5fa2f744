"""A budget of held tokens stops what grew past it, and says by how much it may be wrong."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beleg.contract import document, surroundings
from beleg.contract.document import ContractError
from beleg.contract.draft import Feature
from beleg.contract.lint import Facts, Finding, lint
from beleg.contract.model import Budget, Contract
from beleg.contract.surroundings import Offered, Surroundings
from beleg.contract.tokens import Estimate, estimate
from beleg.core.errors import DamagedError
from beleg.core.paths import shipped
from tests.contract.lint.support import contract, tool

NOTHING = Estimate(0, 0, 0, "estimate:o200k")
TOOLS = (tool("look_up", name={"type": "string"}), tool("list_open_items", "Lists what is open.", limit={}))


def held(given_: Contract, counted: Surroundings | None = None) -> list[Finding]:
    return [each for each in lint(given_, Facts(surroundings=counted)) if each.rule == "L50"]


def of(budget: Budget | None) -> Contract:
    return replace(contract(), tools=TOOLS, budget=budget)


def offered(*tools: int, index: int = 0, body: int = 0) -> Offered:
    counts = (Estimate(each, each, each, "estimate:o200k") for each in (index, body))
    return Offered(tuple(TOOLS[each].digest for each in tools), *counts)


def whole() -> Estimate:
    """Counted here from what a provider is sent, apart from the rule."""
    sent = [
        f'{{"description":"{each.description}","input_schema":{{"properties":{{{inner}}},"type":"object"}},"name":"{each.name}"}}'
        for each, inner in zip(TOOLS, ('"name":{"type":"string"}', '"limit":{}'), strict=True)
    ]
    return sum((estimate(each, "o200k") for each in sent), estimate(contract().prompt.system, "o200k"))


def test_without_a_budget_a_contract_is_what_it_was() -> None:
    given_ = of(None)
    assert "budget" not in given_.document()
    assert held(given_, Surroundings("claude", {"core": offered(0)})) == []
    assert document.contract(given_.document()).digest == given_.digest


def test_a_budget_is_part_of_the_contract_and_read_as_it_was_written() -> None:
    given_ = of(Budget(900, {"core": 800}))
    assert given_.document()["budget"] == {"held_tokens": 900, "cohorts": {"core": 800}}
    assert document.contract(given_.document()) == given_
    assert given_.digest != of(None).digest


@pytest.mark.parametrize(
    "budget",
    [{}, {"held_tokens": 0}, {"held_tokens": "9"}, {"held_tokens": 1.5}, {"cohorts": {"a": 0}}, {"most": 9}, 9],
)
def test_what_is_no_budget_is_refused(budget: Any) -> None:
    with pytest.raises(ContractError, match="budget"):
        document.contract({**contract().document(), "budget": budget})


def test_uncounted_the_contract_as_a_whole_is_one_cohort() -> None:
    counted = whole()
    assert held(of(Budget(counted.high))) == []
    (near,) = held(of(Budget(counted.tokens)))
    assert (near.severity, near.place) == ("warning", "budget.held_tokens")
    (past,) = held(of(Budget(counted.tokens - 1)))
    assert past.severity == "error"
    assert past.sentence == (
        f"The contract as a whole holds {counted.tokens} tokens ({counted.low} to {counted.high}, estimate:o200k), "
        f"allowed are {counted.tokens - 1}."
    )


def test_the_count_is_that_of_the_toolset_account() -> None:
    agent = pytest.importorskip("beleg.agent.toolsets")
    from beleg.agent.adapters.contract import contract_tools
    from tests.agent.offered import ADVISER, toolset

    cohort = toolset().for_context(ADVISER).cohort
    tools = contract_tools(cohort.tools)
    tokens = estimate(contract().prompt.system, "o200k").tokens
    tokens += agent.account(cohort, "o200k").offered_tokens.tokens
    counted = Surroundings("o200k", {cohort.name: Offered(tuple(each.digest for each in tools), NOTHING, NOTHING)})
    for facts in (None, counted):
        assert f" {tokens} tokens" in held(replace(contract(), tools=tools, budget=Budget(1)), facts)[0].sentence


def test_every_cohort_is_held_to_its_own_limit_and_to_that_of_all() -> None:
    counted = Surroundings("o200k", {"core": offered(0, index=100), "core+tax": offered(0, 1, index=100, body=500)})
    assert held(of(Budget(1_000, {"core": 400})), counted) == []
    (past,) = held(of(Budget(500)), counted)
    assert past.sentence.startswith("Cohort “core+tax” holds 6")
    places = [each.place for each in held(of(Budget(500, {"core": 120, "core+tax": 300})), counted)]
    assert sorted(places) == ["budget.cohorts.core", "budget.cohorts.core+tax", "budget.held_tokens"]


@pytest.mark.parametrize(
    ("budget", "counted", "said"),
    [
        (Budget(None, {"core": 900}), None, "Nobody has counted"),
        (Budget(9_000, {"cor": 900}), Surroundings("o200k", {"core": offered(0)}), "no cohort “cor”; there are core"),
        (Budget(9_000), Surroundings("claude", {"core": offered(0)}), "counted in claude, the primary model is of"),
        (
            Budget(9_000),
            Surroundings("o200k", {"core": Offered(("a" * 64,), NOTHING, NOTHING)}),
            "1 tools were counted that the contract does not pin, the first aaaaaaaaaaaa",
        ),
    ],
)
def test_a_budget_that_cannot_be_judged_is_not_kept(budget: Budget, counted: Surroundings | None, said: str) -> None:
    found = held(of(budget), counted)
    assert [each.severity for each in found] == ["error"]
    assert said in found[0].sentence
    assert found[0].fix


@given(st.integers(1, 400), st.integers(1, 400))
def test_a_larger_budget_never_finds_more(first: int, second: int) -> None:
    less, more = sorted((first, second))
    assert len(held(of(Budget(more)))) <= len(held(of(Budget(less))))


def test_a_hostile_schema_in_a_tool_is_answered() -> None:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(10_000):
        schema = {"properties": {"a": schema}}
    odd = replace(tool("odd"), input_schema=schema)
    assert lint(replace(contract(), tools=(odd,), budget=Budget(10)))


def test_surroundings_are_read_as_they_were_written(tmp_path: Path) -> None:
    feature = Feature("copilot", tmp_path, "", "", "")
    assert surroundings.find(feature) is None
    counted = Surroundings("o200k", {"core": offered(0, 1, index=7)})
    (tmp_path / "surroundings.json").write_bytes(counted.to_bytes())
    assert surroundings.find(feature) == counted


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"schema_version":1,"family":"o200k","cohorts":{}}', '{"schema_version":1,"schema_version":1}'],
)
def test_damaged_surroundings_name_their_file(tmp_path: Path, text: str) -> None:
    (tmp_path / "surroundings.json").write_text(text)
    with pytest.raises(DamagedError, match=r"copilot/surroundings\.json"):
        surroundings.find(Feature("copilot", tmp_path, "", "", ""))
    (tmp_path / "surroundings.json").unlink()
    (tmp_path / "surroundings.json").mkdir()
    with pytest.raises(DamagedError, match="cannot be read"):
        surroundings.find(Feature("copilot", tmp_path, "", "", ""))


def test_published_versions_keep_their_digests() -> None:
    paths = sorted(shipped("contracts").parent.glob("beleg/demo/registry/features/*/releases/*.json"))
    assert len(paths) == 4
    for path in paths:
        release = json.loads(path.read_bytes())
        assert document.contract(release["contract"]).digest == release["digest"]
