"""What exactly a run did, and why it cost what it cost.

A UUIDv7 tells the day of its run, so only the files of that day are read; for any other id `run_lookup` tells it.
"""

from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from beleg.ask.arithmetic import Arithmetic, arithmetic
from beleg.ask.desk import Desk, Record, day_of_id, desk, span
from beleg.core.errors import CheckFailed
from beleg.core.settings import Settings
from beleg.core.sql import query
from beleg.cost.book import Call, PriceBook
from beleg.cost.policies import load_policies
from beleg.cost.register import register_calls

NEAR_DAYS = 31

SHOWN_OF_STEP = (
    "event_time",
    "step_id",
    "parent_step_id",
    "kind",
    "name",
    "tool_name",
    "provider",
    "endpoint_provider",
    "api",
    "model",
    "service_tier",
    "batch",
    "response_id",
    "attempt",
    "attempt_reason",
    "status",
    "exception_class",
    "latency_ms",
    "input_hash",
    "output_hash",
    "toolset_hash",
    "layout_hash",
    "playbook",
    "cache_miss_reason",
    "usage_check",
    "cost_pico_usd",
    "billed_pico_usd",
)


@dataclass(frozen=True)
class Step:
    """One step: what was called, and how its cost comes about."""

    record: Record
    arithmetic: Arithmetic


@dataclass(frozen=True)
class Explained:
    """Everything known about a run. Records hold the columns of their tables."""

    run: Record
    steps: tuple[Step, ...]
    artifacts: list[Record]
    feedback: list[Record]
    corrections: list[Record]
    same_input: list[Record]
    """Up to five earlier runs of the same input on its latest days, latest first."""
    children: list[Record]
    """Runs it started, as far as they began while it lasted."""

    @property
    def adds_up(self) -> bool:
        """True where the steps' arithmetic comes to the run's published cost, to the last digit."""
        known = [step.arithmetic.pico_usd for step in self.steps if step.arithmetic.pico_usd is not None]
        return sum(known) == int(self.run["cost_pico_usd"])


def explain(settings: Settings, run_id: str) -> Explained:
    """Explain a run; raises CheckFailed for one whose start was never published."""
    with desk(settings) as at:
        run = _run(at, run_id)
        first, last = run["day"], run["last_seen_at"].date()
        while_it_lasted = span(first, last)
        at.lay({"steps": while_it_lasted, "step_costs": while_it_lasted, "artifacts": while_it_lasted})
        steps = _steps(at, settings, run_id)
        said = _said(at, run)
        return Explained(
            run,
            steps,
            at.ask("artifacts", run_id=run_id),
            *said,
            _same_input(at, run),
            _children(at, run_id, while_it_lasted),
        )


def _run(at: Desk, run_id: str) -> Record:
    for days in _likely_days(run_id):
        if found := _run_on(at, run_id, days):
            return found
    at.lay({"run_lookup": None})
    days = {row["day"] for row in at.ask("found", run_id=run_id)}
    if days and (found := _run_on(at, run_id, days)):
        return found
    msg = (
        f"no run {run_id!r} was published: check the id (`beleg runs` finds runs by fingerprint, reference, "
        "workflow or time); a run appears once its start was ingested"
    )
    raise CheckFailed(msg)


def _likely_days(run_id: str) -> list[set[str]]:
    """The day the id tells, then the days beside it: an id is made just before its event."""
    told = day_of_id(run_id)
    if told is None:
        return []
    day = date.fromisoformat(told)
    return [{told}, {(day + timedelta(days=n)).isoformat() for n in (-1, 1)}]


def _run_on(at: Desk, run_id: str, days: set[str]) -> Record | None:
    at.lay({"run_costs": days, "runs_started": days})
    found = at.ask("run", run_id=run_id)
    return found[0] if found else None


def _steps(at: Desk, settings: Settings, run_id: str) -> tuple[Step, ...]:
    calls = at.con.execute(query("beleg.ask", "calls"), {"run_id": run_id}).fetchall()
    register_calls(at.con, PriceBook(load_policies(settings).models), [Call(*call) for call in calls])
    rows = at.ask("steps", run_id=run_id)
    return tuple(Step({name: row[name] for name in SHOWN_OF_STEP}, arithmetic(row)) for row in rows)


def _said(at: Desk, run: Record) -> tuple[list[Record], list[Record]]:
    """Feedback and corrections, with the run each counts for: nothing is said of a run before its day."""
    at.lay({table: at.since(table, run["day"].isoformat()) for table in ("bindings", "corrections")})
    feedback, corrections = (at.ask(table, **_named(run, "run_id")) for table in ("feedback", "corrections"))
    return feedback, corrections


def _same_input(at: Desk, run: Record) -> list[Record]:
    if run["input_hash"] is None:
        return []
    before = sorted(day for day in at.lake.partitions("run_lookup") if day <= run["day"].isoformat())
    # What comes back mostly comes back soon, so the rest of the history waits until that is ruled out.
    for days in (before[-NEAR_DAYS:], before[:-NEAR_DAYS]):
        at.lay({"run_lookup": days})
        at.lay({"run_costs": {row["day"] for row in at.ask("same_input_days", **_named(run, "input_hash"))}})
        mine = _named(run, "run_id", "started_at", "input_hash", "output_hash", "hash_key_id")
        if found := at.ask("same_input", **mine):
            return found
    return []


def _children(at: Desk, run_id: str, days: set[str]) -> list[Record]:
    at.lay({"run_costs": days})
    return at.ask("children", run_id=run_id)


def _named(run: Record, *names: str) -> dict[str, Any]:
    return {name: run[name] for name in names}
