"""The files that events were read from, as far as they lie below the installation: the spool and the inbox."""

import gzip
import json
import os
from collections.abc import Collection, Iterator

import zstandard

from beleg.core.settings import Settings
from beleg.ingest.inflate import Inflater
from beleg.ingest.limits import Limits
from beleg.ingest.run import load_marks
from beleg.ingest.sources import Source, find_sources

_GROWING = "may still be written (.open.jsonl): once its process has ended, run `beleg run`, then this again"


def clean(settings: Settings, column: str, value: str, runs: Collection[str]) -> tuple[int, tuple[str, ...]]:
    """Take the lines of a value and of its runs out of every such file; lines taken, and what stays in words.

    A file of the spool is changed only where all of it was read: what is taken out stands in the lake, without
    the value. Compressed files are written anew under their compression.
    """
    taken, left = 0, []
    for source in _files(settings):
        lines = _lines(source)
        kept = None if lines is None else [line for line in lines if not _tells(line, column, value, runs)]
        if lines is None or kept is None:
            left.append(f"{source.path.name} cannot be read whole: delete it, then run this again")
        elif len(kept) < len(lines):
            why = _why_left(settings, source)
            if why is not None:
                left.append(f"{source.path.name} {why}")
                continue
            _replace(source, b"".join(kept))
            taken += len(lines) - len(kept)
    return taken, tuple(left)


def _files(settings: Settings) -> Iterator[Source]:
    folders = [path for path in (settings.spool, settings.home / "inbox") if path.is_dir()]
    yield from find_sources(folders, spool=settings.spool, marks=load_marks(settings))


def _why_left(settings: Settings, source: Source) -> str | None:
    """Why a file that tells the value is not changed; None where it may be."""
    if source.growing:
        return _GROWING
    in_spool = source.path.is_relative_to(settings.spool.resolve())
    return "is not read to its end: run `beleg run`, then this again" if in_spool and not _is_read(source) else None


def _is_read(source: Source) -> bool:
    return source.start == source.size


def _lines(source: Source) -> list[bytes] | None:
    """The lines of a file, decompressed; None where they cannot all be had."""
    with source.path.open("rb") as file:
        if source.container == "unsupported":
            return None
        if source.container == "plain":
            return file.read().splitlines(keepends=True)
        inflater = Inflater(file, source.container, Limits().inflated_limit(source.size))
        data = b"".join(iter(lambda: inflater.read(1 << 20), b""))
    return None if inflater.fault else data.splitlines(keepends=True)


def _tells(line: bytes, column: str, value: str, runs: Collection[str]) -> bool:
    """Whether a line names the value, or is of a run that does."""
    try:
        event = json.loads(line)
    except ValueError:
        return value.encode() in line
    if not isinstance(event, dict):
        return value.encode() in line
    named = (event.get(column), event.get("by") if column == "author_hash" else None)
    return value in named or event.get("run_id") in runs


def _replace(source: Source, content: bytes) -> None:
    path = source.path
    if not content:
        path.unlink()
        return
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    with beside.open("wb") as file:
        file.write(_packed(source.container, content))
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)


def _packed(container: str, content: bytes) -> bytes:
    if container == "gzip":
        return gzip.compress(content, mtime=0)
    return zstandard.ZstdCompressor().compress(content) if container == "zstd" else content
