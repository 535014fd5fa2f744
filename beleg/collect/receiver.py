"""Takes export requests: spans become events, events become lines of the spool, and only then are they acknowledged."""

import threading
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from beleg.ingest.foreign import judged
from beleg.ingest.judge import Judge
from beleg.ingest.readers.events import Maker
from beleg.ingest.readers.naming import Naming
from beleg.ingest.readers.otlp import Tree, items_of
from beleg.ingest.reasons import Refusal
from beleg.trace.spool import reason_of


class NotWrittenError(Exception):
    """The spool did not take the events: nothing may be acknowledged, the sender is to try again."""


@dataclass(frozen=True)
class Taken:
    """What became of one request."""

    spans: int
    """Spans whose events were written, or that tell nothing of a run."""
    rejected: Mapping[str, int] = field(default_factory=dict)
    """Reason → spans refused for good: sending them again changes nothing."""


@dataclass
class Totals:
    """What a receiver has done since it started."""

    requests: int = 0
    spans: int = 0
    events: int = 0
    rejected: Counter[str] = field(default_factory=Counter)
    failed_writes: Counter[str] = field(default_factory=Counter)


class Receiver:
    """Turns export requests into lines of the spool; safe for threads."""

    def __init__(self, write: Callable[[bytes], None], judge: Judge, naming: Naming) -> None:
        self.totals = Totals()
        self._write, self._judge, self._naming = write, judge, naming
        self._make, self._tree = Maker("otlp"), Tree()
        self._lock = threading.Lock()

    def take(self, request: Mapping[str, Any]) -> Taken:
        """Take a decoded request. Raises NotWrittenError where the spool refuses; nothing is then counted."""
        with self._lock:
            items = list(items_of(request, self._make, self._naming, self._tree))
            rejected = Counter(found.refusal.reason for found in items if found.refusal is not None)
            lines: list[bytes] = []
            for _, verdict in judged(self._judge, [found for found in items if found.events]):
                if isinstance(verdict, Refusal):
                    rejected[verdict.reason] += 1
                else:
                    lines += [line for _, line in verdict]
            self._store(lines)
            spans = len(items) - rejected.total()
            self._count(spans, len(lines), rejected)
        return Taken(spans, rejected)

    def _store(self, lines: list[bytes]) -> None:
        """One write for a request, so that it is taken whole or, but for a full disk, not at all."""
        if not lines:
            return
        try:
            self._write(b"\n".join([*lines, b""]))
        except OSError as error:
            reason = reason_of(error)
            self.totals.failed_writes[reason] += 1
            raise NotWrittenError(reason) from error

    def _count(self, spans: int, events: int, rejected: Counter[str]) -> None:
        self.totals.requests += 1
        self.totals.spans += spans
        self.totals.events += events
        self.totals.rejected += rejected
