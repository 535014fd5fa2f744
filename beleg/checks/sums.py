"""What several tables must agree on. Work follows what changed: what was published has been checked before."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import duckdb

from beleg.checks.scan import EXAMPLES, Finding, Scanned
from beleg.core.contracts import event_tables
from beleg.core.settings import Settings
from beleg.core.sql import query
from beleg.cost.touched import NEAR_DAYS
from beleg.lake.publication import facts_backwards
from beleg.lake.sealed import open_business_days, sealed_before
from beleg.lake.snapshot import Snapshot


@dataclass(frozen=True)
class States:
    """The lake as it is about to be published and as it is published, on one connection."""

    con: duckdb.DuckDBPyConnection
    settings: Settings
    lake: Snapshot
    published: Snapshot

    def view(self, name: str, relation: str) -> None:
        """Make a relation known to a query under a name."""
        self.con.execute(f"CREATE OR REPLACE TEMP VIEW {name} AS SELECT * FROM {relation}")


@dataclass(frozen=True)
class Sum:
    """One agreement between tables."""

    name: str
    reads: tuple[str, ...]
    """Tables it is about: it is looked at where one of them changed."""
    meaning: str
    find: Callable[[States], Scanned]


def _one(name: str, rows: int, violations: int | None, detail: str = "") -> Scanned:
    return Scanned(rows, 0, (Finding(name, "error", violations, detail),))


def _cost_by_day(states: States) -> Scanned:
    lake, zone = states.lake, states.settings.timezone
    reach = (0,) if zone == "UTC" else (-1, 0, 1)
    changed = {day for name in ("step_costs", "run_costs") for day in lake.changed(states.published, name)}
    # The figures of sealed days outlive the events they were computed from.
    days = open_business_days(_shifted(changed, reach), sealed_before(states.settings), zone)
    states.con.execute("CREATE OR REPLACE TEMP TABLE days AS SELECT unnest($1::DATE[]) AS business_day", [sorted(days)])
    for name in ("step_costs", "run_costs"):
        states.view(name, lake.relation(name, _shifted(days, reach)))
    states.view("unit_costs", lake.relation("unit_costs", {day[:7] for day in days}))
    sql = query("beleg.checks", "cost_by_day")
    differing = states.con.execute(sql, {"timezone": zone}).fetchall()
    detail = "; ".join(f"{day}: steps {steps}, unit_costs {mart} pico-USD" for day, steps, mart in differing[:EXAMPLES])
    return _one("cost_by_day", len(days), len(differing), detail)


def _cost_of_runs(states: States) -> Scanned:
    """What the total changed by since the publication: totals that agreed then agree now if both changed alike."""
    steps, runs = 0, 0
    days = {n: states.lake.changed(states.published, n) for n in ("step_costs", "run_costs")}
    if sealed := sealed_before(states.settings):
        days = {name: {day for day in changed if day >= sealed} for name, changed in days.items()}
        if min((day for changed in days.values() for day in changed), default="~") < _later(sealed):
            return _one("cost_of_runs", 0, None, f"runs that began before {sealed} are pruned")
    for sign, snapshot in ((1, states.lake), (-1, states.published)):
        states.view("steps_there", snapshot.relation("step_costs", days["step_costs"]))
        states.view("runs_there", snapshot.relation("run_costs", days["run_costs"]))
        ((of_steps, of_runs),) = states.con.execute(query("beleg.checks", "cost_of_runs")).fetchall()
        steps, runs = steps + sign * int(of_steps), runs + sign * int(of_runs)
    detail = "" if steps == runs else f"steps changed by {steps}, run_costs by {runs} pico-USD"
    return _one("cost_of_runs", sum(map(len, days.values())), int(steps != runs), detail)


def _rows_by_ingest(states: States) -> Scanned:
    """Rows gained since the publication, held against the ledger of ingests."""
    tables = [c.table for c in event_tables().values()]
    notes = {note for table in tables for note in _notes(states, table)}
    found = _ingests(states.settings.ledger / "ingests.jsonl", notes)
    if missing := sorted(notes - found.keys()):
        detail = f"no count of {', '.join(missing[:EXAMPLES])}: interrupted, or no ingest"
        return _one("rows_by_ingest", 0, None, detail)
    counted = sum(f["accepted"] - f["duplicates"] - f["superseded"] for f in found.values())
    gained = sum(states.lake.rows(table) - states.published.rows(table) for table in tables)
    detail = "" if gained == counted else f"the lake gained {gained} rows, ingest counted {counted}"
    return _one("rows_by_ingest", gained, abs(gained - counted), detail)


def _notes(states: States, table: str) -> set[str]:
    """Who changed a table since the publication: ids of ingests, or the note of another writer."""
    before, now = (s.versions.get(table, -1) for s in (states.published, states.lake))
    return states.lake.table(table).notes(after=before, upto=now) if now > before else set()


def _ingests(path: Path, wanted: set[str]) -> Mapping[str, dict[str, Any]]:
    """The ledger's facts about some ingests, read from its end."""
    found: dict[str, dict[str, Any]] = {}
    oldest = min(wanted, default="")
    for fact in facts_backwards(path):
        if wanted <= found.keys() or fact["ingest_id"] < oldest[:8]:
            break
        if fact["ingest_id"] in wanted:
            found[fact["ingest_id"]] = fact
    return found


def _later(day: str) -> str:
    return (date.fromisoformat(day) + timedelta(days=NEAR_DAYS)).isoformat()


def _shifted(days: Iterable[str], by: Iterable[int]) -> set[str]:
    return {(date.fromisoformat(day) + timedelta(days=n)).isoformat() for day in days for n in by}


SUMS = (
    Sum(
        "rows_by_ingest",
        tuple(sorted(c.table for c in event_tables().values())),
        "rows gained by the event tables = accepted - duplicates - superseded, over the ingests since",
        _rows_by_ingest,
    ),
    Sum(
        "cost_of_runs",
        ("step_costs", "run_costs"),
        "cost of the steps whose run is known = cost of the runs, in total",
        _cost_of_runs,
    ),
    Sum(
        "cost_by_day",
        ("step_costs", "run_costs", "unit_costs"),
        "cost and steps of step_costs and runs of run_costs = those of unit_costs, on every business day",
        _cost_by_day,
    ),
)
"""All agreements, in the order in which they are shown."""
