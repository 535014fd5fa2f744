"""Metrics: `contracts/metrics.yaml` as SQL, one table macro each, so that everyone divides the same sums."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import yaml

from beleg.core.errors import UsageError
from beleg.core.paths import shipped
from beleg.lake.engine import identifier, quote

PARAMETERS = ("from_day", "to_day")
"""Of every metric: business days, both included; null means open."""


@dataclass(frozen=True)
class Function:
    """A scalar macro that metrics and analysts share."""

    name: str
    parameters: tuple[str, ...]
    description: str
    sql: str


@dataclass(frozen=True)
class Measure:
    """An aggregate over rows of a mart."""

    name: str
    sql: str
    type: str
    description: str
    unit: str | None = None
    known: str | None = None
    """Over the measures of a metric: the sum, null where nothing tells it. What a ratio divides; None for the sum."""


@dataclass(frozen=True)
class Metric:
    """A sum, or a ratio of two sums, of the rows of one mart."""

    name: str
    description: str
    owner: str
    table: str
    where: str | None
    grain: tuple[str, ...]
    """Columns of `table`; one row of the metric per combination."""
    beside: tuple[Measure, ...]
    numerator: Measure
    denominator: Measure | None
    times: str | None
    """Measure in `beside` that the numerator is multiplied by."""
    value: str | None
    """Name of the ratio; None for a plain sum."""
    unit: str
    day: str = "business_day"
    """The business day of a row of `table`."""

    @property
    def measures(self) -> tuple[Measure, ...]:
        """Aggregated columns in their order."""
        return (*self.beside, self.numerator, *([self.denominator] if self.denominator else []))

    @property
    def value_type(self) -> str:
        """DuckDB type of the ratio: whole pico-USD, else six decimal places."""
        return "DECIMAL(38,0)" if self.numerator.unit == "pico-USD" and self._is_amount else "DECIMAL(24,6)"

    @property
    def _is_amount(self) -> bool:
        return self.denominator is not None and self.denominator.unit != "pico-USD"

    @property
    def formula(self) -> str | None:
        """The ratio over the columns of the sums."""
        if self.denominator is None:
            return None
        part = self.numerator.known or self.numerator.name
        if self.value_type == "DECIMAL(38,0)":
            times = f" * CAST({self.times} AS HUGEINT)" if self.times else ""
            return f"divide_half_even(CAST({part} AS HUGEINT){times}, {self.denominator.name})"
        return f"ratio({part}, {self.denominator.name})"

    @property
    def sql(self) -> str:
        """The query of the macro."""
        sums = ", ".join([*self.grain, *(f"CAST({m.sql} AS {m.type}) AS {m.name}" for m in self.measures)])
        days = " AND ".join(
            f"({p} IS NULL OR {self.day} {o} {p})" for p, o in zip(PARAMETERS, (">=", "<="), strict=True)
        )
        where = f"{self.where} AND {days}" if self.where else days
        inner = f"SELECT {sums} FROM {self.table} WHERE {where} GROUP BY {', '.join(self.grain)}"
        ratio = f", {self.formula} AS {self.value}" if self.formula else ""
        return f"SELECT *{ratio} FROM ({inner}) ORDER BY {', '.join(self.grain)}"


@cache
def load() -> tuple[tuple[Function, ...], tuple[Metric, ...]]:
    """Functions and metrics in the order of the file; raises UsageError for one that is damaged."""
    path = shipped("contracts", "metrics.yaml")
    try:
        raw = yaml.safe_load(path.read_text(encoding="utf-8"))
        functions = tuple(Function(**{**f, "parameters": tuple(f["parameters"])}) for f in raw["functions"])
        measures = {name: Measure(name, **fields) for name, fields in raw["measures"].items()}
        return functions, tuple(_metric(m, measures) for m in raw["metrics"])
    except (yaml.YAMLError, KeyError, TypeError) as error:
        msg = f"{path.name} holds no metrics: {error!r}; compare contracts/metrics.yaml of a release"
        raise UsageError(msg) from error


def _metric(raw: dict[str, Any], measures: dict[str, Measure]) -> Metric:
    numerator = measures[raw["numerator"]]
    return Metric(
        name=raw["name"],
        description=raw["description"],
        owner=raw["owner"],
        table=raw["from"],
        where=raw.get("where"),
        grain=tuple(raw["grain"]),
        beside=tuple(measures[name] for name in raw.get("beside", ())),
        numerator=numerator,
        denominator=measures[raw["denominator"]] if "denominator" in raw else None,
        times=raw.get("times"),
        value=raw.get("value"),
        unit=raw.get("unit") or numerator.unit or "count",
        day=raw.get("day", "business_day"),
    )


def statements() -> Iterator[str]:
    """SQL that makes every macro with its comment."""
    functions, metrics = load()
    for f in functions:
        yield f"CREATE MACRO {identifier(f.name)}({', '.join(f.parameters)}) AS {f.sql}"
        yield f"COMMENT ON MACRO {identifier(f.name)} IS {quote(f.description)}"
    parameters = ", ".join(f"{p} := NULL" for p in PARAMETERS)
    for metric in metrics:
        yield f"CREATE MACRO {identifier(metric.name)}({parameters}) AS TABLE {metric.sql}"
        text = f"{metric.description} [{metric.unit}] Grain: {', '.join(metric.grain)}."
        yield f"COMMENT ON MACRO TABLE {identifier(metric.name)} IS {quote(text)}"
