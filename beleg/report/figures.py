"""Figures of the report: the answer to a query, together with the query, so that anyone can ask it again."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

import duckdb

from beleg.core.sql import query
from beleg.cost.money import known_cost

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Figure:
    """Rows of one query."""

    name: str
    sql: str
    parameters: Mapping[str, str]
    """As text, for the reader; only those the query uses."""
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Scope:
    """What the figures are about."""

    first_day: date | None
    """First business day; None where there is nothing to report."""
    last_day: date | None
    """Last business day, included."""
    timezone: str
    """Zone of the business day."""

    @property
    def days(self) -> int:
        """Business days of the period."""
        if self.first_day is None or self.last_day is None:
            return 0
        return (self.last_day - self.first_day).days + 1

    @property
    def bucket(self) -> str:
        """Step of the time axis: one that leaves bars wide enough to be told apart."""
        return "day" if self.days <= 92 else "week" if self.days <= 730 else "month"

    @property
    def parameters(self) -> dict[str, Any]:
        """As query parameters."""
        return {
            "first_day": self.first_day,
            "last_day": self.last_day,
            "timezone": self.timezone,
            "bucket": self.bucket,
        }


def ask(con: duckdb.DuckDBPyConnection, name: str, scope: Scope | None = None) -> Figure:
    """The figure of `sql/<name>.sql`; raises DuckDB's errors, for example for a file of another version."""
    sql = query("beleg.report", name)
    used = {key: value for key, value in (scope.parameters if scope else {}).items() if f"${key}" in sql}
    result = con.execute(sql, used)
    columns = [column[0] for column in result.description or []]
    rows = tuple(dict(zip(columns, row, strict=True)) for row in result.fetchall())
    return Figure(name, sql, {key: "NULL" if v is None else f"'{v}'" for key, v in used.items()}, rows)


def cost_of(row: Row) -> int | None:
    """What the runs of a row cost, in pico-USD; None where nothing tells it."""
    cost, runs, steps, unpriced_steps = (
        int(row[name]) for name in ("cost_pico_usd", "runs", "steps", "unpriced_steps")
    )
    return known_cost(cost, runs=runs, steps=steps, unpriced_steps=unpriced_steps)


def scope_of(con: duckdb.DuckDBPyConnection, timezone: str, from_: date | None, to: date | None) -> Scope:
    """The period asked for, open ends filled from the data.

    The zone is that of the publication, whose days are counted in it; `timezone` where the file does not say.
    """
    found = ask(con, "range").rows[0]
    zone = ask(con, "publication").rows[0].get("timezone", timezone)
    return Scope(from_ or found["first_day"], to or found["last_day"], zone)
