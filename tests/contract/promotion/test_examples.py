"""The example features of the demo go the whole way, version after version, in all three tiers."""

import json
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from beleg.contract import approvals, draft, promotion
from beleg.contract.draft import Feature
from beleg.contract.lint import Facts
from beleg.contract.promotion import Ask
from beleg.contract.registry.names import Version
from beleg.contract.registry.registry import Registry
from beleg.contract.registry.verify import verify
from beleg.core.paths import shipped
from tests.contract.promotion.support import evidence_document

ROOT = Path(__file__).resolve().parents[3]
STEPS = ROOT / "beleg" / "demo" / "features"
LIMITS = {"cost", "latency"}


def evidence(feature: Feature, registry: Registry, now: datetime) -> None:
    """What the gate would say of a draft that does well."""
    contract = draft.read(feature)
    whole = evidence_document(contract, registry) | {"made_at": now.isoformat().replace("+00:00", "Z")}
    for each in whole["criteria"]:
        bound = each["threshold"] * 0.9 if each["kind"] in LIMITS else 1
        each.update(estimate=bound, lower=bound, upper=bound)
    (feature.folder / "evidence").mkdir(exist_ok=True)
    (feature.folder / "evidence" / f"{contract.digest}.json").write_text(json.dumps(whole))


def publish(feature: Feature, registry: Registry, now: datetime) -> str:
    contract = draft.read(feature)
    evidence(feature, registry, now)
    for name in ("First Approver", feature.risk_owner or "Second Approver"):
        approvals.approve(feature, contract.digest, by=name, now=now)
    for tool in contract.tools:
        registry.write_tool(
            name=tool.name, version=tool.version, description=tool.description,
            input_schema=tool.input_schema, binding=tool.binding,
        )  # fmt: skip
    models = (contract.providers.primary, *contract.providers.fallbacks)
    facts = Facts(risk_levels={(each.provider, each.model): "low" for each in models})
    ask = Ask(confirm_breaking=contract.migration is not None, facts=facts)
    found = promotion.check(feature, contract, registry, ask=ask, now=now)
    assert found.blockers == ()
    return promotion.publish(
        feature, contract, registry, by="Paul", digest=found.digest, epoch=found.epoch, ask=ask, now=now
    ).version


@pytest.mark.parametrize("name", sorted(path.name for path in STEPS.iterdir()))
def test_every_example_is_published_version_after_version(name: str, tmp_path: Path) -> None:
    shutil.copytree(shipped("contracts"), tmp_path / "contracts")
    feature, registry = draft.find(tmp_path, name), Registry(tmp_path / "registry")
    versions = []
    drafts = [*sorted((STEPS / name).iterdir()), shipped("contracts", "features") / name / "draft"]
    for number, step in enumerate(drafts):
        shutil.rmtree(feature.draft)
        shutil.copytree(step, feature.draft)
        now = datetime(2025, 9, 1, tzinfo=UTC) + timedelta(days=60 * number)
        versions.append(publish(feature, registry, now))
    assert versions[0] == "1.0.0"
    assert versions == sorted(versions, key=Version.parse)
    assert {Version.parse(each).major for each in versions} == {1, 2}
    assert verify(registry).proved
