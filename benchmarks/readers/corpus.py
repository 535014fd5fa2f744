"""The same traces as OTLP/JSON lines, as OTLP/protobuf requests, as Langfuse JSONL and as Claude Code logs."""

import json
import random
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1 import trace_pb2

SPANS_PER_TRACE = 5
_TRACES_PER_LINE = 20
_CALLS_PER_SESSION = 50
_BEGIN = datetime(2026, 3, 1, tzinfo=UTC)
_MODEL = "claude-sonnet-4-5-20250929"

Span = dict[str, Any]


def write(folder: Path, spans: int, *, seed: int, only: str | None = None) -> dict[str, Path]:
    """Format → file or folder with about so many spans."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    writers = {"otlp": _otlp, "protobuf": _protobuf, "langfuse": _langfuse, "claude-code": _claude_code}
    chosen = {name: writer for name, writer in writers.items() if only in {None, name}}
    return {name: writer(folder, list(_traces(spans, seed))) for name, writer in chosen.items()}


def _traces(spans: int, seed: int) -> Iterator[list[Span]]:
    chance = random.Random(seed)  # the same corpus each time
    words = [f"w{chance.randrange(5000)}" for _ in range(5000)]
    for number in range(spans // SPANS_PER_TRACE):
        trace = f"{chance.getrandbits(128):032x}"
        at = _BEGIN + timedelta(seconds=number % 86_400, minutes=number % 7)
        ids = [f"{chance.getrandbits(64):016x}" for _ in range(SPANS_PER_TRACE)]
        made: list[Span] = []
        for index, identity in enumerate(ids):
            start = at + timedelta(milliseconds=100 * index)
            kind = ("root", "model", "model", "model", "tool")[index]
            text = [" ".join(chance.choices(words, k=190)) for _ in range(2)] if kind == "model" else ["", ""]
            end = start + timedelta(milliseconds=90 if index else 900)
            made.append(
                {"trace": trace, "id": identity, "parent": ids[0] if index else None, "kind": kind, "start": start,
                 "end": end, "input": text[0], "output": text[1], "tokens": (chance.randrange(50, 4000), 1000, 200)}
            )  # fmt: skip
        yield made


# -- OTLP --------------------------------------------------------------------------------------------


def _otlp(folder: Path, traces: list[list[Span]]) -> Path:
    path = folder / "traces.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for request in _requests(traces):
            file.write(json.dumps(request, separators=(",", ":")) + "\n")
    return path


def _protobuf(folder: Path, traces: list[list[Span]]) -> Path:
    def pair(name: str, value: Any) -> KeyValue:
        is_text = isinstance(value, str)
        return KeyValue(key=name, value=AnyValue(string_value=value) if is_text else AnyValue(int_value=value))

    for number in range(0, len(traces), _TRACES_PER_LINE):
        spans = [
            trace_pb2.Span(
                trace_id=bytes.fromhex(span["trace"]),
                span_id=bytes.fromhex(span["id"]),
                parent_span_id=bytes.fromhex(span["parent"] or ""),
                name=_name(span),
                kind=trace_pb2.Span.SPAN_KIND_CLIENT,
                start_time_unix_nano=_nanoseconds(span["start"]),
                end_time_unix_nano=_nanoseconds(span["end"]),
                attributes=[pair(name, value) for name, value in _attributes(span).items()],
            )
            for trace in traces[number : number + _TRACES_PER_LINE]
            for span in trace
        ]
        request = ExportTraceServiceRequest(
            resource_spans=[trace_pb2.ResourceSpans(scope_spans=[trace_pb2.ScopeSpans(spans=spans)])]
        )
        request.resource_spans[0].resource.attributes.append(pair("service.name", "shop"))
        (folder / f"{number:08d}.pb").write_bytes(request.SerializeToString())
    return folder


def _requests(traces: list[list[Span]]) -> Iterator[dict[str, Any]]:
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": "shop"}}]}
    for number in range(0, len(traces), _TRACES_PER_LINE):
        spans = [_otlp_span(span) for trace in traces[number : number + _TRACES_PER_LINE] for span in trace]
        yield {"resourceSpans": [{"resource": resource, "scopeSpans": [{"scope": {"name": "bench"}, "spans": spans}]}]}


def _otlp_span(span: Span) -> dict[str, Any]:
    return {
        "traceId": span["trace"], "spanId": span["id"], "parentSpanId": span["parent"] or "", "name": _name(span),
        "kind": 3, "startTimeUnixNano": str(_nanoseconds(span["start"])),
        "endTimeUnixNano": str(_nanoseconds(span["end"])), "status": {},
        "attributes": [
            {"key": name, "value": {"stringValue": value} if isinstance(value, str) else {"intValue": str(value)}}
            for name, value in _attributes(span).items()
        ],
    }  # fmt: skip


def _attributes(span: Span) -> dict[str, Any]:
    if span["kind"] == "root":
        return {"gen_ai.operation.name": "invoke_agent", "session.id": span["trace"][:8]}
    if span["kind"] == "tool":
        return {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "search"}
    return {
        "gen_ai.operation.name": "chat", "gen_ai.provider.name": "anthropic", "gen_ai.request.model": _MODEL,
        "gen_ai.response.model": _MODEL, "gen_ai.response.id": f"msg_{span['id']}",
        "gen_ai.usage.input_tokens": sum(span["tokens"][:2]),
        "gen_ai.usage.cache_read.input_tokens": span["tokens"][1], "gen_ai.usage.output_tokens": span["tokens"][2],
        "gen_ai.input.messages": json.dumps([{"role": "user", "parts": [{"type": "text", "content": span["input"]}]}]),
        "gen_ai.output.messages": json.dumps(
            [{"role": "assistant", "parts": [{"type": "text", "content": span["output"]}]}]
        ),
    }  # fmt: skip


def _name(span: Span) -> str:
    return {"root": "invoke_agent shop", "tool": "execute_tool search"}.get(span["kind"], f"chat {_MODEL}")


def _nanoseconds(at: datetime) -> int:
    return int(at.timestamp() * 1000) * 1_000_000


# -- the others --------------------------------------------------------------------------------------


def _langfuse(folder: Path, traces: list[list[Span]]) -> Path:
    path = folder / "observations.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for trace in traces:
            for span in trace:
                file.write(json.dumps(_observation(span), separators=(",", ":")) + "\n")
    return path


def _observation(span: Span) -> dict[str, Any]:
    read, cached, written = span["tokens"]
    usage = {"input": read, "input_cached_tokens": cached, "output": written, "total": read + cached + written}
    kind = {"root": "AGENT", "tool": "TOOL"}.get(span["kind"], "GENERATION")
    return {
        "id": span["id"], "traceId": span["trace"], "projectId": "p1", "parentObservationId": span["parent"],
        "type": kind, "name": _name(span), "startTime": _iso(span["start"]), "endTime": _iso(span["end"]),
        "environment": "default", "level": "DEFAULT", "statusMessage": None, "version": None,
        "input": [{"role": "user", "content": span["input"]}],
        "output": {"role": "assistant", "content": span["output"]}, "metadata": {},
        "model": _MODEL if kind == "GENERATION" else None, "modelParameters": {},
        "usageDetails": usage if kind == "GENERATION" else {}, "costDetails": {},
    }  # fmt: skip


def _claude_code(folder: Path, traces: list[list[Span]]) -> Path:
    path = folder / "projects" / "-home-me-shop"
    path.mkdir(parents=True)
    spans = [span for trace in traces for span in trace]
    for number in range(0, len(spans), _CALLS_PER_SESSION):
        part = spans[number : number + _CALLS_PER_SESSION]
        session = f"{part[0]['trace'][:8]}-0000-4000-8000-{part[0]['trace'][8:20]}"
        lines = (json.dumps(line) for span in part for line in _session_lines(session, span))
        (path / f"{session}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path.parent


def _session_lines(session: str, span: Span) -> Iterator[dict[str, Any]]:
    common = {
        "sessionId": session,
        "cwd": "/home/me/shop",
        "version": "2.1.0",
        "isSidechain": False,
        "gitBranch": "main",
    }
    asked = {"role": "user", "content": span["input"]}
    read, cached, written = span["tokens"]
    usage = {"input_tokens": read, "cache_read_input_tokens": cached, "output_tokens": written,
             "cache_creation_input_tokens": 0, "service_tier": "standard"}  # fmt: skip
    answer = {"id": f"msg_01{span['id']}", "type": "message", "role": "assistant", "model": _MODEL, "usage": usage,
              "content": [{"type": "text", "text": span["output"]}]}  # fmt: skip
    yield {**common, "type": "user", "message": asked, "uuid": f"u{span['id']}", "timestamp": _iso(span["start"])}
    yield {**common, "type": "assistant", "message": answer, "uuid": f"a{span['id']}", "timestamp": _iso(span["end"]),
           "requestId": f"req_{span['id']}"}  # fmt: skip


def _iso(at: datetime) -> str:
    return f"{at:%Y-%m-%dT%H:%M:%S}.{at.microsecond // 1000:03d}Z"
