"""Prompts of workflows without a contract: immutable texts by version, of which one or none is active."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from beleg.contract.lifecycle import instant, state
from beleg.contract.registry import steps
from beleg.contract.registry.heads import Published
from beleg.contract.registry.people import person, reason
from beleg.contract.registry.records import PromptHead, PromptRelease
from beleg.contract.registry.registry import ADD, Registry
from beleg.core.errors import UsageError

_VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]{0,63}\Z")


def add_prompt(
    registry: Registry,
    workflow: str,
    text: str,
    *,
    by: str,
    version: str | None = None,
    note: str = "",
    now: datetime | None = None,
) -> PromptRelease:
    """Add a text under a version (default: the next number); it is not active by that.

    The same text under the same version again is no change. Raises UsageError for an empty text, a version that
    has another text, or a workflow that a feature serves; Moved, Busy, DamagedError.
    """
    now = now or datetime.now(UTC)
    head = _own(registry, workflow, now)
    known = {each.version: each for each in registry.prompt_releases(workflow)}
    version = version or _next(known)
    if not _VERSION.match(version):
        raise UsageError(f"{version[:70]!r} is no version; letters, digits, '_', '-', '.', '+', at most 64 characters")
    _check_text(text)
    note = note and reason(note, "the note")
    if version in known:
        if known[version].text != text:
            raise UsageError(f"{workflow} {version} has another text, and texts never change; give it a new version")
        return known[version]
    release = PromptRelease(workflow, version, text, instant(now), person(by), note)
    after = steps.prompt(head, workflow, None if head is None else head.active)
    _commit(registry, head, after, verb=ADD, by=by, why=note, now=now, release=release)
    return release


def activate_prompt(
    registry: Registry, workflow: str, version: str, *, by: str, why: str, now: datetime | None = None
) -> PromptHead:
    """Make a version that was added the active one. Raises UsageError, Moved, Busy, DamagedError."""
    now = now or datetime.now(UTC)
    head = _own(registry, workflow, now)
    known = {each.version: each.published for each in registry.prompt_releases(workflow)}
    if version not in known:
        raise UsageError(f"{workflow} has no prompt {version[:40]!r}; there are: {', '.join(known) or 'none'}")
    after = steps.prompt(head, workflow, known[version])
    return _commit(registry, head, after, verb="activate", by=by, why=reason(why, "the reason"), now=now)


def deactivate_prompt(
    registry: Registry, workflow: str, *, by: str, why: str, now: datetime | None = None
) -> PromptHead:
    """Make none active: the prompt baked into the code is used. Raises UsageError, Moved, Busy, DamagedError."""
    now = now or datetime.now(UTC)
    head = _own(registry, workflow, now)
    if head is None or head.active is None:
        raise UsageError(f"{workflow} has no active prompt: the one baked into the code is used already")
    after = steps.prompt(head, workflow, None)
    return _commit(registry, head, after, verb="deactivate", by=by, why=reason(why, "the reason"), now=now)


def _own(registry: Registry, workflow: str, now: datetime) -> PromptHead | None:
    """The head of a workflow without a contract; raises UsageError for one that a feature serves."""
    today = now.astimezone(UTC).date()
    serving = [name for name in registry.serving(workflow) if state(registry.head(name), today) != "sunset"]
    if serving:
        how = f"publish a new version: beleg contract publish {serving[0]}"
        raise UsageError(f"the prompt of {workflow} belongs to the contract of {', '.join(serving)}; {how}")
    return registry.prompt_head(workflow)


def _commit(
    registry: Registry,
    before: PromptHead | None,
    after: PromptHead,
    *,
    verb: str,
    by: str,
    why: str,
    now: datetime,
    release: PromptRelease | None = None,
) -> PromptHead:
    data = None if release is None else release.to_bytes()
    committed = registry.prompt_shelf(after.workflow).commit(
        0 if before is None else before.epoch,
        steps.bare(after),
        verb=verb,
        at=instant(now),
        by=person(by),
        why=why,
        details=_added(release, data),
        release=data,
    )
    return PromptHead.from_json(committed)


def _added(release: PromptRelease | None, data: bytes | None) -> Mapping[str, Any]:
    if release is None or data is None:
        return {}
    return Published(release.version, sha256(data).hexdigest(), release.digest).to_json()


def _check_text(text: str) -> None:
    if not text.strip():
        raise UsageError("the prompt is empty; an empty prompt would silently be replaced by the one in the code")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise UsageError(f"the prompt holds half a character at {error.start}; UTF-8 has no such thing") from error


def _next(known: Mapping[str, PromptRelease]) -> str:
    return str(max((int(each) for each in known if each.isdecimal() and each.isascii()), default=0) + 1)
