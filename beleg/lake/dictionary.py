"""The data dictionary: what every table, column and metric means, for the file and for the documentation.

All of it comes from `contracts/`: nothing is described twice.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import NamedTuple

from beleg.core import contracts
from beleg.core.contracts import Column, TableContract
from beleg.lake import metrics
from beleg.lake.engine import quote
from beleg.lake.metrics import Function, Metric

SUBTREE = Column(
    "subtree_cost_pico_usd",
    "DECIMAL(38,0)",
    "cost of the run's own steps and of all runs it started, directly or not",
    unit="pico-USD",
)
_INSTANT = "TIMESTAMP WITH TIME ZONE"


def _own(table: str, description: str, grain: str, *columns: Column) -> TableContract:
    return TableContract(table, "system", description, grain, (columns[0].name,), "none", (), columns)


OWN_TABLES = (
    _own(
        "publication",
        "The publication this file shows.",
        "one row",
        Column("number", "BIGINT", "counts up by one with each publication", required=True),
        Column("published_at", _INSTANT, "when it was published", required=True),
        Column("as_of", _INSTANT, "instant the marts were computed for", required=True),
        Column("timezone", "VARCHAR", "IANA zone of the business days", required=True),
        Column("lake", "VARCHAR", "folder of the files that the views name", required=True),
    ),
    _own(
        "metric_definitions",
        "What each metric divides by what, and who answers for it.",
        "one row per metric",
        Column("metric", "VARCHAR", "name of the table macro", required=True),
        Column("description", "VARCHAR", "what it says", required=True),
        Column("unit", "VARCHAR", "unit of its value", required=True),
        Column("numerator", "VARCHAR", "aggregate that is divided, or the sum itself", required=True),
        Column("denominator", "VARCHAR", "aggregate it is divided by; null for a plain sum"),
        Column("times", "VARCHAR", "aggregate that the numerator is multiplied by; null for none"),
        Column("from_table", "VARCHAR", "mart whose rows are summed", required=True),
        Column("filter", "VARCHAR", "rows that count; null for all"),
        Column("grain", "VARCHAR", "one row of the metric per combination of these", required=True),
        Column("parameters", "VARCHAR", "what the macro can be told", required=True),
        Column("owner", "VARCHAR", "who answers for the definition", required=True),
        Column("sql", "VARCHAR", "query of the macro", required=True),
    ),
    _own(
        "data_dictionary",
        "What everything in this file means; the same as the comments, as rows.",
        "one row per table, view, macro, and per column of each",
        Column("object", "VARCHAR", "name of the table, view or macro", required=True),
        Column("kind", "VARCHAR", "events, mart, system, metric or function", required=True),
        Column("column_name", "VARCHAR", "name of the column; null on the row of the object itself"),
        Column("type", "VARCHAR", "DuckDB type of the column"),
        Column("unit", "VARCHAR", "unit of the value"),
        Column("required", "BOOLEAN", "true where null is a fault; null where nothing is promised"),
        Column("description", "VARCHAR", "meaning", required=True),
    ),
)
"""Tables that the file holds itself; all others are views."""


class Entry(NamedTuple):
    """One row of the data dictionary, in the order of its columns."""

    object: str
    kind: str
    column: str | None
    type: str | None
    unit: str | None
    required: bool | None
    description: str


def tables() -> tuple[TableContract, ...]:
    """Everything with columns that analysts see, `runs` included, which no contract file describes."""
    costs = contracts.load("run_costs")
    runs = replace(costs, table="runs", columns=(*costs.columns, SUBTREE))
    return (*map(contracts.load, contracts.names()), runs, *OWN_TABLES)


@cache
def entries() -> tuple[Entry, ...]:
    """All rows: objects by kind and name, columns in their stored order."""
    functions, found = metrics.load()
    made = [entry for table in tables() for entry in _of_table(table)]
    made += [entry for metric in found for entry in _of_metric(metric)]
    return (*made, *map(_of_function, functions))


def _of_table(table: TableContract) -> Iterator[Entry]:
    yield Entry(table.table, table.kind, None, None, None, None, summary(table))
    for c in table.columns:
        yield Entry(table.table, table.kind, c.name, c.type, c.unit, c.required, c.description)


def _of_metric(metric: Metric) -> Iterator[Entry]:
    yield Entry(metric.name, "metric", None, None, metric.unit, None, f"{metric.description} {signature(metric)}")
    source = contracts.load(metric.table)
    for name in metric.grain:
        column = source.column(name)
        yield Entry(metric.name, "metric", name, column.type, column.unit, None, column.description)
    for m in metric.measures:
        yield Entry(metric.name, "metric", m.name, m.type, m.unit, None, m.description)
    if metric.value and metric.denominator:
        text = f"{_times(metric)} / {metric.denominator.name}, rounded half even; null where nothing was divided by"
        yield Entry(metric.name, "metric", metric.value, metric.value_type, metric.unit, None, text)


def _of_function(function: Function) -> Entry:
    text = f"{function.name}({', '.join(function.parameters)}): {function.description}"
    return Entry(function.name, "function", None, None, None, None, text)


def summary(table: TableContract) -> str:
    """Description and grain in one line."""
    return f"{table.description} Grain: {table.grain}."


def signature(metric: Metric) -> str:
    """Grain and call of a metric."""
    return f"Grain: {', '.join(metric.grain)}. Call: FROM {metric.name}({', '.join(metrics.PARAMETERS)})."


def _times(metric: Metric) -> str:
    return f"{metric.numerator.name} * {metric.times}" if metric.times else metric.numerator.name


def statements() -> Iterator[str]:
    """SQL that makes the file's own tables, filled but for `publication`, without comments."""
    for table in OWN_TABLES:
        yield f"CREATE TABLE {table.table} ({', '.join(f'{c.name} {c.type}' for c in table.columns)})"
    yield _insert("data_dictionary", entries())
    yield _insert("metric_definitions", [_definition(metric) for metric in metrics.load()[1]])


def _definition(metric: Metric) -> tuple[str | None, ...]:
    return (
        metric.name,
        metric.description,
        metric.unit,
        metric.numerator.sql,
        metric.denominator.sql if metric.denominator else None,
        metric.times,
        metric.table,
        metric.where,
        ", ".join(metric.grain),
        ", ".join(metrics.PARAMETERS),
        metric.owner,
        metric.sql,
    )


def _insert(table: str, rows: Sequence[Sequence[str | bool | None]]) -> str:
    return f"INSERT INTO {table} VALUES " + ", ".join(f"({', '.join(map(_literal, row))})" for row in rows)


def _literal(value: str | bool | None) -> str:
    if value is None:
        return "NULL"
    return quote(value) if isinstance(value, str) else str(value).upper()
