"""Which days a change touches: the days of the changed events, of their runs, and of those runs' other events."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date, timedelta

import duckdb

from beleg.lake.snapshot import Snapshot

RUN_TABLES = ("runs_started", "run_statuses", "runs_finished", "steps")
NEAR_DAYS = 31
"""Starts are looked for this many days off first; only what is not found there is looked for everywhere."""

Pairs = frozenset[tuple[str, str]]
"""(day of events or of a child run, day the run started)."""


@dataclass(frozen=True)
class Touched:
    """UTC days, as ISO text, that have to be computed again."""

    run_days: frozenset[str] = frozenset()
    """Days whose runs changed: `run_costs`."""
    step_days: frozenset[str] = frozenset()
    """Days whose steps changed, or changed their run's attributes: `step_costs`."""
    outcome_days: frozenset[str] = frozenset()
    """Days whose outcomes changed."""

    @property
    def all(self) -> frozenset[str]:
        """Every touched day."""
        return self.run_days | self.step_days | self.outcome_days


@dataclass(frozen=True)
class Links:
    """Days that belong together because a run reaches over them."""

    events: Pairs = field(default_factory=frozenset)
    children: Pairs = field(default_factory=frozenset)

    def __or__(self, other: "Links") -> "Links":
        return Links(self.events | other.events, self.children | other.children)

    def runs_of(self, days: Iterable[str]) -> set[str]:
        """These days and those on which runs with events on them started, parents of those runs included."""
        found = set(days)
        found |= {run for day, run in self.events if day in found}
        while more := {run for day, run in self.children if day in found} - found:
            found |= more
        return found

    def events_of(self, run_days: Iterable[str]) -> set[str]:
        """These days and those on which runs that started on them have events, child runs included."""
        found = set(run_days)
        while more := {day for day, run in self.children if run in found} - found:
            found |= more
        return found | {day for day, run in self.events if run in found}


def links(con: duckdb.DuckDBPyConnection, lake: Snapshot) -> Links:
    """The links a lake's `run_days` holds."""
    rows = con.execute(
        "SELECT DISTINCT link, CAST(day AS VARCHAR), CAST(run_day AS VARCHAR) "
        f"FROM {lake.relation('run_days')} WHERE run_day IS NOT NULL"
    ).fetchall()
    pairs = {kind: frozenset((day, run) for link, day, run in rows if link == kind) for kind in ("event", "child")}
    return Links(pairs["event"], pairs["child"])


def waiting_days(con: duckdb.DuckDBPyConnection, lake: Snapshot, started: Iterable[str]) -> set[str]:
    """Days with events of runs that had no known start and may have one among the starts of these days."""
    starts = lake.relation("runs_started", started)
    rows = con.execute(
        f"SELECT DISTINCT CAST(day AS VARCHAR) FROM {lake.relation('run_days')} "
        f"WHERE run_id IS NOT NULL AND run_id IN (SELECT run_id FROM {starts})"
    ).fetchall()
    return {day for (day,) in rows}


def restart_days(con: duckdb.DuckDBPyConnection, lake: Snapshot, started: Iterable[str]) -> set[str]:
    """Other days, not far off, on which runs that started on these days are said to have started as well."""
    days = set(started)
    elsewhere = lake.relation("runs_started", near(days, ahead=NEAR_DAYS) - days)
    rows = con.execute(
        f"SELECT DISTINCT CAST(day AS VARCHAR) FROM {elsewhere} "
        f"WHERE run_id IN (SELECT run_id FROM {lake.relation('runs_started', days)})"
    ).fetchall()
    return {day for (day,) in rows}


def orphans(con: duckdb.DuckDBPyConnection, lake: Snapshot, days: Iterable[str]) -> set[str]:
    """Those of the days that have events of runs without a known start."""
    rows = con.execute(
        f"SELECT DISTINCT CAST(day AS VARCHAR) FROM {lake.relation('run_days', days)} WHERE run_id IS NOT NULL"
    ).fetchall()
    return {day for (day,) in rows}


def outcome_days(con: duckdb.DuckDBPyConnection, snapshots: Iterable[Snapshot], days: Iterable[str]) -> set[str]:
    """Days of all reports of the outcomes that changed on these days, and of those they take back."""
    found: set[str] = set(days)
    for lake in snapshots:
        changed = lake.relation("outcomes", days)
        named = f"SELECT outcome_id FROM {changed} UNION SELECT retracts FROM {changed} WHERE retracts IS NOT NULL"
        rows = con.execute(
            f"SELECT DISTINCT CAST(day AS VARCHAR) FROM {lake.relation('outcomes')} WHERE outcome_id IN ({named})"
        ).fetchall()
        found |= {day for (day,) in rows}
    return found


def near(days: Iterable[str], *, ahead: int = 1) -> set[str]:
    """The days themselves, NEAR_DAYS before them and some after, where their runs most likely started."""
    found: set[str] = set()
    for day in days:
        middle = date.fromisoformat(day)
        found.update((middle + timedelta(days=n)).isoformat() for n in range(-NEAR_DAYS, ahead + 1))
    return found
