"""The quarantine: which lines were refused, why, and what became of them.

A row never holds the line. Its identity is the digest of the line and which of several equal lines of its
file it is, so that neither a second ingest nor a copy of the file adds anything. Rows are only appended;
the latest one of a line tells its state.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from beleg.core.errors import CheckFailed, UsageError
from beleg.core.settings import Settings
from beleg.core.sql import query
from beleg.ingest.limits import Limits
from beleg.ingest.origin import Wanted, current_name, look_up
from beleg.ingest.stage import Staged
from beleg.lake.engine import connect, quote
from beleg.lake.table import LakeTable

_FILES = 32
"""With more files than this the table is written anew as one."""
_REFUSED = {
    "part": "BIGINT",
    "byte_offset": "BIGINT",
    "line_number": "BIGINT",
    "length": "BIGINT",
    "line_sha256": "VARCHAR",
    "reason": "VARCHAR",
    "detail": "VARCHAR",
}
"""A staged row of a refused line."""

Identity = tuple[str, int]
"""A refused line: (line_sha256, occurrence)."""


@dataclass(frozen=True)
class Share:
    """How many bad lines a run tolerates: it fails past the share, if they are at least `lines`."""

    most: float = 0.05
    lines: int = 20

    def check(self, accepted: int, quarantined: int) -> None:
        """Raise CheckFailed past the share. To be called after everything good was kept."""
        judged = accepted + quarantined
        if quarantined >= self.lines and quarantined > self.most * judged:
            msg = (
                f"{quarantined} of {judged} lines were refused, more than {self.most:.1%}; the rest was kept. "
                "See `beleg quarantine list`, mend and `beleg quarantine retry`, or allow more by --max-quarantined"
            )
            raise CheckFailed(msg)


def keep(settings: Settings, staged: Staged, ingest_id: str) -> Mapping[str, int]:
    """Record what a staging refused and what it found mended; returns reason → lines refused, sorted.

    Opens lines that are not open yet. Resolves open lines of files that were read again and are good
    now. The caller holds the writer lock. Running it twice records nothing new.
    """
    table = LakeTable(settings, "quarantine")
    if not staged.parts and not table.files():
        return {}
    with _state(settings) as con:
        _load_refused(con, staged)
        _load_reread(con, staged)
        _load_resolved(con, _resolutions(con))
        _append(con, table, ingest_id)
        found = con.execute("SELECT reason, count(*) FROM refused GROUP BY reason ORDER BY reason").fetchall()
    return dict(found)


def resolve(settings: Settings, lines: Mapping[Identity, str], ingest_id: str) -> None:
    """Record open lines as resolved, each in the way given (`accepted` or `mended`)."""
    if not lines:
        return
    with _state(settings) as con:
        _load_resolved(con, ((digest, occurrence, how) for (digest, occurrence), how in lines.items()))
        con.execute("CREATE TEMP TABLE refused AS SELECT * FROM quarantine LIMIT 0")
        _append(con, LakeTable(settings, "quarantine"), ingest_id)


def load(
    settings: Settings,
    *,
    status: str | None = "open",
    reason: str | None = None,
    file: Path | None = None,
    limit: int | None = None,
) -> list[dict[str, Any]]:
    """Latest state of each refused line, by file and place; of every status where that is None."""
    conditions = {"status": status, "reason": reason, "file": file and str(file)}
    bound = {name: value for name, value in conditions.items() if value is not None}
    where = " AND ".join(f"{name} = ${name}" for name in bound) or "true"
    order = "ORDER BY file, byte_offset, line_number, line_sha256, occurrence"
    return _select(settings, f"SELECT * FROM quarantine_state WHERE {where} {order} LIMIT {limit or 'ALL'}", bound)


def counts(settings: Settings) -> list[dict[str, Any]]:
    """Per reason: open and resolved lines, files, and when it was seen last; most open first."""
    return _select(settings, query("beleg.ingest", "quarantine_counts"), {})


def find(settings: Settings, name: str) -> tuple[dict[str, Any], bytes | None]:
    """A refused line by its id and, while its source still holds exactly that line, its bytes.

    The id is the beginning of the digest, `:2` behind it for the second of equal lines. Raises UsageError
    for an id that fits no line or several.
    """
    digest, _, occurrence = name.partition(":")
    sql = "SELECT * FROM quarantine_state WHERE starts_with(line_sha256, $digest) AND occurrence = $occurrence"
    number = int(occurrence) if occurrence.isdigit() else 1
    rows = _select(settings, sql, {"digest": digest.lower(), "occurrence": number})
    if len(rows) != 1 or not digest:
        msg = f"{name!r} fits {len(rows)} refused lines; take an id from `beleg quarantine list --reason REASON`"
        raise UsageError(msg)
    path = current_name(Path(rows[0]["file"]))
    if path is None or rows[0]["length"] is None:
        return rows[0], None
    wanted = Wanted(rows[0]["byte_offset"], rows[0]["length"], rows[0]["line_sha256"])
    return rows[0], next(look_up(path, [wanted], Limits())).line


def _select(settings: Settings, sql: str, bound: Mapping[str, Any]) -> list[dict[str, Any]]:
    with _state(settings) as con:
        rows = con.execute(sql, dict(bound))
        names = [d[0] for d in rows.description or []]
        return [dict(zip(names, row, strict=True)) for row in rows.fetchall()]


@contextmanager
def _state(settings: Settings) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection with the views `quarantine` and `quarantine_state`."""
    table = LakeTable(settings, "quarantine")
    with connect(settings.home / "scratch") as con:
        con.execute(f"CREATE TEMP VIEW quarantine AS SELECT * FROM {table.relation(table.files())}")
        con.execute(query("beleg.ingest", "quarantine_state"))
        yield con


def _load_refused(con: duckdb.DuckDBPyConnection, staged: Staged) -> None:
    parts = {
        "part": pa.array([p.index for p in staged.parts], pa.int64()),
        "file": pa.array([str(p.source.path) for p in staged.parts], pa.string()),
        "first_line": pa.array([p.first_line for p in staged.parts], pa.int64()),
        "start": pa.array([p.source.start for p in staged.parts], pa.int64()),
        "mapping": pa.array([staged.read_as.get(p.source.key) for p in staged.parts], pa.string()),
    }
    con.register("parts", pa.table(parts))
    types = ", ".join(f"{name}: '{kind}'" for name, kind in _REFUSED.items())
    paths = ", ".join(quote(str(path)) for path in staged.refused_files)
    nothing = ", ".join(f"NULL::{kind} AS {name}" for name, kind in _REFUSED.items())
    rows = f"read_json([{paths}], format = 'newline_delimited', columns = {{{types}}})"
    con.execute(f"CREATE TEMP VIEW rows AS {f'FROM {rows}' if paths else f'SELECT {nothing} LIMIT 0'}")
    con.execute(query("beleg.ingest", "quarantine_refused"))


def _load_reread(con: duckdb.DuckDBPyConnection, staged: Staged) -> None:
    read = [source for source in staged.sources if source.key in staged.lines]
    columns = {
        "file": pa.array([str(source.path) for source in read], pa.string()),
        "start": pa.array([source.start for source in read], pa.int64()),
        "lines": pa.array([staged.lines[source.key] for source in read], pa.int64()),
        "mapping": pa.array([staged.read_as.get(source.key) for source in read], pa.string()),
    }
    con.register("reread", pa.table(columns))


def _resolutions(con: duckdb.DuckDBPyConnection) -> Iterator[tuple[str, int, str]]:
    """Open lines that are good now: the same bytes, or another line in their place."""
    rows = con.execute(query("beleg.ingest", "quarantine_reread")).fetchall()
    for file, lines in groupby(rows, key=lambda row: row[2]):
        of_file = list(lines)
        wanted = [Wanted(row[3], row[5] or 0, row[0]) for row in of_file]
        for row, found in zip(of_file, look_up(Path(file), wanted, Limits()), strict=True):
            if found.same:
                yield row[0], row[1], "accepted"
            elif row[4] <= row[6]:
                yield row[0], row[1], "mended"


def _load_resolved(con: duckdb.DuckDBPyConnection, resolutions: Iterable[tuple[str, int, str]]) -> None:
    digests, occurrences, ways = list(zip(*resolutions, strict=True)) or ((), (), ())
    columns = {
        "line_sha256": pa.array(digests, pa.string()),
        "occurrence": pa.array(occurrences, pa.int64()),
        "resolution": pa.array(ways, pa.string()),
    }
    con.register("resolved", pa.table(columns))


def _append(con: duckdb.DuckDBPyConnection, table: LakeTable, ingest_id: str) -> None:
    bound = {"recorded_at": datetime.now(UTC).isoformat(), "ingest_id": ingest_id}
    changes = (
        f"{query('beleg.ingest', 'quarantine_opened')} UNION ALL BY NAME {query('beleg.ingest', 'quarantine_resolved')}"
    )
    con.execute(f"CREATE TEMP TABLE changes AS {changes}", bound)
    if not con.execute("SELECT 1 FROM changes LIMIT 1").fetchall():
        return
    before = table.files()
    if len(before) < _FILES:
        table.commit(table.write(con, "SELECT * FROM changes"), note=ingest_id)
        return
    rows = "SELECT * FROM quarantine UNION ALL BY NAME SELECT * FROM changes"
    table.commit(table.write(con, rows), before, note=ingest_id)
