"""A `beleg.duckdb` made by hand: tables as their contracts say, filled with the few columns a test is about."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

import duckdb

from beleg.core import contracts
from beleg.core.settings import Settings

DAY = date(2030, 1, 7)
Rows = Sequence[Mapping[str, Any]]

_DEFAULTS: Mapping[str, Any] = {
    "VARCHAR": "x",
    "DATE": DAY,
    "BOOLEAN": True,
    "TIMESTAMP WITH TIME ZONE": "2030-01-07T12:00:00Z",
}
_COMMON: Mapping[str, Mapping[str, Any]] = {
    "unit_costs": {"workflow": "ocr", "purpose": "production", "unit": "document", "unit_per": 1},
    "step_costs": {"counted": True, "priced": True, "kind": "model", "cost_pico_usd": 0},
    "quarantine": {"status": "open", "occurrence": 1},
}


def make_database(settings: Settings, **rows_by_table: Rows) -> None:
    """Write the file; required columns that a row leaves out hold a value that means nothing."""
    settings.home.mkdir(parents=True, exist_ok=True)
    settings.lake.mkdir(exist_ok=True)
    settings.database.unlink(missing_ok=True)
    with duckdb.connect(str(settings.database)) as con:
        con.execute("SET TimeZone = 'UTC'")
        con.execute("BEGIN")  # one write to disk instead of one per table
        for table in contracts.names():
            _create(con, table, rows_by_table.get(table, ()))
        con.execute(
            "CREATE TABLE publication AS SELECT 7 AS number, TIMESTAMPTZ '2030-02-01 08:15:00Z' AS published_at, "
            "TIMESTAMPTZ '2030-02-01 00:00:00Z' AS as_of"
        )
        con.execute("COMMIT")


def _create(con: duckdb.DuckDBPyConnection, table: str, rows: Rows) -> None:
    columns = contracts.load(table).columns
    con.execute(f'CREATE TABLE "{table}" (' + ", ".join(f'"{c.name}" {c.type}' for c in columns) + ")")
    required = {c.name: _DEFAULTS.get(c.type, 0) for c in columns if c.required}
    for row in rows:
        full = {**required, **_COMMON.get(table, {}), **row}
        names = ", ".join(f'"{name}"' for name in full)
        con.execute(f'INSERT INTO "{table}" ({names}) VALUES ({", ".join("?" * len(full))})', list(full.values()))
