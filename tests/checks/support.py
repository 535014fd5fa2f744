"""Breaks a table on purpose, as no stage of the flow would."""

from beleg.core.settings import Settings
from beleg.lake.engine import connect
from beleg.lake.snapshot import Snapshot


def damage(settings: Settings, table: str, query: str, *, note: str = "by hand") -> None:
    """Replace a table's rows by those of a query over `rows`."""
    lake = Snapshot.latest(settings)
    files = lake.files(table)
    with connect(settings.home / "scratch") as con:
        con.execute(f"CREATE TEMP VIEW rows AS SELECT * FROM {lake.relation(table)}")
        written = lake.table(table).write(con, query)
    lake.table(table).commit(written, files, note=note)
