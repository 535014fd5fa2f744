"""Nothing in the file is undocumented, and the dictionary says the same as the comments."""

import os
import subprocess
from pathlib import Path

import duckdb
import pytest

from beleg.core.settings import Settings
from beleg.lake import catalog, dictionary
from beleg.lake.dictionary_page import page

PAGE = Path(__file__).resolve().parents[2] / "docs" / "data-dictionary.md"
OBJECTS = """
    SELECT table_name, comment FROM duckdb_tables() WHERE schema_name = 'main'
    UNION ALL SELECT view_name, comment FROM duckdb_views() WHERE schema_name = 'main' AND NOT internal
    UNION ALL SELECT function_name, comment FROM duckdb_functions() WHERE function_type LIKE '%macro' AND NOT internal
"""
OLD = "BELEG_OLDEST_DUCKDB"
"""Names a Python that has the oldest DuckDB of the documentation; a venv with `duckdb==1.5.*` is enough."""
READ_ALL = """
import duckdb, sys
con = duckdb.connect(sys.argv[1], read_only=True)
names = con.execute("SELECT DISTINCT object, kind FROM data_dictionary WHERE kind <> 'function'").fetchall()
for name, kind in names:
    con.execute(f"SELECT count(*) FROM {name}{'()' if kind == 'metric' else ''}").fetchall()
print(duckdb.__version__, len(names), con.execute("SELECT count(*) FROM unit_cost()").fetchall()[0][0])
"""


def test_no_table_view_column_or_macro_is_undocumented(demo: Settings) -> None:
    with catalog.connect(demo) as con:
        objects = con.execute(OBJECTS).fetchall()
        columns = con.execute(
            "SELECT table_name, column_name FROM duckdb_columns() "
            "WHERE comment IS NULL AND NOT internal AND schema_name = 'main'"
        ).fetchall()
    assert {"runs", "unit_cost", "divide_half_even", "data_dictionary"} <= {name for name, _ in objects}
    assert [name for name, comment in objects if not comment] == []
    assert columns == []


def test_what_is_not_for_analysts_says_so(demo: Settings) -> None:
    """Its columns are not explained a second time: that would make every publication slower."""
    with catalog.connect(demo) as con:
        found = con.execute(
            "SELECT DISTINCT schema_name, left(comment, 9) FROM duckdb_views() "
            "WHERE NOT internal AND schema_name <> 'main'"
        ).fetchall()
    assert sorted(found) == [("files", "Internal:"), ("past", "Internal:")]


def test_the_dictionary_holds_every_object_and_column_and_no_other(demo: Settings) -> None:
    with catalog.connect(demo) as con:
        objects = {name for name, _ in con.execute(OBJECTS).fetchall()}
        listed = con.execute("SELECT object FROM data_dictionary WHERE column_name IS NULL").fetchall()
        columns = con.execute(
            "SELECT table_name, column_name FROM duckdb_columns() WHERE NOT internal AND schema_name = 'main'"
        ).fetchall()
        described = con.execute(
            "SELECT object, column_name FROM data_dictionary "
            "WHERE column_name IS NOT NULL AND kind NOT IN ('metric', 'function')"
        ).fetchall()
    assert sorted(name for (name,) in listed) == sorted(objects)
    assert sorted(described) == sorted(columns)


def test_every_metric_says_what_it_divides_and_who_answers_for_it(demo: Settings) -> None:
    with catalog.connect(demo) as con:
        found = con.execute(
            "SELECT numerator, denominator, times, from_table, grain, owner FROM metric_definitions "
            "WHERE metric = 'unit_cost'"
        ).fetchall()
    assert found == [("sum(cost_pico_usd)", "sum(results)", "unit_per", "unit_costs", "workflow", "finance")]


def test_comments_stay_when_another_publication_is_shown(demo: Settings, tmp_path: Path) -> None:
    from shutil import copytree

    from beleg.demo.home import settings_of
    from beleg.lake import publication

    copy = settings_of(copytree(demo.home, tmp_path / "copy"))
    catalog.rebuild(copy, publication.current(copy))  # type: ignore[arg-type]
    with catalog.connect(copy) as con:
        assert [name for name, comment in con.execute(OBJECTS).fetchall() if not comment] == []


def test_the_page_is_what_the_contracts_say() -> None:
    stale = "docs/data-dictionary.md is stale: python -m beleg.lake.dictionary_page > docs/data-dictionary.md"
    assert PAGE.read_text(encoding="utf-8") == page(), stale


def test_the_page_has_a_line_for_every_column() -> None:
    lines = page().splitlines()
    assert sum(line.startswith("| `") for line in lines) == sum(e.column is not None for e in dictionary.entries())


def test_the_file_is_written_for_the_oldest_duckdb_that_the_documentation_names(demo: Settings) -> None:
    with duckdb.connect() as con:
        con.execute(f"ATTACH '{demo.database}' AS db (READ_ONLY)")
        ((tags,),) = con.execute("SELECT tags FROM duckdb_databases() WHERE database_name = 'db'").fetchall()
    assert tags["storage_version"].startswith(catalog.STORAGE_VERSION.removesuffix(".0"))


@pytest.mark.skipif(OLD not in os.environ, reason=f"{OLD} names no Python with the oldest DuckDB")
def test_the_oldest_duckdb_reads_every_table_and_metric(demo: Settings) -> None:
    command = [os.environ[OLD], "-c", READ_ALL, str(demo.database)]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert out[0].startswith("1.5.")
    assert int(out[2]) == 6
