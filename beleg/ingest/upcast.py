"""Brings events of earlier schema versions to the newest one, whose columns the tables have.

A released schema never changes: what applications wrote by it stays readable. The next version gets an
upcaster from the one before, and those of all versions between are applied in order. A line is judged by
its own version first; what it means in the newest is all that is stored.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import orjson

Event = dict[str, Any]
Upcaster = Callable[[Event], Event]

UPCASTERS: Mapping[tuple[str, int], Upcaster] = {}
"""(event, version) → what makes an event of the next version of it. Every event has its first version only."""


class Upcasts:
    """The ways from every known version of each event to its newest. Raises KeyError where one is missing."""

    def __init__(self, versions: Iterable[tuple[str, float]], upcasters: Mapping[tuple[str, int], Upcaster]) -> None:
        self._newest: dict[str, int] = {}
        for event, version in versions:
            self._newest[event] = max(int(version), self._newest.get(event, 0))
        self._steps = {(e, int(v)): upcasters[e, int(v)] for e, v in versions if self.outdated(e, v)}

    def outdated(self, event: str, version: float) -> bool:
        """Whether there is a newer version of the event."""
        return version < self._newest[event]

    def line(self, event: str, line: bytes) -> bytes:
        """A good line as one of the newest version; the line itself where it is that already."""
        if self._newest[event] == 1:
            return line
        value = orjson.loads(line)
        return self.dumps(value) if self.outdated(event, value["schema_version"]) else line

    def dumps(self, value: Event) -> bytes:
        """An event of any known version as a line of the newest."""
        event = value["event"]
        for version in range(int(value["schema_version"]), self._newest[event]):
            value = self._steps[event, version](value) | {"schema_version": version + 1}
        return orjson.dumps(value)


def additive(value: Event) -> Event:
    """The upcaster for a version that only gained optional fields: they are unknown."""
    return value
