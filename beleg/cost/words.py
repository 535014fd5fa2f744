"""Which days of words a change concerns, and which days must be at hand to bind them: for the mart `bindings`.

All answers come from numbers: those that `run_lookup` holds of runs, and the same of words. They may name a day
too many, since numbers of different things may be equal, and never one too few.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import duckdb

from beleg.cost.neighbours import number, shifted
from beleg.lake.snapshot import Snapshot

SPOKEN = ("feedback", "corrections")
"""Tables of words about runs."""
WORD_TABLES = (*SPOKEN, "reviews")
"""What people say of runs, and of what was said."""
_KEYS = "run_key, same_input, same_output"


@dataclass(frozen=True)
class Words:
    """The lake as it was published and as it is now; days are UTC days as ISO text."""

    con: duckdb.DuckDBPyConnection
    before: Snapshot
    now: Snapshot

    def due(self, run_days: set[str], changed: Mapping[str, Iterable[str]]) -> set[str]:
        """Days of words to bind again after runs of some days changed, and tables of words as `changed` says.

        A word that moves to another run may be what somebody thought over there, or leave what they said before.
        """
        days = {day for name in SPOKEN for day in changed[name]}
        if not any(snapshot.files(name) for snapshot in (self.before, self.now) for name in SPOKEN):
            return days
        self._keep("moved", self._words(SPOKEN, days, "true"))
        self._keep("moved", self._corrections("supersedes", "corrections", set(changed["corrections"])), more=True)
        self._keep("moved", self._corrections("subject", "reviews", set(changed["reviews"])), more=True)
        if run_days:
            self._keep("concerned", f"SELECT {_KEYS}, day FROM {self._both('run_lookup', run_days)}")
            self._keep("moved", self._about("concerned", "true"), more=True)
        days |= self._days("moved")
        self._runs("concerned", "moved")
        self._keep("others", self._about("concerned", "author_hash IS NOT NULL"))
        return days | self._days("others")

    def at_hand(self, days: set[str]) -> dict[str, Iterable[str]]:
        """Table → its days that are needed to bind the words of some days."""
        self._keep("moved", self._words(SPOKEN, days, "true"))
        self._runs("concerned", "moved")
        self._keep("others", self._about("concerned", "author_hash IS NOT NULL"))
        spoken = days | self._days("others")
        self._keep("moved", "SELECT * FROM others", more=True)
        self._runs("concerned", "moved")
        # What replaces a correction, or decides on it, is never of an earlier day.
        later = {name: self._since(name, min(days)) for name in ("corrections", "reviews")}
        corrections = later["corrections"] | spoken
        return {"run_costs": self._days("concerned"), "feedback": spoken, **later, "corrections": corrections}

    def run_days(self) -> set[str]:
        """Days of the runs for which something else counts than was published."""
        days = self.now.changed(self.before, "bindings")
        if not days:
            return set()
        found = self.con.execute(
            f"SELECT DISTINCT CAST(run_day AS VARCHAR) FROM {self._both('bindings', days)} WHERE is_counted"
        ).fetchall()
        return {day for (day,) in found}

    def _words(self, tables: Iterable[str], days: Iterable[str] | None, condition: str) -> str:
        """Query of words as numbers, as published and as they are now."""
        run = f"CASE WHEN run_id IS NOT NULL THEN {number('md5(run_id)')} END AS run_key"
        hashes = (f"CASE WHEN run_id IS NULL THEN {number(f'{c}_hash')} END AS same_{c}" for c in ("input", "output"))
        names = ", ".join([run, *hashes, "day"])
        return " UNION ".join(f"SELECT {names} FROM {self._both(table, days)} WHERE {condition}" for table in tables)

    def _corrections(self, column: str, table: str, days: set[str]) -> str:
        """Query of the corrections that rows of some days name in a column."""
        named = f"SELECT {column} FROM {self._both(table, days)} WHERE {column} IS NOT NULL"
        return self._words(("corrections",), None if days else (), f"correction_id IN ({named})")

    def _about(self, runs: str, condition: str) -> str:
        """Query of the words that may be about some runs, said the day before their start or later."""
        ((first,),) = self.con.execute(f"SELECT CAST(min(day) AS VARCHAR) FROM {runs}").fetchall()
        since = shifted(first, -1) if first else None
        days = {d for n in SPOKEN for s in (self.before, self.now) for d in s.partitions(n) if since and d >= since}
        shared = " OR ".join(f"{key} IN (SELECT {key} FROM {runs})" for key in _KEYS.split(", "))
        return f"SELECT * FROM ({self._words(SPOKEN, days, condition)}) WHERE {shared}"

    def _runs(self, name: str, words: str) -> None:
        """Keep the runs that some words may be about: by both fingerprints, or by each where no run has both."""
        if not self._days(words):
            self._keep(name, f"SELECT {_KEYS}, day FROM {self.now.relation('run_lookup', ())}")
            return
        one = (("run_key", "true"), ("same_input", "same_output IS NULL"), ("same_output", "same_input IS NULL"))
        both = f"(same_input, same_output) IN (SELECT (same_input, same_output) FROM {words})"
        self._keep(name, self._lookup([*(_within(key, words, condition) for key, condition in one), both]))
        self._keep(
            "halves",
            f"SELECT * FROM {words} WHERE same_input IS NOT NULL AND same_output IS NOT NULL "
            f"AND (same_input, same_output) NOT IN (SELECT (same_input, same_output) FROM {name} "
            "WHERE same_input IS NOT NULL AND same_output IS NOT NULL)",
        )
        if self._days("halves"):
            each = [_within(key, "halves", "true") for key in ("same_input", "same_output")]
            self._keep(name, self._lookup(each), more=True)

    def _lookup(self, conditions: Iterable[str]) -> str:
        return f"SELECT {_KEYS}, day FROM {self.now.relation('run_lookup')} WHERE {' OR '.join(conditions)}"

    def _since(self, table: str, day: str) -> set[str]:
        return {found for found in self.now.partitions(table) if found >= day}

    def _both(self, table: str, days: Iterable[str] | None) -> str:
        """Relation over a table's rows on these days, as published and as they are now."""
        wanted = None if days is None else set(days)
        now, before = (snapshot.relation(table, wanted) for snapshot in (self.now, self.before))
        return f"(SELECT * FROM {now} UNION ALL BY NAME SELECT * FROM {before})"

    def _keep(self, name: str, query: str, *, more: bool = False) -> None:
        """Keep the rows of a query as a temporary table, in place of those there or beside them."""
        if more:
            self.con.execute(f"INSERT INTO {name} {query}")
        else:
            self.con.execute(f"CREATE OR REPLACE TEMP TABLE {name} AS {query}")

    def _days(self, name: str) -> set[str]:
        return {day for (day,) in self.con.execute(f"SELECT DISTINCT CAST(day AS VARCHAR) FROM {name}").fetchall()}


def _within(key: str, table: str, condition: str) -> str:
    return f"{key} IN (SELECT {key} FROM {table} WHERE {condition} AND {key} IS NOT NULL)"
