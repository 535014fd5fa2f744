"""A foreign file as its readers see it: decompressed, in lines, JSON values or rows, in bounded memory."""

from codecs import BOM_UTF8
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Any, cast

import ijson

from beleg.core.errors import UsageError
from beleg.ingest.inflate import Inflater
from beleg.ingest.limits import MIB, Limits
from beleg.ingest.lines import Block, LongLine, Read, blocks
from beleg.ingest.mapping import Table
from beleg.ingest.ranges import Place
from beleg.ingest.readers.item import Origin, Value
from beleg.ingest.readers.parsing import PART_BYTES, UNREADABLE, loads, streamed
from beleg.ingest.reasons import Refusal, refuse
from beleg.ingest.sources import Source

WHOLE_BYTES = 16 * MIB
"""A document up to this size is parsed as a whole, a larger one value by value."""
_LOOK_BYTES = 256
"""As far as one looks for what a file is."""
LINE_BYTES = 32 * MIB
"""Longest line that is parsed; a larger one is hashed and quarantined."""


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

    @property
    def is_json(self) -> bool:
        """True where its first character opens a JSON object or list."""
        return self.head(_LOOK_BYTES).removeprefix(BOM_UTF8).lstrip()[:1] in (b"{", b"[")

    def rows(self) -> Iterator[Value]:
        """The rows of a CSV or Parquet table as columns → cells; nested names joined by dots."""
        from beleg.ingest.rows import read_rows  # noqa: PLC0415  # the rows know the mapping, not the other way

        start = self.head(_LOOK_BYTES)
        is_parquet = start.startswith(b"PAR1")
        if not is_parquet and self._is_wide(start):
            return
        try:
            for row in read_rows(self.source, Table(format="parquet" if is_parquet else "csv"), self._limits):
                if row.refusal is not None:
                    self.faults.append((row.place, row.refusal))
                else:
                    yield Value(Origin(row.place.byte_offset, row.place.line_number, None, row.cells), dict(row.cells))
        except UsageError:  # of a table that somebody mapped it stops the command; here it is one of many files
            self.refuse("unmapped_cell", "the header names a column twice")

    def _is_wide(self, start: bytes) -> bool:
        """True for text of two bytes a character, as UTF-16 is; noted once, since no line of it can be read."""
        wide = b"\0" in start[:_LOOK_BYTES]
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
            for prefix, value in streamed(read, prefixes):
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
