"""The rows of a table, whatever it is written in, each with its place and digest in the file.

CSV is read by the letter: quotes, line feeds inside quotes, a byte order mark and cells too many are what
they are; a row that cannot be read is one bad row and never the end of the file.
"""

import csv
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple, cast

import orjson

from beleg.core.errors import UsageError
from beleg.ingest.exact import look
from beleg.ingest.inflate import Inflater
from beleg.ingest.limits import Limits
from beleg.ingest.lines import Block, LongLine, blocks
from beleg.ingest.mapping import Format, Table
from beleg.ingest.ranges import Place
from beleg.ingest.reasons import Refusal, refuse
from beleg.ingest.sources import Source

BY_SUFFIX: dict[str, Format] = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".parquet": "parquet",
}


class RowRead(NamedTuple):
    """A row, or why it cannot be read."""

    place: Place
    cells: Mapping[str, Any]
    """Column → cell; of a row that cannot be read the columns only, where they are known."""
    refusal: Refusal | None = None


class Line(NamedTuple):
    """A physical line without its line feed; a line above the limit has no bytes."""

    place: Place
    data: bytes | None


def read_rows(source: Source, table: Table, limits: Limits) -> Iterator[RowRead]:
    """Every row of the file in order. Raises UsageError for a format that cannot be told."""
    form = table.format or _format(source.path)
    if form == "parquet":
        yield from _parquet(source)
        return
    with source.path.open("rb", buffering=0) as file:
        inflater = None
        if source.container in {"gzip", "zstd"}:
            inflater = Inflater(cast("Any", file), source.container, limits.inflated_limit(source.size))
        lines = _lines(file.read if inflater is None else inflater.read, limits)
        yield from _jsonl(lines, limits) if form == "jsonl" else _csv(lines, table, form)
        if inflater is not None and inflater.fault is not None:
            digest = hashlib.sha256(source.path.read_bytes()).hexdigest()
            yield RowRead(Place(0, 0, None, digest), {}, inflater.fault)


def _format(path: Path) -> Format:
    suffix = Path(path.name.removesuffix(".gz").removesuffix(".zst")).suffix.lower()
    if suffix not in BY_SUFFIX:
        allowed = ", ".join(sorted(set(BY_SUFFIX.values())))
        msg = f"{path.name!r}: its name tells no format; write table.format in the mapping, one of {allowed}"
        raise UsageError(msg)
    return BY_SUFFIX[suffix]


def _lines(read: Any, limits: Limits) -> Iterator[Line]:
    number = 0
    for part in blocks(read, limits.line_bytes):
        offset = part.offset
        if isinstance(part, LongLine):
            number += 1
            yield Line(Place(offset, number, part.length, part.sha256), None)
            continue
        ended = part.data[:-1] if isinstance(part, Block) else part.data
        for data in ended.split(b"\n"):
            number += 1
            yield Line(Place(offset, number, len(data), hashlib.sha256(data).hexdigest()), data)
            offset += len(data) + 1


def _jsonl(lines: Iterable[Line], limits: Limits) -> Iterator[RowRead]:
    for place, data in lines:
        if data is None:
            yield RowRead(place, {}, refuse("line_too_long", f"longer than {limits.line_bytes} bytes"))
        elif data.strip():
            yield _json_row(place, data, limits)


def _json_row(place: Place, data: bytes, limits: Limits) -> RowRead:
    try:
        orjson.loads(data)
        value = json.loads(data, parse_float=Decimal)
    except (ValueError, RecursionError):
        return RowRead(place, {}, refuse("not_json"))
    if (refusal := look(data, limits.depth)) is not None:
        return RowRead(place, {}, refusal)
    return RowRead(place, _flat(value)) if isinstance(value, dict) else RowRead(place, {}, refuse("not_object"))


def _flat(value: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested objects as columns with dotted names: `usage.prompt_tokens`."""
    found: dict[str, Any] = {}
    for name, cell in value.items():
        if isinstance(cell, dict):
            found |= _flat(cell, f"{prefix}{name}.")
        found.setdefault(f"{prefix}{name}", cell)
    return found


class _Physical:
    """Feeds lines to the csv reader and remembers those of the record being read."""

    def __init__(self, lines: Iterable[Line], encoding: str) -> None:
        self._lines, self._encoding = iter(lines), encoding
        self._record: list[Line] = []

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = next(self._lines)
        self._record.append(line)
        # Bytes that are no text survive as surrogates, so that the record ends where it ends.
        return "" if line.data is None else line.data.decode(self._encoding, "surrogateescape") + "\n"

    def take(self) -> list[Line]:
        """The lines of the record just read."""
        record, self._record = self._record, []
        return record


def _csv(lines: Iterable[Line], table: Table, form: Format) -> Iterator[RowRead]:
    physical = _Physical(lines, table.encoding)
    delimiter = "\t" if form == "tsv" else table.delimiter
    reader = csv.reader(physical, delimiter=delimiter, strict=True)
    header: list[str] | None = None
    while True:
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error:
            yield RowRead(
                _place(physical.take()), {}, refuse("unmapped_cell", "quotes or length of the row are not CSV")
            )
            continue
        record = physical.take()
        if header is None:
            header = _header(row)
        elif row or any(line.data is None for line in record):
            yield _csv_row(header, row, record, table)


def _header(row: list[str]) -> list[str]:
    header = [name.removeprefix("\ufeff").strip() for name in row]
    twice = sorted({name for name in header if header.count(name) > 1})
    if twice:
        msg = f"the table has the column {twice[0]!r} twice; rename one of them"
        raise UsageError(msg)
    return header


def _csv_row(header: list[str], row: list[str], record: list[Line], table: Table) -> RowRead:
    place = _place(record)
    if (refusal := _csv_fault(header, row, record, table)) is not None:
        return RowRead(place, dict.fromkeys(header), refusal)
    cells = zip(header, row, strict=True)
    return RowRead(place, {name: None if cell in table.unknown else cell for name, cell in cells})


def _csv_fault(header: list[str], row: list[str], record: list[Line], table: Table) -> Refusal | None:
    if any(line.data is None for line in record):
        return refuse("line_too_long")
    if len(row) != len(header):
        return refuse("unmapped_cell", f"{len(row)} cells where the header has {len(header)}")
    if any("\udc80" <= char <= "\udcff" for cell in row if not cell.isascii() for char in cell):
        return refuse("not_utf8", f"no {table.encoding}")
    return None


def _place(record: list[Line]) -> Place:
    first = record[0].place
    if len(record) == 1:
        return first
    data = b"\n".join(line.data or b"" for line in record)
    return Place(first.byte_offset, first.line_number, len(data), hashlib.sha256(data).hexdigest())


def _parquet(source: Source) -> Iterator[RowRead]:
    import pyarrow as pa  # noqa: PLC0415  # takes 0.2 s, needed for Parquet alone
    from pyarrow import parquet  # noqa: PLC0415

    number = 0
    try:
        for batch in parquet.ParquetFile(source.path).iter_batches(batch_size=1000):
            for row in batch.to_pylist():
                number += 1
                digest = hashlib.sha256(json.dumps(row, default=str, sort_keys=True).encode()).hexdigest()
                yield RowRead(Place(0, number, None, digest), _flat(row))
    except (pa.ArrowException, OSError):
        digest = hashlib.sha256(source.path.read_bytes()).hexdigest()
        yield RowRead(Place(0, number + 1, None, digest), {}, refuse("damaged_archive", "no complete Parquet file"))
