"""What surrounds an agent, as tables that the marts join: the tools of each toolset, the segments of each layout."""

import duckdb

from beleg.core.sql import query
from beleg.lake.engine import quote
from beleg.lake.snapshot import Snapshot

DEFINED = {"toolsets": ("toolset_hash", "cohort, tools"), "layouts": ("layout_hash", "segments")}
"""Table of definitions → the digest by which steps name one, and what it consists of."""
READERS = frozenset({"workflow_traffic", "tool_usage", "held_tokens", "cache_misses"})
"""Marts whose queries join these tables."""


def lay(con: duckdb.DuckDBPyConnection, lake: Snapshot) -> None:
    """Make `toolset_tools`, `toolset_sizes` and `layout_segments` from the definitions of all days."""
    for table in DEFINED:
        con.execute(f"CREATE OR REPLACE TEMP VIEW {table} AS SELECT * FROM {lake.relation(table)}")
    register(con)


def register(con: duckdb.DuckDBPyConnection) -> None:
    """The same from relations `toolsets` and `layouts` that are there."""
    for name in ("toolset_tools", "toolset_sizes", "layout_segments"):
        con.execute(f"CREATE OR REPLACE TEMP TABLE {name} AS {query('beleg.cost', name)}")


def redefined_days(con: duckdb.DuckDBPyConnection, lake: Snapshot, published: Snapshot) -> set[str]:
    """UTC days with calls whose toolset or layout was defined, or defined otherwise, since the publication.

    A definition that every process writes again only moves to another day: nothing changes by that, and no call
    is looked at.
    """
    found: set[str] = set()
    for table, (digest, _) in DEFINED.items():
        if digests := ", ".join(map(quote, _redefined(con, lake, published, table))):
            steps = f"{lake.relation('steps')} WHERE {digest} IN ({digests})"
            found.update(day for (day,) in con.execute(f"SELECT DISTINCT CAST(day AS VARCHAR) FROM {steps}").fetchall())
    return found


def _redefined(con: duckdb.DuckDBPyConnection, lake: Snapshot, published: Snapshot, table: str) -> list[str]:
    days = lake.changed(published, table)
    if not days:
        return []
    names = ", ".join(DEFINED[table])
    now, before = lake.relation(table, days), published.relation(table)
    rows = con.execute(f"SELECT {names} FROM {now} EXCEPT SELECT {names} FROM {before}").fetchall()
    return sorted({str(row[0]) for row in rows})
