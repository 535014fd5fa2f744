"""What there is to read: files and folders, plain or compressed, finished or still growing.

A file's kind is decided by its first bytes, never by its name. Growing files (`*.open.jsonl`, written by
the tracer) and everything else in the spool are resumed where the last ingest stopped. The mark is kept
by device and inode, so that sealing a file by renaming it does not read it again, and it holds a digest
of bytes already read, so that another file under a reused inode number is not skipped.
"""

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from io import FileIO
from pathlib import Path
from typing import BinaryIO, Literal

from beleg.core.errors import UsageError
from beleg.trace.losses import SUFFIX as LOSSES_SUFFIX

Container = Literal["plain", "gzip", "zstd", "unsupported"]

OPEN_SUFFIX = ".open.jsonl"
SUFFIXES = (".jsonl", ".ndjson", ".json")
"""Names taken from a folder, alone or followed by .gz or .zst; a file named by itself is always taken."""

_PROBE_BYTES = 512
_ZSTD_FRAMES = (b"\x28\xb5\x2f\xfd", *(bytes([n]) + b"\x2a\x4d\x18" for n in range(0x50, 0x60)))
_UNSUPPORTED = (b"PAR1", b"PK\x03\x04", b"BZh", b"\xfd7zXZ\x00", b"ARROW1", b"SQLite format 3\x00")


@dataclass(frozen=True)
class Mark:
    """Up to where a resumable file has been read."""

    offset: int
    """Bytes read: up to the end of a line, or the whole of a file that is compressed or cannot be read."""
    lines: int
    """Lines up to there."""
    digest: str
    """SHA-256 of the first and the last 512 bytes before `offset`."""


@dataclass(frozen=True)
class Source:
    """One file to read, as it was when it was found: bytes appended later belong to the next ingest."""

    path: Path
    container: Container
    size: int
    """Bytes in the file."""
    digest: str
    """Of the first and the last 512 bytes: a file that is replaced meanwhile is not read in its place."""
    device: int
    inode: int
    growing: bool = False
    """True for a file that its writer may still extend: an unterminated last line is pending, not bad."""
    resumable: bool = False
    """True where a mark is kept for the next ingest."""
    start: int = 0
    """Offset of the first byte to read."""
    start_line: int = 0
    """Lines before `start`."""
    foreign: bool = False
    """True for a file taken from a folder because its name may be that of a foreign format."""

    @property
    def key(self) -> str:
        """Identity of the file, whatever its name."""
        return f"{self.device}:{self.inode}"


def find_sources(
    paths: Iterable[Path],
    *,
    spool: Path | None = None,
    marks: Mapping[str, Mark] | None = None,
    suffixes: tuple[str, ...] = SUFFIXES,
    foreign: tuple[str, ...] = (),
) -> tuple[Source, ...]:
    """The files behind `paths` (folders recursively), each once, sorted by path.

    Files below `spool` are resumed from `marks` (key of the source → mark). Raises UsageError for a path
    that does not exist or cannot be read. `suffixes` are the names taken from a folder, `foreign` further ones
    whose files are marked as such.
    """
    found: dict[str, Source] = {}
    named = {Path(given).resolve() for given in paths}
    for path in sorted({file for given in paths for file in _files(Path(given), (*suffixes, *foreign))}):
        source = _source(path, spool, marks or {})
        if source is not None:
            by_name = path not in named and not _is_taken(path.name, suffixes)
            found.setdefault(source.key, replace(source, foreign=True) if by_name else source)
    return tuple(found.values())


def _files(path: Path, suffixes: tuple[str, ...]) -> Iterator[Path]:
    if path.is_file():
        yield path.resolve()
    elif path.is_dir():
        for folder, _, names in os.walk(path.resolve()):
            taken = (Path(folder, name) for name in names if _is_taken(name, suffixes))
            # A pipe or a device has no end; opening one may wait for ever.
            yield from (path for path in taken if path.is_file())
    else:
        msg = f"{str(path)!r} is no file and no folder; name what is there, for example the spool folder"
        raise UsageError(msg)


def _is_taken(name: str, suffixes: tuple[str, ...]) -> bool:
    bare = name.removesuffix(".gz").removesuffix(".zst")
    return not name.startswith(".") and bare.endswith(suffixes) and not name.endswith(LOSSES_SUFFIX)


def _source(path: Path, spool: Path | None, marks: Mapping[str, Mark]) -> Source | None:
    """The source at a path; None where it was renamed or removed meanwhile, as the spool's files may be."""
    try:
        with path.open("rb") as file:
            stat = os.fstat(file.fileno())
            growing = path.name.endswith(OPEN_SUFFIX)
            resumable = growing or (spool is not None and path.is_relative_to(spool.resolve()))
            container = container_of(file)
            digest = digest_at(file, stat.st_size)
            fresh = Source(path, container, stat.st_size, digest, stat.st_dev, stat.st_ino, growing, resumable)
            mark = marks.get(fresh.key) if resumable else None
            if mark is None or mark.offset > stat.st_size or digest_at(file, mark.offset) != mark.digest:
                return fresh
            if container != "plain" and mark.offset < stat.st_size:  # it can only be read from its beginning
                return fresh
            return replace(fresh, start=mark.offset, start_line=mark.lines)
    except FileNotFoundError:
        return None
    except OSError as error:
        msg = f"{str(path)!r} cannot be read: {error.strerror}; check its permissions"
        raise UsageError(msg) from error


def container_of(file: BinaryIO) -> Container:
    """What a file is by its first bytes; it is left at its beginning."""
    first = file.read(_PROBE_BYTES)
    file.seek(0)
    if first.startswith(b"\x1f\x8b"):
        return "gzip"
    if first.startswith(_ZSTD_FRAMES):
        return "zstd"
    return "unsupported" if first.startswith(_UNSUPPORTED) else "plain"


def digest_at(file: BinaryIO | FileIO, offset: int) -> str:
    """SHA-256 of the first and the last 512 bytes before `offset`: tells a file from its successor."""
    file.seek(0)
    digest = hashlib.sha256(file.read(min(_PROBE_BYTES, offset)))
    file.seek(max(0, offset - _PROBE_BYTES))
    digest.update(file.read(min(_PROBE_BYTES, offset)))
    return digest.hexdigest()
