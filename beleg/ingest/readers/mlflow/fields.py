"""Fields of MLflow's traces and spans, in all their versions."""

import base64
import binascii
import re
from collections.abc import Mapping
from typing import Any

from beleg.ingest.readers.events import Status, key, word
from beleg.ingest.readers.parsing import UNREADABLE, loads, member, parsed
from beleg.ingest.readers.traces import known_time, named_values
from beleg.trace.semconv import whole

Span = Mapping[str, Any]

STATES: dict[str, Status] = {"OK": "succeeded", "ERROR": "failed"}
"""State of a trace → how its run ended; one in progress has not."""
_DURATIONS = ("execution_duration_ms", "execution_duration", "execution_time_ms")
_LOCATED = re.compile(r"trace:/.*/([0-9a-f]{32})")


def objects(values: Any) -> list[Mapping[str, Any]]:
    """The objects of a list; some exports write each as JSON in a text."""
    return [one for one in map(parsed, values) if isinstance(one, Mapping)] if isinstance(values, list) else []


def attributes_of(span: Span) -> Mapping[str, Any]:
    """The attributes of a span."""
    found = span.get("attributes")
    return found if isinstance(found, Mapping) else {}


def decoded(value: Any) -> Any:
    """The value of an attribute: they are JSON in texts."""
    if not isinstance(value, str):
        return value
    found = loads(value)
    return value if found is UNREADABLE else found


def trace_id(info: Mapping[str, Any]) -> str | None:
    """A trace's id, wherever the version of the trace has it."""
    found = info.get("trace_id") or info.get("request_id")
    located = _LOCATED.fullmatch(found) if isinstance(found, str) else None
    return f"tr-{located[1]}" if located else key(found)


def own_trace_id(span: Span) -> str | None:
    """The id of the trace that a span belongs to, as the trace itself would have it."""
    found = _hex(span.get("otel_trace_id") or span.get("trace_id") or member(span, "context", "trace_id"))
    return found if found is None or found.startswith("tr-") else f"tr-{found}"


def span_id(span: Span) -> str | None:
    """A span's id."""
    return _hex(span.get("span_id") or member(span, "context", "span_id"))


def parent(span: Span) -> str | None:
    """Id of a span's parent; None for a root."""
    return _hex(span.get("parent_span_id") or span.get("parent_id"))


def _hex(value: Any) -> str | None:
    """An id in hexadecimal digits: version 3 writes its bytes as base64, version 2 with 0x before it."""
    if isinstance(value, str) and value.endswith("=") and len(value) in (12, 24):
        try:
            return base64.b64decode(value, validate=True).hex()
        except binascii.Error:
            return key(value)
    return key(value.removeprefix("0x") if isinstance(value, str) else value)


def moment(span: Span, name: str) -> str | None:
    """`start_time` or `end_time` of a span; None where there is none."""
    nanoseconds = span.get(f"{name}_unix_nano") or span.get(name)
    return known_time(nanoseconds, "ns")


def status_of(span: Span) -> Status:
    """How a span ended."""
    code = str(member(span, "status", "code") or span.get("status_code"))
    return "failed" if code in ("STATUS_CODE_ERROR", "ERROR", "2") else "succeeded"


def exception_class(span: Span) -> str | None:
    """Class of the exception that a span recorded; its message is payload."""
    kinds = (member(event, "attributes", "exception.type") for event in objects(span.get("events")))
    return next((found for kind in kinds if (found := word(decoded(kind)))), None)


def duration_ms(info: Mapping[str, Any]) -> int | None:
    """How long a trace took; None where it does not say."""
    took = next((v for n in _DURATIONS if (v := info.get(n)) is not None), None)
    if isinstance(took, str) and took.endswith("s"):  # protobuf's JSON: "1.234s"
        try:
            took = round(float(took[:-1]) * 1000)
        except (ValueError, OverflowError):
            return None
    took = whole(took)
    return took if took is not None and 0 <= took < 10**12 else None


def facts_of(info: Mapping[str, Any]) -> dict[str, Any]:
    """What a trace tells for its name."""
    told = info.get("trace_metadata") or info.get("request_metadata")
    metadata = {**(told if isinstance(told, dict) else {})}
    tags = info.get("tags")
    metadata |= tags if isinstance(tags, dict) else {}
    prompts = objects(decoded(metadata.get("mlflow.linkedPrompts")))
    prompt = prompts[0] if len(prompts) == 1 else {}
    experiment = member(info, "trace_location", "mlflow_experiment", "experiment_id") or info.get("experiment_id")
    return {
        "format": "mlflow",
        "trace": metadata.get("mlflow.traceName"),
        "project": experiment,
        "session": metadata.get("mlflow.trace.session"),
        "user": metadata.get("mlflow.trace.user"),
        "prompt.name": prompt.get("name"),
        "prompt.version": None if prompt.get("version") is None else str(prompt["version"]),
        **named_values("metadata", metadata),
    }
