"""Goes back to a source for single lines, as long as it still holds exactly those."""

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from beleg.ingest.inflate import Inflater
from beleg.ingest.limits import Limits
from beleg.ingest.lines import Read
from beleg.ingest.sources import OPEN_SUFFIX, container_of

_CHUNK_BYTES = 1024 * 1024


class Wanted(NamedTuple):
    """A line as the quarantine knows it."""

    byte_offset: int
    length: int
    line_sha256: str


class Found(NamedTuple):
    """What the source holds at the place of a line."""

    same: bool
    """True where it is exactly that line, by its digest."""
    line: bytes | None
    """Its bytes; None where it is another line, or longer than the limit."""


def current_name(file: Path) -> Path | None:
    """The file, under its sealed name if its writer sealed it meanwhile; None where it is gone."""
    sealed = file.with_name(file.name.removesuffix(OPEN_SUFFIX) + ".jsonl")
    names = (file, sealed) if file.name.endswith(OPEN_SUFFIX) else (file,)
    return next((name for name in names if name.is_file()), None)


def look_up(file: Path, wanted: Iterable[Wanted], limits: Limits) -> Iterator[Found]:
    """What the file holds at each place, in the order of `wanted`, which must ascend by offset."""
    with file.open("rb") as opened:
        container = container_of(opened)
        if container == "plain":
            for line in wanted:
                opened.seek(line.byte_offset)
                yield _compare(opened.read, line, limits)
            return
        stream = _Forward(opened, container, limits.inflated_limit(file.stat().st_size))
        for line in wanted:
            stream.skip_to(line.byte_offset)
            yield _compare(stream.read, line, limits)


def _compare(read: Read, line: Wanted, limits: Limits) -> Found:
    digest, kept, left = hashlib.sha256(), [], line.length
    while left and (piece := read(min(left, _CHUNK_BYTES))):
        digest.update(piece)
        left -= len(piece)
        if line.length <= limits.line_bytes:
            kept.append(piece)
    # Ended by a line feed or the end of the file, or it would be the beginning of another line.
    same = left == 0 and digest.hexdigest() == line.line_sha256 and read(1) in {b"", b"\n"}
    return Found(same, b"".join(kept) if same and line.length <= limits.line_bytes else None)


class _Forward:
    """A decompressed stream in which one can only go forward."""

    def __init__(self, file: BinaryIO, container: str, limit_bytes: int) -> None:
        self._inflater = Inflater(file, container, limit_bytes)
        self._rest = b""
        self._offset = 0

    def read(self, size: int) -> bytes:
        if not self._rest:
            self._rest = self._inflater.read(size)
        piece, self._rest = self._rest[:size], self._rest[size:]
        self._offset += len(piece)
        return piece

    def skip_to(self, offset: int) -> None:
        while self._offset < offset and self.read(min(offset - self._offset, _CHUNK_BYTES)):
            pass
