"""Forgets a reference, a tenant or a person: at once, everywhere below the home, and for what comes later too.

Money and counts stay, what leads back goes (docs/retention.md). Every step may be done twice, so a writer
killed anywhere is completed by the same call again; until then the tombstone already keeps new events out.
"""

import getpass
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

import duckdb

from beleg import flow
from beleg.core.contracts import of_kind
from beleg.core.errors import UsageError
from beleg.core.progress import OnProgress, silent
from beleg.core.settings import Settings
from beleg.lake.engine import connect
from beleg.lake.exclusive import exclusive
from beleg.lake.forgotten import BLANKED, COLUMN_OF, KINDS, Forgotten, Kind, to_mask
from beleg.lake.publication import append_fact
from beleg.lake.snapshot import Snapshot
from beleg.retention import evaluations, sources, traces
from beleg.work import instant

COMPARED = "drift"
"""The mart that holds fingerprints of single runs, of days too that are no longer computed again."""
ROWS_PER_CHUNK = 1_000_000


@dataclass(frozen=True)
class Forgetting:
    """What was, or would be, forgotten."""

    kind: Kind
    label: str
    """What stands in place of a tenant's name; in the record in place of the value."""
    rows: Mapping[str, int]
    """Table → rows changed or removed."""
    left: tuple[str, ...] = ()
    """What still holds it and is not Beleg's to change, in words."""
    dry_run: bool = False
    spool_lines: int = 0
    """Lines taken out of files of the spool and of the inbox."""
    reports: tuple[str, ...] = ()
    """Reports removed."""
    key: str | None = None
    """Id of the tenant's key that was destroyed."""
    notes: tuple[str, ...] = ()
    """What remains to do by hand, in words."""
    answers: int = 0
    """Lines taken out of the journals of evaluations."""


def forget(
    settings: Settings,
    kind: Kind,
    value: str,
    *,
    dry_run: bool = False,
    as_of: datetime | None = None,
    on_progress: OnProgress = silent,
) -> Forgetting:
    """Forget everything of a `ref` (input_ref), a `tenant` or a `person` (author_hash).

    Takes in the spool first, so that nothing comes after. The figures stay the same. A `dry_run` counts and
    changes nothing. Raises UsageError for an empty value, DamagedError where the disk is full.
    """
    if kind not in KINDS or not value:
        msg = f"nothing to forget: give one of {', '.join(f'--{k}' for k in KINDS)} with a value"
        raise UsageError(msg)
    if dry_run:
        return _planned(settings, kind, value)
    flow.run(settings, as_of=as_of, on_progress=on_progress)
    with exclusive(settings):
        forgotten = Forgotten.load(settings).bury(kind, value)
        label = forgotten.digests[kind, forgotten.digest(value)]
        _record(settings, kind, label, "started", {})
        rows = _rewrite(settings, forgotten, on_progress)
        runs = _runs(settings, forgotten)
    answers, cases = evaluations.clean(settings, kind, value, runs)
    flow.publish(settings, as_of=as_of, on_progress=on_progress)
    with exclusive(settings):
        traces.purge(settings)
        lines, left = sources.clean(settings, COLUMN_OF[kind], value, runs)
        reports = traces.remove_reports(settings, value)
        key, notes = traces.destroy_key(value) if kind == "tenant" else (None, ())
        _record(settings, kind, label, "done", rows)
    return Forgetting(kind, label, rows, left, False, lines, reports, key, (*notes, *cases), answers)


def _record(settings: Settings, kind: Kind, label: str, state: str, rows: Mapping[str, int]) -> None:
    """Who forgot what kind of thing and when; never the thing."""
    fact = {"kind": kind, "label": label, "state": state, "rows": dict(rows), "by": _who(), "at": _now()}
    append_fact(settings.ledger / "forgets.jsonl", fact)


def _who() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "unknown"


def _now() -> str:
    return instant(datetime.now(UTC))


def _planned(settings: Settings, kind: Kind, value: str) -> Forgetting:
    """Counts under a tombstone that is not set."""
    known = Forgotten.load(settings)
    digests = {**known.digests, (kind, known.digest(value)): "forgotten"}
    planned = Forgotten(settings, digests)
    lake = Snapshot.latest(settings)
    with connect(settings.home / "scratch") as con:
        planned.prepare(con)
        for starts in _starts(lake):
            planned.learn(con, starts, keep=False)
        counts = {t: sum(_days(con, lake, t, c).values()) for t, c in _conditions()}
    return Forgetting(kind, "forgotten", {t: n for t, n in counts.items() if n}, dry_run=True)


def _rewrite(settings: Settings, forgotten: Forgotten, on_progress: OnProgress) -> dict[str, int]:
    """Write every partition that holds something of it anew, without it; rows per table."""
    lake = Snapshot.latest(settings)
    changed: dict[str, int] = {}
    with connect(settings.home / "scratch") as con:
        forgotten.prepare(con)
        for starts in _starts(lake):
            forgotten.learn(con, starts)
        for table, condition in _conditions():
            rows = _days(con, lake, table, condition)
            for chunk in _chunks(lake, table, sorted(rows)):
                old = lake.files(table, chunk)
                clean = _clean(forgotten, table, f"SELECT * FROM {lake.table(table).relation(old)}")
                new = lake.table(table).write(con, clean)
                lake.advance(table, lake.table(table).commit(new, old, note="forget"))
            if rows:
                changed[table] = sum(rows.values())
            on_progress("forgetting", len(changed), len(BLANKED))
    return changed


def _starts(lake: Snapshot) -> Iterator[str]:
    """What tells of a run's reference and tenant."""
    for table in ("runs_started", "corrections"):
        yield f"SELECT run_id, input_ref, tenant FROM {lake.relation(table)} WHERE run_id IS NOT NULL"


def _conditions() -> Iterator[tuple[str, str]]:
    """(table, condition on the rows to change), events first; marts that can be computed again follow from them."""
    for table in BLANKED:
        yield table, to_mask(table)
    yield COMPARED, "run_id IN (SELECT run_id FROM forgotten_runs)"
    for contract in (*of_kind("mart"), *of_kind("system")):
        if "tenant" in {c.name for c in contract.columns}:
            yield contract.table, "tombstone('tenant', tenant) IS NOT NULL"


def _clean(forgotten: Forgotten, table: str, rows: str) -> str:
    if table in BLANKED:
        return forgotten.masked(table, rows)
    if table == COMPARED:
        rows = f"SELECT * FROM ({rows}) WHERE run_id NOT IN (SELECT run_id FROM forgotten_runs)"
    return f"SELECT * FROM {forgotten.renamed(f'({rows})')}"


def _days(con: duckdb.DuckDBPyConnection, lake: Snapshot, table: str, condition: str) -> dict[str, int]:
    """Partition → rows to change."""
    column = lake.table(table).contract.partition_column
    found = con.execute(
        f"SELECT CAST({column} AS VARCHAR), count(*) FROM {lake.relation(table)} WHERE {condition} GROUP BY 1"
    )
    return dict(found.fetchall())


def _chunks(lake: Snapshot, table: str, partitions: list[str]) -> Iterator[list[str]]:
    chunk: list[str] = []
    size = 0
    for partition in partitions:
        rows = sum(file.rows for file in lake.files(table, {partition}))
        if chunk and size + rows > ROWS_PER_CHUNK:
            yield chunk
            chunk, size = [], 0
        chunk.append(partition)
        size += rows
    if chunk:
        yield chunk


def _runs(settings: Settings, forgotten: Forgotten) -> set[str]:
    with connect(settings.home / "scratch") as con:
        forgotten.prepare(con)
        return {run for (run,) in con.execute("SELECT run_id FROM forgotten_runs").fetchall()}
