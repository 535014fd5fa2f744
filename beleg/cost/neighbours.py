"""Which other days a run concerns: those of the runs it is compared with.

All answers come from `run_lookup`, of which one narrow column is read over the days that may matter. They may name
a day too many, since numbers of different things may be equal, and never one too few.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta

import duckdb

from beleg.lake.snapshot import Snapshot

HORIZON_DAYS = 400
"""Runs further apart are not compared: `drift.sql` says the same. A year and a month, for what comes back yearly."""
SERIES = ("input_key_series", "answer_series")


@dataclass(frozen=True)
class Neighbours:
    """The lake as it was published and as it is now; days are UTC days as ISO text."""

    con: duckdb.DuckDBPyConnection
    before: Snapshot
    now: Snapshot

    def later(self, days: set[str]) -> set[str]:
        """Days of the runs that are, or were, compared with one of these days."""
        if not days:
            return set()
        last = shifted(max(days), HORIZON_DAYS + 1)
        return self._nearest(days, {day for day in self._days if min(days) < day <= last}, "min", ">")

    def earlier(self, days: set[str]) -> set[str]:
        """Days of the runs that those of these days are compared with."""
        if not days:
            return set()
        first = shifted(min(days), -HORIZON_DAYS - 1)
        return self._nearest(days, {day for day in self._days if first <= day < max(days)}, "max", "<")

    @property
    def _days(self) -> set[str]:
        return self.now.partitions("run_lookup")

    def _nearest(self, days: set[str], others: set[str], nearest: str, side: str) -> set[str]:
        """The `nearest` day on one `side` of each day on which each of its series has a run."""
        if not others:
            return set()
        mine, there = self._both("run_lookup", days), self.now.relation("run_lookup", others)
        found: set[str] = set()
        for series in SERIES:
            rows = self.con.execute(
                f"WITH mine AS (SELECT DISTINCT {series}, day FROM {mine} WHERE {series} IS NOT NULL) "
                f"SELECT DISTINCT CAST({nearest}(there.day) AS VARCHAR) FROM {there} AS there JOIN mine "
                f"ON there.{series} = mine.{series} AND there.day {side} mine.day GROUP BY mine.{series}, mine.day"
            ).fetchall()
            found.update(day for (day,) in rows)
        return found

    def _both(self, table: str, days: Iterable[str] | None) -> str:
        """Relation over a table's rows on these days, as published and as they are now."""
        wanted = None if days is None else set(days)
        now, before = (snapshot.relation(table, wanted) for snapshot in (self.now, self.before))
        return f"(SELECT * FROM {now} UNION ALL BY NAME SELECT * FROM {before})"


def number(digits: str) -> str:
    """SQL of the number that `run_lookup` holds for a fingerprint, or for an MD5 of something else."""
    return f"CAST('0x' || left({digits}, 15) AS BIGINT)"


def shifted(day: str, days: int) -> str:
    """A day some days later."""
    return (date.fromisoformat(day) + timedelta(days=days)).isoformat()
