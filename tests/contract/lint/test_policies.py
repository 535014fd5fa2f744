"""Tiers and provider profiles are data: a project's own file holds, and a wrong one is named."""

import subprocess
import sys
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from beleg.contract.lint import Facts, lint
from beleg.contract.lint.profiles import profile, profiles
from beleg.contract.tiers import tier_policies, tier_policy
from beleg.core.errors import UsageError
from beleg.core.paths import shipped
from tests.contract.lint.support import contract

TIERS = shipped("contracts", "policies", "tiers.yaml").read_text(encoding="utf-8")
PROFILES = shipped("contracts", "policies", "provider_profiles.yaml").read_text(encoding="utf-8")


def test_a_higher_tier_demands_no_less() -> None:
    one, two, three = (tier_policy(tier) for tier in (1, 2, 3))
    assert one.approvals == 0
    assert two.approvals == 1
    assert (three.approvals, three.risk_owner) == (2, True)
    assert set(one.maturity) < set(two.maturity) < set(three.maturity) == {1, 2, 3, 4, 5}
    assert (one.evidence, two.evidence, three.evidence) == (False, True, True)
    assert set(one.model_risk_levels) >= set(two.model_risk_levels) >= set(three.model_risk_levels)
    assert one.grace_days <= two.grace_days <= three.grace_days


@pytest.mark.parametrize(
    ("old", "new", "names"),
    [
        ("approvals: 1", "approvals: one", "tier 2: approvals is 'one'"),
        ("approvals: 1", "approvals: true", "approvals is True"),
        ("approvals: 1", "aprovals: 1", "exactly the keys"),
        ("maturity: [1, 2]\n", "maturity: [1, 6]\n", "a list of levels 1 to 5"),
        ("maturity: [1, 2]\n", "maturity: [1, true]\n", "a list of levels 1 to 5"),
        ("[low, medium, high]", "[low, middling]", "low, medium, high"),
        ("grace_days: 90", "grace_days: -1", "grace_days is -1"),
        ("  3: #", "  4: #", "tiers 1, 2 and 3"),
        ("tiers:", "tiers: [", "is no YAML"),
        ("tiers:", "levels:", "tiers 1, 2 and 3"),
        ("grace_days: 90", "grace_days: 90\n    grace_days: 1", "stands here twice"),
    ],
)
def test_a_wrong_tier_file_is_named_with_key_and_value(tmp_path: Path, old: str, new: str, names: str) -> None:
    assert old in TIERS
    path = tmp_path / "tiers.yaml"
    path.write_text(TIERS.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(UsageError, match=names):
        tier_policies(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="No such file"):
        tier_policies(tmp_path / "tiers.yaml")
    with pytest.raises(UsageError, match="No such file"):
        profiles(tmp_path / "provider_profiles.yaml")


def test_a_changed_file_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "tiers.yaml"
    path.write_text(TIERS, encoding="utf-8")
    assert tier_policy(3, path).grace_days == 90
    path.write_text(TIERS.replace("grace_days: 90", "grace_days: 120"), encoding="utf-8")
    assert tier_policy(3, path).grace_days == 120


def test_every_profile_names_its_date_and_source() -> None:
    for each in profiles().values():
        assert each.as_of <= date(2026, 12, 31)
        assert len(each.source) > 20


@pytest.mark.parametrize(
    ("provider", "pinned", "floating"),
    [
        ("openai", ["gpt-5-mini-2025-08-07", "gpt-4-0613"], ["gpt-5-mini", "gpt-5-chat-latest", "gpt-4.1"]),
        ("anthropic", ["claude-haiku-4-5-20251001", "claude-sonnet-4-6"], ["claude-haiku-4-5", "claude-sonnet-4-0"]),
        ("google", ["gemini-2.5-flash", "gemini-2.5-pro"], ["gemini-flash-latest", "gemini-3-pro-preview"]),
        ("mistral", ["mistral-small-2603"], ["mistral-small-latest", "mistral-small"]),
    ],
)
def test_pinned_ids_are_told_from_floating_ones(provider: str, pinned: list[str], floating: list[str]) -> None:
    found = profile(provider)
    assert found is not None
    assert [found.pinned(each) for each in pinned] == [True] * len(pinned)
    assert [found.pinned(each) for each in floating] == [False] * len(floating)


def test_nothing_is_known_about_an_unknown_provider() -> None:
    assert profile("muster-cloud") is None


def test_what_a_provider_enforces() -> None:
    found = profile("anthropic")
    assert found is not None
    assert not found.enforces("maxLength", 10)
    assert found.enforces("minItems", 1)
    assert not found.enforces("minItems", 2)
    assert found.enforces("format", "date")
    assert not found.enforces("format", "iri")
    assert found.enforces("enum", ["a"])


@pytest.mark.parametrize(
    ("old", "new", "names"),
    [
        ("as_of: 2026-02-28", "as_of: lately", "openai: as_of is 'lately'"),
        ("root_object: true", "root_object: yes please", "root_object"),
        ("depth: 10", "deepness: 10", "limits"),
        ("depth: 10", "depth: -1", "limits"),
        ('tool_name: "^', 'tool_name: "^(', "tool_name"),
        ("ends: 2026-02-17", "ends: soon", "retired"),
        ("    maps: false\n", "", "exactly the keys"),
        ("profiles:", "profile:", "must map providers"),
    ],
)
def test_a_wrong_profile_file_is_named_with_row_and_key(tmp_path: Path, old: str, new: str, names: str) -> None:
    assert old in PROFILES
    path = tmp_path / "provider_profiles.yaml"
    path.write_text(PROFILES.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(UsageError, match=names):
        profiles(path)


def test_a_projects_own_policies_hold_for_lint(tmp_path: Path) -> None:
    levels = {("openai", "gpt-5-mini"): "medium", ("anthropic", "claude-sonnet-4-6"): "low"}
    own = Facts(policies=tmp_path, risk_levels=levels)
    assert "L41" not in {each.rule for each in lint(contract(), own)}
    (tmp_path / "tiers.yaml").write_text(TIERS.replace("[low, medium]", "[low]"), encoding="utf-8")
    assert "L41" in {each.rule for each in lint(contract(), own)}
    (tmp_path / "provider_profiles.yaml").write_text(
        PROFILES.replace(
            "retired: #", "retired:\n      - {model: gpt-5-mini-2025-08-07, ends: 2026-12-31}\n      #", 1
        ),
        encoding="utf-8",
    )
    found = [each for each in lint(contract(), replace(own, today=date(2026, 11, 30))) if each.rule == "L23"]
    assert [each.severity for each in found] == ["warning"]


def test_reading_profiles_loads_neither_the_rules_nor_a_template_engine() -> None:
    script = "import sys, beleg.contract.lint.profiles as p; p.profiles(); print(sorted(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout
    assert not any(
        f"'{name}'" in loaded for name in ("jinja2", "jsonschema", "jsonschema_rs", "beleg.contract.lint.run")
    )
