"""Publishing: the one verb that makes a draft the active version."""

from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from beleg.contract.draft import Feature
from beleg.contract.lifecycle import instant
from beleg.contract.model import Contract
from beleg.contract.promotion.case import Case, gather
from beleg.contract.promotion.judging import judge
from beleg.contract.promotion.readiness import Ask, Readiness
from beleg.contract.registry import steps
from beleg.contract.registry.people import identity, person, reason
from beleg.contract.registry.records import Published, Release, workflow_name
from beleg.contract.registry.registry import PUBLISH, Registry
from beleg.contract.registry.shelf import Moved
from beleg.core.errors import CheckFailed, UsageError


class NotReady(CheckFailed):
    """The draft cannot be published yet; `readiness.blockers` says why."""

    def __init__(self, readiness: Readiness) -> None:
        self.readiness = readiness
        sentences = "; ".join(each.sentence for each in readiness.blockers)
        super().__init__(f"{readiness.feature} {readiness.version} cannot be published: {sentences}")


def publish(
    feature: Feature,
    contract: Contract,
    registry: Registry,
    *,
    by: str,
    digest: str,
    epoch: int | None = None,
    ask: Ask | None = None,
    now: datetime | None = None,
) -> Release:
    """Make the draft the active version. `digest` (and `epoch`) of the readiness that `by` saw are the confirmation.

    Raises NotReady with every blocker; UsageError where the draft has another digest by now; Moved where another
    version became active meanwhile; Busy; DamagedError where the registry is damaged or cannot be written.
    In every case what was active still is.
    """
    now, by = now or datetime.now(UTC), person(by)
    case = gather(feature, contract, registry, ask or Ask(), now)
    if case.digest != digest:
        raise UsageError(f"the draft of {feature.name} is not {digest[:12]} (any more); look at it again")
    readiness = judge(case)
    if epoch is not None and readiness.epoch != epoch:
        raise Moved(f"{feature.name} moved from epoch {epoch} to {readiness.epoch} meanwhile; look and decide again")
    if not readiness.ready:
        raise NotReady(readiness)
    release = _release(case, readiness, by, now)
    _commit(registry, case, release)
    return release


def _release(case: Case, readiness: Readiness, by: str, now: datetime) -> Release:
    return Release(
        feature=case.feature.name,
        version=readiness.version,
        previous=readiness.previous,
        digest=case.digest,
        document=case.contract.document(),
        comparison={} if readiness.assessment is None else readiness.assessment.to_dict(),
        published_at=instant(now),
        published_by=by,
        workflow=workflow_name(case.contract.workflow),
        approvals=tuple(_approval(case, each.to_json(), each.by) for each in readiness.approved.counted),
        evidence=None if case.evidence is None else case.evidence.document,
        note=case.contract.change_note,
        override=_override(case) if readiness.overridden else None,
    )


def _approval(case: Case, values: dict[str, Any], by: str) -> dict[str, Any]:
    role = "risk_owner" if identity(by) == identity(case.contract.risk_owner) else "approver"
    return {**values, "role": role, "verified": case.approvers is not None}


def _override(case: Case) -> dict[str, str] | None:
    given = case.ask.override
    return None if given is None else {"by": person(given.by), "why": reason(given.why, "the override's reason")}


def _commit(registry: Registry, case: Case, release: Release) -> None:
    data = release.to_bytes()
    version = Published(release.version, sha256(data).hexdigest(), release.digest)
    deadline = None if case.contract.migration is None else case.contract.migration.deadline
    after = steps.published(case.head, release.feature, version, deadline)
    registry.add_to_index(str(release.workflow), release.feature)
    registry.shelf(release.feature).commit(
        0 if case.head is None else case.head.epoch,
        steps.bare(after),
        verb=PUBLISH,
        at=release.published_at,
        by=release.published_by,
        why=release.note,
        release=data,
    )
