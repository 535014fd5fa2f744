"""Files of OTLP: JSON documents and lines, protobuf messages, and the Collector's frames of either.

A file is read once, message by message, and of a document too large to be parsed as a whole span by span:
memory depends on the largest message, not on the file.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import zstandard

from beleg.ingest.readers.formats import Format, Reading
from beleg.ingest.readers.head import Head
from beleg.ingest.readers.item import Item, Origin, Value
from beleg.ingest.readers.otlp.items import items_of
from beleg.ingest.readers.otlp.tree import Tree
from beleg.ingest.readers.otlp.wire import (
    MESSAGE_BYTES,
    ZSTD,
    Message,
    framed,
    from_protobuf,
    is_framed,
    is_message,
    plain,
)  # fmt: skip
from beleg.ingest.readers.parsing import UNREADABLE, loads
from beleg.ingest.reasons import Refusal, refuse

_HEAD_BYTES = 64 * 1024
_RESOURCE, _SCOPE, _SPAN = (
    "resourceSpans.item.resource",
    "resourceSpans.item.scopeSpans.item.scope",
    "resourceSpans.item.scopeSpans.item.spans.item",
)
_SPANS_AT_ONCE = 500
_Found = tuple[Mapping[str, Any] | Refusal, Origin]
"""A request, or why there is none, and where it stands in its file."""


def recognises(head: Head) -> bool:
    """True for JSON with `resourceSpans` and for protobuf messages that begin as an export request does."""
    return head.has("resourceSpans") or is_message(head.data) or is_framed(head.data)


def read(reading: Reading) -> Iterator[Item]:
    """The items of a file."""
    tree, head = Tree(), reading.file.head(_HEAD_BYTES)
    for request, origin in _of_messages(reading, head) if _is_binary(head) else _of_json(reading):
        if isinstance(request, Refusal):
            reading.file.refuse(request.reason, request.detail, origin)
        else:
            yield from items_of(request, reading.make, reading.naming, tree, origin)


def _is_binary(head: bytes) -> bool:
    return is_message(head) or is_framed(head)


def _of_json(reading: Reading) -> Iterator[_Found]:
    parts = _Parts()
    for value in reading.file.values("", large=(_RESOURCE, _SCOPE, _SPAN)):
        if value.prefix:
            yield from parts.take(value)
        elif not isinstance(value.content, dict):
            yield refuse("not_object"), value.origin
        elif "resourceSpans" in value.content:
            yield value.content, Origin(value.origin.byte_offset, 0)
    yield from parts.flush()


class _Parts:
    """Makes requests of the parts of a large document, which come in its order: a resource, a scope, its spans."""

    def __init__(self) -> None:
        self._resource: Any = None
        self._scope: Any = None
        self._spans: list[Any] = []
        self._number = 0

    def take(self, part: Value) -> Iterator[_Found]:
        if part.prefix == _SPAN:
            self._spans.append(part.content)
            if len(self._spans) >= _SPANS_AT_ONCE:
                yield from self.flush()
            return
        yield from self.flush()
        if part.prefix == _RESOURCE:
            self._resource, self._scope = part.content, None
        else:
            self._scope = part.content

    def flush(self) -> Iterator[_Found]:
        spans, self._spans = self._spans, []
        if spans:
            scope = {"scope": self._scope, "spans": spans}
            origin = Origin(0, self._number)
            self._number += len(spans)
            yield {"resourceSpans": [{"resource": self._resource, "scopeSpans": [scope]}]}, origin


def _of_messages(reading: Reading, head: bytes) -> Iterator[_Found]:
    with reading.file.stream() as stream:
        for message in framed(stream) if is_framed(head) else plain(stream):
            if message.fault == "torn":
                reading.file.pending += 1
            else:
                yield _decoded(message), Origin(message.offset, 0)


def _decoded(message: Message) -> Mapping[str, Any] | Refusal:
    if message.fault == "too_large":
        return refuse("document_too_large", f"a message of more than {MESSAGE_BYTES} bytes")
    data = message.data
    if message.fault is None and data.startswith(ZSTD):
        data = _unpacked(data)
    if message.fault is None and data.startswith(b"{"):
        found = loads(data)
    else:
        found = UNREADABLE if message.fault == "damaged" else _from_protobuf(data)
    return found if isinstance(found, dict) else refuse("unreadable_item", "no message of OTLP")


def _from_protobuf(data: bytes) -> Any:
    from google.protobuf.message import DecodeError  # noqa: PLC0415  # takes 50 ms

    try:
        return from_protobuf(data)
    except DecodeError:
        return UNREADABLE


def _unpacked(data: bytes) -> bytes:
    """A message that the Collector compressed by itself; empty for a damaged one and one that grows too large."""
    inflater = zstandard.ZstdDecompressor(max_window_size=MESSAGE_BYTES)
    try:
        with inflater.stream_reader(data) as stream:
            unpacked = stream.read(MESSAGE_BYTES + 1)
    except zstandard.ZstdError:
        return b"\0"
    return unpacked if len(unpacked) <= MESSAGE_BYTES else b"\0"


FORMATS = (
    Format(
        name="otlp",
        title="OpenTelemetry traces (OTLP)",
        files="OTLP as JSON (documents or lines) or protobuf (a message, or the Collector's frames, zstd or not)",
        yields="runs, model, tool and retrieval calls with tokens and latency, from every GenAI convention",
        cannot_know="cached tokens that the instrumentation leaves out; what sampling dropped; billed cost, mostly",
        recognises=recognises,
        read=read,
        suffixes=(".pb", ".binpb"),
    ),
)
