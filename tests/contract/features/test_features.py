"""The example features lint clean at their tiers, and each version changes what its history says."""

import shutil
from dataclasses import replace
from datetime import date
from itertools import pairwise
from pathlib import Path

import pytest
import yaml

from beleg.contract import draft
from beleg.contract.compat import compare, compare_inputs
from beleg.contract.draft import Feature
from beleg.contract.lint import Facts, Finding, lint
from beleg.contract.maturity import maturity
from beleg.contract.model import Contract
from beleg.core.paths import shipped

ROOT = shipped("contracts").parent
TODAY = date(2026, 11, 30)
TIERS = {
    "receipt-extraction": 1,
    "transaction-categorization": 2,
    "bank-reconciliation": 2,
    "vat-return-preparation": 3,
}
BUMPS = {
    "receipt-extraction": ["none", "minor", "major", "minor"],
    "transaction-categorization": ["none", "minor", "major", "none"],
    "bank-reconciliation": ["none", "minor", "major", "minor"],
    "vat-return-preparation": ["none", "minor", "major", "none"],
}
"""What changes for readers and callers from each version to the next; none: the prompt alone, a patch."""
ORDER = ("none", "patch", "minor", "major")


@pytest.fixture(scope="module")
def histories(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[tuple[Feature, Contract]]]:
    """Every state of every feature, oldest first, the current draft last."""
    return {each.name: _states(each, tmp_path_factory.mktemp(each.name)) for each in draft.features(ROOT)}


def _states(feature: Feature, folder: Path) -> list[tuple[Feature, Contract]]:
    earlier = sorted((ROOT / "beleg" / "demo" / "features" / feature.name).iterdir(), key=lambda each: int(each.name))
    states = []
    for version in earlier:
        home = folder / version.name / feature.name
        shutil.copytree(version, home / "draft")
        shutil.copy(feature.folder / "feature.yaml", home)
        states.append(draft.feature(home))
    return [(each, draft.read(each)) for each in [*states, feature]]


def _inputs(contract: Contract) -> dict[str, dict[str, object]]:
    return {each.name: {"schema": each.schema, "required": each.required} for each in contract.prompt.variables}


def _findings(states: list[tuple[Feature, Contract]], number: int) -> tuple[Finding, ...]:
    feature, contract = states[number]
    active = states[number - 1][1] if number else None
    return lint(contract, Facts(feature=feature, active=active, today=TODAY, confirmed_breaking=True))


def test_the_features_are_those_of_the_demo_and_cover_the_three_tiers(
    histories: dict[str, list[tuple[Feature, Contract]]],
) -> None:
    workflows = yaml.safe_load((ROOT / "contracts" / "policies" / "workflows.yaml").read_text(encoding="utf-8"))
    assert {name: states[-1][1].risk_tier for name, states in histories.items()} == TIERS
    assert {states[-1][0].workflow for states in histories.values()} <= set(workflows["workflows"])
    assert all(len(states) == 5 for states in histories.values())


@pytest.mark.parametrize("name", TIERS)
@pytest.mark.parametrize("number", range(5))
def test_every_version_lints_clean_at_its_tier(
    histories: dict[str, list[tuple[Feature, Contract]]], name: str, number: int
) -> None:
    assert _findings(histories[name], number) == ()


@pytest.mark.parametrize("name", TIERS)
def test_each_version_bumps_as_intended(histories: dict[str, list[tuple[Feature, Contract]]], name: str) -> None:
    contracts = [contract for _, contract in histories[name]]
    found = []
    for old, new in pairwise(contracts):
        assert isinstance(old.output_schema, dict)
        assert isinstance(new.output_schema, dict)
        outputs = compare(old.output_schema, new.output_schema).bump
        found.append(max(outputs, compare_inputs(_inputs(old), _inputs(new)).bump, key=ORDER.index))
    assert found == BUMPS[name]


@pytest.mark.parametrize("name", TIERS)
def test_a_major_has_a_migration_note_and_nothing_else_has(
    histories: dict[str, list[tuple[Feature, Contract]]], name: str
) -> None:
    for (_, contract), bump in zip(histories[name][1:], BUMPS[name], strict=True):
        assert (contract.migration is not None) == (bump == "major")
        assert contract.change_note


@pytest.mark.parametrize("name", TIERS)
def test_without_confirmation_the_major_is_an_error(
    histories: dict[str, list[tuple[Feature, Contract]]], name: str
) -> None:
    number = BUMPS[name].index("major") + 1
    feature, contract = histories[name][number]
    facts = Facts(feature=feature, active=histories[name][number - 1][1], today=TODAY)
    assert {each.rule for each in lint(contract, facts)} == {"L38"}
    bare = replace(contract, migration=None)
    assert [each.rule for each in lint(bare, facts)] == ["L38", "L38"]


@pytest.mark.parametrize("name", TIERS)
def test_models_are_allowed_at_the_tier_by_the_demos_policies(
    histories: dict[str, list[tuple[Feature, Contract]]], name: str
) -> None:
    rows = yaml.safe_load((ROOT / "beleg" / "demo" / "policies" / "models.yaml").read_text(encoding="utf-8"))["models"]
    levels = {(row["provider"], row["model"]): row["risk_level"] for row in rows}
    for _, contract in histories[name]:
        assert "L41" not in {each.rule for each in lint(contract, Facts(today=TODAY, risk_levels=levels))}


@pytest.mark.parametrize("name", TIERS)
def test_no_feature_holds_a_binding_tool_and_a_wrong_pin_is_seen(
    histories: dict[str, list[tuple[Feature, Contract]]], name: str
) -> None:
    for _, contract in histories[name]:
        for each in contract.tools:
            assert not each.binding
            changed = replace(each, description=each.description + " ")
            assert "L18" in {found.rule for found in lint(replace(contract, tools=(changed,)), Facts(today=TODAY))}


def test_the_last_tool_of_the_vat_return_hands_over_a_link_and_was_looked_at(
    histories: dict[str, list[tuple[Feature, Contract]]],
) -> None:
    contract = histories["vat-return-preparation"][-1][1]
    last = contract.tools[-1]
    assert last.name == "get_review_link"
    unseen = replace(contract, tools=(*contract.tools[:-1], replace(last, reviewed_by=None, reviewed_why=None)))
    assert "L43" in {each.rule for each in lint(unseen, Facts(today=TODAY))}


def _catalogue(histories: dict[str, list[tuple[Feature, Contract]]]) -> dict[tuple[str, str], dict[str, object]]:
    """Every tool that a feature was ever pinned to; a version of a tool is the same wherever it is used."""
    found: dict[tuple[str, str], dict[str, object]] = {}
    for states in histories.values():
        for tool in (tool for _, contract in states for tool in contract.tools):
            entry = {
                name: getattr(tool, name) for name in ("name", "version", "description", "input_schema", "binding")
            }
            assert found.setdefault((tool.name, tool.version), entry) == entry
    return found


@pytest.mark.parametrize("name", TIERS)
def test_with_the_tool_catalogue_the_first_two_levels_are_met(
    histories: dict[str, list[tuple[Feature, Contract]]], name: str
) -> None:
    for feature, contract in histories[name]:
        facts = Facts(feature=feature, today=TODAY, catalogue=_catalogue(histories))
        levels = maturity(contract, lint(contract, facts), facts)
        assert [each.met for each in levels[:2]] == [True, True]


@pytest.mark.parametrize("name", TIERS)
def test_a_draft_written_back_is_the_same_contract(
    histories: dict[str, list[tuple[Feature, Contract]]], name: str, tmp_path: Path
) -> None:
    feature, contract = histories[name][-1]
    home = tmp_path / name
    draft.write(contract, home / "draft")
    shutil.copy(feature.folder / "feature.yaml", home)
    assert draft.read(draft.feature(home)) == contract
