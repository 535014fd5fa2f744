"""A feature's life: draft → active → deprecated → sunset, and what each state allows.

A feature with a sunset date is on its way out: it runs and warns until that day and can no longer be edited,
published or rolled back. That holds from the moment the date is set, so no clock can undo it.
"""

import shutil
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Literal

from beleg.contract import draft
from beleg.contract.draft import Feature
from beleg.contract.model import Contract
from beleg.contract.registry import steps
from beleg.contract.registry.people import person, reason
from beleg.contract.registry.records import Head
from beleg.contract.registry.registry import Registry
from beleg.contract.tiers import TIERS, TierPolicy, tier_policy
from beleg.core.errors import CheckFailed, DamagedError, UsageError

FeatureState = Literal["draft", "active", "deprecated", "sunset"]


class FeatureFrozen(CheckFailed):
    """The feature is on its way out: nothing about it can be changed any more."""


def state(head: Head | None, today: date) -> FeatureState:
    """What a feature is on a day: `sunset` from its date on, however it got the date."""
    if head is None:
        return "draft"
    if head.sunset_on is not None and today >= head.sunset_on:
        return "sunset"
    return "active" if head.state == "active" else "deprecated"


def check_changeable(head: Head | None) -> None:
    """Raise FeatureFrozen for a feature on its way out: no edit, draft, publish or rollback."""
    if head is not None and head.sunset_on is not None:
        since = "since that was announced it cannot be edited, published or rolled back"
        raise FeatureFrozen(f"{head.feature} ends on {head.sunset_on}: {since}")


def deprecate(
    registry: Registry,
    feature: str,
    *,
    by: str,
    why: str,
    sunset_on: date | None = None,
    policies: Path | None = None,
    now: datetime | None = None,
) -> Head:
    """Tell readers to leave; with a date the feature is on its way out.

    Raises UsageError for a day within the grace period (by the tiers.yaml in `policies`, or Beleg's own),
    FeatureFrozen, Moved.
    """
    now = now or datetime.now(UTC)
    head = _published(registry, feature)
    check_changeable(head)
    if head.state != "active":
        raise UsageError(f"{feature} is {head.state} already; give it an end with: beleg contract sunset {feature}")
    if sunset_on is not None:
        _check_grace(sunset_on, now, grace(registry, head, policies))
    return commit_head(registry, head, steps.deprecated(head, sunset_on), verb="deprecate", by=by, why=why, now=now)


def sunset(
    registry: Registry,
    feature: str,
    *,
    by: str,
    why: str,
    on: date,
    policies: Path | None = None,
    now: datetime | None = None,
) -> Head:
    """Set the UTC day from which the feature is gone, or move it while it has not come.

    Raises UsageError for a day within the grace period (by the tiers.yaml in `policies`, or Beleg's own),
    FeatureFrozen where the day has come, Moved.
    """
    now = now or datetime.now(UTC)
    head = _published(registry, feature)
    if state(head, now.astimezone(UTC).date()) == "sunset":
        raise FeatureFrozen(f"{feature} ended on {head.sunset_on}; publish it under another name to have it again")
    _check_grace(on, now, grace(registry, head, policies))
    return commit_head(registry, head, steps.sunset(head, on), verb="sunset", by=by, why=why, now=now)


def _published(registry: Registry, feature: str) -> Head:
    head = registry.head(feature)
    if head is None:
        raise UsageError(f"{feature} was never published; there are: {', '.join(registry.features()) or 'none'}")
    return head


def grace(registry: Registry, head: Head, policies: Path | None) -> int:
    """Days of notice that the active version's tier asks for; the most of any where that version is damaged."""
    try:
        return policy_of(registry.released(head.feature, head.active).contract.risk_tier, policies).grace_days
    except DamagedError:
        return max(policy_of(tier, policies).grace_days for tier in TIERS)


def policy_of(tier: int, policies: Path | None) -> TierPolicy:
    """A tier's policy: the project's own where its folder has one, else Beleg's."""
    own = None if policies is None else policies / "tiers.yaml"
    return tier_policy(tier, own if own is not None and own.exists() else None)


def _check_grace(on: date, now: datetime, grace_days: int) -> None:
    earliest = earliest_end(now, grace_days)
    if on < earliest:
        raise UsageError(f"{on} is within the grace period of {grace_days} days; the earliest day is {earliest}")


def earliest_end(now: datetime, grace_days: int) -> date:
    """The first day on which something that readers rely on may end."""
    return now.astimezone(UTC).date() + timedelta(days=grace_days)


def commit_head(registry: Registry, before: Head, after: Head, *, verb: str, by: str, why: str, now: datetime) -> Head:
    """Commit a head that follows from another without a new version, and return it; raises Moved."""
    committed = registry.shelf(before.feature).commit(
        before.epoch, steps.bare(after), verb=verb, at=instant(now), by=person(by), why=reason(why, "the reason")
    )
    return Head.from_json(committed)


def instant(now: datetime) -> str:
    """RFC 3339 in UTC. It is shown to people and orders nothing: epochs do."""
    return now.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def new_draft(registry: Registry, feature: Feature, *, author: str = "") -> Contract:
    """Write the active version as the feature's draft, without change note and migration note.

    Raises UsageError where nothing was published or the draft was edited since, FeatureFrozen.
    """
    head = registry.head(feature.name)
    check_changeable(head)
    active = registry.active(feature.name)
    if active is None:
        raise UsageError(f"{feature.name} was never published: its first draft is written by hand")
    if feature.draft.exists() and not _untouched(registry, feature):
        raise UsageError(
            f"the draft of {feature.name} was edited since it was published; publish it or move it away first"
        )
    contract = replace(active.contract, author=author and person(author), change_note="", migration=None)
    _replace_folder(feature, contract)
    return contract


def _untouched(registry: Registry, feature: Feature) -> bool:
    """Whether a draft is a published version as it was published, or as a new draft inherits it."""
    try:
        found = draft.read(feature)
    except UsageError:
        return False
    published = [release.contract for release in registry.releases(feature.name)]
    inherited = (replace(each, author=found.author, change_note="", migration=None) for each in published)
    return any(_content(found) == _content(each) for each in (*published, *inherited))


def _content(contract: Contract) -> dict[str, object]:
    """What the draft's own files hold: feature.yaml keeps the rest."""
    whole = contract.document()
    elsewhere = {"risk_tier", "governance", "migration", "workflow", "risk_owner"}
    return {name: value for name, value in whole.items() if name not in elsewhere}


def _replace_folder(feature: Feature, contract: Contract) -> None:
    """Swap the whole folder: a draft is never half the old and half the new version."""
    new, old = feature.folder / ".draft-new", feature.folder / ".draft-old"
    for left in (new, old):
        shutil.rmtree(left, ignore_errors=True)
    draft.write(contract, new)
    if feature.draft.exists():
        feature.draft.rename(old)
    new.rename(feature.draft)
    shutil.rmtree(old, ignore_errors=True)
