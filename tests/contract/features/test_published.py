"""The example features' whole histories publish, one version after the other, at their tiers."""

import json
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from beleg.contract import approvals, draft
from beleg.contract.draft import Feature
from beleg.contract.lint import Facts
from beleg.contract.model import Contract
from beleg.contract.promotion.publishing import publish
from beleg.contract.promotion.readiness import Ask
from beleg.contract.registry.registry import Registry
from beleg.contract.registry.releases import Release
from beleg.contract.registry.verify import verify
from beleg.core.paths import shipped

ROOT = shipped("contracts").parent
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
APPROVERS = ("Sabine Krüger", "Frank Osterloh")
"""The risk owners of the examples; neither is an author."""
VERSIONS = {
    "receipt-extraction": ["1.0.0", "1.0.1", "1.1.0", "2.0.0", "2.1.0"],
    "transaction-categorization": ["1.0.0", "1.0.1", "1.1.0", "2.0.0", "2.0.1"],
    "bank-reconciliation": ["1.0.0", "1.0.1", "1.1.0", "2.0.0", "2.1.0"],
    "vat-return-preparation": ["1.0.0", "1.0.1", "1.1.0", "2.0.0", "2.0.1"],
}


def _measured(contract: Contract, active: Release | None, at: datetime) -> dict[str, Any]:
    """Evidence that meets every threshold, fallbacks included."""
    return {
        "evidence_format": 1,
        "feature": contract.feature,
        "candidate_digest": contract.digest,
        "baseline_digest": active.digest if active else None,
        "baseline_version": active.version if active else None,
        "dataset": contract.evals.dataset,
        **dict.fromkeys(("dataset_digest", "prices_digest", "policy_digest"), "0" * 64),
        "scorers": {each.scorer: "1" for each in contract.evals.criteria},
        "attempt": 1,
        "cases": 900,
        "missing": 0,
        "verdict": "pass",
        "criteria": [
            {
                **{name: getattr(each, name) for name in ("name", "kind", "threshold", "margin", "critical")},
                **dict.fromkeys(("estimate", "lower", "upper"), each.threshold),
                "verdict": "pass",
                "n": 900,
            }
            for each in contract.evals.criteria
        ],
        "slices": [
            {"provider": each.provider, "model": each.model, "verdict": "pass"} for each in contract.providers.fallbacks
        ],
        "made_at": at.strftime("%Y-%m-%dT%H:%M:%SZ"),
    }


def _prepared(feature: Feature, contract: Contract, registry: Registry, active: Release | None, at: datetime) -> None:
    """Tools in the catalogue, approvals and evidence beside the draft."""
    for tool in contract.tools:
        seen = {name: getattr(tool, name) for name in ("name", "version", "description", "input_schema", "binding")}
        registry.write_tool(**seen)
    if contract.risk_tier > 1:
        for by in APPROVERS:
            approvals.approve(feature, contract.digest, by=by, now=at)
        folder = feature.folder / "evidence"
        folder.mkdir(exist_ok=True)
        (folder / f"{contract.digest}.json").write_text(json.dumps(_measured(contract, active, at)), encoding="utf-8")


@pytest.mark.parametrize("name", VERSIONS)
def test_the_history_of_a_feature_publishes_with_the_intended_versions(name: str, tmp_path: Path) -> None:
    rows = yaml.safe_load((ROOT / "beleg" / "demo" / "policies" / "models.yaml").read_text(encoding="utf-8"))["models"]
    levels = {(row["provider"], row["model"]): row["risk_level"] for row in rows}
    shutil.copytree(ROOT / "contracts" / "policies", tmp_path / "contracts" / "policies")
    home = tmp_path / "contracts" / "features" / name
    home.mkdir(parents=True)
    shutil.copy(ROOT / "contracts" / "features" / name / "feature.yaml", home)
    earlier = sorted((ROOT / "beleg" / "demo" / "features" / name).iterdir(), key=lambda each: int(each.name))
    registry, released = Registry(tmp_path / "registry"), list[Release]()
    for number, folder in enumerate([*earlier, ROOT / "contracts" / "features" / name / "draft"]):
        shutil.rmtree(home / "draft", ignore_errors=True)
        shutil.copytree(folder, home / "draft")
        feature, at = draft.feature(home), NOW + timedelta(hours=number)
        contract = draft.read(feature)
        _prepared(feature, contract, registry, released[-1] if released else None, at)
        ask = Ask(confirm_breaking=True, facts=Facts(risk_levels=levels))
        released.append(
            publish(feature, contract, registry, by="Petra Publik", digest=contract.digest, ask=ask, now=at)
        )
    assert [each.version for each in released] == VERSIONS[name]
    assert not verify(registry).problems
