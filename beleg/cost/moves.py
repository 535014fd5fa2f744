"""What single steps, runs and outcomes take from one figure and add to another, between two states of the lake.

This is where a difference gets its reason. The order in which a difference is taken apart is that of REASONS:
prices first, for the events as they were; then the rules; then the events themselves, under the rules of now.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import NamedTuple

import duckdb

from beleg.core.contracts import mart_sql
from beleg.core.sql import query
from beleg.cost.pricing import Pricing
from beleg.cost.register import register_policies
from beleg.lake.forgotten import Forgotten
from beleg.lake.snapshot import Snapshot

REASONS = ("price", "policy", "removed", "correction", "duplicate", "late_event", "result", "abandoned")
"""In the order in which a difference is taken apart; a new one goes to the end of its kind."""
ROWS_PER_CHUNK = 1_000_000
_CELL = "business_day, workflow, purpose, tenant, team, prompt_version, provider, model, reason"


class State(NamedTuple):
    """A lake and what its marts depend on beside it."""

    lake: Snapshot
    inputs: Mapping[str, str]
    """As in a publication: digests of prices and policies, and the zone."""


@dataclass(frozen=True)
class Change:
    """Two states of the lake and what else may make their figures differ."""

    before: Snapshot
    now: Snapshot
    before_timezone: str
    timezone: str
    repriced: bool
    """True where prices or policies differ."""
    pricing: Pricing
    """Prices and policies of now."""
    forgotten: Forgotten
    """Tenants that bear another name since: that alone is no change."""

    @classmethod
    def between(cls, before: State, now: State, pricing: Pricing, forgotten: Forgotten) -> "Change":
        """The change from one state to another."""
        old_zone, zone = (state.inputs.get("timezone", "UTC") for state in (before, now))
        repriced = any(before.inputs.get(name) != now.inputs.get(name) for name in ("prices", "policies"))
        return cls(before.lake, now.lake, old_zone, zone, repriced, pricing, forgotten)

    def sides(self, table: str, partitions: Iterable[str] | None) -> tuple[tuple[str, str], ...]:
        """(`old` or `new`, relation) of a table in both states, forgotten tenants named by their label.

        In both, since one who was killed while forgetting leaves some rows of now under the old name.
        """
        wanted = None if partitions is None else set(partitions)
        old, new = (lake.relation(table, wanted) for lake in (self.before, self.now))
        return ("old", self.forgotten.renamed(old)), ("new", self.forgotten.renamed(new))

    def utc_days(self, days: Iterable[str]) -> set[str]:
        """UTC days that hold the events of business days, and the reverse: a zone is at most 14 hours off."""
        near = (0,) if self.before_timezone == self.timezone == "UTC" else (-1, 0, 1)
        return {(date.fromisoformat(day) + timedelta(days=n)).isoformat() for day in days for n in near}


def collect(con: duckdb.DuckDBPyConnection, change: Change, days: Iterable[str], *, ids: bool = False) -> None:
    """Fill the temporary table `moves` with what changed on some business days, summed by row and reason.

    `ids` keeps apart the runs and outcomes that caused it, in columns `run_id` and `outcome_id`. The sums
    of a reason add up to its part of the difference of `unit_costs`; what they leave is policy.
    """
    register_policies(con, change.pricing.policies)
    con.execute("DROP TABLE IF EXISTS moves")
    for chunk in _chunks(change, sorted(days)):
        _Collecting(con, change, chunk, ids=ids).run()
    if change.now.changed(change.before, "outcomes"):
        _Collecting(con, change, sorted(days), ids=ids).outcomes()


def _chunks(change: Change, days: list[str]) -> Iterator[list[str]]:
    """Days in groups of about ROWS_PER_CHUNK steps, which bounds memory; an empty one makes the table."""
    rows: dict[str, int] = {}
    for file in change.now.files("step_costs", change.utc_days(days)):
        rows[str(file.partition)] = rows.get(str(file.partition), 0) + file.rows
    chunk: list[str] = []
    size = 0
    for day in days:
        if chunk and size + rows.get(day, 0) > ROWS_PER_CHUNK:
            yield chunk
            chunk, size = [], 0
        chunk.append(day)
        size += rows.get(day, 0)
    yield chunk


@dataclass(frozen=True)
class _Collecting:
    """The moves of some business days."""

    con: duckdb.DuckDBPyConnection
    change: Change
    days: list[str]
    ids: bool

    def run(self) -> None:
        self._steps()
        self._runs()

    def outcomes(self) -> None:
        self._sides("result", "results", {"outcomes": None})
        self._add("restate_result_moves", {"timezone": self.change.timezone})

    def _steps(self) -> None:
        days = self.change.utc_days(self.days)
        self._sides("step", "steps", {"step_costs": days, "steps": days})
        self._elsewhere("steps", "source, event_id")
        self.con.execute(f"CREATE OR REPLACE TEMP TABLE step_pairs AS {query('beleg.cost', 'restate_step_pairs')}")
        self._reprice()
        zones = {"old_timezone": self.change.before_timezone, "timezone": self.change.timezone}
        self._add("restate_step_moves", {**zones, "prices_changed": self.change.repriced})

    def _runs(self) -> None:
        self._sides("run", "runs", {"run_costs": self.change.utc_days(self.days)})
        self._elsewhere("runs_started", "source, run_id AS event_id")
        self._add("restate_run_moves", {"timezone": self.change.timezone})

    def _sides(self, side: str, name: str, tables: Mapping[str, Iterable[str] | None]) -> None:
        texts = dict.fromkeys(("old", "new"), query("beleg.cost", f"restate_{side}_side"))
        for table, partitions in tables.items():
            for state, relation in self.change.sides(table, partitions):
                texts[state] = texts[state].replace(f"/*{table}*/", relation)
        for state, text in texts.items():
            self.con.execute(f"CREATE OR REPLACE TEMP VIEW {state}_{name} AS {text}")

    def _elsewhere(self, table: str, identity: str) -> None:
        """Identities on the other days whose events changed: what moved from or to a day is no coming or going."""
        change = self.change
        days = change.now.changed(change.before, table) - change.utc_days(self.days)
        old, new = (lake.relation(table, days) for lake in (change.before, change.now))
        self.con.execute(
            f"CREATE OR REPLACE TEMP VIEW elsewhere AS SELECT DISTINCT {identity}, true AS in_old FROM {old} "
            f"UNION ALL SELECT DISTINCT {identity}, false AS in_old FROM {new}"
        )

    def _reprice(self) -> None:
        """Price the old events of steps whose events changed as well, so that price and event come apart."""
        days: list[str] = []
        if self.change.repriced:
            rows = self.con.execute(
                "SELECT DISTINCT CAST(CAST(old_time AS DATE) AS VARCHAR) FROM step_pairs "
                "WHERE was AND reason IS NOT NULL"
            ).fetchall()
            days = [day for (day,) in rows]
        for table in ("steps", "runs_started"):
            relation = self.change.before.relation(table, days)
            self.con.execute(f"CREATE OR REPLACE TEMP VIEW {table} AS SELECT * FROM {relation}")
        self.con.execute(
            "CREATE OR REPLACE TEMP TABLE targets AS SELECT CAST(unnest($1::VARCHAR[]) AS DATE) AS day", [days]
        )
        self.change.pricing.register_prices(self.con)
        self.con.execute(
            "CREATE OR REPLACE TEMP TABLE repriced AS SELECT source, event_id, "
            "CAST(coalesce(cost_pico_usd, 0) AS DECIMAL(38, 0)) AS cost_pico_usd, "
            f"CAST(NOT priced AS DECIMAL(38, 0)) AS unpriced_steps FROM ({mart_sql('step_costs')}) WHERE counted"
        )

    def _add(self, name: str, parameters: Mapping[str, object]) -> None:
        ids = "run_id, outcome_id, " if self.ids else ""
        sums = f"sum(sign * COLUMNS(* EXCLUDE (run_id, outcome_id, sign, {_CELL})))"
        rows = (
            "SELECT CAST(run_id AS VARCHAR) AS run_id, CAST(outcome_id AS VARCHAR) AS outcome_id, reason, sign, "
            "business_day, unnest(run), unnest(call), unnest(figures) "
            f"FROM ({query('beleg.cost', name)}) WHERE business_day IN (SELECT CAST(unnest($days) AS DATE))"
        )
        made = f"SELECT {ids}{_CELL}, {sums} FROM ({rows}) GROUP BY ALL"
        bound = {**parameters, "days": self.days}
        exists = self.con.execute("SELECT 1 FROM duckdb_tables() WHERE table_name = 'moves'").fetchall()
        self.con.execute(f"INSERT INTO moves {made}" if exists else f"CREATE TEMP TABLE moves AS {made}", bound)
