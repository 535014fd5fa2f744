"""The versions that answer: a draft or a published version as candidate, a published one as baseline."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from beleg.contract import draft
from beleg.contract.client.snapshot import Snapshot
from beleg.contract.model import Contract, Provider
from beleg.contract.registry.heads import Head, MajorHead
from beleg.contract.registry.names import Version
from beleg.contract.registry.registry import Registry
from beleg.contract.registry.releases import Release
from beleg.core.errors import UsageError
from beleg.evals.results import Side

DRAFT = "draft"
NO_BASELINE = "none"
ACTIVE = "active"
_NOWHERE = "0" * 64
"""In place of the address of a release: what is evaluated need not lie in a registry."""


@dataclass(frozen=True)
class Contender:
    """One version in its role."""

    side: Side
    snapshot: Snapshot

    @property
    def contract(self) -> Contract:
        """What it is."""
        return self.snapshot.contract

    @property
    def digest(self) -> str:
        """Digest of its contract: what results name."""
        return self.snapshot.release.digest

    @property
    def version(self) -> str:
        """As its runs are stamped: the released version, of a draft `draft-` and the first digits of its digest."""
        return self.snapshot.release.version


def candidate(project: Path, registry: Registry, feature: str, wanted: str) -> Contender:
    """The version to be judged: `draft` or a released version; raises UsageError and ContractError."""
    if wanted != DRAFT:
        return Contender("candidate", snapshot(_released(registry, feature, wanted)))
    contract = draft.read(draft.find(project, feature))
    return Contender("candidate", snapshot(unreleased(contract)))


def baseline(registry: Registry, feature: str, wanted: str) -> Contender | None:
    """What it is compared with: a released version, `active` (None before the first) or `none`; raises UsageError."""
    if wanted == NO_BASELINE:
        return None
    release = registry.active(feature) if wanted == ACTIVE else _released(registry, feature, wanted)
    return None if release is None else Contender("baseline", snapshot(release))


def with_fallback(contract: Contract, fallback: Provider) -> Contract:
    """The contract as it runs where this fallback answers: results under its digest measure the fallback."""
    return replace(contract, providers=replace(contract.providers, primary=fallback, fallbacks=()))


def fallbacks(tried: Contender) -> tuple[Contender, ...]:
    """A candidate with each of its fallbacks as the only provider, in the order in which they step in."""
    made: dict[str, Contender] = {}
    for each in tried.contract.providers.fallbacks:
        contract = with_fallback(tried.contract, each)
        made.setdefault(contract.digest, Contender(tried.side, snapshot(unreleased(contract))))
    return tuple(made.values())


def unreleased(contract: Contract) -> Release:
    """A draft in the form of a release, so that the same code runs it; nobody publishes that one."""
    document: Mapping[str, Any] = contract.document()
    digest = contract.digest
    return Release(
        contract.feature, f"draft-{digest[:12]}", None, digest, document, {}, "", "", contract.workflow or None
    )


def snapshot(release: Release) -> Snapshot:
    """A release as the SDK runs it, whatever the registry's head says: an evaluation also runs old versions."""
    version = "0.0.0" if release.version.startswith(f"{DRAFT}-") else release.version
    pinned = MajorHead(version, _NOWHERE, release.digest)
    majors = {Version.parse(version).major: pinned}
    return Snapshot(Head(release.feature, 0, _NOWHERE, "active", None, pinned, majors), pinned, release)


def _released(registry: Registry, feature: str, version: str) -> Release:
    published = {each.version: each for each in registry.published(feature)}
    if version not in published:
        known = ", ".join(published) or "none"
        raise UsageError(f"{feature} {version[:40]!r} was never published; there are: {DRAFT}, {known}")
    return registry.released(feature, published[version])
