"""Table contracts: everything about a table in one YAML file under `contracts/tables/`.

The contract gives a table its columns, types, grain, key, partition and documentation; schemas,
comments and checks derive from it, so that no two of them can disagree.
"""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import yaml

from beleg.core.errors import UsageError
from beleg.core.paths import shipped

Kind = Literal["events", "mart", "system"]
PartitionBy = Literal["day", "month", "none"]


@dataclass(frozen=True)
class Column:
    """One column of a table."""

    name: str
    type: str
    """DuckDB type."""
    description: str
    required: bool = False
    """True where null is a fault."""
    unit: str | None = None
    source: str | None = None
    """For event tables: where the value stands in the event (`buckets.output`); None for the same name."""


@dataclass(frozen=True)
class TableContract:
    """What a table is. `columns` are in their stored order; the partition column comes last."""

    table: str
    kind: Kind
    description: str
    grain: str
    primary_key: tuple[str, ...]
    partition_by: PartitionBy
    order_by: tuple[str, ...]
    """Total order of the rows within a file: the same rows give the same bytes."""
    columns: tuple[Column, ...]
    event: str | None = None
    partition_of: str | None = None
    checks: tuple[tuple[str, str], ...] = ()
    """(name, SQL condition that every row must meet)."""
    notices: frozenset[str] = frozenset()
    """Names of the checks that only warn: what they find is worth a look and stops nothing."""

    @property
    def partition_column(self) -> str | None:
        """Name of the partition column (`day` or `month`), None for a table without partitions."""
        return None if self.partition_by == "none" else self.partition_by

    @property
    def stored_columns(self) -> tuple[Column, ...]:
        """Columns inside the Parquet files: all but the partition, which stands in the path."""
        return tuple(c for c in self.columns if c.name != self.partition_column)

    def column(self, name: str) -> Column:
        """The column of that name; raises KeyError."""
        return next(c for c in self.columns if c.name == name)


def _column(raw: dict[str, Any]) -> Column:
    return Column(
        name=raw["name"],
        type=raw["type"],
        description=raw["description"],
        required=raw.get("required", False),
        unit=raw.get("unit"),
        source=raw.get("from"),
    )


def _severity(raw: dict[str, Any]) -> str:
    """`error` (the default) stops a publication, `warn` does not."""
    severity = str(raw.get("severity", "error"))
    if severity not in {"error", "warn"}:
        raise KeyError(f"severity {severity!r} of check {raw['name']!r} is neither error nor warn")
    return severity


def parse(text: str, path: Path) -> TableContract:
    """Parse the text of a contract file; raises UsageError naming the file for one that is no contract."""
    try:
        raw = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506
        partition = raw.get("partition", {"by": "none"})
        return TableContract(
            table=raw["table"],
            kind=raw["kind"],
            description=raw["description"],
            grain=raw["grain"],
            primary_key=tuple(raw["primary_key"]),
            partition_by=partition["by"],
            partition_of=partition.get("of"),
            order_by=tuple(raw["order_by"]),
            columns=tuple(_column(c) for c in raw["columns"]),
            event=raw.get("event"),
            checks=tuple((c["name"], c["sql"]) for c in raw.get("checks", ())),
            notices=frozenset(c["name"] for c in raw.get("checks", ()) if _severity(c) == "warn"),
        )
    except (yaml.YAMLError, KeyError, TypeError, AttributeError) as error:
        msg = f"{path.name} is no table contract: {error!r}; compare contracts/tables/steps.yaml"
        raise UsageError(msg) from error


@cache
def load(table: str) -> TableContract:
    """The contract of a table; raises UsageError for a table that has none."""
    path = shipped("contracts", "tables") / f"{table}.yaml"
    if not path.exists():
        msg = f"no table {table!r}; tables are {', '.join(names())}"
        raise UsageError(msg)
    return parse(path.read_text(encoding="utf-8"), path)


@cache
def names() -> tuple[str, ...]:
    """Names of all tables, sorted."""
    return tuple(sorted(p.stem for p in shipped("contracts", "tables").glob("*.yaml")))


def of_kind(kind: Kind) -> tuple[TableContract, ...]:
    """All contracts of a kind, sorted by table."""
    return tuple(c for c in map(load, names()) if c.kind == kind)


@cache
def event_tables() -> dict[str, TableContract]:
    """Event type → contract of the table that holds it."""
    return {c.event: c for c in of_kind("events") if c.event is not None}


def mart_sql(table: str) -> str:
    """The query that makes a mart: the `.sql` file beside its contract."""
    return (shipped("contracts", "tables") / f"{table}.sql").read_text(encoding="utf-8")
