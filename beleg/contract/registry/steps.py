"""How one head follows from another: the state machine, in pure functions.

The writers make heads with these functions and `verify` makes them again from the history, so a head that
no verb can have made is found.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from typing import Any

from beleg.contract.registry.heads import Head, MajorHead, PromptHead, Published
from beleg.contract.registry.names import Version


def published(head: Head | None, feature: str, version: Published, deadline: date | None) -> Head:
    """A version becomes the active one; a major it supersedes stays for pinned readers until `deadline`."""
    if head is None:
        first = MajorHead(version.version, version.release, version.digest)
        return Head(feature, 0, "", "active", None, version, {Version.parse(version.version).major: first})
    return _moved(head, version, deadline)


def rolled_back(head: Head, version: Published, deadline: date | None) -> Head:
    """An earlier version becomes the active one; the epoch rises as with every step."""
    return _moved(head, version, deadline)


def _moved(head: Head, version: Published, deadline: date | None) -> Head:
    """Every major keeps what was last active in it: a version that was rolled back does not return to readers."""
    old, new = Version.parse(head.active.version).major, Version.parse(version.version).major
    majors = dict(head.majors)
    if old != new:
        majors[old] = replace(majors[old], deadline=deadline)
    majors[new] = MajorHead(version.version, version.release, version.digest)
    return replace(head, active=version, majors=majors)


def deprecated(head: Head, sunset_on: date | None) -> Head:
    """Readers are told to leave; with a date, until when."""
    return replace(head, state="deprecated", sunset_on=sunset_on)


def sunset(head: Head, on: date) -> Head:
    """From `on` the feature is gone; until then it runs and warns."""
    return replace(head, state="sunset", sunset_on=on)


def prompt(head: PromptHead | None, workflow: str, active: Published | None) -> PromptHead:
    """A prompt of a workflow without a contract is activated, or none is."""
    return PromptHead(workflow, 0, "", active) if head is None else replace(head, active=active)


def bare(head: Head | PromptHead) -> dict[str, Any]:
    """A head without what its commit adds."""
    return {name: value for name, value in head.to_json().items() if name not in {"epoch", "entry"}}


def same(head: Head | PromptHead, values: Mapping[str, Any]) -> bool:
    """Whether a history entry holds this head."""
    return bare(head) == {name: value for name, value in values.items() if name not in {"epoch", "entry"}}
