"""The beginning of a foreign file, by which its format is recognised."""

from codecs import BOM_UTF8
from collections.abc import Iterator
from functools import cached_property
from io import BytesIO
from typing import Any

import ijson

from beleg.ingest.readers.files import File
from beleg.ingest.readers.parsing import UNREADABLE, events_of, loads

_NAMED_LEVELS = 5
"""Longest path of keys by which a format is recognised."""


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
        for path, event, _ in events_of(BytesIO(data).read):
            if event == "map_key" and len(path) <= _NAMED_LEVELS:
                yield ".".join(path)
    except (ijson.JSONError, ValueError, RecursionError):
        return
