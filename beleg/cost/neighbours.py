"""Which other days a run concerns: those of the runs it is compared with, and those of what people said of it.

All answers come from `run_lookup`, of which one narrow column is read over the days that may matter. They may name
a day too many, since numbers of different things may be equal, and never one too few.
"""

from collections.abc import Iterable, Mapping
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
        last = _shifted(max(days), HORIZON_DAYS + 1)
        return self._nearest(days, {day for day in self._days if min(days) < day <= last}, "min", ">")

    def earlier(self, days: set[str]) -> set[str]:
        """Days of the runs that those of these days are compared with."""
        if not days:
            return set()
        first = _shifted(min(days), -HORIZON_DAYS - 1)
        return self._nearest(days, {day for day in self._days if first <= day < max(days)}, "max", "<")

    def judged(self, run_days: set[str], words: Mapping[str, set[str]]) -> set[str]:
        """Days of runs about which something else is said than before.

        `words` names the changed days of `feedback`, `corrections` and `reviews`. What names a run by fingerprint
        goes to the latest that fits, so a changed run may take it from another or leave it to one.
        """
        changed = [self._both(table, days) for table, days in words.items() if days and table != "reviews"]
        changed += self._reviewed(words.get("reviews", set()))
        changed += self._superseded(words.get("corrections", set()))
        found = self.candidates(run_days)
        for relation in changed:
            self._keys(f"SELECT {_number('md5(run_id)')} FROM {relation} WHERE run_id IS NOT NULL")
            found |= self._sharing("run_key")
            found |= self._sharing_fingerprints(relation)
        return found

    def candidates(self, days: set[str]) -> set[str]:
        """Days of all runs that may compete with runs of these days for what names a run by fingerprint."""
        found: set[str] = set()
        mine = self._both("run_lookup", days)
        for table in ("feedback", "corrections"):
            if self.now.files(table):
                found |= self._sharing_fingerprints(self.now.relation(table), among=mine)
        return found

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

    def _sharing_fingerprints(self, words: str, *, among: str | None = None) -> set[str]:
        """Days of runs with the fingerprints by which some words name theirs, or those that runs `among` them have."""
        found: set[str] = set()
        for column, condition in (("output", "true"), ("input", "output_hash IS NULL")):
            number = _number(f"{column}_hash")
            also = "" if among is None else f" AND {number} IN (SELECT same_{column} FROM {among})"
            self._keys(
                f"SELECT {number} FROM {words} WHERE run_id IS NULL AND {column}_hash IS NOT NULL AND {condition}{also}"
            )
            found |= self._sharing(f"same_{column}")
        return found

    def _superseded(self, days: set[str]) -> list[str]:
        """Relation of the corrections that changed ones replace, or replaced before."""
        return self._corrections("supersedes", self._both("corrections", days)) if days else []

    def _reviewed(self, days: set[str]) -> list[str]:
        """Relation of the corrections about which something else is decided than before."""
        return self._corrections("subject", self._both("reviews", days)) if days else []

    def _corrections(self, column: str, named_by: str) -> list[str]:
        everything = self._both("corrections", None)
        wanted = f"SELECT {column} FROM {named_by} WHERE {column} IS NOT NULL"
        return [f"(SELECT * FROM {everything} WHERE correction_id IN ({wanted}))"]

    def _both(self, table: str, days: Iterable[str] | None) -> str:
        """Relation over a table's rows on these days, as published and as they are now."""
        wanted = None if days is None else set(days)
        now, before = (snapshot.relation(table, wanted) for snapshot in (self.now, self.before))
        return f"(SELECT * FROM {now} UNION ALL BY NAME SELECT * FROM {before})"

    def _keys(self, query: str) -> None:
        self.con.execute("CREATE OR REPLACE TEMP TABLE wanted_keys (key BIGINT)")
        self.con.execute(f"INSERT INTO wanted_keys SELECT DISTINCT * FROM ({query})")

    def _sharing(self, column: str) -> set[str]:
        """Days of the runs whose key is among the wanted ones."""
        if not self.con.execute("SELECT 1 FROM wanted_keys LIMIT 1").fetchall():
            return set()
        rows = self.con.execute(
            f"SELECT DISTINCT CAST(day AS VARCHAR) FROM {self.now.relation('run_lookup')} "
            f"WHERE {column} IN (SELECT key FROM wanted_keys)"
        ).fetchall()
        return {day for (day,) in rows}


def _number(digits: str) -> str:
    """SQL of the number that `run_lookup` holds for a fingerprint, or for an MD5 of something else."""
    return f"CAST('0x' || left({digits}, 15) AS BIGINT)"


def _shifted(day: str, days: int) -> str:
    return (date.fromisoformat(day) + timedelta(days=days)).isoformat()
