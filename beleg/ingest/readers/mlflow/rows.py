"""Events of MLflow's traces and spans."""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from beleg.ingest.readers.events import WEAK, Maker, instant, milliseconds
from beleg.ingest.readers.item import Event
from beleg.ingest.readers.mlflow.call import call_of, kind_of
from beleg.ingest.readers.mlflow.fields import (
    STATES,
    Span,
    attributes_of,
    decoded,
    duration_ms,
    exception_class,
    facts_of,
    moment,
    objects,
    own_trace_id,
    parent,
    span_id,
    status_of,
    trace_id,
)
from beleg.ingest.readers.naming import Naming
from beleg.ingest.readers.traces import ROOT_REVISION, Told, Untold
from beleg.ingest.reasons import Refused, refuse
from beleg.trace.semconv import read_span


class Traces:
    """Makes the events of one file's traces."""

    def __init__(self, make: Maker, naming: Naming) -> None:
        self._make, self._naming = make, naming
        self._untold = Untold()
        self._shown: str | None = None
        """Run whose trace was shown last."""

    def trace(self, info: Any, spans: Any = None) -> Iterator[Event]:
        """The start and end of a trace. Its own usage is left alone: it adds up parents and children."""
        run_id = trace_id(info)
        if run_id is None:
            raise Refused(refuse("no_id"))
        root = next((span for span in objects(spans) if parent(span) is None), {})
        at = instant(info["request_time"]) if info.get("request_time") else instant(info.get("timestamp_ms"), "ms")
        facts = {**facts_of(info), "span": root.get("name")}
        named = self._naming.name(facts, count=not self._untold.told(run_id))
        status, took = STATES.get(str(info.get("state") or info.get("status"))), duration_ms(info)
        end = None if took is None else instant(datetime.fromisoformat(at) + timedelta(milliseconds=took))
        told = Told(run_id, at, end, named)
        payload = attributes_of(root)
        self._shown = run_id
        yield told.start(self._make, decoded(payload.get("mlflow.spanInputs")), facts["session"])
        if status is not None:
            yield from told.finish(self._make, status, decoded(payload.get("mlflow.spanOutputs")))

    def span(self, span: Any, run_id: str | None = None) -> Iterator[Event]:
        """A span: a step, and the run's start and end too where it is the root of a trace that is not told itself."""
        if not isinstance(span, Mapping) or "attributes" not in span:
            return
        attributes = {name: decoded(value) for name, value in attributes_of(span).items()}
        run_id = run_id or trace_id({"trace_id": attributes.get("mlflow.traceRequestId")}) or own_trace_id(span)
        identity, at, end = span_id(span), moment(span, "start_time"), moment(span, "end_time")
        if identity is None or run_id is None:
            raise Refused(refuse("no_id"))
        if at is None:
            raise Refused(refuse("no_time"))
        yield self._step(span, attributes, run_id, identity)
        if parent(span) is not None:
            self._untold.part(run_id, at)
        elif run_id != self._shown:
            facts = {"format": self._make.source, "span": span.get("name")}
            named = self._naming.name(facts, count=not self._untold.told(run_id))
            told = Told(run_id, at, end, named, ROOT_REVISION, is_part=True)
            yield told.start(self._make, attributes.get("mlflow.spanInputs"))
            yield from told.finish(self._make, status_of(span), attributes.get("mlflow.spanOutputs"))

    def rest(self) -> Iterator[Event]:
        """Starts of traces whose root is not in the file."""
        yield from self._untold.starts(self._make, self._naming)

    def _step(self, span: Span, attributes: dict[str, Any], run_id: str, identity: str) -> Event:
        at, end = moment(span, "start_time") or "", moment(span, "end_time")
        known = read_span(attributes, name="")
        kind = kind_of(attributes, known)
        name = span.get("name")
        return self._make.step(
            run_id,
            identity,
            at,
            kind,
            status_of(span),
            call=call_of(attributes, known, kind),
            parent_step_id=parent(span),
            name=name,
            tool_name=(known.tool_name or name) if kind == "tool" else None,
            exception_class=exception_class(span),
            latency_ms=milliseconds(at, end) if kind != "other" else None,
            input=attributes.get("mlflow.spanInputs"),
            output=attributes.get("mlflow.spanOutputs"),
            revision=WEAK if end is None else None,
        )
