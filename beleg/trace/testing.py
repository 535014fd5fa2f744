"""For tests of applications that trace: capture events in memory, with fixed ids and a fixed clock.

    with beleg.testing.capture() as captured:
        categorise(invoice)
    run = captured.only_run("categorisation")
    assert run.status == "succeeded"
    assert run.units == {"transaction": 3}

Inside, nothing touches the disk, and a fault of the tracer's (a label not allowed, a payload without
fingerprint, an artifact without shape) raises instead of being counted.
"""

import itertools
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

from beleg.trace import runtime as runtime_module
from beleg.trace.clock import Clock
from beleg.trace.faults import Faults
from beleg.trace.ids import IdGenerator
from beleg.trace.keys import KeyRing
from beleg.trace.runtime import Runtime
from beleg.trace.settings import TraceSettings

EPOCH_NS = 1_893_456_000_000_000_000
"""The fixed clock starts at 2030-01-01T00:00:00Z, obviously no real date."""
TICK_NS = 1_000_000
"""Each reading of the stopwatch is one millisecond later than the last."""


@dataclass
class CapturedRun:
    """The events of one run, put together."""

    run_id: str
    started: dict[str, Any] = field(default_factory=dict)
    finished: dict[str, Any] | None = None
    steps: list[dict[str, Any]] = field(default_factory=list)
    artifacts: list[dict[str, Any]] = field(default_factory=list)
    states: list[str] = field(default_factory=list)
    """What `run_status` events said, in order."""

    @property
    def status(self) -> str:
        """As a receipt shows it: running, needs_input, succeeded, failed or cancelled."""
        if self.finished is not None:
            return str(self.finished["status"])
        return self.states[-1] if self.states else "running"

    @property
    def workflow(self) -> str | None:
        """Workflow of the run; None where its start was not captured."""
        return self.started.get("workflow")

    @property
    def units(self) -> dict[str, int]:
        """Business results by kind."""
        return dict((self.finished or {}).get("units", {}))

    @property
    def latency_ms(self) -> int:
        """Sum over the steps."""
        return sum(step.get("latency_ms") or 0 for step in self.steps)

    def tokens(self, bucket: str) -> int:
        """Sum of a token bucket over the steps."""
        return sum((step.get("buckets") or {}).get(bucket) or 0 for step in self.steps)


class Captured:
    """What was traced inside the block."""

    def __init__(self) -> None:
        self.lines: list[bytes] = []
        self.faults = Faults(strict=True)

    @property
    def events(self) -> list[dict[str, Any]]:
        """All events, in the order they were written."""
        return [json.loads(line) for line in self.lines]

    def of(self, event: str) -> list[dict[str, Any]]:
        """Events of one type."""
        return [e for e in self.events if e["event"] == event]

    @property
    def runs(self) -> list[CapturedRun]:
        """All runs, in the order of their first events."""
        return list(assemble(self.events).values())

    def only_run(self, workflow: str | None = None) -> CapturedRun:
        """The one run (of that workflow); raises AssertionError saying what there was instead."""
        found = [run for run in self.runs if workflow is None or run.workflow == workflow]
        if len(found) != 1:
            names = [run.workflow for run in self.runs]
            raise AssertionError(f"expected one run of workflow {workflow!r}, captured {names}")
        return found[0]

    def assert_no_trace_of(self, *texts: str) -> None:
        """Raise AssertionError if one of the texts stands in any event: nothing of a payload may."""
        for line in self.lines:
            for text in texts:
                if text.encode() in line or json.dumps(text)[1:-1].encode() in line:
                    raise AssertionError(f"{text!r} stands in a {json.loads(line)['event']} event")


class capture:  # noqa: N801 - reads as a function
    """Capture events in memory while the block runs; see the module for an example."""

    def __init__(
        self,
        *,
        labels: Iterable[str] = (),
        strict: bool = True,
        keys: KeyRing | None = None,
        stored_values: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        self._captured = Captured()
        self._captured.faults.strict = strict
        ring = keys or KeyRing()
        clock = FixedClock()
        numbers = itertools.count(1)
        self._runtime = Runtime(
            TraceSettings(labels=frozenset(labels)),
            self._captured.lines.append,
            self._captured.faults,
            clock=clock.clock,
            new_id=IdGenerator(clock.wall_ns, lambda _bits: next(numbers)),
            stored_values=stored_values or {},
            keys=lambda: ring,
        )

    def __enter__(self) -> Captured:
        """Start capturing."""
        runtime_module.push(self._runtime)
        return self._captured

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Back to what was before."""
        runtime_module.pop(self._runtime)


class FixedClock:
    """A clock that moves only when it is told to, and a stopwatch that ticks at each look."""

    def __init__(self, start_ns: int = EPOCH_NS, tick_ns: int = TICK_NS) -> None:
        self.now_ns = start_ns
        self._ticks = itertools.count(0, tick_ns)
        self.clock = Clock(self.wall_ns, self._ticks.__next__)

    def wall_ns(self) -> int:
        """The fixed instant."""
        return self.now_ns


def assemble(events: Iterable[Mapping[str, Any]]) -> dict[str, CapturedRun]:
    """Put the events of runs together, by run id."""
    runs: dict[str, CapturedRun] = {}
    for event in events:
        run_id = event.get("run_id")
        if run_id is not None:
            _take(runs.setdefault(run_id, CapturedRun(run_id)), dict(event))
    return runs


def _take(run: CapturedRun, event: dict[str, Any]) -> None:
    match event["event"]:
        case "run_started":
            run.started = event
        case "run_finished":
            run.finished = event
        case "run_status":
            run.states.append(event["status"])
        case "step":
            run.steps.append(event)
        case "artifact":
            run.artifacts.append(event)
