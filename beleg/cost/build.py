"""Brings the marts up to the lake: computes again exactly the partitions a change touches.

The marts are a pure function of the lake's versions, the prices, the policies, the zone and `as_of`.
What has changed since the publication is read from the Delta logs, so a killed build leaves nothing to
clean up: the next one sees the same difference.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

import duckdb

from beleg.core.contracts import load, mart_sql
from beleg.core.progress import OnProgress, silent
from beleg.core.settings import Settings
from beleg.cost import touched
from beleg.cost.neighbours import Neighbours
from beleg.cost.pricing import Pricing
from beleg.cost.touched import RUN_TABLES, Links, Touched
from beleg.lake.engine import identifier
from beleg.lake.snapshot import Snapshot

DAY_MARTS = ("run_days", "step_costs", "run_costs", "run_lookup")
COST_MARTS = ("unit_costs", "flags", "reconciliation", "workflow_traffic", "cache_efficiency")
"""Of one business day's steps and runs alone."""
RUN_MARTS = ("drift", "prompt_versions")
"""These look beyond the day: at earlier runs, at what people said later."""
MONTH_MARTS = (*COST_MARTS, *RUN_MARTS)
WORD_TABLES = ("feedback", "corrections")
FRESH = "business_day IN (SELECT business_day FROM fresh)"
"""Which of a month's rows are computed again; the others are taken over. Budgets need the whole month."""

ROWS_PER_CHUNK = 1_000_000
"""Days are computed in groups of about so many steps, which bounds memory whatever the history."""


@dataclass
class Builder:
    """One build on one connection; relations are made as views, marts as new table versions."""

    con: duckdb.DuckDBPyConnection
    settings: Settings
    lake: Snapshot
    """The latest versions; moves on with every mart that is committed."""
    pricing: Pricing
    as_of: datetime
    note: str
    on_progress: OnProgress = silent
    _priced: frozenset[str] | None = None

    def build(self, published: Snapshot, *, everything: bool, due: Iterable[str]) -> Touched:
        """Compute what changed between `published` and the lake.

        `due` are days whose open runs must be judged again. `everything` computes all days anew, since
        prices, policies, zone or queries have changed.
        Returns the touched days.
        """
        changed = self._changed(published, everything=everything)
        if not any(changed.values()) and not set(due):
            return Touched()
        self.pricing.register_policies(self.con)
        days = {day for name in (*RUN_TABLES, *DAY_MARTS) for day in changed[name]} | set(due)
        # A killed build may have moved `run_days` on already, so both states count as old.
        old = touched.links(self.con, published) | touched.links(self.con, self.lake)
        days |= self._build_run_days(days, changed["runs_started"], old)
        new = touched.links(self.con, self.lake)
        run_days = (old | new).runs_of(days)
        # Steps of a run on another day may repeat usage of this one, so all days of the runs count.
        step_days = (old | new).events_of(run_days)
        result = Touched(frozenset(run_days), frozenset(step_days), frozenset(changed["outcomes"]))
        self._build_step_costs(step_days, new)
        self._build_run_costs(run_days, new)
        self._build_months(COST_MARTS, result.all, changed)
        others = Neighbours(self.con, published, self.lake)
        self._build_months(("drift",), result.all | others.later(run_days), changed)
        judged = others.judged(run_days, {name: changed[name] for name in WORD_TABLES})
        self._build_months(("prompt_versions",), result.all | judged, changed)
        return result

    def _changed(self, published: Snapshot, *, everything: bool) -> dict[str, set[str]]:
        # A killed build leaves marts that no publication names, made perhaps under other prices.
        names = (*RUN_TABLES, "outcomes", *WORD_TABLES, *DAY_MARTS, *MONTH_MARTS)
        if everything:
            return {name: self.lake.partitions(name) for name in names}
        changed = {name: self.lake.changed(published, name) for name in names}
        if changed["outcomes"]:
            changed["outcomes"] = touched.outcome_days(self.con, (published, self.lake), changed["outcomes"])
        return changed

    def _build_run_days(self, days: set[str], started: set[str], old: Links) -> set[str]:
        """Find out anew what reaches over the days; returns further days whose runs changed by that."""
        again = touched.restart_days(self.con, self.lake, started)
        targets = old.events_of(days) | again | touched.waiting_days(self.con, self.lake, started)
        inputs = dict.fromkeys(RUN_TABLES, targets)
        self._view("run_starts", self.lake.relation("runs_started", touched.near(targets)))
        self._mart("run_days", targets, inputs)
        unknown = touched.orphans(self.con, self.lake, targets)
        if unknown:
            self._view("run_starts", self.lake.relation("runs_started"))
            self._mart("run_days", unknown, inputs)
        return again

    def _build_step_costs(self, days: set[str], links: Links) -> None:
        for chunk in self._chunks("steps", days):
            inputs = links.events_of(links.runs_of(chunk))
            self._register_prices(frozenset(inputs))
            self._mart("step_costs", chunk, {"steps": inputs, "runs_started": inputs})

    def _build_run_costs(self, days: set[str], links: Links) -> None:
        for chunk in self._chunks("runs_started", days):
            starts, events = links.runs_of(chunk), links.events_of(chunk)
            self._register_prices(frozenset(events))
            states = {"run_statuses": events, "runs_finished": events, "step_costs": events}
            self._mart("run_costs", chunk, {"runs_started": starts, **states})
            self._mart("run_lookup", chunk, {"run_costs": chunk})

    def _build_months(self, names: Sequence[str], days: Iterable[str], changed: Mapping[str, set[str]]) -> None:
        """Compute the business days these UTC days overlap, and as a whole the months a killed build left."""
        fresh: dict[str, set[str]] = {month: set(_days_of(month)) for name in names for month in changed[name]}
        for day in self._business_days(days):
            fresh.setdefault(day[:7], set()).add(day)
        for month in sorted(fresh):
            self._build_month(names, month, fresh[month])

    def _build_month(self, names: Sequence[str], month: str, fresh: set[str]) -> None:
        utc_days = self._business_days(fresh)
        self._table("fresh", "business_day DATE", sorted(fresh))
        for name in names:
            condition = f"run_id IS NULL OR {FRESH}" if name == "flags" else FRESH
            kept = f"SELECT * FROM {self.lake.relation(name, {month})} WHERE NOT ({condition})"
            self._mart(
                name,
                {month},
                self._month_inputs(name, month, utc_days),
                f"SELECT * FROM ({mart_sql(name)}) WHERE {condition} UNION ALL BY NAME {kept}",
            )

    def _month_inputs(self, name: str, month: str, utc_days: set[str]) -> dict[str, Iterable[str]]:
        """Table → its partitions that a month mart needs for the runs and steps of some UTC days."""
        inputs: dict[str, Iterable[str]] = {"step_costs": utc_days, "run_costs": utc_days, "unit_costs": {month}}
        # Any outcome or word may speak of these days, or take back what did, whenever it came.
        inputs |= {name: self.lake.partitions(name) for name in ("outcomes", *WORD_TABLES)}
        others = Neighbours(self.con, self.lake, self.lake)
        if name == "drift":
            inputs["run_costs"] = utc_days | others.earlier(utc_days)
        if name == "prompt_versions":
            inputs["run_costs"] = utc_days | others.candidates(utc_days)
        return inputs

    def _business_days(self, days: Iterable[str]) -> set[str]:
        """Business days that UTC days overlap, or the reverse: a zone is at most 14 hours off."""
        near = (0,) if self.settings.timezone == "UTC" else (-1, 0, 1)
        return {(date.fromisoformat(day) + timedelta(days=n)).isoformat() for day in days for n in near}

    def _register_prices(self, days: frozenset[str]) -> None:
        """Know the prices of the calls of some days; those of the days before may be the same."""
        if days != self._priced:
            self._view("steps", self.lake.relation("steps", days))
            self.pricing.register_prices(self.con)
            self._priced = days

    def _mart(
        self, name: str, targets: Iterable[str], inputs: Mapping[str, Iterable[str]], sql: str | None = None
    ) -> None:
        """Compute a mart's target partitions from views restricted to the partitions that matter."""
        wanted = sorted(targets)
        contract = load(name)
        column = contract.column(contract.partition_column or "day")
        self._table("targets", f"{identifier(column.name)} {column.type}", wanted)
        for needed, partitions in inputs.items():
            self._view(needed, self.lake.relation(needed, partitions))
        query = sql or mart_sql(name)
        parameters = _named_in(query, {"timezone": self.settings.timezone, "as_of": self.as_of})
        table = self.lake.table(name)
        alone = wanted[0] if len(wanted) == 1 else None
        add = table.write(self.con, query, parameters, partition=alone)
        version = table.commit(add, self.lake.files(name, wanted), note=self.note)
        self.lake.advance(name, version)
        self.on_progress(name, len(wanted), len(wanted))

    def _table(self, name: str, column: str, values: list[str]) -> None:
        self.con.execute(f"CREATE OR REPLACE TEMP TABLE {name} ({column})")
        self.con.execute(f"INSERT INTO {name} SELECT unnest($1::VARCHAR[])", [values])

    def _view(self, name: str, relation: str) -> None:
        self.con.execute(f"CREATE OR REPLACE TEMP VIEW {identifier(name)} AS SELECT * FROM {relation}")

    def _chunks(self, table: str, days: set[str]) -> Iterator[list[str]]:
        """Split days, in order, into groups of about ROWS_PER_CHUNK rows of a table."""
        rows: dict[str, int] = {}
        for file in self.lake.files(table, days):
            rows[str(file.partition)] = rows.get(str(file.partition), 0) + file.rows
        chunk: list[str] = []
        size = 0
        for day in sorted(days):
            if chunk and size + rows.get(day, 0) > ROWS_PER_CHUNK:
                yield chunk
                chunk, size = [], 0
            chunk.append(day)
            size += rows.get(day, 0)
        if chunk:
            yield chunk


def open_days(con: duckdb.DuckDBPyConnection, lake: Snapshot, days: Iterable[str]) -> dict[str, str]:
    """UTC day → earliest instant at which one of its running runs will count as abandoned."""
    rows = con.execute(
        "SELECT CAST(day AS VARCHAR), strftime(min(abandon_at), '%Y-%m-%dT%H:%M:%S.%fZ') "
        f"FROM {lake.relation('run_costs', days)} WHERE status = 'running' GROUP BY day ORDER BY day"
    ).fetchall()
    return dict(rows)


def _days_of(month: str) -> Iterator[str]:
    """Days of a month as ISO text."""
    day = date.fromisoformat(f"{month}-01")
    while day.isoformat()[:7] == month:
        yield day.isoformat()
        day += timedelta(days=1)


def _named_in(sql: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """The values a query names; DuckDB refuses any it does not."""
    return {key: value for key, value in values.items() if f"${key}" in sql}
