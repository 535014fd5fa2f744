"""What is remembered between the spans of a trace, in bounded memory.

A step names its parent, be that a GenAI span or not. A span of neither kind becomes a step of its own as
soon as a step names it, so that the path from a call up to the agent that repeats its usage has no gap; but
for the root, which is the run itself.
Spans end before their parents and come in that order; those that come the other way round are kept here for
a while. So each step depends on its own span alone, and the order in which spans arrive changes none.
"""

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from beleg.ingest.readers.otlp.span import Span


@dataclass(slots=True)
class Trace:
    """What is known of one trace."""

    wanted: set[str] = field(default_factory=set)
    """Spans that a step names as its parent and that have not come yet."""
    passed: dict[str, Span] = field(default_factory=dict)
    """Spans that came and are no steps so far."""
    facts: dict[str, tuple[str, Any]] = field(default_factory=dict)
    """Fact → start of the earliest span that told it, and what it told."""
    roots: list[Span] = field(default_factory=list)
    """Roots among `passed`, which become the run once the trace has a step."""
    has_steps: bool = False
    is_rooted: bool = False
    """True once a span without a parent came."""
    guessed: str | None = None
    """Revision of the best guess of the run's start so far."""
    is_named: bool = False
    """True once a root was named: a trace is counted once among those that no rule names."""

    def learn(self, span: Span) -> None:
        """Note what a span tells of its trace; the earliest span decides."""
        self.has_steps = self.has_steps or span.is_step
        self.is_rooted = self.is_rooted or span.parent_id is None
        for name, value in span.facts.items():
            if name not in self.facts or span.start < self.facts[name][0]:
                self.facts[name] = (span.start, value)


class Tree:
    """The traces seen lately. Past `max_spans` the one that was quiet longest is forgotten."""

    def __init__(self, max_spans: int = 20_000) -> None:
        self._traces: OrderedDict[str, Trace] = OrderedDict()
        self._max_spans = max_spans
        self._held = 0

    def note(self, spans: Iterable[Span]) -> None:
        """Learn of the spans of a request before any of them is read: what they tell of each other is then known."""
        for span in spans:
            if span.is_step or span.is_root:
                self.trace(span.trace_id).learn(span)

    def trace(self, trace_id: str) -> Trace:
        """What is known of a trace, now the liveliest."""
        found = self._traces.get(trace_id)
        if found is None:
            found = self._traces[trace_id] = Trace()
            self._held += 1
        else:
            self._traces.move_to_end(trace_id)
        return found

    def above(self, trace: Trace, span: Span) -> Iterator[Span]:
        """Ask for the parent of a step; yields those above it that came already and are now steps too."""
        parent_id = span.parent_id
        while parent_id is not None and parent_id not in trace.wanted:
            parent = trace.passed.get(parent_id)
            if parent is None:
                trace.wanted.add(parent_id)
                self._held += 1
                return
            if parent.parent_id is None:
                return
            del trace.passed[parent_id]
            self._held -= 1
            yield parent
            parent_id = parent.parent_id

    def is_wanted(self, trace: Trace, span: Span) -> bool:
        """True, once, where a step named the span as its parent."""
        if span.span_id not in trace.wanted:
            return False
        trace.wanted.discard(span.span_id)
        self._held -= 1
        return True

    def keep(self, trace: Trace, span: Span) -> None:
        """Remember a span that is no step, without its payload."""
        if span.span_id not in trace.passed:
            self._held += 1
        span.attributes = {}
        trace.passed[span.span_id] = span

    def trim(self) -> None:
        """Forget what is too much."""
        while self._held > self._max_spans and self._traces:
            trace = next(iter(self._traces.values()))
            if len(self._traces) == 1 and trace.passed:
                del trace.passed[next(iter(trace.passed))]
                trace.roots.clear()
                self._held -= 1
                continue
            self._traces.popitem(last=False)
            self._held -= 1 + len(trace.wanted) + len(trace.passed)
