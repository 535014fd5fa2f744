"""What restated published figures, and which runs did it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import duckdb
from deltalake.exceptions import DeltaError

from beleg.ask.desk import Record, desk, records
from beleg.core.contracts import load
from beleg.core.errors import UsageError
from beleg.core.settings import Settings
from beleg.core.sql import query
from beleg.cost import moves
from beleg.cost.figures import Period
from beleg.cost.moves import Change, State
from beleg.cost.pricing import Pricing
from beleg.cost.restatements import TABLE
from beleg.lake.forgotten import Forgotten
from beleg.lake.publication import Publication, facts
from beleg.lake.snapshot import Snapshot


@dataclass(frozen=True)
class Wanted:
    """Conditions on restatements; None asks for nothing. All must hold."""

    period: Period = field(default_factory=Period)
    workflow: str | None = None
    publication: int | None = None
    """Publication that shows the new figures."""
    figure: str | None = None
    """Column of `unit_costs`, for example cost_pico_usd."""


class Causes(NamedTuple):
    """What can still be told about single runs."""

    runs: list[Record]
    """Business day, publication, workflow, figure, reason, run or outcome, and its delta."""
    untold: list[Record]
    """Publications of which it can no longer be told, and why."""


def restatements(settings: Settings, wanted: Wanted) -> list[Record]:
    """Restatements by business day, publication, workflow, purpose, figure and reason.

    `delta` is exact in the figure's unit. Raises UsageError for a figure that does not exist.
    """
    if wanted.figure is not None and wanted.figure not in (allowed := _figures()):
        msg = f"--figure {wanted.figure!r} is none of unit_costs; allowed are {', '.join(allowed)}"
        raise UsageError(msg)
    with desk(settings) as at:
        at.lay({TABLE: None})
        named = {"workflow": wanted.workflow, "publication": wanted.publication, "figure": wanted.figure}
        return at.ask("restatements", **wanted.period.parameters, **named)


def causes(settings: Settings, wanted: Wanted, found: Sequence[Record]) -> Causes:
    """Which runs and outcomes are behind `found`, computed from both publications while their files exist."""
    told = Causes([], [])
    known = {int(fact["number"]): Publication(**fact) for fact in facts(settings.ledger / "publications.jsonl")}
    for number in sorted({int(row["publication"]) for row in found}):
        days = sorted({f"{row['business_day']}" for row in found if row["publication"] == number})
        try:
            runs = _runs(settings, wanted, known[number - 1], known[number], days)
        except (_Untold, KeyError, DeltaError, duckdb.IOException, OSError) as error:
            told.untold.append({"publication": number, "why": _why(error)})
            continue
        shown = {(row["business_day"], row["figure"]) for row in found if row["publication"] == number}
        told.runs.extend({"publication": number, **r} for r in runs if (r["business_day"], r["figure"]) in shown)
    return told


class _Untold(Exception):
    """Both publications are there, but something else is not as it was."""


def _runs(settings: Settings, wanted: Wanted, old: Publication, new: Publication, days: Sequence[str]) -> list[Record]:
    pricing = Pricing.load(settings)
    if any(new.inputs.get(name) != digest for name, digest in pricing.digests.items()):
        raise _Untold("prices or policies have changed since")
    before, now = (State(Snapshot.published(settings, p), p.inputs) for p in (old, new))
    forgotten = Forgotten.load(settings)
    change = Change.between(before, now, pricing, forgotten)
    with duckdb.connect(":memory:") as con:
        con.execute("SET TimeZone = 'UTC'")
        forgotten.prepare(con)
        moves.collect(con, change, days, ids=True)
        bound = {"workflow": wanted.workflow, "figure": wanted.figure}
        return records(con, query("beleg.ask", "restated_runs"), bound)


def _why(error: Exception) -> str:
    if isinstance(error, _Untold):
        return str(error)
    return "files that were replaced are kept for a day, and those of one of the two publications are gone"


def _figures() -> list[str]:
    mart = load("unit_costs")
    return [c.name for c in mart.columns if c.required and c.name not in {*mart.primary_key, "month"}]
