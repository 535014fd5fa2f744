"""Rows and publications for the tests of the lake."""

import duckdb

from beleg.core.contracts import load
from beleg.core.settings import Settings
from beleg.lake.publication import Publication, current, publish
from beleg.lake.snapshot import Snapshot
from beleg.lake.table import DataFile, LakeTable, stored_type

TABLE = "run_statuses"


def statuses(con: duckdb.DuckDBPyConnection, ids: range, day: str = "2030-01-01") -> str:
    """A query that yields one row per id on a day, with the columns of `run_statuses`."""
    given = {
        "source": "'test'",
        "event_id": "i::VARCHAR",
        "run_id": "'run'",
        "status": "'running'",
        "ingest_id": "'in'",
    }
    given |= {"event_time": f"TIMESTAMPTZ '{day} 12:00:00+00'", "day": f"DATE '{day}'"}
    given |= {"retention_policy": "'metadata_and_hashes_only'", "payload_policy": "'hashed_not_stored'"}
    columns = ", ".join(
        f"CAST({given.get(c.name, 'NULL')} AS {stored_type(c.type)}) AS {c.name}" for c in load(TABLE).columns
    )
    return f"SELECT {columns} FROM range({ids.start}, {ids.stop}) r(i)"


def add(con: duckdb.DuckDBPyConnection, table: LakeTable, ids: range, day: str = "2030-01-01") -> list[DataFile]:
    """Write and commit rows; returns their files."""
    files = table.write(con, statuses(con, ids, day))
    table.commit(files)
    return files


def publish_latest(settings: Settings, *, at: str = "2030-01-01T00:00:00Z") -> Publication:
    """Publish every table at its latest version."""
    before = current(settings)
    number = 1 if before is None else before.number + 1
    made = Publication(number, at, at, Snapshot.latest(settings).versions, {})
    publish(settings, made)
    return made
