"""Codex shortens long conversations by a call of its own, which the log tells in two lines that name its response."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from beleg.ingest.readers.events import key

Counts = dict[str, Any]


class Compaction(NamedTuple):
    """The call that shortened a conversation."""

    response_id: str
    counts: Counts
    at: str


@dataclass
class Compactions:
    """Brings the two lines together, in either order. Where the usual report counts the call too, that one holds."""

    _open: dict[str, Compaction] = field(default_factory=dict)
    _made: set[str] = field(default_factory=set)

    def used(self, response: Any, counts: Counts, at: str) -> Compaction | None:
        """Note what a response used; the compaction where it is known to be one."""
        response_id = key(response)
        if response_id is None:
            return None
        found = Compaction(response_id, counts, at)
        if response_id in self._made:
            return found
        self._open[response_id] = found
        return None

    def made(self, response: Any) -> Compaction | None:
        """Note that a response was a compaction; what it used where that is known and not counted yet."""
        response_id = key(response)
        if response_id is None or response_id in self._made:
            return None
        self._made.add(response_id)
        return self._open.pop(response_id, None)

    def counted(self, last: Counts) -> None:
        """Note that a call with these counts was counted: it is none that is still to be told."""
        for response_id, found in list(self._open.items()):
            if found.counts == last:
                del self._open[response_id]
