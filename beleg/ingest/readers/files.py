"""A foreign file as its readers see it: decompressed, in lines, JSON values or rows, in bounded memory."""

import json
from codecs import BOM_UTF8
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import IO, Any, cast

import ijson
import orjson

from beleg.core.errors import UsageError
from beleg.ingest.inflate import Inflater
from beleg.ingest.limits import MIB, Limits
from beleg.ingest.lines import Block, LongLine, Read, blocks
from beleg.ingest.mapping import Table
from beleg.ingest.ranges import Place
from beleg.ingest.readers.item import Origin, Value
from beleg.ingest.reasons import Refusal, refuse
from beleg.ingest.sources import Source

WHOLE_BYTES = 16 * MIB
"""A document up to this size is parsed as a whole, a larger one value by value."""
_MOST_LEVELS = 1024
"""Brackets within each other that are followed."""
_NAMED_LEVELS = 5
"""Longest path of keys by which a format is recognised."""
_FEED_BYTES = 256 * 1024
"""What the parser is given at a time: it looks at an unfinished text again with each piece."""
_WIDE_BYTES = 256
"""As far as one looks for NUL bytes."""
LINE_BYTES = 32 * MIB
"""Longest line that is parsed; a larger one is hashed and quarantined."""
PART_BYTES = 32 * MIB
"""Text of the largest value that is taken out of a larger document; one beyond is passed over and quarantined."""


class File:
    """One file of a foreign format. Whatever cannot be read of it is noted in `faults` and stops nothing."""

    def __init__(self, source: Source, limits: Limits | None = None) -> None:
        self.source = source
        self.faults: list[tuple[Place, Refusal]] = []
        """Parts that are no values at all; they are quarantined beside the refused items."""
        self.pending = 0
        """1 where the file ends in the middle of a line, as one does that is being written."""
        self._limits = limits or Limits()

    @property
    def path(self) -> Path:
        """Where it lies."""
        return self.source.path

    @contextmanager
    def stream(self) -> Iterator[Read]:
        """Its decompressed bytes: `read(n)`, as often as needed. Notes a damaged archive in `faults`."""
        with self.path.open("rb", buffering=0) as file:
            if self.source.container not in {"gzip", "zstd"}:
                yield file.read
                return
            limit = self._limits.inflated_limit(self.source.size)
            inflater = Inflater(cast("Any", file), self.source.container, limit)
            yield inflater.read
            if inflater.fault is not None:
                self.faults.append((self._place(Origin(0, 0)), inflater.fault))

    def head(self, size: int) -> bytes:
        """Its first decompressed bytes."""
        with self.path.open("rb", buffering=0) as file:
            read: Read = file.read
            if self.source.container in {"gzip", "zstd"}:
                read = Inflater(cast("Any", file), self.source.container, self._limits.inflated_bytes).read
            return _read_up_to(read, size)[:size]  # an archive gives more than is asked for

    def values(self, *prefixes: str, large: tuple[str, ...] = ()) -> Iterator[Value]:
        """The JSON values at the prefixes of every document, be it the whole file or one of its lines.

        A prefix is a path of keys joined by dots, `item` for each element of a list, "" for the document
        itself: `resourceSpans.item`. A document that lacks the path gives nothing. Large documents are
        taken apart as they are read, at the prefixes `large` where given: "" is refused for one above
        `WHOLE_BYTES`.
        """
        with self.stream() as read:
            first = _read_up_to(read, WHOLE_BYTES + 1)
            if not first.strip() or self._is_wide(first):
                return
            whole = len(first) <= WHOLE_BYTES
            if whole and (parsed := loads(first)) is not UNREADABLE:
                yield from _at_prefixes(Origin(0, 1), parsed, prefixes, whole=True)
            elif _has_lines(first.removeprefix(BOM_UTF8)):
                yield from self._of_lines(_then(first, read), prefixes)
            else:
                yield from self._taken_apart(_then(first.removeprefix(BOM_UTF8), read), large or prefixes)

    def lines(self) -> Iterator[Value]:
        """Every line as a JSON value; what is none is noted in `faults`."""
        with self.stream() as read:
            yield from self._of_lines(read, ("",))

    def rows(self, table: Table | None = None) -> Iterator[Value]:
        """The rows of a CSV, TSV or Parquet table as columns → cells; nested names joined by dots."""
        from beleg.ingest.rows import read_rows  # noqa: PLC0415  # the rows know the mapping, not the other way

        if not self._is_parquet() and self._is_wide(self.head(_WIDE_BYTES)):
            return
        try:
            for row in read_rows(self.source, table or Table(), self._limits):
                if row.refusal is not None:
                    self.faults.append((row.place, row.refusal))
                else:
                    yield Value(Origin(row.place.byte_offset, row.place.line_number, None, row.cells), dict(row.cells))
        except UsageError:  # of a table that somebody mapped it stops the command; here it is one of many files
            self.refuse("unmapped_cell", "the header names a column twice")

    def _is_parquet(self) -> bool:
        return self.head(4) == b"PAR1"

    def _is_wide(self, start: bytes) -> bool:
        """True for text of two bytes a character, as UTF-16 is; noted once, since no line of it can be read."""
        wide = b"\0" in start[:_WIDE_BYTES]
        if wide:
            self.refuse("wrong_encoding")
        return wide

    def refuse(self, reason: str, detail: str = "", origin: Origin | None = None) -> None:
        """Note a part of the file that cannot be read."""
        self.faults.append((self._place(origin or Origin(0, 0)), refuse(reason, detail)))

    def _place(self, origin: Origin) -> Place:
        """Where it stands; what has no bytes of its own is told from that of other files by its file's digest."""
        if origin.line is None and origin.value is None:
            origin = origin._replace(value=[self.source.digest, origin.number])
        return origin.place()

    def _of_lines(self, read: Read, prefixes: tuple[str, ...]) -> Iterator[Value]:
        number = 0
        for part in blocks(read, LINE_BYTES):
            if isinstance(part, LongLine):
                number += 1
                place = Place(part.offset, number, part.length, part.sha256)
                self.faults.append((place, refuse("line_too_long", f"longer than {LINE_BYTES} bytes")))
                continue
            offset, ended = part.offset, isinstance(part, Block)
            for line in (part.data[:-1] if ended else part.data).split(b"\n"):
                number += 1
                if line.strip():
                    yield from self._of_line(Origin(offset, number, line), prefixes, ended=ended)
                offset += len(line) + 1

    def _of_line(self, origin: Origin, prefixes: tuple[str, ...], *, ended: bool) -> Iterator[Value]:
        parsed = loads(origin.line or b"")
        if parsed is not UNREADABLE:
            yield from _at_prefixes(origin, parsed, prefixes)
        elif ended:
            self.faults.append((origin.place(), refuse("not_json")))
        else:
            self.pending += 1

    def _taken_apart(self, read: Read, prefixes: tuple[str, ...]) -> Iterator[Value]:
        number = 0
        try:
            for prefix, value in _stream(read, prefixes):
                number += 1
                if value is UNREADABLE:
                    self.refuse("document_too_large", f"an item of more than {PART_BYTES} bytes", Origin(0, number))
                else:
                    yield Value(Origin(0, number, None, value), value, prefix)
        except (ijson.JSONError, ValueError, RecursionError) as error:
            torn = "premature EOF" in str(error)  # the parser raises the same error for whatever it cannot read
            self.refuse("torn_document" if torn else "not_json", origin=Origin(0, number + 1))
        if number == 0 and "" in prefixes and not self.faults:
            self.refuse("document_too_large", f"one JSON value of more than {WHOLE_BYTES} bytes")


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


_OPENING = (b"{", b"[", b"[{")
"""First lines of documents that are spread over several."""


def _read_up_to(read: Read, size: int) -> bytes:
    pieces: list[bytes] = []
    while size > 0 and (piece := read(size)):
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)


def _then(first: bytes, read: Read) -> Read:
    begun = BytesIO(first)
    return lambda size: begun.read(size) or read(size)


def _has_lines(first: bytes) -> bool:
    """True where the first line is a JSON value of its own, or one of the next is an object that begins its line."""
    lines = list(islice((line for line in BytesIO(first) if line.strip()), 8))
    if not lines or not lines[0].endswith(b"\n") or lines[0].strip() in _OPENING:
        return False
    objects = (line for line in lines[1:] if line.startswith(b"{") and line.endswith(b"\n"))
    return any(loads(line) is not UNREADABLE for line in (lines[0], *objects))


def _at_prefixes(origin: Origin, parsed: Any, prefixes: tuple[str, ...], *, whole: bool = False) -> Iterator[Value]:
    for prefix in prefixes:
        if prefix == "":
            yield Value(origin._replace(value=parsed) if whole else origin, parsed)
            continue
        for number, found in enumerate(_walk(parsed, prefix.split(".")), 1):
            yield Value(Origin(origin.byte_offset, number if whole else origin.number, None, found), found)


def _walk(value: Any, keys: list[str]) -> Iterator[Any]:
    if not keys:
        yield value
    elif keys[0] == "item":
        for inner in value if isinstance(value, list) else ():
            yield from _walk(inner, keys[1:])
    elif isinstance(value, dict) and keys[0] in value:
        yield from _walk(value[keys[0]], keys[1:])


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


def _events(read: Read) -> Iterator[tuple[list[str], str, Any]]:
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


def _stream(read: Read, prefixes: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    """Prefixes and values of a stream of documents, in one pass and in their order; UNREADABLE for one too large."""
    wanted = {tuple(prefix.split(".")): prefix for prefix in prefixes if prefix}
    depths = {len(path) for path in wanted}
    events = _events(read)
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


class Head:
    """The beginning of a file: what tells its format, whatever its name."""

    def __init__(self, file: File, size: int = 64 * 1024) -> None:
        self.path = file.path
        self._source = file.source
        data = file.head(size)
        self.complete = len(data) < size
        self.data = data.removeprefix(BOM_UTF8)

    @cached_property
    def documents(self) -> tuple[Any, ...]:
        """The JSON values in it: the whole, or its first complete lines."""
        if self.complete and (whole := loads(self.data)) is not UNREADABLE:
            return (whole,)
        lines = self.data.split(b"\n")[: None if self.complete else -1]
        values = (loads(line) for line in [line for line in lines if line[:1] in (b"{", b"[")][:16])
        return tuple(value for value in values if value is not UNREADABLE and isinstance(value, dict | list))

    @cached_property
    def keys(self) -> frozenset[str]:
        """Paths of keys in its JSON as `File.values` writes them: `resourceSpans.item.scopeSpans`."""
        if self.documents:
            return frozenset(path for document in self.documents for path in _paths(document, "", _NAMED_LEVELS))
        if self.data.lstrip()[:1] not in (b"{", b"["):
            return frozenset()
        return frozenset(_streamed_paths(self.data))

    @cached_property
    def columns(self) -> frozenset[str]:
        """Columns of a Parquet table, or the words of a first line that may be the header of a CSV table."""
        if self.data.startswith(b"PAR1"):
            from pyarrow import ArrowException, parquet  # noqa: PLC0415  # takes 0.2 s

            try:
                return frozenset(parquet.read_schema(self.path).names)
            except (ArrowException, OSError):
                return frozenset()
        first = self.data.partition(b"\n")[0].decode("utf-8", "replace")
        return frozenset(name.strip().strip('"') for mark in ",\t;" for name in first.split(mark)) - {first}

    @cached_property
    def members(self) -> frozenset[str]:
        """Names in a zip archive."""
        if not self.data.startswith(b"PK\x03\x04"):
            return frozenset()
        import zipfile  # noqa: PLC0415

        try:
            with zipfile.ZipFile(self.path) as archive:
                return frozenset(archive.namelist()[:10_000])
        except (zipfile.BadZipFile, OSError, NotImplementedError, ValueError):
            return frozenset()

    def has(self, *paths: str) -> bool:
        """True where all these paths of keys are there."""
        return self.keys.issuperset(paths)


def _paths(value: Any, prefix: str, depth: int) -> Iterator[str]:
    if depth == 0:
        return
    if isinstance(value, list):
        for inner in value[:8]:
            yield from _paths(inner, f"{prefix}item.", depth - 1)
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield f"{prefix}{key}"
            if isinstance(inner, dict | list):
                yield from _paths(inner, f"{prefix}{key}.", depth - 1)


def _streamed_paths(data: bytes) -> Iterator[str]:
    """Paths in JSON that is cut short."""
    try:
        for path, event, _ in _events(BytesIO(data).read):
            if event == "map_key" and len(path) <= _NAMED_LEVELS:
                yield ".".join(path)
    except (ijson.JSONError, ValueError, RecursionError):
        return
