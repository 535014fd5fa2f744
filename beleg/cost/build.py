"""Brings the marts up to the lake: computes again exactly the partitions a change touches.

The marts are a pure function of the lake's versions, the prices, the policies, the zone and `as_of`.
What has changed since the publication is read from the Delta logs, so a killed build leaves nothing to
clean up: the next one sees the same difference.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Any

import duckdb

from beleg.core.contracts import load, mart_sql
from beleg.core.progress import OnProgress, silent
from beleg.core.settings import Settings
from beleg.cost import surroundings, touched
from beleg.cost.neighbours import Neighbours, shifted
from beleg.cost.plan import Plan
from beleg.cost.pricing import Pricing
from beleg.cost.register import register_cache_rules
from beleg.cost.touched import RUN_TABLES, Links, Touched
from beleg.cost.words import WORD_TABLES, Words
from beleg.lake.engine import identifier
from beleg.lake.sealed import open_business_days, sealed_before
from beleg.lake.snapshot import Snapshot

DAY_STAGES = (("run_days",), ("step_costs",), ("run_costs", "run_lookup"))
"""Marts of days, one stage after another."""
MONTH_LANES = (
    (("unit_costs", "flags"), ("bindings",), ("prompt_versions",), ("drift",), ("reconciliation", "cache_efficiency")),
    (("workflow_traffic", "tool_usage", "held_tokens", "playbook_hits"), ("cache_misses",)),
)
"""Marts of months, and that of words, in lanes of stages. No lane stands on another, so they are made at the same
time: a day's rows are too few for DuckDB to share among cores."""
STAGES = (*DAY_STAGES, *(stage for lane in MONTH_LANES for stage in lane))
DAY_MARTS = tuple(mart for stage in DAY_STAGES for mart in stage)
MARTS = tuple(mart for stage in STAGES for mart in stage)
"""All marts, each after those it stands on."""
STANDS_ON: Mapping[str, tuple[str, ...]] = {
    "run_days": (),
    "step_costs": ("run_days",),
    "run_costs": ("step_costs",),
    "run_lookup": ("run_costs",),
    "unit_costs": ("run_costs",),
    "flags": ("unit_costs",),
    "reconciliation": ("step_costs",),
    "workflow_traffic": ("run_costs",),
    "cache_efficiency": ("step_costs",),
    "tool_usage": ("step_costs",),
    "held_tokens": ("step_costs",),
    "playbook_hits": ("step_costs",),
    "cache_misses": ("step_costs",),
    "drift": ("run_costs",),
    "bindings": ("run_costs",),
    "prompt_versions": ("unit_costs", "bindings"),
}
"""Mart → marts that must be there first; what those stand on is understood."""
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
    published: Snapshot
    pricing: Pricing
    plan: Plan
    """What is to be done; moves on with every stage."""
    note: str
    on_progress: OnProgress = silent
    _priced: frozenset[str] | None = None

    def __post_init__(self) -> None:
        self.sealed = sealed_before(self.settings)

    def build(self, marts: Collection[str] = MARTS) -> Plan:
        """Make some marts and those they stand on, except what the plan has made already; returns the plan then."""
        if self.plan.is_empty:
            return self.plan
        wanted = needed(marts)
        todo = [[mart for mart in stage if mart in wanted and mart not in self.plan.made] for stage in STAGES]
        if any(todo):
            self.pricing.register_policies(self.con)
        for stage in filter(None, todo[: len(DAY_STAGES)]):
            days = self._make(stage)
            self.plan = self.plan.with_made(self.lake, stage, days)
        lanes = [[mart for stage in lane for mart in stage] for lane in MONTH_LANES]
        of_months = list(filter(None, todo[len(DAY_STAGES) :]))
        with ThreadPoolExecutor(len(lanes)) as pool:
            made = pool.map(self._make_lane, [[s for s in of_months if s[0] in lane] for lane in lanes])
            for marts_made, days in (one for lane in made for one in lane):
                self.plan = self.plan.with_made(self.lake, marts_made, days)
        return self.plan

    def _make_lane(self, stages: Sequence[Sequence[str]]) -> list[tuple[Sequence[str], Collection[str]]]:
        """Make stages one after another on a connection of their own; returns each with its days."""
        if not stages:
            return []
        with self.con.cursor() as con:  # with its own views and temporary tables
            self.pricing.register_policies(con)
            beside = replace(self, con=con)
            return [(stage, beside._make(stage)) for stage in stages]

    def _make(self, stage: Sequence[str]) -> Collection[str]:
        """Make the marts of one stage; returns the UTC days that were computed."""
        due = self.plan.touched
        if stage[0] == "run_days":
            return self._make_run_days()
        if stage[0] == "step_costs":
            self._build_step_costs(set(due.step_days), self._links(self.lake))
            return due.step_days
        if stage[0] in {"run_costs", "run_lookup"}:
            self._build_run_costs(set(due.run_days), self._links(self.lake))
            return due.run_days
        if stage[0] == "bindings":
            return self._make_bindings()
        days = due.all | self._further_days(stage[0])
        self._build_months(stage, days)
        return days

    def _make_run_days(self) -> Collection[str]:
        """Link runs and days anew, and find all days that the changes touch."""
        changed = self.plan.changed
        days = {*self.plan.due, *self.plan.asked}
        days.update(day for name in (*RUN_TABLES, *DAY_MARTS) for day in changed[name])
        days |= surroundings.redefined_days(self.con, self.lake, self.published)
        # A killed build may have moved `run_days` on already, so both states count as old.
        old = self._links(self.published) | self._links(self.lake)
        days |= self._build_run_days(days, set(changed["runs_started"]), old)
        both = old | self._links(self.lake)
        run_days = both.runs_of(days)
        # Steps of a run on another day may repeat usage of this one, so all days of the runs count.
        step_days = both.events_of(run_days)
        due = Touched(frozenset(run_days), frozenset(step_days), frozenset(changed["outcomes"]))
        self.plan = replace(self.plan, touched=due)
        return days

    def _make_bindings(self) -> Collection[str]:
        """Bind the words of the days that the changes concern; nothing where nobody said anything."""
        words = Words(self.con, self.published, self.lake)
        days = words.due(set(self.plan.touched.run_days), self.plan.changed) | set(self.plan.changed["bindings"])
        if days:
            self._mart("bindings", days, words.at_hand(days))
        return days

    def _links(self, lake: Snapshot) -> Links:
        return touched.links(self.con, lake)

    def _further_days(self, mart: str) -> set[str]:
        """Days that a mart about more than one day must look at beside the touched ones."""
        if mart == "drift":
            return Neighbours(self.con, self.published, self.lake).later(set(self.plan.touched.run_days))
        if mart == "cache_misses":
            return {shifted(day, 1) for day in self.plan.touched.step_days}
        if mart == "prompt_versions":
            return Words(self.con, self.published, self.lake).run_days()
        return set()

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

    def _build_months(self, names: Sequence[str], days: Iterable[str]) -> None:
        """Compute the business days these UTC days overlap, and as a whole the months a killed build left."""
        left = {month for name in names for month in self.plan.changed[name]}
        fresh: dict[str, set[str]] = {month: set(_days_of(month)) for month in left}
        for day in self._business_days(days):
            fresh.setdefault(day[:7], set()).add(day)
        if fresh and surroundings.READERS & set(names):
            surroundings.lay(self.con, self.lake)
        for month in sorted(fresh):
            if days_of_month := open_business_days(fresh[month], self.sealed, self.settings.timezone):
                self._build_month(names, month, days_of_month)

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
        # Any outcome may speak of these days, or take back what did, whenever it came.
        inputs["outcomes"] = self.lake.partitions("outcomes")
        # Nobody speaks of a run before its day.
        inputs["bindings"] = {day for day in self.lake.partitions("bindings") if day >= min(utc_days)}
        if name == "cache_misses":
            inputs["step_costs"] = utc_days | {shifted(day, -1) for day in utc_days}
        if name == "drift":
            inputs["run_costs"] = utc_days | Neighbours(self.con, self.lake, self.lake).earlier(utc_days)
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
        contract = load(name)
        # Days whose events were pruned keep what was computed from them.
        first = self.sealed[:7] if contract.partition_by == "month" else self.sealed
        wanted = sorted(target for target in targets if target >= first)
        column = contract.column(contract.partition_column or "day")
        self._table("targets", f"{identifier(column.name)} {column.type}", wanted)
        query = sql or mart_sql(name)
        for needed, partitions in inputs.items():
            if re.search(rf"\b{needed}\b", query):
                self._view(needed, self.lake.relation(needed, partitions))
        if name == "cache_misses":
            register_cache_rules(self.con)
        parameters = _named_in(
            query, {"timezone": self.settings.timezone, "as_of": datetime.fromisoformat(self.plan.as_of)}
        )
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


def needed(marts: Collection[str]) -> set[str]:
    """These marts and all that they stand on; `run_lookup` is made along with `run_costs`."""
    found = set(marts)
    while more := {below for mart in found for below in STANDS_ON[mart]} - found:
        found |= more
    return found | ({"run_lookup"} if "run_costs" in found else set())


def differences(
    con: duckdb.DuckDBPyConnection, lake: Snapshot, published: Snapshot, *, everything: bool
) -> dict[str, tuple[str, ...]]:
    """Table → partitions that differ between the lake and what is published; all partitions for `everything`.

    A killed build leaves marts that no publication names, made perhaps under other prices: they differ too.
    """
    names = (*RUN_TABLES, "outcomes", *WORD_TABLES, *surroundings.DEFINED, *MARTS)
    changed = {name: lake.partitions(name) if everything else lake.changed(published, name) for name in names}
    if changed["outcomes"] and not everything:
        changed["outcomes"] = touched.outcome_days(con, (published, lake), changed["outcomes"])
    return {name: tuple(sorted(partitions)) for name, partitions in changed.items()}


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
