"""A span of OTLP/JSON, decoded: ids, times and attributes as Python values."""

import base64
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from beleg.ingest.readers.events import Status, instant, milliseconds
from beleg.ingest.readers.otlp.facts import Facts, facts_of
from beleg.ingest.reasons import Refused, refuse
from beleg.trace.semconv import SpanReading, read_span, with_events

_REMOTE = 0x300
"""Bits of `flags`: it is known whether the parent is remote, and it is."""
_ERROR = 2


@dataclass(slots=True)
class Scope:
    """Who wrote the spans, and about what."""

    resource: dict[str, Any] = field(default_factory=dict)
    name: str | None = None
    version: str | None = None
    schema_url: str | None = None


@dataclass(slots=True)
class Span:
    """One span. `attributes` holds payload: it is emptied before a span is kept beyond its request."""

    trace_id: str
    span_id: str
    parent_id: str | None
    is_remote: bool
    """True where its parent is a span of another process."""
    name: str
    start: str
    end: str
    duration_ms: int | None
    status: Status
    exception_class: str | None
    scope: Scope
    attributes: Mapping[str, Any]
    reading: SpanReading
    facts: Facts = field(default_factory=dict)
    """What it tells for naming its run; of steps and roots."""

    @property
    def is_root(self) -> bool:
        """True where nothing of its process stands above it."""
        return self.parent_id is None or self.is_remote

    @property
    def is_step(self) -> bool:
        """True for a span of a GenAI convention."""
        return self.reading.operation is not None

    @property
    def step_id(self) -> str:
        """Span ids are unique within their trace only."""
        return f"{self.trace_id}-{self.span_id}"

    @property
    def parent_step_id(self) -> str | None:
        """The id its parent has, or would have, as a step."""
        return None if self.parent_id is None else f"{self.trace_id}-{self.parent_id}"


def scopes(resource_spans: Any) -> Iterator[tuple[Scope, list[Any]]]:
    """Each scope of an element of `resourceSpans` with its spans. Raises the errors of a wrong shape."""
    resource = attributes_of(_object(resource_spans.get("resource")).get("attributes"))
    for part in _list(resource_spans.get("scopeSpans")):
        scope = _object(part.get("scope"))
        schema = part.get("schemaUrl") or resource_spans.get("schemaUrl")
        yield (
            Scope(resource, _text(scope.get("name")), _text(scope.get("version")), _text(schema)),
            _list(part.get("spans")),
        )


def span_of(raw: Any, scope: Scope) -> Span:
    """Decode a span. Raises Refused, or the errors of a wrong shape."""
    given = attributes_of(raw.get("attributes"))
    events = [(_text(e.get("name")) or "", attributes_of(e.get("attributes"))) for e in _list(raw.get("events"))]
    attributes, name = with_events(given, events), _text(raw.get("name")) or ""
    start, end = raw.get("startTimeUnixNano"), raw.get("endTimeUnixNano")
    has_end = end not in (None, 0, "0", "")
    started, parent = instant(start, "ns"), _id(raw.get("parentSpanId"), 8)
    span = Span(
        trace_id=_needed(_id(raw.get("traceId"), 16)),
        span_id=_needed(_id(raw.get("spanId"), 8)),
        parent_id=parent,
        is_remote=parent is not None and int(raw.get("flags") or 0) & _REMOTE == _REMOTE,
        name=name,
        start=started,
        end=instant(end, "ns") if has_end else started,
        duration_ms=milliseconds(start, end, "ns") if has_end else None,
        status="failed" if _object(raw.get("status")).get("code") in (_ERROR, "STATUS_CODE_ERROR") else "succeeded",
        exception_class=_exception_class(attributes, events),
        scope=scope,
        attributes=attributes,
        reading=read_span(attributes, scope=scope.name, name=name, schema_url=scope.schema_url),
    )
    if span.is_step or span.is_root:
        span.facts = facts_of(attributes, scope.resource)
    return span


def _exception_class(attributes: Mapping[str, Any], events: list[tuple[str, dict[str, Any]]]) -> str | None:
    """The class of the exception, never its message; `error.type` is a code where nothing was raised."""
    raised = [found.get("exception.type") for name, found in events if name == "exception"]
    return _text(raised[-1] if raised else attributes.get("error.type"))


def attributes_of(pairs: Any) -> dict[str, Any]:
    """Attributes as a dict; of a key that comes twice the last value counts."""
    return {pair["key"]: value_of(pair.get("value")) for pair in _list(pairs) if isinstance(pair.get("key"), str)}


def value_of(value: Any) -> Any:
    """An attribute's value. Numbers come as text at times, and NaN as nothing."""
    if not isinstance(value, dict) or not value:
        return None
    kind, content = next(iter(value.items()))
    read = _VALUES.get(kind)
    return content if read is None else read(content)


_VALUES: dict[str, Callable[[Any], Any]] = {
    "intValue": lambda content: int(content) if isinstance(content, str) else content,
    "doubleValue": lambda content: float(content) if isinstance(content, str) else content,
    "arrayValue": lambda content: [value_of(item) for item in _list(_object(content).get("values"))],
    "kvlistValue": lambda content: attributes_of(_object(content).get("values")),
    "bytesValue": lambda content: base64.b64decode(content, validate=True) if isinstance(content, str) else content,
}


def _id(value: Any, size: int) -> str | None:
    """An id in lower-case hex, be it written in hex or, as plain protobuf JSON does, in base64. None for none."""
    if value is None or value == "":
        return None
    if not isinstance(value, str):
        raise TypeError
    data = bytes.fromhex(value) if len(value) == 2 * size else base64.b64decode(value, validate=True)
    if len(data) != size:
        raise ValueError
    return data.hex() if any(data) else None


def _needed(value: str | None) -> str:
    if value is None:
        raise Refused(refuse("no_id"))
    return value


def _list(value: Any) -> list[Any]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise TypeError
    return value


def _object(value: Any) -> dict[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise TypeError
    return value


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
