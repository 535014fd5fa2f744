"""The restatement ledger: what a new publication changes in figures that were published as complete.

Called between building the marts and publishing. A writer killed after it leaves rows that no publication
names; the next one takes them out again and finds the same difference anew.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import duckdb

from beleg.core.sql import query
from beleg.cost import moves
from beleg.cost.build import Builder
from beleg.cost.moves import REASONS, Change, State
from beleg.cost.touched import Touched
from beleg.lake.forgotten import Forgotten
from beleg.lake.publication import Publication
from beleg.lake.snapshot import Snapshot
from beleg.lake.table import DataFile

TABLE = "restatements"
FILES_PER_MONTH = 16
"""A month with more files is written anew as one."""


def restate(builder: Builder, before: Publication | None, inputs: Mapping[str, str], touched: Touched) -> None:
    """Record what the builder's lake changes against `before`; nothing where only new or running days changed.

    `inputs` are those of the publication about to be made. Raises DuckDB's errors, for example for a full disk.
    """
    if before is None:
        return
    published = builder.lake.at(before)
    forgotten = Forgotten.load(builder.settings)
    forgotten.prepare(builder.con)
    change = Change.between(State(published, before.inputs), State(builder.lake, inputs), builder.pricing, forgotten)
    days = complete(builder.con, published, before, change.utc_days(touched.all))
    rows = None
    if days is not None and differing(builder.con, change, days):
        rows = _rows(builder.con, change)
    _store(builder, published, rows, before.number)


@dataclass(frozen=True)
class Days:
    """Business days from the first to the last, both included."""

    first: date
    last: date


def complete(
    con: duckdb.DuckDBPyConnection, lake: Snapshot, publication: Publication, among: Iterable[str]
) -> Days | None:
    """Business days that were complete in a publication, cut to the range of `among`; None where there is none.

    A day is complete when it had ended by `as_of` and lies between the first and the last with figures.
    """
    wanted = sorted(among)
    months = sorted(lake.partitions("unit_costs"))
    if not wanted or not months or wanted[0] > _last_day(lake):
        return None
    zone = ZoneInfo(publication.inputs.get("timezone", "UTC"))
    ended = datetime.fromisoformat(publication.as_of).astimezone(zone).date() - timedelta(days=1)
    ends = lake.relation("unit_costs", {months[0], months[-1]})
    ((first, last),) = con.execute(f"SELECT min(business_day), max(business_day) FROM {ends}").fetchall()
    first, last = max(first, date.fromisoformat(wanted[0])), min(last, ended, date.fromisoformat(wanted[-1]))
    return Days(first, last) if first <= last else None


def _last_day(lake: Snapshot) -> str:
    """No business day after this one has figures: told by the names of files alone, since most days are new ones."""
    days = {day for name in ("step_costs", "run_costs", "outcomes") for day in lake.partitions(name)}
    return (date.fromisoformat(max(days)) + timedelta(days=1)).isoformat() if days else f"{date.max}"


def differing(con: duckdb.DuckDBPyConnection, change: Change, days: Days) -> bool:
    """Fill the temporary table `totals` with the figures that differ on these days; whether there are any."""
    changed = change.now.changed(change.before, "unit_costs")
    months = {month for month in changed if f"{days.first}"[:7] <= month <= f"{days.last}"[:7]}
    if not months:
        return False
    for state, relation in change.sides("unit_costs", months):
        con.execute(f"CREATE OR REPLACE TEMP VIEW {state}_unit_costs AS SELECT * FROM {relation}")
    bound = {"first_day": days.first, "last_day": days.last}
    con.execute(f"CREATE OR REPLACE TEMP TABLE totals AS {query('beleg.cost', 'restate_totals')}", bound)
    return bool(con.execute("SELECT 1 FROM totals LIMIT 1").fetchall())


def _rows(con: duckdb.DuckDBPyConnection, change: Change) -> str:
    """The query of the new rows, over `totals` and `moves`."""
    found = con.execute("SELECT DISTINCT CAST(business_day AS VARCHAR) FROM totals").fetchall()
    moves.collect(con, change, [day for (day,) in found])
    return query("beleg.cost", "restatements")


def _store(builder: Builder, published: Snapshot, rows: str | None, number: int) -> None:
    """Commit the new rows, and take out those of a killed writer, all in one step."""
    table, lake = builder.lake.table(TABLE), builder.lake
    strays = _strays(builder, published, number)
    add: list[DataFile] = []
    if strays:
        known = f"SELECT * FROM {table.relation(strays)} WHERE to_publication <= $number"
        add = table.write(builder.con, known, {"number": number})
    if rows is not None:
        parameters: dict[str, Any] = {
            "from_publication": number,
            "to_publication": number + 1,
            "restated_at": datetime.now(UTC),
            "reasons": list(REASONS),
        }
        add += table.write(builder.con, rows, parameters)
    stay = [file for file in lake.files(TABLE) if file not in strays]
    add, joined = _joined(builder, stay, add)
    if add or strays:
        lake.advance(TABLE, table.commit(add, [*strays, *joined], note=builder.note))


def _strays(builder: Builder, published: Snapshot, number: int) -> list[DataFile]:
    """Unpublished files with rows of a publication that was never made."""
    known = {file.path for file in published.files(TABLE)}
    new = [file for file in builder.lake.files(TABLE) if file.path not in known]
    if not new:
        return []
    relation = builder.lake.table(TABLE).relation(new, addresses=True)
    found = builder.con.execute(f"SELECT DISTINCT filename FROM {relation} WHERE to_publication > $1", [number])
    names = {Path(name).name for (name,) in found.fetchall()}
    return [file for file in new if Path(file.path).name in names]


def _joined(builder: Builder, stay: list[DataFile], new: list[DataFile]) -> tuple[list[DataFile], list[DataFile]]:
    """The new files, joined with those of their month where it has many, and the files they then replace."""
    table = builder.lake.table(TABLE)
    crowded = {f.partition for f in new if sum(k.partition == f.partition for k in stay) >= FILES_PER_MONTH}
    if not crowded:
        return new, []
    old = [file for file in stay if file.partition in crowded]
    parts = [file for file in new if file.partition in crowded]
    whole = table.write(builder.con, f"SELECT * FROM {table.relation([*old, *parts])}")
    table.discard(parts)
    return [file for file in new if file not in parts] + whole, old
