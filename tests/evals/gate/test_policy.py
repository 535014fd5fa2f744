"""The policy tightens and never loosens; what it does not understand it refuses."""

from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml

from beleg.contract.model import Tier
from beleg.core.errors import UsageError
from beleg.core.paths import shipped
from beleg.core.settings import Settings
from beleg.evals.gate.policy import Rules, path_of, rules
from tests.evals.gate.support import COST, EXACT, FEATURE, LINES, contract

OWN = yaml.safe_load(shipped("evals", "policies", "gate.yaml").read_text())


def read(folder: Path, *, tier: Tier = 1, tiers: dict[int, dict[str, Any]] | None = None, **feature: Any) -> Rules:
    values = {"tiers": {number: OWN["tiers"][number] | (tiers or {}).get(number, {}) for number in (1, 2, 3)}}
    path = folder / "gate.yaml"
    path.write_text(yaml.safe_dump(values | {"features": {FEATURE: feature}}))
    return rules(contract(EXACT, LINES, COST, tier=tier), path)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), True, "0.9"])
@pytest.mark.parametrize("key", ["threshold", "margin"])
def test_what_is_no_number_switches_nothing_off(tmp_path: Path, key: str, value: object) -> None:
    with pytest.raises(UsageError, match=f"{key} must be a number"):
        read(tmp_path, criteria={EXACT.name: {key: value}})


def test_a_demand_of_a_feature_that_there_is_not_is_a_misspelling(tmp_path: Path) -> None:
    feature = tmp_path / "contracts" / "features" / FEATURE
    feature.mkdir(parents=True)
    (feature / "feature.yaml").write_text("title: Receipts\nworkflow: ocr\nowner: Ada\n")
    policy = tmp_path / "evals" / "policies" / "gate.yaml"
    policy.parent.mkdir(parents=True)
    settings = Settings(tmp_path / "home", tmp_path / "home" / "spool", tmp_path)
    policy.write_text(yaml.safe_dump(OWN | {"features": {FEATURE: {"hidden": "required"}}}))
    assert path_of(settings) == policy
    policy.write_text(yaml.safe_dump(OWN | {"features": {f"{FEATURE}s": {"hidden": "required"}}}))
    with pytest.raises(UsageError, match=f"{FEATURE}s' is no feature of the project; there are: {FEATURE}"):
        path_of(settings)


def test_the_shipped_policy_takes_a_higher_tier_more_seriously() -> None:
    found = [rules(contract(EXACT, tier=tier)).tier for tier in (1, 2, 3)]
    assert [each.max_margin for each in found] == [0.05, 0.02, 0.02]
    assert [each.threshold_by for each in found] == ["estimate", "bound", "bound"]
    assert [each.attempts for each in found] == ["ceiling", "ceiling", "spend"]
    assert {each.alpha for each in found} == {0.05}


def test_the_stricter_margin_counts() -> None:
    wide, narrow, none = (replace(EXACT, margin=margin) for margin in (0.2, 0.01, None))
    assert rules(contract(wide, tier=2)).criteria[0].margin == 0.02
    assert rules(contract(narrow, tier=2)).criteria[0].margin == 0.01
    assert rules(contract(none, tier=2)).criteria[0].margin == 0.02
    assert rules(contract(replace(COST, margin=3.0), tier=2)).criteria[0].margin == 0.25


def test_a_feature_may_be_held_to_more(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        criteria={EXACT.name: {"threshold": 0.9, "margin": 0.01}, COST.name: {"threshold": 0.05}},
        looks="sequential",
        required_slices=["lang=de"],
        superiority=LINES.name,
        hidden="required",
        known_failing=[{"case": "x", "criterion": EXACT.name, "by": "Rita", "why": "So.", "until": date(2031, 1, 1)}],
    )
    exact, _, cost = found.criteria
    assert (exact.threshold, exact.margin, cost.threshold) == (0.9, 0.01, 0.05)
    assert (found.looks, found.required_slices, found.superiority, found.hidden) == (
        "sequential",
        ("lang=de",),
        LINES.name,
        True,
    )
    assert found.known_failing[0].until == date(2031, 1, 1)


@pytest.mark.parametrize(
    ("criteria", "told"),
    [
        ({EXACT.name: {"threshold": 0.4}}, "threshold 0.4 is looser than the contract's 0.5"),
        ({EXACT.name: {"margin": 0.06}}, "margin 0.06 is not above 0 and at most 0.05"),
        ({EXACT.name: {"margin": 0}}, "margin 0"),
        ({COST.name: {"threshold": 0.2}}, "threshold 0.2 is looser"),
        ({COST.name: {"margin": 0.2}}, "margin 0.2"),
        ({EXACT.name: {"threshold": True}}, "must be a number"),
        ({EXACT.name: {"critical": False}}, "unknown key 'critical'"),
        ({"other": {"threshold": 1}}, "unknown key 'other'"),
    ],
)
def test_a_policy_that_would_loosen_is_refused(tmp_path: Path, criteria: dict[str, Any], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        read(tmp_path, criteria=criteria)


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ({"alpha": 0.1}, "alpha must be a number above 0 and at most 0.05"),
        ({"alpha": 0}, "alpha"),
        ({"missing_max": 0.06}, "missing_max"),
        ({"threshold_by": "hope"}, "estimate, bound"),
        ({"attempts": "free"}, "ceiling, spend"),
        ({"attempts_ceiling": 0}, "attempts_ceiling"),
        ({"min_families": None}, "every key needs a value"),
        ({"more": 1}, "unknown key 'more'"),
    ],
)
def test_a_tier_that_makes_no_sense_is_refused(tmp_path: Path, row: dict[str, Any], told: str) -> None:
    with pytest.raises(UsageError, match=f"gate.yaml: tier 2: .*{told}"):
        read(tmp_path, tiers={2: row})


@pytest.mark.parametrize(
    ("feature", "told"),
    [
        ({"looks": 1}, "fixed, sequential or a number from 2"),
        ({"looks": True}, "looks must be"),
        ({"required_slices": ["lang"]}, "NAME=VALUE"),
        ({"required_slices": "lang=de"}, "must be a list"),
        ({"superiority": COST.name}, "superiority names 'cost'"),
        ({"hidden": True}, "required, optional"),
        ({"known_failing": [{"case": "x"}]}, "are needed"),
        ({"known_failing": "x"}, "must be a list"),
        ({"alpha": 0.05}, "unknown key 'alpha'"),
    ],
)
def test_a_feature_that_makes_no_sense_is_refused(tmp_path: Path, feature: dict[str, Any], told: str) -> None:
    with pytest.raises(UsageError, match=f"gate.yaml: {FEATURE}.*{told}"):
        read(tmp_path, **feature)


@pytest.mark.parametrize("text", ["", "tiers: {}", "tiers: {1: {}, 2: {}}", "tiers: [1]", "other: 1", "tiers: {1: 2"])
def test_a_file_that_is_no_policy_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "gate.yaml"
    path.write_text(text)
    with pytest.raises(UsageError, match="gate"):
        rules(contract(EXACT), path)


def test_the_digest_is_over_all_that_holds_and_nothing_else(tmp_path: Path) -> None:
    plain = read(tmp_path)
    assert read(tmp_path, tiers={2: {"alpha": 0.01}}).digest == plain.digest
    assert read(tmp_path, tiers={1: {"alpha": 0.01}}).digest != plain.digest
    assert read(tmp_path, looks=2).digest != plain.digest
