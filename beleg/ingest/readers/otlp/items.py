"""Spans of one export request as items: each span is kept or refused whole."""

from collections.abc import Iterator, Mapping
from typing import Any

from beleg.ingest.readers.events import WEAK, Kind, Maker, earlier_wins
from beleg.ingest.readers.item import Event, Item, Origin, attempt, item
from beleg.ingest.readers.langfuse.usage import reported as langfuse_reported
from beleg.ingest.readers.naming import Naming
from beleg.ingest.readers.otlp.facts import resource_facts
from beleg.ingest.readers.otlp.span import Scope, Span, scopes, span_of
from beleg.ingest.readers.otlp.tree import Trace, Tree
from beleg.ingest.readers.parsing import parsed
from beleg.ingest.readers.traces import ROOT_REVISION, Told, provider, source_cost
from beleg.ingest.reasons import Refusal
from beleg.trace.call import Call
from beleg.trace.semconv import payloads
from beleg.trace.usage_view import figures, plain

_KINDS: dict[str, Kind] = {"model": "model", "tool": "tool", "retrieval": "retrieval"}


def items_of(
    request: Mapping[str, Any], make: Maker, naming: Naming, tree: Tree, origin: Origin | None = None
) -> Iterator[Item]:
    """The items of an export request in the form of OTLP/JSON, one for each span.

    `tree` carries what is known of traces from one request to the next; `origin` is where the request stands
    in its file.
    """
    found = list(_decoded(request, origin or Origin(0, 0)))
    tree.note(span for _, span in found if isinstance(span, Span))
    spans = _Spans(make, naming, tree)
    for where, span in found:
        yield Item(where, refusal=span) if isinstance(span, Refusal) else item(where, spans.events, span)
    tree.trim()


def _decoded(request: Mapping[str, Any], origin: Origin) -> Iterator[tuple[Origin, Span | Refusal]]:
    number = origin.number
    parts = request.get("resourceSpans")
    for part in parts if isinstance(parts, list) else () if parts is None else (parts,):
        groups = attempt(scopes, part)
        if isinstance(groups, Refusal):
            number += 1
            yield Origin(origin.byte_offset, number, None, part), groups
            continue
        for scope, raw_spans in groups:
            for raw in raw_spans:
                number += 1
                made = attempt(_one, raw, scope)
                yield Origin(origin.byte_offset, number, None, raw), made if isinstance(made, Refusal) else made[0]


def _one(raw: Any, scope: Scope) -> tuple[Span]:
    return (span_of(raw, scope),)


class _Spans:
    """Makes the events of spans."""

    def __init__(self, make: Maker, naming: Naming, tree: Tree) -> None:
        self._make, self._naming, self._tree = make, naming, tree

    def events(self, span: Span) -> Iterator[Event]:
        """A span's step, the steps above it that it shows to be such, and its run where it is the root of one."""
        trace = self._tree.trace(span.trace_id)
        wanted = self._tree.is_wanted(trace, span)
        if span.is_step:
            yield self._step(span)
            yield from self._above(trace, span)
            yield from self._waiting(trace)
            yield from self._guessed(trace, span)
        elif wanted and span.parent_id is not None:
            yield self._link(span)
            yield from self._above(trace, span)
        else:
            self._tree.keep(trace, span)
        if span.is_root:
            yield from self._run(trace, span)

    def _step(self, span: Span) -> Event:
        given, answered = payloads(span.attributes)
        return self._make.step(
            span.trace_id,
            span.step_id,
            span.start,
            _KINDS.get(span.reading.operation or "", "other"),
            span.status,
            call=_call(span),
            name=span.name,
            parent_step_id=span.parent_step_id,
            tool_name=span.reading.tool_name,
            exception_class=span.exception_class,
            latency_ms=None if span.reading.is_rollup else span.duration_ms,
            input=given,
            output=answered,
        )

    def _above(self, trace: Trace, span: Span) -> Iterator[Event]:
        yield from (self._link(parent) for parent in self._tree.above(trace, span))

    def _link(self, span: Span) -> Event:
        """A span between steps: it has no usage of its own and only holds the tree together."""
        return self._make.step(
            span.trace_id, span.step_id, span.start, "other", span.status, name=span.name,
            parent_step_id=span.parent_step_id, exception_class=span.exception_class,
        )  # fmt: skip

    def _waiting(self, trace: Trace) -> Iterator[Event]:
        """The runs of roots that came before the trace was known to have a step."""
        roots, trace.roots = trace.roots, []
        for root in roots:
            yield from self._run(trace, root)

    def _run(self, trace: Trace, root: Span) -> Iterator[Event]:
        """The run as its root tells it; a root below a span of another process is outranked by that one's."""
        if not trace.has_steps:
            trace.roots.append(root)
            return
        told = {name: value for name, (_, value) in trace.facts.items()} | root.facts
        named = self._naming.name(self._facts(told, root), count=not trace.is_named)
        trace.is_named = True
        revision = earlier_wins(root.start, ROOT_REVISION) if root.is_remote else None
        run = Told(root.trace_id, root.start, root.end, named, revision)
        given, answered = payloads(root.attributes)
        yield run.start(self._make, given, told.get("session"))
        yield from run.finish(self._make, root.status, answered)

    def _guessed(self, trace: Trace, span: Span) -> Iterator[Event]:
        """A start of the run for as long as no root tells one: the earliest step's, in whatever order they come."""
        revision = earlier_wins(span.start, WEAK)
        if trace.is_rooted or span.is_root or (trace.guessed is not None and trace.guessed > revision):
            return
        trace.guessed = revision
        named = self._naming.name(self._facts(span.facts, span), count=False)
        yield self._make.run_started(span.trace_id, span.start, named, revision=revision)

    def _facts(self, told: Mapping[str, Any], span: Span) -> dict[str, Any]:
        resource = span.scope.resource
        own = {"format": self._make.source, "span": span.name, "service": resource.get("service.name")}
        return {**resource_facts(resource), **told, **own, "scope": span.scope.name}


def _call(span: Span) -> Call:
    """The call of a span; what Langfuse's SDK counted is asked where no convention tells."""
    call = span.reading.call
    usage = _figures(span.attributes.get("langfuse.observation.usage_details"))
    if not usage or call.reported.input is not None or call.reported.output is not None:
        return call
    call.provider = call.provider or provider(None, call.model)
    call.reported = langfuse_reported(usage)
    cost = _figures(span.attributes.get("langfuse.observation.cost_details")).get("total")
    call.raw_usage = {**call.raw_usage, **usage, **source_cost(cost, usage)}
    return call


def _figures(text: Any) -> dict[str, Any]:
    return figures(plain(parsed(text)))
