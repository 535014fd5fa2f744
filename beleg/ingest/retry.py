"""Tries refused lines again, after their source, a schema or a mapping was mended."""

import shutil
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import Any

from beleg.core.progress import silent
from beleg.core.settings import Settings
from beleg.core.values import stored_workflows
from beleg.ingest import quarantine, run
from beleg.ingest.foreign import READ_AS, stage_foreign
from beleg.ingest.judge import Judge
from beleg.ingest.limits import Limits
from beleg.ingest.origin import Wanted, current_name, look_up
from beleg.ingest.quarantine import Identity
from beleg.ingest.ranges import Sink, sink, staged_path
from beleg.ingest.readers.formats import format_named
from beleg.ingest.schemas import shape_folders
from beleg.ingest.sources import find_sources
from beleg.ingest.stage import Staged, stage
from beleg.ingest.table import stage_table
from beleg.lake.snapshot import Snapshot

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Retried:
    """What became of the open lines: tried = accepted + mended + refused + gone."""

    tried: int
    accepted: int
    """The same bytes are good now."""
    mended: int
    """The source holds another, good line in their place."""
    refused: int
    """Still no good."""
    gone: int
    """The source is no longer there; they stay open."""


@dataclass
class _Sorted:
    """Open lines by what can be done about them."""

    good: dict[Identity, str] = field(default_factory=dict)
    """Good as they stand in their source, and staged: the event of each."""
    changed: set[tuple[Path, str | None]] = field(default_factory=set)
    """Sources (and their mapping) to be read again as a whole."""
    gone: int = 0


def retry(settings: Settings, *, reason: str | None = None) -> Retried:
    """Judge the open lines again, of one reason or of all; what is good goes through the normal ingest.

    A line is taken from its source while that holds exactly that line. A source that has changed, and a
    table that was read with a mapping, is read again as a whole: events known already are duplicates.
    The caller holds the writer lock and publishes.
    """
    rows = quarantine.load(settings, reason=reason)
    ingest_id = datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%fZ")
    folder = settings.home / "scratch" / f"retry-{ingest_id}"
    try:
        with sink(folder, 0) as staged:
            found = _sort(settings, rows, staged)
        _take(settings, found, folder, ingest_id)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return _outcome(settings, rows, found.gone)


def _take(settings: Settings, found: _Sorted, folder: Path, ingest_id: str) -> None:
    if found.good:
        _store(settings, _staged(found.good.values(), folder), ingest_id)
        quarantine.resolve(settings, dict.fromkeys(found.good, "accepted"), ingest_id)
    for number, (path, mapping) in enumerate(sorted(found.changed, key=str)):
        again = _read_again(settings, path, mapping, folder / str(number))
        _store(settings, again, f"{ingest_id}-{number}")


def _store(settings: Settings, staged: Staged, ingest_id: str) -> None:
    run.store(settings, staged, ingest_id, lake=Snapshot.latest(settings), on_progress=silent)


def _sort(settings: Settings, rows: Iterable[Row], staged: Sink) -> _Sorted:
    found = _Sorted()
    judge = Judge(Limits(), shape_folders(settings.project), stored_workflows(settings))
    for (file, mapping), group in groupby(rows, key=lambda row: (row["file"], row["mapping"])):
        of_file = list(group)
        path = current_name(Path(file))
        if path is None or not _is_there(mapping):
            found.gone += len(of_file)
        elif mapping is not None:
            found.changed.add((path, mapping))
        else:
            _judge_again(judge, path, of_file, staged, found)
    return found


def _judge_again(judge: Judge, path: Path, rows: list[Row], staged: Sink, found: _Sorted) -> None:
    wanted = [Wanted(row["byte_offset"], row["length"] or 0, row["line_sha256"]) for row in rows]
    for row, there in zip(rows, look_up(path, wanted, Limits()), strict=True):
        if not there.same:
            found.changed.add((path, None))
        elif there.line is not None and isinstance(event := judge.judge(there.line), str):
            staged.write(event, [judge.kept(event, there.line)])
            found.good[row["line_sha256"], row["occurrence"]] = event


def _staged(events: Iterable[str], folder: Path) -> Staged:
    counts = Counter(events)
    files = {event: (staged_path(folder, event, 0),) for event in counts}
    return Staged(files, counts, read=counts.total(), accepted=counts.total())


def _is_there(mapping: str | None) -> bool:
    """False for a mapping file that is gone."""
    return mapping is None or mapping.startswith(READ_AS) or Path(mapping).is_file()


def _read_again(settings: Settings, path: Path, mapping: str | None, folder: Path) -> Staged:
    common: Any = {"project": settings.project, "stored": stored_workflows(settings)}
    if mapping is None:
        return stage(find_sources([path], spool=settings.spool), folder, **common)
    if mapping.startswith(READ_AS):
        form = format_named(mapping.removeprefix(READ_AS))
        return stage_foreign([(source, form) for source in find_sources([path])], folder, **common)
    return stage_table([path], Path(mapping), folder, **common)


def _outcome(settings: Settings, rows: Iterable[Row], gone: int) -> Retried:
    tried = {(row["line_sha256"], row["occurrence"]) for row in rows}
    states = [
        row["resolution"]
        for row in quarantine.load(settings, status=None)
        if (row["line_sha256"], row["occurrence"]) in tried
    ]
    accepted, mended, still_open = (states.count(state) for state in ("accepted", "mended", None))
    return Retried(len(tried), accepted, mended, still_open - gone, gone)
