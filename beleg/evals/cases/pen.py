"""Writes down what people decide: events of one decision in one write, on disk before anybody is told so."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from beleg.core.errors import UsageError
from beleg.core.settings import Settings
from beleg.evals.cases.decisions import Verdict
from beleg.trace.clock import Clock, timestamp
from beleg.trace.events import line
from beleg.trace.ids import new_id
from beleg.trace.spool import Spool

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
MOST_BY, MOST_WHY = 200, 1000


@dataclass(frozen=True)
class Person:
    """Who decides, and why. `by` is a name, a role or a fingerprint: it stands in files under `evals/`."""

    by: str
    why: str

    def __post_init__(self) -> None:
        """Raise UsageError for one that says neither."""
        for name, text, most in (("--by", self.by, MOST_BY), ("--why", self.why, MOST_WHY)):
            if not text.strip() or len(text) > most or _CONTROL.search(text):
                raise UsageError(f"{name} {text[:40]!r}: write 1 to {most} characters on one line")


@dataclass
class Pen:
    """Collects the events of a decision; nothing is written before `write`."""

    settings: Settings
    new_id: Callable[[], str] = new_id
    clock: Clock = field(default_factory=Clock)
    lines: list[bytes] = field(default_factory=list)

    def __post_init__(self) -> None:
        """All events of one decision are of one instant."""
        self.at = timestamp(self.clock.wall_ns())

    def review(
        self,
        subject: str,
        verdict: Verdict,
        who: Person,
        labels: Mapping[str, str] | None = None,
        *,
        tenant: Any = None,
    ) -> str:
        """A decision on a subject; returns its event id."""
        told = {"subject": subject, "decision": verdict, "by": who.by, "why": who.why}
        return self._event("review", self.new_id(), {**told, "labels": dict(labels or {}) or None, "tenant": tenant})

    def correction(self, fields: Mapping[str, Any]) -> str:
        """A correction; returns its id."""
        id_ = self.new_id()
        return self._event("correction", id_, {**fields, "correction_id": id_})

    def _event(self, event: str, event_id: str, fields: Mapping[str, Any]) -> str:
        # What is not known is left out; that null is right is known.
        known = {name: value for name, value in fields.items() if value is not None or name == "expected"}
        self.lines.append(line(event, b"", {"event_id": event_id, "event_time": self.at, **known}))
        return event_id

    def write(self) -> int:
        """Append all events to the spool with a single write; returns how many. Raises OSError where it cannot."""
        spool = Spool(self.settings.spool, sync=True)
        spool.write(b"".join(self.lines))
        spool.seal()
        return len(self.lines)
