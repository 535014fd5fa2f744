"""A desk with some tables of the publication on it, each restricted to the days a question is about."""

from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

import duckdb

from beleg.core.errors import UsageError
from beleg.core.settings import Settings
from beleg.core.sql import query
from beleg.lake import publication
from beleg.lake.engine import identifier
from beleg.lake.snapshot import Snapshot
from beleg.trace.ids import unix_ms

Record = dict[str, Any]


@dataclass(frozen=True)
class Desk:
    """One connection and one snapshot; queries lie in `sql/`."""

    con: duckdb.DuckDBPyConnection
    lake: Snapshot

    def lay(self, tables: Mapping[str, Iterable[str] | None]) -> None:
        """Make each table a view over its partitions; None lays out all of them."""
        for name, partitions in tables.items():
            relation = self.lake.relation(name, partitions)
            self.con.execute(f"CREATE OR REPLACE TEMP VIEW {identifier(name)} AS SELECT * FROM {relation}")

    def ask(self, name: str, **parameters: Any) -> list[Record]:
        """Rows of a query as records."""
        return records(self.con, query("beleg.ask", name), parameters)

    def since(self, table: str, day: str) -> set[str]:
        """Days of a table from one on."""
        return {found for found in self.lake.partitions(table) if found >= day}


@contextmanager
def desk(settings: Settings) -> Generator[Desk]:
    """Open the publication; raises UsageError where nothing was published yet."""
    published = publication.current(settings)
    if published is None:
        msg = f"{settings.home} holds no figures yet: run `beleg ingest PATH` or `beleg run` first"
        raise UsageError(msg)
    with duckdb.connect(":memory:") as con:
        con.execute("SET TimeZone = 'UTC'")
        yield Desk(con, Snapshot.published(settings, published))


def records(con: duckdb.DuckDBPyConnection, sql: str, parameters: Mapping[str, Any]) -> list[Record]:
    """Rows of a query as records."""
    result = con.execute(sql, dict(parameters))
    columns = [column[0] for column in result.description or []]
    return [dict(zip(columns, row, strict=True)) for row in result.fetchall()]


def day_of_id(run_id: str) -> str | None:
    """UTC day a UUIDv7 tells, as ISO text; None for any other id."""
    try:
        return datetime.fromtimestamp(unix_ms(run_id) / 1000, UTC).date().isoformat()
    except (ValueError, OverflowError, OSError):
        return None


def span(first: date, last: date) -> set[str]:
    """The days from one to another, both included, as ISO text."""
    return {(first + timedelta(days=n)).isoformat() for n in range((last - first).days + 1)}
