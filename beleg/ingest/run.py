"""One ingest: stage, merge, commit, remember. Under the installation's writer lock throughout.

Killed at any point, it leaves files that no version names and a staging folder that the next ingest
removes; the same input then gives the same lake.
"""

import json
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import duckdb

from beleg.core.contracts import event_tables
from beleg.core.files import replace_text
from beleg.core.progress import OnProgress
from beleg.core.settings import Settings
from beleg.core.values import stored_workflows
from beleg.ingest import merge, quarantine
from beleg.ingest.foreign import READ_AS, stage_foreign, told_apart
from beleg.ingest.readers.formats import suffixes
from beleg.ingest.sources import Mark, find_sources
from beleg.ingest.stage import Progress, Staged, stage
from beleg.ingest.table import stage_table
from beleg.ingest.typed import likely_day, staged_sql
from beleg.lake.engine import MEMORY_LIMIT, connect, memory_share
from beleg.lake.forgotten import Forgotten
from beleg.lake.publication import append_fact
from beleg.lake.snapshot import Snapshot

_FIRST_FOREIGN = 1_000_000_000
"""Number of the first foreign file among the parts of an ingest, above any number of ranges."""
FEW_EVENTS = 500_000
"""Tables of up to so many events are merged two at a time."""


@dataclass(frozen=True)
class IngestReport:
    """What an ingest did.

    read = accepted + quarantined + pending; rows gained by the lake = accepted - duplicates - superseded.
    """

    ingest_id: str
    read: int = 0
    accepted: int = 0
    duplicates: int = 0
    superseded: int = 0
    quarantined: int = 0
    pending: int = 0
    blank: int = 0
    files: int = 0
    ignored: int = 0
    """Items of foreign formats that tell nothing of a run; they stand outside `read`."""
    unmapped: Mapping[str, int] = field(default_factory=dict)
    """Format → foreign traces that no naming rule gave a workflow."""
    formats: Mapping[str, int] = field(default_factory=dict)
    """Foreign format → files read in it."""
    skipped: int = 0
    """Files that were gone or replaced before they were read; the next ingest sees them anew."""
    accepted_by_event: Mapping[str, int] = field(default_factory=dict)
    quarantined_by_reason: Mapping[str, int] = field(default_factory=dict)


def ingest(
    settings: Settings,
    paths: Sequence[Path],
    *,
    lake: Snapshot,
    mapping: Path | None = None,
    form: str | None = None,
    on_progress: OnProgress,
) -> IngestReport:
    """Take what is new at `paths` into the lake; publishes nothing.

    `lake` holds the latest versions. With a `mapping`, the paths are tables that it turns into events; with a
    `form`, files of that format (`beleg formats`), which is otherwise recognised by content.
    Files of the spool are read on from where the last ingest stopped. The caller holds the writer lock.
    Raises UsageError for a path that does not exist or a wrong mapping. However much is refused, what is
    good is kept.
    """
    ingest_id = datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%fZ")
    folder = settings.home / "scratch" / ingest_id
    try:
        staged = _stage(settings, paths, folder, on_progress, mapping=mapping, form=form)
        return store(settings, staged, ingest_id, lake=lake, on_progress=on_progress)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _stage(
    settings: Settings,
    paths: Sequence[Path],
    folder: Path,
    on_progress: OnProgress,
    *,
    mapping: Path | None,
    form: str | None,
) -> Staged:
    def staged_so_far(progress: Progress) -> None:
        detail = f"{progress.read:,} lines, {progress.quarantined:,} refused"
        on_progress("reading", progress.bytes_done, progress.bytes_total, detail)

    stored = stored_workflows(settings)
    if mapping is not None:
        return stage_table(paths, mapping, folder, project=settings.project, stored=stored, on_progress=staged_so_far)
    sources = find_sources(paths, spool=settings.spool, marks=load_marks(settings), foreign=suffixes())
    own, foreign = told_apart(sources, form)
    common: dict[str, Any] = {"on_progress": staged_so_far, "project": settings.project, "stored": stored}
    staged = stage(own, folder / "own", **common)
    if not foreign:
        return staged
    return staged + stage_foreign(foreign, folder / "foreign", first_part=_FIRST_FOREIGN, **common)


def store(
    settings: Settings, staged: Staged, ingest_id: str, *, lake: Snapshot, on_progress: OnProgress
) -> IngestReport:
    """Merge staged lines into the lake and commit, keep the refused ones, then remember how far was read."""
    merges = _merge(settings, staged, ingest_id, lake, on_progress)
    reasons = quarantine.keep(settings, staged, ingest_id)
    save_marks(settings, staged)
    report = IngestReport(
        ingest_id=ingest_id,
        read=staged.read,
        accepted=staged.accepted,
        duplicates=sum(m.duplicates for m in merges),
        superseded=sum(m.superseded for m in merges),
        quarantined=staged.quarantined,
        pending=staged.pending,
        blank=staged.blank,
        ignored=staged.ignored,
        unmapped=dict(staged.unmapped),
        formats=_formats(staged),
        files=len(staged.sources) - len(staged.skipped),
        skipped=len(staged.skipped),
        accepted_by_event=dict(staged.accepted_by_event),
        quarantined_by_reason=reasons,
    )
    append_fact(settings.ledger / "ingests.jsonl", asdict(report))
    return report


def _formats(staged: Staged) -> dict[str, int]:
    found = (form.removeprefix(READ_AS) for form in staged.read_as.values() if form.startswith(READ_AS))
    return dict(Counter(found))


def _merge(
    settings: Settings, staged: Staged, ingest_id: str, lake: Snapshot, on_progress: OnProgress
) -> list[merge.Merge]:
    if not staged.files:
        return []
    on = partial(_merge_on, settings=settings, staged=staged, ingest_id=ingest_id, lake=lake, on_progress=on_progress)
    try:
        with connect(settings.home / "scratch", memory_limit=MEMORY_LIMIT) as con:
            return on(con, at_once=_at_once(staged))
    except duckdb.OutOfMemoryException:
        # DuckDB holds a buffer per thread, day and column while it writes many days, and cannot spill those.
        with connect(settings.home / "scratch", memory_limit=memory_share(), threads=1) as con:
            return on(con, at_once=1)


def _merge_on(
    con: duckdb.DuckDBPyConnection,
    *,
    settings: Settings,
    staged: Staged,
    ingest_id: str,
    lake: Snapshot,
    on_progress: OnProgress,
    at_once: int,
) -> list[merge.Merge]:
    merges: list[merge.Merge] = []
    forgotten = Forgotten.load(settings)
    with ThreadPoolExecutor(at_once) as pool:
        if forgotten and (starts := staged.files.get("run_started")) is not None:
            forgotten.prepare(con)
            forgotten.learn(con, staged_sql("run_started", starts, ingest_id))

        def prepare(event: str) -> merge.Merge:
            table = event_tables()[event]
            rows = forgotten.masked(table.table, staged_sql(event, staged.files[event], ingest_id))
            day = likely_day(staged.files[event], table.partition_of or "event_time")
            with con.cursor() as own:
                forgotten.prepare(own)
                return merge.prepare(own, lake, table.table, rows, likely_day=day)

        for made in pool.map(prepare, sorted(staged.files)):
            on_progress("storing", len(merges), len(staged.files))
            merges.append(made)
        merge.commit(con, lake, merges, ingest_id)
    return merges


def _at_once(staged: Staged) -> int:
    """How many tables to merge at the same time: few rows are too few for DuckDB to share, many take its memory."""
    return 2 if staged.accepted <= FEW_EVENTS else 1


def load_marks(settings: Settings) -> dict[str, Mark]:
    """Up to where each file of the spool has been read."""
    path = settings.ledger / "marks.json"
    try:
        return {key: Mark(**mark) for key, mark in json.loads(path.read_text(encoding="utf-8")).items()}
    except (FileNotFoundError, ValueError, TypeError, AttributeError):
        return {}  # read from the start again: what is known already is a duplicate


def save_marks(settings: Settings, staged: Staged) -> None:
    """Remember how far files were read, those only that are still there."""
    found = {source.key for source in staged.sources}
    before = load_marks(settings)
    known = {key: mark for key, mark in before.items() if key in found} | dict(staged.marks)
    if known != before:
        replace_text(settings.ledger / "marks.json", json.dumps({key: asdict(mark) for key, mark in known.items()}))
