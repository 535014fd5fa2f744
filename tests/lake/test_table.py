"""A table of the lake: what a commit shows, and what it leaves invisible."""

from collections.abc import Generator
from pathlib import Path

import duckdb
import pytest

from beleg.core.contracts import names
from beleg.core.settings import Settings
from beleg.lake.engine import connect
from beleg.lake.table import DataFile, LakeTable, arrow_schema
from tests.lake.support import TABLE, add, statuses


@pytest.fixture
def con(tmp_path: Path) -> Generator[duckdb.DuckDBPyConnection]:
    with connect(tmp_path / "scratch") as made:
        yield made


@pytest.fixture
def table(settings: Settings) -> LakeTable:
    return LakeTable(settings, TABLE)


def ids(con: duckdb.DuckDBPyConnection, table: LakeTable, files: list[DataFile]) -> list[int]:
    return [
        int(i)
        for (i,) in con.execute(f"SELECT event_id FROM {table.relation(files)} ORDER BY event_id::INT").fetchall()
    ]


def test_a_table_never_written_has_no_version_and_no_files(table: LakeTable) -> None:
    assert table.version() is None
    assert table.files() == []


def test_an_empty_table_is_a_relation_with_all_columns(con: duckdb.DuckDBPyConnection, table: LakeTable) -> None:
    described = con.execute(f"DESCRIBE SELECT * FROM {table.relation([])}").fetchall()
    assert [row[0] for row in described] == [c.name for c in table.contract.columns]


def test_written_files_are_invisible_until_committed(con: duckdb.DuckDBPyConnection, table: LakeTable) -> None:
    add(con, table, range(3))
    table.write(con, statuses(con, range(3, 9)))
    assert ids(con, table, table.files()) == [0, 1, 2]


def test_an_earlier_version_keeps_its_rows_after_a_replacement(
    con: duckdb.DuckDBPyConnection, table: LakeTable
) -> None:
    old = add(con, table, range(3))
    first = table.version()
    new = table.write(con, statuses(con, range(10, 12)))
    second = table.commit(new, old)
    assert ids(con, table, table.files(first)) == [0, 1, 2]
    assert ids(con, table, table.files(second)) == [10, 11]


def test_one_file_per_day_and_the_day_stands_in_the_path(con: duckdb.DuckDBPyConnection, table: LakeTable) -> None:
    files = table.write(
        con, f"{statuses(con, range(2), '2030-01-01')} UNION ALL {statuses(con, range(2, 4), '2030-01-02')}"
    )
    assert [(f.partition, f.rows) for f in sorted(files, key=lambda f: f.path)] == [
        ("2030-01-01", 2),
        ("2030-01-02", 2),
    ]
    assert all(f.path.startswith(f"day={f.partition}/") for f in files)


def test_the_same_rows_in_any_order_give_the_same_bytes(con: duckdb.DuckDBPyConnection, table: LakeTable) -> None:
    rows = statuses(con, range(5000))
    forward = table.write(con, rows)
    backward = table.write(con, f"SELECT * FROM ({rows}) ORDER BY event_id DESC")
    assert [(table.root / f.path).read_bytes() for f in forward] == [
        (table.root / f.path).read_bytes() for f in backward
    ]


def test_vacuum_keeps_the_files_of_kept_versions(con: duckdb.DuckDBPyConnection, table: LakeTable) -> None:
    old = add(con, table, range(3))
    first = table.version()
    assert first is not None
    table.commit(table.write(con, statuses(con, range(3, 4))), old)
    table.vacuum(keep_versions=[first], retention_hours=0)
    assert ids(con, table, table.files(first)) == [0, 1, 2]
    table.vacuum(keep_versions=[], retention_hours=0)
    assert not (table.root / old[0].path).exists()


@pytest.mark.parametrize("name", names())
def test_every_contract_is_an_arrow_schema_with_its_partition_last(name: str) -> None:
    table = LakeTable(Settings(Path("unused"), Path("unused")), name)
    schema = arrow_schema(table.contract)
    assert schema.names == [c.name for c in table.contract.columns]
    if table.contract.partition_column:
        assert schema.names[-1] == table.contract.partition_column
    assert set(table.contract.primary_key) <= set(schema.names)
    assert set(table.contract.order_by) <= set(schema.names)
    assert "HUGEINT" not in {c.type for c in table.contract.columns}
