"""Which days a change touches: the days of the changed events, of their runs, and of those runs' other events."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta

import duckdb

from beleg.lake.snapshot import Snapshot

RUN_TABLES = ("runs_started", "run_statuses", "runs_finished", "steps")
NEAR_DAYS = 31
"""Starts are looked for this many days back first; only what is not found there is looked for everywhere."""


@dataclass(frozen=True)
class Touched:
    """UTC days, as ISO text, that have to be computed again."""

    run_days: frozenset[str]
    """Days whose runs changed: `run_costs`."""
    step_days: frozenset[str]
    """Days whose steps changed, or changed their run's attributes: `step_costs`."""
    outcome_days: frozenset[str]
    """Days whose outcomes changed."""

    @property
    def all(self) -> frozenset[str]:
        """Every touched day."""
        return self.run_days | self.step_days | self.outcome_days


@dataclass(frozen=True)
class Links:
    """Pairs (event day, run day) of runs that lie on several days."""

    pairs: frozenset[tuple[str, str]]

    def events_of(self, run_days: Iterable[str]) -> set[str]:
        """Other days on which runs of these days have events."""
        wanted = set(run_days)
        return {event for event, run in self.pairs if run in wanted}

    def runs_of(self, event_days: Iterable[str]) -> set[str]:
        """Other days on which runs with events on these days started."""
        wanted = set(event_days)
        return {run for event, run in self.pairs if event in wanted}


def links(con: duckdb.DuckDBPyConnection, lake: Snapshot) -> Links:
    """The pairs a lake's `run_days` holds."""
    rows = con.execute(
        "SELECT DISTINCT CAST(day AS VARCHAR), CAST(run_day AS VARCHAR) "
        f"FROM {lake.relation('run_days')} WHERE run_day IS NOT NULL"
    ).fetchall()
    return Links(frozenset(rows))


def orphan_days(con: duckdb.DuckDBPyConnection, lake: Snapshot, started: Iterable[str]) -> set[str]:
    """Days with events of runs that had no known start and may have one now, among the starts of these days."""
    starts = lake.relation("runs_started", started)
    rows = con.execute(
        f"SELECT DISTINCT CAST(day AS VARCHAR) FROM {lake.relation('run_days')} "
        f"WHERE run_id IS NOT NULL AND run_id IN (SELECT run_id FROM {starts})"
    ).fetchall()
    return {day for (day,) in rows}


def orphans(con: duckdb.DuckDBPyConnection, lake: Snapshot, days: Iterable[str]) -> set[str]:
    """Those of the days that have events of runs without a known start."""
    rows = con.execute(
        f"SELECT DISTINCT CAST(day AS VARCHAR) FROM {lake.relation('run_days', days)} WHERE run_id IS NOT NULL"
    ).fetchall()
    return {day for (day,) in rows}


def near(days: Iterable[str]) -> set[str]:
    """The days themselves and those shortly before, where their runs most likely started."""
    found: set[str] = set()
    for day in days:
        last = date.fromisoformat(day)
        found.update((last - timedelta(days=n)).isoformat() for n in range(-1, NEAR_DAYS))
    return found
