"""Lines as no writer should make them: one or two of every kind that ingest tells apart."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import orjson

from beleg.demo.company import START_US
from beleg.demo.events import Event, envelope


class BadLine(NamedTuple):
    """A line and the reason ingest must give for refusing it."""

    reason: str
    line: bytes


def bad_lines() -> Iterator[BadLine]:
    """Every line once; none holds a line feed."""
    good = _status()
    line = orjson.dumps(good)
    yield BadLine("not_json", line[:-9])
    yield BadLine("not_json", b"2026-09-18 07:14:55 worker-3 restarted")
    yield BadLine("not_object", b'["run_status", 1]')
    yield BadLine("duplicate_key", line[:-1] + b',"status":"running"}')
    yield BadLine("not_a_number", _text(line, b'"needs_input"', b"NaN"))
    yield BadLine("number_out_of_range", _text(line, b'"schema_version":1', b'"schema_version":1e999'))
    yield BadLine("lone_surrogate", _text(line, b"needs_input", b"needs_\\ud800"))
    yield BadLine("not_utf8", _text(line, b"baeckerei", "bäckerei".encode("latin-1")))
    yield BadLine("byte_order_mark", b"\xef\xbb\xbf" + line)
    yield BadLine("wrong_encoding", line.decode().encode("utf-16-le").replace(b"\n", b" "))
    yield from (BadLine("schema", orjson.dumps(event)) for event in _against_schema(good))
    yield BadLine("unknown_event", orjson.dumps(good | {"event": "invoice"}))
    yield BadLine("unknown_version", orjson.dumps(good | {"schema_version": 99}))
    yield from _artifacts()
    yield BadLine("line_too_long", _text(line, b"needs_input", b"x" * 1_100_000))


def _against_schema(good: Event) -> Iterator[Event]:
    yield good | {"status": "sleeping"}
    yield good | {"prompt": "a payload that has no place here"}
    yield good | {"event_time": "2026-09-18T07:14:55"}
    yield good | {"payload_policy": "stored"}
    yield {name: value for name, value in good.items() if name != "run_id"}


def _artifacts() -> Iterator[BadLine]:
    def artifact(kind: str, content: dict[str, Any]) -> bytes:
        fields = {"run_id": "demo-broken", "kind": kind, "content": content, "content_hash": "0" * 64}
        return orjson.dumps(envelope("artifact", "demo-broken-artifact", START_US) | fields)

    deep = b"[" * 80 + b"]" * 80
    yield BadLine("shape", artifact("answer_summary", {"conversation": ["…"]}))
    yield BadLine("unknown_shape", artifact("bank_statement", {}))
    yield BadLine("value_too_large", artifact("answer_summary", {"summary": "x" * 20_000}))
    yield BadLine("nesting_too_deep", artifact("answer_summary", {"summary": "deep"}).replace(b'"deep"', deep))


def _status() -> Event:
    event = envelope("run_status", "demo-broken", START_US)
    return event | {"tenant": "baeckerei-sonnenkorn", "run_id": "demo-broken", "status": "needs_input"}


def _text(line: bytes, old: bytes, new: bytes) -> bytes:
    return line.replace(old, new, 1)
