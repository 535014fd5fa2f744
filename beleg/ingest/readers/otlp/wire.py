"""OTLP on the wire: protobuf messages turned into the form of OTLP/JSON, and the frames they are stored in."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal, NamedTuple

Json = dict[str, Any]

MESSAGE_BYTES = 64 * 1024 * 1024
"""Largest message that is decoded."""
ZSTD = b"\x28\xb5\x2f\xfd"
_RESOURCE_SPANS, _SCOPE_SPANS, _SPANS = 0x0A, 0x12, 0x12  # field 1, field 2, field 2: all length-delimited
_TRACE_ID = b"\x0a\x10"


def from_protobuf(data: bytes) -> Json:
    """An ExportTraceServiceRequest (or TracesData, which is the same) in the form of OTLP/JSON.

    Raises google.protobuf.message.DecodeError for what is none.
    """
    from opentelemetry.proto.trace.v1.trace_pb2 import TracesData  # noqa: PLC0415  # takes 50 ms

    return {"resourceSpans": [_resource_spans(part) for part in TracesData.FromString(data).resource_spans]}


def _resource_spans(message: Any) -> Json:
    return {
        "resource": {"attributes": _attributes(message.resource.attributes)},
        "scopeSpans": [_scope_spans(part) for part in message.scope_spans],
        "schemaUrl": message.schema_url,
    }


def _scope_spans(message: Any) -> Json:
    scope = {"name": message.scope.name, "version": message.scope.version}
    return {"scope": scope, "spans": [_span(span) for span in message.spans], "schemaUrl": message.schema_url}


def _span(message: Any) -> Json:
    return {
        "traceId": message.trace_id.hex(),
        "spanId": message.span_id.hex(),
        "parentSpanId": message.parent_span_id.hex(),
        "flags": message.flags,
        "name": message.name,
        "startTimeUnixNano": message.start_time_unix_nano,
        "endTimeUnixNano": message.end_time_unix_nano,
        "attributes": _attributes(message.attributes),
        "events": [{"name": event.name, "attributes": _attributes(event.attributes)} for event in message.events],
        "status": {"code": message.status.code},
    }


def _attributes(pairs: Iterable[Any]) -> list[Json]:
    return [{"key": pair.key, "value": _value(pair.value)} for pair in pairs]


def _value(message: Any) -> Json:
    kind = message.WhichOneof("value")
    if kind is None:
        return {}
    if kind == "array_value":
        return {"arrayValue": {"values": [_value(value) for value in message.array_value.values]}}
    if kind == "kvlist_value":
        return {"kvlistValue": {"values": _attributes(message.kvlist_value.values)}}
    return {_SCALARS.get(kind, "stringValue"): getattr(message, kind)}


_SCALARS = {
    "bool_value": "boolValue",
    "int_value": "intValue",
    "double_value": "doubleValue",
    "bytes_value": "bytesValue",
}


# -- files --------------------------------------------------------------------------------------------


class Message(NamedTuple):
    """A message of a file."""

    offset: int
    data: bytes = b""
    fault: Literal["torn", "too_large", "damaged"] | None = None
    """Why there is no `data`: the file ends in the middle of it, it passes `MESSAGE_BYTES`, or it is none."""


def is_framed(head: bytes) -> bool:
    """True for messages that each have their length before them, as the Collector's file exporter writes them."""
    if len(head) < 6 or int.from_bytes(head[:4]) > MESSAGE_BYTES:
        return False
    return head[4:8] == ZSTD or is_message(head[4:]) or head[4:].startswith(b'{"resourceSpans"')


def is_message(head: bytes) -> bool:
    """True where the bytes begin as an export request does, down to the first trace id."""
    end = len(head)
    at = _entered(head, 0, _RESOURCE_SPANS, end)
    at = None if at is None else _entered(head, at, _SCOPE_SPANS, end)
    at = None if at is None else _entered(head, at, _SPANS, end)
    return at is not None and head[at : at + 2] == _TRACE_ID


def _entered(data: bytes, at: int, tag: int, end: int) -> int | None:
    """Where the first field of that tag begins, skipping others of a message; None where there is none."""
    for _ in range(64):
        if at >= end or data[at] & 7 != 2:
            return None
        length, start = _varint(data, at + 1)
        if length is None:
            return None
        if data[at] == tag:
            return start
        at = start + length
    return None


def _varint(data: bytes, at: int) -> tuple[int | None, int]:
    value = 0
    for shift in range(0, 64, 7):
        if at >= len(data):
            return None, at
        value |= (data[at] & 0x7F) << shift
        at += 1
        if data[at - 1] < 0x80:
            return value, at
    return None, at


def framed(read: Callable[[int], bytes]) -> Iterator[Message]:
    """The messages of a file in which each has its length before it: four bytes, the greatest first."""
    source = _Buffered(read)
    while prefix := source.take(4):
        offset, size = source.offset, int.from_bytes(prefix)
        if len(prefix) < 4:
            yield Message(offset, fault="torn")
            return
        yield source.message(size)


def plain(read: Callable[[int], bytes]) -> Iterator[Message]:
    """The resource spans of one message, each as a message of its own: the file is never held as a whole."""
    source = _Buffered(read)
    while tag := source.take(1):
        size = source.varint()
        if tag != b"\x0a" or size is None:
            yield Message(source.offset, fault="torn" if tag == b"\x0a" else "damaged")
            return
        found = source.message(size)
        yield found._replace(data=tag + _length(size) + found.data) if found.fault is None else found


def _length(size: int) -> bytes:
    out = bytearray()
    while size > 0x7F:
        out.append(size & 0x7F | 0x80)
        size >>= 7
    return bytes([*out, size])


class _Buffered:
    """Reads exact numbers of bytes and knows where it stands."""

    def __init__(self, read: Callable[[int], bytes]) -> None:
        self.offset = 0
        self._read, self._rest = read, b""

    def take(self, size: int) -> bytes:
        """The next bytes, fewer only at the end."""
        pieces, have = [self._rest], len(self._rest)
        while have < size and (piece := self._read(min(size - have, 1024 * 1024))):
            pieces.append(piece)
            have += len(piece)
        data = b"".join(pieces)
        self._rest = data[size:]
        taken = data[:size]
        self.offset += len(taken)
        return taken

    def varint(self) -> int | None:
        """The next variable-length integer; None where there is none."""
        data = b""
        while len(data) < 10 and (piece := self.take(1)):
            data += piece
            if piece[0] < 0x80:
                return _varint(data, 0)[0]
        return None

    def message(self, size: int) -> Message:
        """The next message; one that is too large is passed over."""
        offset, left = self.offset, size
        if size <= MESSAGE_BYTES:
            data = self.take(size)
            return Message(offset, data) if len(data) == size else Message(offset, fault="torn")
        while left > 0 and (piece := self.take(min(left, 1024 * 1024))):
            left -= len(piece)
        return Message(offset, fault="torn" if left > 0 else "too_large")
