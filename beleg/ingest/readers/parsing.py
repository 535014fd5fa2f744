"""JSON of foreign files: read leniently, looked up by keys, and taken apart as it streams where it is large."""

import json
from codecs import BOM_UTF8
from collections.abc import Iterator
from io import BytesIO
from typing import IO, Any, cast

import ijson
import orjson

from beleg.ingest.limits import MIB
from beleg.ingest.lines import Read

PART_BYTES = 32 * MIB
"""Text of the largest value that is taken out of a larger document; one beyond is passed over and quarantined."""
_MOST_LEVELS = 1024
"""Brackets within each other that are followed."""
_FEED_BYTES = 256 * 1024
"""What the parser is given at a time: it looks at an unfinished text again with each piece."""
UNREADABLE: Any = object()
"""What `loads` gives for bytes that are no JSON."""


def loads(data: bytes | str) -> Any:
    """A JSON value, read leniently: NaN and Infinity, which Python writes, are unknown (None).

    A byte order mark before it, which Windows' editors and PowerShell write, is passed over.
    """
    if isinstance(data, bytes):
        data = data.removeprefix(BOM_UTF8)
    try:
        return orjson.loads(data)
    except ValueError:
        pass
    try:
        return json.loads(data, parse_constant=lambda _: None)
    except (ValueError, RecursionError):
        return UNREADABLE


def member(value: Any, *keys: str | int) -> Any:
    """The value below the keys; None where there is none."""
    for key in keys:
        if isinstance(value, dict):
            value = value.get(key)
        elif isinstance(value, list) and isinstance(key, int) and -len(value) <= key < len(value):
            value = value[key]
        else:
            return None
    return value


def parsed(value: Any) -> Any:
    """A value that some formats write as JSON inside a string, twice at times; other strings as they are."""
    for _ in range(2):
        if not isinstance(value, str) or value[:1] not in '{["':
            return value
        inner = loads(value)
        if inner is UNREADABLE:
            return value
        value = inner
    return value


class _Stream:
    """What a parser reads from: never more than it asks for, and no single text larger than a part may be."""

    def __init__(self, read: Read) -> None:
        self.since_event = 0
        """Bytes read since the parser told of anything."""
        self._read, self._piece = read, BytesIO()

    def read(self, size: int) -> bytes:
        found = self._piece.read(size)
        if not found and size > 0:
            self._piece = BytesIO(self._read(MIB))
            found = self._piece.read(size)
        self.since_event += len(found)
        if self.since_event > PART_BYTES:
            raise ValueError
        return found


def events_of(read: Read) -> Iterator[tuple[list[str], str, Any]]:
    """Where in the documents, event of the parser, value. The path is one list that changes as the parser moves on.

    A path is made here and not by the parser: it would write out that of each of a million brackets.
    """
    stream = _Stream(read)
    path: list[str] = []
    source = cast("IO[bytes]", stream)
    for event, value in ijson.basic_parse(source, multiple_values=True, use_float=True, buf_size=_FEED_BYTES):
        stream.since_event = 0
        if event == "map_key":
            path[-1] = value
        elif event in _ENDS:
            path.pop()
        yield path, event, value
        if event in _BEGINS:
            if len(path) > _MOST_LEVELS:
                raise RecursionError
            path.append("item" if event == "start_array" else "")


def streamed(read: Read, prefixes: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    """Prefixes and values of a stream of documents, in one pass and in their order; UNREADABLE for one too large."""
    wanted = {tuple(prefix.split(".")): prefix for prefix in prefixes if prefix}
    depths = {len(path) for path in wanted}
    events = events_of(read)
    for path, event, value in events:
        if len(path) not in depths or event in _NO_VALUE or (prefix := wanted.get(tuple(path))) is None:
            continue
        yield prefix, (_built(events, event, value) if event in _BEGINS else value)


_BEGINS, _ENDS = ("start_map", "start_array"), ("end_map", "end_array")
_NO_VALUE = ("map_key", *_ENDS)


def _built(events: Iterator[tuple[list[str], str, Any]], event: str, value: Any) -> Any:
    """The object or list that begins with the event."""
    builder, depth, size = ijson.ObjectBuilder(), 0, 0
    while True:
        size += len(value) if isinstance(value, str) else 8
        if size <= PART_BYTES:
            builder.event(event, value)
        depth += (event in _BEGINS) - (event in _ENDS)
        if depth == 0:
            return builder.value if size <= PART_BYTES else UNREADABLE
        _, event, value = next(events)
