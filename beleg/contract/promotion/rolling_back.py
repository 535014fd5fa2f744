"""Rolling back: an earlier version becomes the active one, in one step and at any time."""

from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from beleg.contract import semver
from beleg.contract.lifecycle import check_changeable, commit_head, earliest_end, grace
from beleg.contract.registry import steps
from beleg.contract.registry.heads import Published
from beleg.contract.registry.records import Head
from beleg.contract.registry.registry import Registry
from beleg.contract.registry.shelf import Moved
from beleg.core.errors import BelegError, UsageError


@dataclass(frozen=True)
class RolledBack:
    """What a rollback did."""

    head: Head
    previous: str
    """The version that was active before."""
    comparison: semver.Assessment | None
    """What the change from there to here means for readers; None where it could not be told."""
    doubt: str | None
    """Why it could not be told. A rollback never waits for that."""

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready values."""
        return {
            "head": self.head.to_json(),
            "previous": self.previous,
            "comparison": None if self.comparison is None else self.comparison.to_dict(),
            "doubt": self.doubt,
        }


def rollback(
    registry: Registry,
    feature: str,
    to_version: str,
    *,
    by: str,
    why: str,
    epoch: int | None = None,
    deadline: date | None = None,
    policies: Path | None = None,
    now: datetime | None = None,
) -> RolledBack:
    """Make a published version active again; the epoch rises.

    Where that is another major, readers pinned to the one left keep it until `deadline` (default: the grace
    period of its tier from today, by the tiers.yaml in `policies` or Beleg's own).

    Raises UsageError for a version that was not published or is active, FeatureFrozen, Moved, Busy, DamagedError.
    """
    now = now or datetime.now(UTC)
    head = registry.head(feature)
    check_changeable(head)
    target = next((each for each in registry.published(feature) if each.version == to_version), None)
    if head is None or target is None or target == head.active:
        raise UsageError(_refusal(registry, feature, to_version, head))
    if epoch is not None and head.epoch != epoch:
        raise Moved(f"{feature} moved from epoch {epoch} to {head.epoch} meanwhile; look and decide again")
    registry.released(feature, target)  # damaged bytes never become active
    comparison, doubt = _compared(registry, feature, head.active, target)
    after = steps.rolled_back(head, target, _deadline(deadline, now, grace(registry, head, policies)))
    committed = commit_head(registry, head, after, verb="rollback", by=by, why=why, now=now)
    return RolledBack(committed, head.active.version, comparison, doubt)


def _refusal(registry: Registry, feature: str, to_version: str, head: Head | None) -> str:
    if head is not None and head.active.version == to_version:
        return f"{feature} {to_version} is active already"
    versions = ", ".join(each.version for each in registry.published(feature)) or "none"
    return f"{feature} {to_version[:40]!r} was not published; there are: {versions}"


def _deadline(deadline: date | None, now: datetime, grace_days: int) -> date:
    earliest = earliest_end(now, grace_days)
    if deadline is not None and deadline < earliest:
        raise UsageError(f"{deadline} leaves readers less than {grace_days} days; the earliest day is {earliest}")
    return deadline or earliest


def _compared(
    registry: Registry, feature: str, active: Published, target: Published
) -> tuple[semver.Assessment | None, str | None]:
    try:
        old, new = (registry.released(feature, each).contract for each in (active, target))
        return semver.assess([(active.version, old)], active.version, new), None
    except BelegError as error:
        return None, str(error)
