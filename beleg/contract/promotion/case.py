"""Everything a draft is judged by, read once."""

import json
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from beleg.contract import approvals, evidence, surroundings
from beleg.contract import document as documents
from beleg.contract.approvals import Approval
from beleg.contract.draft import Feature
from beleg.contract.encoding import encode
from beleg.contract.evidence import Evidence
from beleg.contract.lifecycle import policy_of
from beleg.contract.lint import Facts
from beleg.contract.model import Contract
from beleg.contract.promotion.readiness import Ask
from beleg.contract.registry import signatures
from beleg.contract.registry.records import Head, Release
from beleg.contract.registry.registry import Registry
from beleg.contract.registry.signatures import Approvers
from beleg.contract.tiers import TierPolicy
from beleg.core.errors import UsageError


@dataclass(frozen=True)
class Case:
    """A draft beside what was published, and the policies it is held against."""

    feature: Feature
    contract: Contract
    digest: str
    head: Head | None
    releases: tuple[Release, ...]
    """Every published version, in order."""
    evidence: Evidence | None
    approvals: tuple[Approval, ...]
    """All on this digest; which of them count is for `approvals.check` to say."""
    approvers: Approvers | None
    facts: Facts
    ask: Ask
    now: datetime

    @cached_property
    def policy(self) -> TierPolicy:
        """What the draft's tier demands."""
        return self._policy(self.contract.risk_tier)

    @cached_property
    def approval_policy(self) -> TierPolicy:
        """Whose approvals are needed: lowering the tier takes those of the higher one.

        The version published last counts beside the active one, or a rollback would lower the tier unasked.
        """
        before = [self.facts.active, *(each.contract for each in self.releases[-1:])]
        return self._policy(max(each.risk_tier for each in (self.contract, *before) if each is not None))

    def _policy(self, tier: int) -> TierPolicy:
        return policy_of(tier, policies(self.feature, self.facts))


def policies(feature: Feature, facts: Facts) -> Path:
    """The project's policies: as given, else beside its features."""
    return facts.policies or feature.folder.parents[1] / "policies"


def gather(feature: Feature, contract: Contract, registry: Registry, ask: Ask, now: datetime | None) -> Case:
    """Read what a draft is judged by; raises UsageError for one of another feature, DamagedError."""
    if contract.feature != feature.name:
        raise UsageError(f"the draft is of {contract.feature!r}, not of {feature.name!r}")
    contract, digest = _as_written(contract)
    now = (now or datetime.now(UTC)).astimezone(UTC)
    head = registry.head(feature.name)
    releases = tuple(registry.releases(feature.name))
    approved, found = approvals.read(feature, digest), evidence.find(feature, digest)
    published = tuple(each.contract for each in releases)
    active = next((each.contract for each in releases if head and each.version == head.active.version), None)
    facts = replace(
        ask.facts,
        feature=feature,
        published=published,
        active=active,
        catalogue=registry.catalogue(),
        today=now.date(),
        evidence=found,
        surroundings=surroundings.find(feature),
        confirmed_breaking=ask.confirm_breaking,
        policies=policies(feature, ask.facts),
    )
    approvers = signatures.approvers(policies(feature, ask.facts) / "approvers.yaml")
    return Case(feature, contract, digest, head, releases, found, approved, approvers, facts, ask, now)


def _as_written(contract: Contract) -> tuple[Contract, str]:
    """The contract as readers will read it, and its digest: that is what is judged."""
    try:
        data = encode(contract.document())
        written = documents.contract(json.loads(data))
    except (ValueError, TypeError, RecursionError) as error:
        raise UsageError(f"the draft of {contract.feature} cannot be written as UTF-8 JSON: {error}") from error
    digest = sha256(data).hexdigest()
    if written.digest != digest:
        raise UsageError(f"the draft of {contract.feature} is another one after it was written as JSON and read again")
    return written, digest
