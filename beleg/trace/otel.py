"""A span processor: applications that already use OpenTelemetry get receipts without new call sites.

    from beleg.trace.otel import BelegSpanProcessor
    provider.add_span_processor(BelegSpanProcessor())

Spans of any GenAI convention become events in this process; payloads are fingerprinted or dropped before
anything leaves it. It needs nothing of OpenTelemetry's: the SDK calls its methods by name.
"""

import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from beleg.trace import context, policy
from beleg.trace.call import Call, call_fields
from beleg.trace.clock import milliseconds, timestamp
from beleg.trace.events import line, members
from beleg.trace.run import Run
from beleg.trace.runtime import Runtime, runtime
from beleg.trace.semconv import SpanReading, payloads, read_span, with_events

_MAX_TRACES = 10_000
_KINDS = {"model": "model", "tool": "tool", "retrieval": "retrieval"}


@dataclass
class _Trace:
    """What is known of a trace that began here and has no run of Beleg's own."""

    steps: int = 0
    calls: int = 0


class BelegSpanProcessor:
    """Turns GenAI spans into steps.

    Inside a `traced_agent_run` they are steps of that run. Elsewhere a trace is a run: its first span here
    gives the workflow (`gen_ai.workflow.name`, the agent's name, else `workflow`) and its times.
    """

    def __init__(self, *, workflow: str = "otel") -> None:
        self._workflow = workflow
        self._runs: dict[int, Run] = {}
        self._traces: OrderedDict[int, _Trace] = OrderedDict()
        self._lock = threading.Lock()

    def on_start(self, span: Any, parent_context: Any = None) -> None:  # noqa: ARG002 - OpenTelemetry's signature
        """Remember the run the span began in; it may end elsewhere."""
        run = context.current.get()
        if run is not None and run.runtime is not None:
            self._runs[span.context.span_id] = run

    def _on_ending(self, span: Any) -> None:
        """A hook of newer SDKs; nothing to do."""

    def on_end(self, span: Any) -> None:
        """Write the span's events; never raises."""
        found = runtime()
        if found is None:
            self._runs.clear()
            return
        try:
            self._end(found, span)
        except Exception as error:  # noqa: BLE001 - nothing of ours may reach the caller
            found.faults.note("span", error)

    def shutdown(self) -> None:
        """Nothing is buffered."""

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Nothing is buffered."""
        return timeout_millis >= 0

    def _end(self, found: Runtime, span: Any) -> None:
        attributes = _attributes(span)
        scope = span.instrumentation_scope
        names = {"scope": getattr(scope, "name", None), "schema_url": getattr(scope, "schema_url", None)}
        reading = read_span(attributes, name=span.name or "", **names)
        run = self._runs.pop(span.context.span_id, None)
        with self._lock:
            trace = self._traces.setdefault(span.context.trace_id, _Trace())
            while len(self._traces) > _MAX_TRACES:
                self._traces.popitem(last=False)
        if reading.operation is not None:
            shared = members({"run_id": _trace_id(span)}) if run is None else run.shared
            trace.steps += 1
            found.emit(line("step", shared, _step(found, span, attributes, reading, _call(reading, trace))))
        is_root = span.parent is None or getattr(span.parent, "is_remote", False)
        if is_root:
            with self._lock:
                self._traces.pop(span.context.trace_id, None)
            if run is None and trace.steps:
                self._write_run(found, span, reading)

    def _write_run(self, found: Runtime, span: Any, reading: SpanReading) -> None:
        run_id = _trace_id(span)
        workflow = reading.workflow or self._workflow
        if not policy.is_key(workflow, 200):
            workflow = "otel"
        started = {"event_id": run_id, "event_time": timestamp(span.start_time), "workflow": workflow}
        started["purpose"] = "production"
        if reading.conversation_id is not None and policy.is_key(reading.conversation_id, 200):
            started["conversation_id"] = reading.conversation_id
        finished = {
            "event_id": f"{run_id}-end",
            "event_time": timestamp(span.end_time),
            "status": "failed" if _failed(span) else "succeeded",
            "duration_ms": milliseconds(span.end_time - span.start_time),
        }
        shared = members({"run_id": run_id})
        found.emit(line("run_started", shared, started))
        found.emit(line("run_finished", shared, finished))


def _call(reading: SpanReading, trace: _Trace) -> Call:
    """What the span reports of a call; nothing where its usage repeats that of the spans below."""
    if reading.is_rollup and trace.calls:
        return Call()
    reported = reading.call.reported
    if reported.input is not None or reported.output is not None:
        trace.calls += 1
    return reading.call


def _step(found: Runtime, span: Any, attributes: Mapping[str, Any], reading: SpanReading, call: Call) -> dict[str, Any]:
    step_id = f"{_trace_id(span)}-{span.context.span_id:016x}"
    fields: dict[str, Any] = {
        "event_id": step_id,
        "event_time": timestamp(span.start_time),
        "step_id": step_id,
        "kind": _KINDS.get(reading.operation or "", "other"),
        "status": "failed" if _failed(span) else "succeeded",
    }
    if not reading.is_rollup:  # the time of its calls would count twice
        fields["latency_ms"] = milliseconds((span.end_time or span.start_time) - span.start_time)
    described, refused = call_fields(call)
    fields.update(described)
    for name in refused:
        found.faults.note(f"refused_{name}", policy.PolicyError(f"{name} of a span is no word; left out"))
    words = {"name": span.name, "tool_name": reading.tool_name, "exception_class": _exception_class(span, attributes)}
    fields.update({n: v for n, v in words.items() if isinstance(v, str) and policy.is_key(v, 200)})
    fields.update(_payload_hashes(found, attributes))
    return fields


def _attributes(span: Any) -> Mapping[str, Any]:
    return with_events(span.attributes or {}, [(event.name, event.attributes or {}) for event in span.events or ()])


def _exception_class(span: Any, attributes: Mapping[str, Any]) -> Any:
    raised = [
        (event.attributes or {}).get("exception.type") for event in span.events or () if event.name == "exception"
    ]
    return raised[-1] if raised else attributes.get("error.type")


def _payload_hashes(found: Runtime, attributes: Mapping[str, Any]) -> dict[str, str]:
    values = zip(("input_hash", "output_hash"), payloads(attributes), strict=True)
    digests = {field: found.fingerprint(value) for field, value in values if value is not None}
    return {field: digest.digest for field, digest in digests.items() if digest is not None}


def _trace_id(span: Any) -> str:
    return f"{span.context.trace_id:032x}"


def _failed(span: Any) -> bool:
    return getattr(span.status.status_code, "name", "") == "ERROR"
