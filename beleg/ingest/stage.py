"""Judges sources and stages what is good: one file per event and range, bytes unchanged.

Work is split into byte ranges that end at line ends, so that worker processes share nothing. Line numbers
within a range are local; adding the lines of the ranges before makes them global, without serialising.
"""

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import orjson

from beleg.ingest.judge import Judge
from beleg.ingest.limits import Limits
from beleg.ingest.pool import judge_in_workers
from beleg.ingest.ranges import QUARANTINE, Batch, Judged, Range, judge_batch, staged_path
from beleg.ingest.schemas import shape_folders
from beleg.ingest.sources import Mark, Source


@dataclass(frozen=True)
class Progress:
    """How far a staging is."""

    bytes_done: int
    bytes_total: int
    read: int
    quarantined: int


@dataclass(frozen=True)
class Part:
    """A range that holds refused lines."""

    index: int
    """The `part` of its rows."""
    source: Source
    first_line: int
    """To be added to the `line_number` of its rows."""


@dataclass(frozen=True)
class Staged:
    """What a staging found. read = accepted + quarantined + pending, always.

    Blank lines are no events: they are counted in `blank` and stand outside `read`.
    """

    files: Mapping[str, tuple[Path, ...]]
    """Event → staged files with its good lines."""
    accepted_by_event: Mapping[str, int]
    read: int
    accepted: int
    quarantined: int = 0
    pending: int = 0
    """Unterminated last lines of growing files: neither good nor bad yet, read again next time."""
    blank: int = 0
    rows: int = 0
    """Rows of mapped tables; a row makes one event, several or none."""
    refused_files: tuple[Path, ...] = ()
    """Refused lines: newline-delimited JSON of `part`, `ranges.Place` and `reasons.Refusal`."""
    parts: tuple[Part, ...] = ()
    marks: Mapping[str, Mark] = field(default_factory=dict)
    """Key of a resumable source → where the next ingest goes on. To be stored once the lake holds this."""
    sources: tuple[Source, ...] = ()
    lines: Mapping[str, int] = field(default_factory=dict)
    """Key of a source that was read → lines it holds up to where it was read."""
    read_as: Mapping[str, str] = field(default_factory=dict)
    """Key of a source → the mapping file or `format:NAME` it was read with; events in normal form have none."""
    ignored: int = 0
    """Items of foreign formats that tell nothing of a run; they stand outside `read`."""
    unmapped: Mapping[str, int] = field(default_factory=dict)
    """Format → traces that no naming rule gave a workflow."""
    skipped: tuple[Source, ...] = ()
    """Sources that were gone or replaced before they were read; a renamed one is read next time."""

    def quarantine_rows(self) -> Iterator[dict[str, Any]]:
        """The refused lines: file, byte_offset, line_number, length, line_sha256, reason, detail."""
        parts = {part.index: part for part in self.parts}
        for path in self.refused_files:
            with path.open("rb") as lines:
                for line in lines:
                    row = orjson.loads(line)
                    part = parts[row.pop("part")]
                    row["line_number"] += part.first_line
                    yield {"file": str(part.source.path)} | row

    def __add__(self, other: "Staged") -> "Staged":
        """Both stagings as one; their parts must have different numbers."""
        both = {name: getattr(self, name) + getattr(other, name) for name in _ADDED}
        both |= {name: {**getattr(self, name), **getattr(other, name)} for name in _JOINED}
        names = {**self.files, **other.files}
        both["files"] = {name: (*self.files.get(name, ()), *other.files.get(name, ())) for name in names}
        both["accepted_by_event"] = dict(Counter(self.accepted_by_event) + Counter(other.accepted_by_event))
        return replace(self, **both)


_COUNTS = ("read", "accepted", "quarantined", "pending", "blank", "rows", "ignored")
_ADDED = (*_COUNTS, "refused_files", "parts", "sources", "skipped")
_JOINED = ("marks", "lines", "read_as", "unmapped")


def stage(
    sources: Sequence[Source],
    folder: Path,
    *,
    workers: int | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    limits: Limits | None = None,
    project: Path | None = None,
    stored: Collection[str] = (),
) -> Staged:
    """Judge the sources and write their good lines below `folder`, which is this ingest's alone.

    `workers` processes share the work (default: one per core); small input stays in this process.
    `project` is the folder with the user's own artifact shapes, `stored` names the workflows whose corrected
    values may be stored. Raises UsageError for a broken shape,
    DamagedError where workers die twice over the same range, OSError where the disk is full.
    """
    limits = limits or Limits()
    folders = shape_folders(project)
    work = [(source, r) for source in sources for r in _ranges(source, limits)]
    ranges = [Range(index, **r) for index, (_, r) in enumerate(work)]
    batches = list(_batches(ranges, str(folder), limits))
    results: list[Judged] = []
    total = sum(r.end - r.start for r in ranges)
    for judged in _judge(
        batches, limits, folders, stored=sorted(stored), workers=workers or os.cpu_count() or 1, total=total
    ):
        results += judged
        if on_progress is not None:
            on_progress(_progress(ranges, results, total))
    return _staged(batches, [source for source, _ in work], results, sources)


def _judge(
    batches: Sequence[Batch],
    limits: Limits,
    folders: Sequence[Path],
    *,
    stored: Sequence[str],
    workers: int,
    total: int,
) -> Iterator[list[Judged]]:
    if total > limits.inline_bytes and workers > 1:
        return judge_in_workers(batches, limits, folders, min(workers, len(batches)), stored=stored)
    judge = Judge(limits, folders, stored)
    return (judge_batch(judge, limits, batch) for batch in batches)


def _batches(ranges: Sequence[Range], folder: str, limits: Limits) -> Iterator[Batch]:
    """The ranges in order, in batches of about `range_bytes`."""
    batch: list[Range] = []
    index = size = 0
    for work in ranges:
        if batch and size + work.end - work.start > limits.range_bytes:
            yield Batch(index, folder, batch)
            batch, index, size = [], index + 1, 0
        batch.append(work)
        size += work.end - work.start
    if batch:
        yield Batch(index, folder, batch)


def _ranges(source: Source, limits: Limits) -> Iterator[dict[str, Any]]:
    """The ranges of a source, each beginning at the start of a line."""
    common = {
        "path": str(source.path),
        "container": source.container,
        "inode": source.inode,
        "device": source.device,
        "size": source.size,
        "digest": source.digest,
        "growing": source.growing,
        "resumable": source.resumable,
    }
    start = source.start
    while start < source.size:
        end = source.size
        if source.container == "plain" and end - start > limits.range_bytes:
            end = _line_end(source.path, start + limits.range_bytes, end)
        yield common | {"start": start, "end": end}
        start = end


def _line_end(path: Path, offset: int, size: int) -> int:
    """Offset behind the first line feed at or after `offset`; `size` where there is none."""
    with path.open("rb") as file:
        file.seek(offset)
        while chunk := file.read(64 * 1024):
            if (found := chunk.find(b"\n")) >= 0:
                return min(size, file.tell() - len(chunk) + found + 1)
    return size


def _progress(ranges: Sequence[Range], results: Sequence[Judged], total: int) -> Progress:
    done = sum(ranges[r.index].end - ranges[r.index].start for r in results)
    read = sum(sum(r.accepted.values()) + r.quarantined + r.pending for r in results)
    return Progress(done, total, read, sum(r.quarantined for r in results))


def _staged(
    batches: Sequence[Batch], owners: Sequence[Source], results: Sequence[Judged], sources: Sequence[Source]
) -> Staged:
    total = _Total({source.key: source.start_line for source in sources})
    for source, judged in zip(owners, results, strict=True):
        total.add(source, judged)
    files = _files(batches, results)
    accepted = sum(total.accepted.values())
    quarantined, pending, blank = (sum(getattr(r, n) for r in results) for n in ("quarantined", "pending", "blank"))
    return Staged(
        files={name: paths for name, paths in files.items() if name != QUARANTINE},
        accepted_by_event=total.accepted,
        read=accepted + quarantined + pending,
        accepted=accepted,
        quarantined=quarantined,
        pending=pending,
        blank=blank,
        refused_files=files.get(QUARANTINE, ()),
        parts=tuple(total.parts),
        marks=total.marks,
        sources=tuple(sources),
        lines={key: count for key, count in total.lines.items() if key in total.read},
        skipped=tuple(source for source in sources if source.key in total.missing),
    )


def _files(batches: Sequence[Batch], results: Sequence[Judged]) -> dict[str, tuple[Path, ...]]:
    """Event (or `_quarantine`) → the staged files that were written for it, in order."""
    batch_of = {work.index: batch for batch in batches for work in batch.ranges}
    found: dict[str, dict[Path, None]] = {}
    for judged in results:
        batch = batch_of[judged.index]
        for name in (*judged.accepted, *([QUARANTINE] if judged.quarantined else [])):
            found.setdefault(name, {})[staged_path(Path(batch.folder), name, batch.index)] = None
    return {name: tuple(paths) for name, paths in found.items()}


class _Total:
    """Adds up the ranges in order."""

    def __init__(self, lines: dict[str, int]) -> None:
        self.lines = lines
        self.accepted: dict[str, int] = {}
        self.parts: list[Part] = []
        self.marks: dict[str, Mark] = {}
        self.read: set[str] = set()
        self.missing: set[str] = set()

    def add(self, source: Source, judged: Judged) -> None:
        """Add a range of a source."""
        if judged.missing:
            self.missing.add(source.key)
            return
        self.read.add(source.key)
        for event, count in judged.accepted.items():
            self.accepted[event] = self.accepted.get(event, 0) + count
        if judged.quarantined:
            self.parts.append(Part(judged.index, source, self.lines[source.key]))
        self.lines[source.key] += judged.lines
        if judged.digest:
            end = judged.end if source.container == "plain" else source.size
            self.marks[source.key] = Mark(end, self.lines[source.key], judged.digest)
