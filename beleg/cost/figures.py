"""Figures for people: costs, flags and reconciliation, read from the published marts.

A ratio is a ratio of sums, computed with integers and rounded once, to micro-USD, half to even.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import date
from typing import Any

import duckdb

from beleg.core.errors import UsageError
from beleg.core.sql import query
from beleg.cost.money import divide_half_even, exact_usd_text, known_cost, usd_text

DIMENSIONS: Mapping[str, str] = {
    "workflow": "workflow",
    "purpose": "purpose",
    "day": "business_day",
    "month": "month",
    "tenant": "tenant",
    "team": "team",
    "prompt_version": "prompt_version",
    "provider": "provider",
    "model": "model",
}
"""What costs can be grouped by → column of `unit_costs`."""

SPLITTING = frozenset({"provider", "model"})
"""These split the cost alone: runs and results belong to no model."""


@dataclass(frozen=True)
class Period:
    """Business days, both ends included."""

    first: date = date.min
    last: date = date.max

    @classmethod
    def parse(cls, first: str | None, last: str | None) -> "Period":
        """Read ISO days, None being open; raises UsageError."""
        period = cls(_day(first, date.min), _day(last, date.max))
        if period.first > period.last:
            msg = f"--from {first} is after --to {last}: no day lies between them"
            raise UsageError(msg)
        return period

    @property
    def parameters(self) -> dict[str, date]:
        """As query parameters."""
        return {"from_day": self.first, "to_day": self.last}


@dataclass(frozen=True)
class CostLine:
    """One group of costs. Everything is a sum; `unit_cost_micro_usd` is their ratio."""

    group: Mapping[str, Any]
    cost_pico_usd: int
    production_pico_usd: int
    production_runs: int
    production_steps: int
    production_unpriced_steps: int
    billed_pico_usd: int
    steps: int
    unpriced_steps: int
    runs: int
    failed_runs: int
    results: int
    unit: str | None
    unit_per: int | None

    @property
    def unit_cost_micro_usd(self) -> int | None:
        """Cost of production for `unit_per` results; None without results or with results of several kinds.

        None also where nothing tells the cost, as of results on a day without runs.
        """
        cost = known_cost(
            self.production_pico_usd,
            runs=self.production_runs,
            steps=self.production_steps,
            unpriced_steps=self.production_unpriced_steps,
        )
        if cost is None or self.unit_per is None or self.results == 0:
            return None
        return divide_half_even(cost * self.unit_per, self.results * 10**6)

    @property
    def unit_label(self) -> str | None:
        """What the unit cost is for, for example `1000 transaction`."""
        return None if self.unit is None else f"{self.unit_per} {self.unit}"

    def record(self) -> dict[str, Any]:
        """For machines: money as decimal text, unknown as None."""
        unit_cost = self.unit_cost_micro_usd
        return {
            **{name: str(v) if isinstance(v, date) else v for name, v in self.group.items()},
            "cost_usd": usd_text(self.cost_pico_usd),
            "cost_exact_usd": exact_usd_text(self.cost_pico_usd),
            "production_cost_usd": usd_text(self.production_pico_usd),
            "billed_usd": usd_text(self.billed_pico_usd),
            "steps": self.steps,
            "unpriced_steps": self.unpriced_steps,
            "runs": self.runs,
            "failed_runs": self.failed_runs,
            "results": self.results,
            "unit": self.unit,
            "unit_per": self.unit_per,
            "unit_cost_usd": None if unit_cost is None else usd_text(unit_cost * 10**6),
        }


COUNTS = tuple(one.name for one in fields(CostLine) if one.name not in {"group", "unit", "unit_per"})
"""What the query of `costs` gives after the grouping, in its order."""


def costs(
    con: duckdb.DuckDBPyConnection,
    by: Sequence[str],
    period: Period,
    *,
    workflow: str | None = None,
    tenant: str | None = None,
) -> list[CostLine]:
    """Costs grouped by `by`; raises UsageError for a dimension that does not exist."""
    for name in by:
        if name not in DIMENSIONS:
            msg = f"--by {name!r} is unknown; allowed are {', '.join(DIMENSIONS)}"
            raise UsageError(msg)
    filters = {"workflow": workflow, "tenant": tenant, "split": bool(SPLITTING & set(by))}
    rows = con.execute(_grouped(by), {**period.parameters, **filters}).fetchall()
    return [_line(by, row) for row in rows]


def total(lines: Sequence[CostLine]) -> dict[str, Any]:
    """Sum of the lines: cost, steps and how many of them are unpriced."""
    pico = sum(line.cost_pico_usd for line in lines)
    return {
        "cost_usd": usd_text(pico),
        "cost_exact_usd": exact_usd_text(pico),
        "steps": sum(line.steps for line in lines),
        "unpriced_steps": sum(line.unpriced_steps for line in lines),
    }


def flags(
    con: duckdb.DuckDBPyConnection, period: Period, *, kind: str | None = None, workflow: str | None = None
) -> list[dict[str, Any]]:
    """What exceeded its policy, oldest first."""
    return _records(con, "flags", {**period.parameters, "kind": kind, "workflow": workflow})


def reconcile(con: duckdb.DuckDBPyConnection, period: Period, *, workflow: str | None = None) -> list[dict[str, Any]]:
    """Billed against computed cost per provider and model."""
    return _records(con, "reconcile", {**period.parameters, "workflow": workflow})


def _records(con: duckdb.DuckDBPyConnection, name: str, parameters: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Rows of a query with each `*_pico_usd` turned into `*_usd` text."""
    result = con.execute(query("beleg.cost", name), dict(parameters))
    columns = [column[0] for column in result.description or []]
    return [shown(dict(zip(columns, row, strict=True))) for row in result.fetchall()]


def shown(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row with each `*_pico_usd` turned into `*_usd` text, rounded once to micro-USD."""
    return {
        name.replace("_pico_usd", "_usd"): usd_text(int(value))
        if name.endswith("_pico_usd") and value is not None
        else value
        for name, value in row.items()
    }


def _grouped(by: Sequence[str]) -> str:
    """The query of `costs` under a grouping; names come from DIMENSIONS alone."""
    undivided = [name for name in by if name not in SPLITTING]
    parts = {
        "dimensions": "".join(f'{DIMENSIONS[name]} AS "{name}", ' for name in by),
        "grouping": ", ".join(DIMENSIONS[name] for name in by) or "()",
        "undivided": ", ".join(f'"{name}"' for name in undivided) or "1",
        "names": "".join(f'"{name}", ' for name in by),
    }
    text = query("beleg.cost", "costs")
    for name, part in parts.items():
        text = text.replace(f"/*{name}*/", part)
    return text


def _line(by: Sequence[str], row: Sequence[Any]) -> CostLine:
    group, (*sums, unit, unit_per) = dict(zip(by, row, strict=False)), row[len(by) :]
    counts = dict(zip(COUNTS, map(int, sums), strict=True))
    return CostLine(group, unit=unit, unit_per=unit_per, **counts)


def _day(text: str | None, default: date) -> date:
    try:
        return default if text is None else date.fromisoformat(text)
    except ValueError as error:
        msg = f"{text!r} is no day: write for example 2026-03-01"
        raise UsageError(msg) from error
