"""Makes every head again from the head before and what was done: a head that no verb can have made is found."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import Any

from beleg.contract.registry import steps
from beleg.contract.registry.fields import Fields
from beleg.contract.registry.heads import Head, PromptHead, Published
from beleg.contract.registry.names import Version
from beleg.contract.registry.records import Entry, PromptRelease, Release
from beleg.contract.registry.registry import ADD, PUBLISH
from beleg.core.errors import BelegError, DamagedError

_NO_ENTRY = "0" * 64


def feature(name: str, entries: Sequence[Entry], releases: Mapping[str, Release]) -> Iterator[tuple[int, str]]:
    """(epoch, what is wrong) for every head of a feature that does not follow from the one before."""
    before: Head | None = None
    for entry in entries:
        try:
            head = Head.from_json({**entry.head, "entry": _NO_ENTRY}, "the head")
            expected = _follows(name, before, head, entry, releases)
        except BelegError as error:
            yield entry.epoch, str(error)
            return
        if not steps.same(expected, entry.head):
            yield entry.epoch, f"no {entry.verb} makes this head from the one before"
        before = head


def _follows(name: str, before: Head | None, head: Head, entry: Entry, releases: Mapping[str, Release]) -> Head:
    if entry.verb == PUBLISH:
        _check_previous(before, releases.get(head.active.release))
        return steps.published(before, name, head.active, _migration(head.active, releases))
    if before is None:
        raise DamagedError(f"the history begins with {entry.verb}, not with a publication")
    if entry.verb == "rollback":
        if head.active.release not in releases:
            raise DamagedError(f"rolled back to {head.active.version}, which was not published")
        left = head.majors.get(Version.parse(before.active.version).major)
        return steps.rolled_back(before, head.active, None if left is None else left.deadline)
    if entry.verb == "deprecate":
        return steps.deprecated(before, head.sunset_on)
    if entry.verb == "sunset" and head.sunset_on is not None:
        return steps.sunset(before, head.sunset_on)
    raise DamagedError(f"{entry.verb!r} is no verb of a feature")


def _check_previous(before: Head | None, release: Release | None) -> None:
    active = None if before is None else before.active.version
    if release is not None and release.previous != active:
        raise DamagedError(f"{release.version} was published after {release.previous}, but {active} was active")


def _migration(version: Published, releases: Mapping[str, Release]) -> date | None:
    release = releases.get(version.release)
    migration: Any = None if release is None else release.contract.migration
    return None if migration is None else migration.deadline


def prompts(
    workflow: str, entries: Sequence[Entry], releases: Mapping[str, PromptRelease]
) -> Iterator[tuple[int, str]]:
    """(epoch, what is wrong) for every head of a workflow's prompts that does not follow from the one before."""
    before: PromptHead | None = None
    for entry in entries:
        try:
            head = PromptHead.from_json({**entry.head, "entry": _NO_ENTRY}, "the head")
            expected = steps.prompt(before, workflow, _prompt(before, head, entry))
            _check_added(workflow, entry, head, releases)
        except BelegError as error:
            yield entry.epoch, str(error)
            return
        if not steps.same(expected, entry.head):
            yield entry.epoch, f"no {entry.verb} makes this head from the one before"
        before = head


def _prompt(before: PromptHead | None, head: PromptHead, entry: Entry) -> Published | None:
    if entry.verb == ADD:
        return None if before is None else before.active
    if entry.verb == "activate":
        return head.active
    if entry.verb == "deactivate":
        return None
    raise DamagedError(f"{entry.verb!r} is no verb of a prompt")


def _check_added(workflow: str, entry: Entry, head: PromptHead, releases: Mapping[str, PromptRelease]) -> None:
    version = head.active
    if entry.verb == ADD:
        fields = Fields(dict(entry.details), "the details")
        version = Published(fields.text("version"), fields.sha("release"), fields.sha("digest"))
    if version is None:
        return
    release = releases.get(version.release)
    if release is None or release.workflow != workflow or release.published != version:
        raise DamagedError(f"the prompt {version.version} is not the one that was added")
