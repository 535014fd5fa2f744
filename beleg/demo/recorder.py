"""Takes events as they happen and puts them on file the way the world does: late, twice, corrected."""

import logging
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from random import Random
from typing import TypeVar

import orjson

from beleg.demo.company import DAY_US, HOUR_US, OCR, START_US
from beleg.demo.copilot import Copilot
from beleg.demo.events import Event, instant, uuid7
from beleg.demo.spool import WORKERS, Spool
from beleg.demo.tally import Tally
from beleg.trace import runtime as tracer
from beleg.trace.clock import Clock
from beleg.trace.faults import Faults
from beleg.trace.runtime import Runtime
from beleg.trace.settings import TraceSettings

T = TypeVar("T")
_LATE, _TWICE, _REVISED = 0.004, 0.004, 0.002
"""Share of events that arrive days later, that arrive twice, whose first version was wrong."""
_LINE = {
    "type": "object",
    "required": ["rate_percent", "net_cents", "tax_cents"],
    "properties": {
        "rate_percent": {"enum": ["19", "7", "0"]},
        "net_cents": {"type": "integer"},
        "tax_cents": {"type": "integer"},
    },
}
STORED_VALUES = {OCR.name: {"type": ["array", "string"], "maxItems": 10, "items": _LINE, "maxLength": 200}}
"""Workflow → form of corrected values that are kept: here tax lines, or a name."""
_FIGURES = {"step": "latency_ms", "run_finished": "duration_ms"}
"""Events that are corrected now and then, and what was wrong with them."""


def _is_unplanned(record: logging.LogRecord) -> bool:
    """The founder's tool list is past fifty on purpose: figures show it, no message need."""
    return "past %d" not in record.msg


class Recorder:
    """The one place every event passes; also the clock of the demo, and what its runs share."""

    def __init__(self, rng: Random, spool: Spool, tally: Tally, *, runs: int, end_us: int) -> None:
        self.rng = rng
        self.tally = tally
        self.now_us = START_US
        """The present, in microseconds since 1970."""
        self.last: Event = {}
        """The event recorded last."""
        self.copilot = Copilot()
        self._end = instant(end_us)
        self._end_us = end_us
        self._spool = spool
        self._runs = runs
        self._day_of = {instant(day)[:10]: (day - START_US) // DAY_US for day in range(START_US, end_us, DAY_US)}

    @property
    def runs_left(self) -> int:
        """Runs still to be made."""
        return self._runs - self.tally.runs

    @property
    def is_over(self) -> bool:
        """True beyond the end of the demo: what comes now has not happened yet."""
        return self.now_us >= self._end_us

    def chance(self, share: float) -> bool:
        """True for that share of calls."""
        return self.rng.random() < share

    def between(self, least: int, most: int) -> int:
        """A whole number from `least` to `most`, both included."""
        return least + int(self.rng.random() * (most - least + 1))

    def one_of(self, things: Sequence[T], shares: Sequence[int]) -> T:
        """One of some things, each as often as its share says."""
        return self.rng.choices(things, shares)[0]

    @contextmanager
    def later(self, wait_us: int) -> Generator[None]:
        """The clock some time on; afterwards it is put back."""
        self.now_us += wait_us
        yield
        self.now_us -= wait_us

    @contextmanager
    def traced(self) -> Generator[None]:
        """Let the tracer write here, with this clock; a fault of its own raises."""
        mine = Runtime(
            TraceSettings(),
            self._take,
            Faults(strict=True),
            clock=Clock(self._now_ns, self._now_ns),
            new_id=self._new_id,
            stored_values=STORED_VALUES,
            keyed=False,
        )
        tracer.push(mine)
        agent = logging.getLogger("beleg.agent")
        agent.addFilter(_is_unplanned)
        try:
            yield
        finally:
            agent.removeFilter(_is_unplanned)
            tracer.pop(mine)

    def put(self, event: Event) -> None:
        """Record an event that does not come from the tracer."""
        self._put(event, orjson.dumps(event, option=orjson.OPT_APPEND_NEWLINE))

    def _take(self, line: bytes) -> None:
        self._put(orjson.loads(line), line)

    def _now_ns(self) -> int:
        return self.now_us * 1000

    def _new_id(self) -> str:
        return uuid7(self.now_us, self.rng)

    def _put(self, event: Event, line: bytes) -> None:
        if event["event_time"] >= self._end:
            return
        day = self._day_of[event["event_time"][:10]]
        arrival = day + self.between(1, 4) if self.chance(_LATE) else day
        # A run belongs to one worker, whose file holds all of it.
        worker = int(event.get("run_id", "0")[-1], 16) % WORKERS
        figure = _FIGURES.get(event["event"])
        if figure in event and self.chance(_REVISED):
            self._write_revised({**event, figure: event[figure] + self.between(1, 500)}, line, arrival, worker)
        else:
            self._write_once_or_twice(line, arrival, worker)
        self.tally.events[event["event"]] += 1
        self.last = event

    def _write_once_or_twice(self, line: bytes, day: int, worker: int) -> None:
        self._spool.write(line, day, worker)
        if self.chance(_TWICE):
            self._spool.write(line, day + 1, worker)
            self.tally.duplicates += 1

    def _write_revised(self, revised: Event, line: bytes, day: int, worker: int) -> None:
        """Write two versions, in any order."""
        revised["revision"] = instant(self.now_us + self.between(1, 20) * HOUR_US)
        newer_day = self.between(0, 1)
        self._spool.write(line, day + 1 - newer_day, worker)
        self._spool.write(orjson.dumps(revised, option=orjson.OPT_APPEND_NEWLINE), day + newer_day, worker)
        self.tally.superseded += 1
