"""A feature's dossier: what an auditor asks for, from the registry alone. The same registry gives the same bytes."""

from typing import Any

from beleg.contract.draft import Feature
from beleg.contract.registry.records import Entry, Release
from beleg.contract.registry.registry import Registry
from beleg.contract.registry.verify import verify
from beleg.core.errors import UsageError
from beleg.trace import policy


def dossier(registry: Registry, name: str, feature: Feature | None = None) -> dict[str, Any]:
    """Tier and its history, versions with approvals, evidence and overrides, tools, proofs; JSON-ready.

    `feature` (from the project) adds who owns it. Raises UsageError for one that was never published.
    """
    head = registry.head(name)
    if head is None:
        raise UsageError(f"{name} was never published; there are: {', '.join(registry.features()) or 'none'}")
    releases = registry.releases(name)
    found = verify(registry)
    return {
        "dossier_format": 1,
        "feature": name,
        "owner": feature and feature.owner,
        "risk_owner": feature and feature.risk_owner,
        "head": head.to_json(),
        "risk_tier": next(_tier(each) for each in releases if each.version == head.active.version),
        "risk_tier_history": _tiers(releases),
        "versions": [_version(each) for each in releases],
        "history": [_step(entry) for entry in registry.history(name)],
        "binding_tools": {
            "proved_absent": not any(each.feature == name for each in found.problems),
            "tools_checked": sum(len(each.contract.tools) for each in releases),
            "problems": [each.what for each in found.problems if each.feature == name],
        },
        "registry_proved": found.proved,
        "data_kept_of_runs": {
            "retention_policy": policy.RETENTION_POLICY,
            "payload_policy": policy.PAYLOAD_POLICY,
            "log_retention_days": releases[-1].contract.governance.log_retention_days,
        },
    }


def _step(entry: Entry) -> dict[str, Any]:
    return {name: getattr(entry, name) for name in ("epoch", "verb", "at", "by", "why", "previous")}


def _tier(release: Release) -> int:
    return int(release.document["risk_tier"])


def _tiers(releases: list[Release]) -> list[dict[str, Any]]:
    """Each change of the tier: from which version on, since when, by whom."""
    changes = []
    for before, release in zip([None, *releases], releases, strict=False):
        if before is None or _tier(before) != _tier(release):
            since = {"since": release.published_at, "by": release.published_by}
            changes.append({"risk_tier": _tier(release), "version": release.version, **since})
    return changes


def _version(release: Release) -> dict[str, Any]:
    contract = release.contract
    return {
        "version": release.version,
        "digest": release.digest,
        "published_at": release.published_at,
        "published_by": release.published_by,
        "author": contract.author,
        "risk_tier": contract.risk_tier,
        "note": release.note,
        "migration": contract.document().get("migration"),
        "comparison": dict(release.comparison),
        "approvals": [dict(each) for each in release.approvals],
        "evidence": release.evidence and dict(release.evidence),
        "override": release.override and dict(release.override),
        "tools": [{"name": each.name, "version": each.version, "binding": each.binding} for each in contract.tools],
        "governance": contract.document()["governance"],
    }
