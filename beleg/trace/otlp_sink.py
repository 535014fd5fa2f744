"""Sends events as `gen_ai.*` spans to an existing OTLP backend (OTLP/HTTP with JSON).

A run is a trace, its steps are spans below the run's span. Ids are derived from Beleg's own, so that
sending a file again gives the same spans; OTLP backends drop such duplicates (the protocol allows them).
"""

import contextlib
import hashlib
import json
import urllib.error
import urllib.request
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from beleg.trace.events import SOURCE
from beleg.trace.ship import ShipError
from beleg.trace.usage import BUCKETS

_TIMEOUT_S = 30
SPANS = 2_000
"""Most spans in one request: well below the 20 MiB that collectors take."""
_OUTPUT_BUCKETS = ("output", "reasoning", "output_audio", "output_image")
_INPUT_BUCKETS = tuple(name for name in BUCKETS if name not in _OUTPUT_BUCKETS)
_OPERATIONS = {"model": "chat", "tool": "execute_tool", "retrieval": "retrieval"}
_OK, _ERROR = 1, 2


class OtlpBackend:
    """A destination for `ship`: posts the spans of each sealed file, at most `SPANS` in a request."""

    def __init__(self, url: str) -> None:
        self._url = url if url.endswith("/v1/traces") else f"{url.rstrip('/')}/v1/traces"

    def put(self, source: Path) -> None:
        """Send a spool file; raises ShipError if the backend does not take it."""
        spans = list(spans_of(_events(source)))
        for begin in range(0, len(spans), SPANS):
            self._post(json.dumps(request(spans[begin : begin + SPANS])).encode(), source.name)

    def _post(self, body: bytes, name: str) -> None:
        post = urllib.request.Request(self._url, body, {"Content-Type": "application/json"})  # noqa: S310
        try:
            with urllib.request.urlopen(post, timeout=_TIMEOUT_S) as answer:  # noqa: S310 - the user's own URL
                answer.read()
        except (urllib.error.URLError, TimeoutError) as error:
            raise ShipError(f"{self._url} did not take {name}: {error}; it stays in the spool") from error


def _events(source: Path) -> Iterator[dict[str, Any]]:
    """The events of a spool file; a line torn by a full disk was counted by its writer and is passed over."""
    for line in source.read_bytes().splitlines():
        with contextlib.suppress(ValueError):
            event = json.loads(line)
            if isinstance(event, dict):
                yield event


def spans_of(events: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """The spans of the events.

    A run becomes a span when it ends; the start of a run that ended in another file is taken from its
    duration.
    """
    events = list(events)
    starts = {e["run_id"]: e for e in events if e["event"] == "run_started"}
    for event in events:
        if event["event"] == "step":
            yield _step_span(event)
        elif event["event"] == "run_finished":
            yield _run_span(event, starts.get(event["run_id"]))


def request(spans: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """An ExportTraceServiceRequest with the spans."""
    resource = {"attributes": [_attribute("service.name", SOURCE)]}
    scope = {"name": SOURCE, "version": "1"}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"scope": scope, "spans": spans}]}]}


def _step_span(step: Mapping[str, Any]) -> dict[str, Any]:
    start_ns = _nanoseconds(step["event_time"])
    attributes = {
        "gen_ai.operation.name": _OPERATIONS.get(step["kind"], "invoke_agent"),
        "gen_ai.provider.name": step.get("provider"),
        "gen_ai.response.model": step.get("model"),
        "gen_ai.response.id": step.get("response_id"),
        "gen_ai.tool.name": step.get("tool_name"),
        "error.type": step.get("exception_class"),
        **_usage(step.get("buckets") or {}),
    }
    return {
        "traceId": _hex(step["run_id"], 32),
        "spanId": _hex(step["step_id"], 16),
        "parentSpanId": _hex(step.get("parent_step_id") or step["run_id"], 16),
        "name": step.get("name") or step.get("tool_name") or step["kind"],
        "kind": 3,
        "startTimeUnixNano": str(start_ns),
        "endTimeUnixNano": str(start_ns + (step.get("latency_ms") or 0) * 1_000_000),
        "attributes": _attributes(attributes),
        "status": {"code": _OK if step["status"] == "succeeded" else _ERROR},
    }


def _run_span(finished: Mapping[str, Any], started: Mapping[str, Any] | None) -> dict[str, Any]:
    end_ns = _nanoseconds(finished["event_time"])
    start_ns = end_ns - (finished.get("duration_ms") or 0) * 1_000_000
    if started is not None:
        start_ns = _nanoseconds(started["event_time"])
    workflow = (started or {}).get("workflow")
    attributes = {
        "gen_ai.operation.name": "invoke_workflow",
        "gen_ai.workflow.name": workflow,
        "gen_ai.conversation.id": (started or {}).get("conversation_id"),
        "beleg.run_id": finished["run_id"],
        "beleg.input_hash": (started or {}).get("input_hash"),
        "beleg.output_hash": finished.get("output_hash"),
        "beleg.prompt_version": (started or {}).get("prompt_version"),
        "error.type": finished.get("exception_class"),
    }
    return {
        "traceId": _hex(finished["run_id"], 32),
        "spanId": _hex(finished["run_id"], 16),
        "name": f"invoke_workflow {workflow}" if workflow else "invoke_workflow",
        "kind": 1,
        "startTimeUnixNano": str(min(start_ns, end_ns)),
        "endTimeUnixNano": str(end_ns),
        "attributes": _attributes(attributes),
        "status": {"code": _OK if finished["status"] == "succeeded" else _ERROR},
    }


def _usage(buckets: Mapping[str, int]) -> dict[str, int | None]:
    """The convention's counts: input and output with everything inside; unknown where a part is."""
    writes = [buckets[name] for name in ("cache_write_5m", "cache_write_1h", "cache_write") if name in buckets]
    whole_input = sum(buckets.get(name, 0) for name in _INPUT_BUCKETS)
    whole_output = sum(buckets.get(name, 0) for name in _OUTPUT_BUCKETS)
    return {
        "gen_ai.usage.input_tokens": whole_input if "input_uncached" in buckets else None,
        "gen_ai.usage.output_tokens": whole_output if "output" in buckets else None,
        "gen_ai.usage.cache_read.input_tokens": buckets.get("cache_read"),
        "gen_ai.usage.cache_creation.input_tokens": sum(writes) if writes else None,
        "gen_ai.usage.reasoning.output_tokens": buckets.get("reasoning"),
    }


def _attributes(values: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [_attribute(name, value) for name, value in values.items() if value is not None]


def _attribute(name: str, value: Any) -> dict[str, Any]:
    return {"key": name, "value": {"intValue": str(value)} if isinstance(value, int) else {"stringValue": value}}


def _hex(identity: str, digits: int) -> str:
    return hashlib.sha256(identity.encode()).hexdigest()[:digits]


def _nanoseconds(moment: str) -> int:
    at = datetime.fromisoformat(moment)
    return int(at.timestamp()) * 1_000_000_000 + at.microsecond * 1000
