"""Publications: what readers see while a writer merges beside them, dies, or runs out of disk."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb
import pytest

from beleg.core.errors import DamagedError, UsageError
from beleg.core.settings import Settings
from beleg.lake import catalog, publication
from beleg.lake.engine import connect
from beleg.lake.housekeeping import tidy
from beleg.lake.snapshot import Snapshot
from beleg.lake.table import LakeTable
from tests.lake.support import TABLE, add, publish_latest, statuses
from tests.lake.writer import ROWS

ROOT = Path(__file__).resolve().parents[2]
READ = "import duckdb, sys; print(duckdb.connect(sys.argv[1], read_only=True).sql(sys.argv[2]).fetchall())"
COUNT = f"SELECT count(*), count(DISTINCT event_id) FROM {TABLE}"


def start_writer(settings: Settings, rounds: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.lake.writer", str(settings.home), str(rounds)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def read_database(settings: Settings) -> tuple[int, int]:
    with catalog.connect(settings) as con:
        return con.execute(COUNT).fetchall()[0]


def read_snapshot(settings: Settings) -> tuple[int, int]:
    lake = Snapshot.published(settings, publication.current(settings))
    with duckdb.connect() as con:
        con.execute(f"CREATE VIEW {TABLE} AS SELECT * FROM {lake.relation(TABLE)}")
        return con.execute(COUNT).fetchall()[0]


def test_readers_beside_a_merging_writer_see_no_doubled_row_and_no_missing_file(settings: Settings) -> None:
    process = start_writer(settings, 15)
    assert process.stdout is not None
    process.stdout.readline()
    seen = set()
    while process.poll() is None:
        seen.add(read_database(settings))
        seen.add(read_snapshot(settings))
    process.communicate()
    assert process.returncode == 0
    assert seen == {(ROWS, ROWS)}


@pytest.mark.parametrize("killed_after", [2, *(pytest.param(n, marks=pytest.mark.soak) for n in (1, 5))])
def test_a_killed_writer_leaves_what_was_published_and_the_next_one_goes_on(
    settings: Settings, killed_after: int
) -> None:
    process = start_writer(settings, 1000)
    assert process.stdout is not None
    for _ in range(killed_after):
        process.stdout.readline()
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert read_database(settings) == (ROWS, ROWS)
    after = start_writer(settings, 2)
    after.communicate()
    assert after.returncode == 0
    assert read_database(settings) == (ROWS, ROWS)


def test_a_reader_that_holds_the_old_file_keeps_the_old_publication(settings: Settings) -> None:
    table = LakeTable(settings, TABLE)
    with connect(settings.home / "scratch") as con:
        add(con, table, range(3))
        catalog.rebuild(settings, publish_latest(settings))
        with catalog.connect(settings) as reader:
            add(con, table, range(3, 10))
            catalog.rebuild(settings, publish_latest(settings))
            assert reader.execute(COUNT).fetchall() == [(3, 3)]
    out = subprocess.run(
        [sys.executable, "-c", READ, settings.database, COUNT], capture_output=True, text=True, check=True
    )
    assert out.stdout.strip() == "[(10, 10)]"


def test_files_of_earlier_months_are_named_once_until_one_of_them_changes(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalog, "MANY_FILES", 3)
    table = LakeTable(settings, TABLE)

    def shown() -> tuple[set[Path], tuple[int, int]]:
        catalog.rebuild(settings, publish_latest(settings))
        with catalog.connect(settings) as con:
            ((rows, ids),) = con.execute(COUNT).fetchall()
        return set(settings.lake.glob("_template-past-*")), (rows, ids)

    with connect(settings.home / "scratch") as con:
        add(con, table, range(2), "2030-01-30")
        assert shown() == (set(), (2, 2))
        for number, day in enumerate(("2030-01-31", "2030-02-01")):
            add(con, table, range(10 * number + 2, 10 * number + 5), day)
        past, rows = shown()
        assert (len(past), rows) == (1, (8, 8))
        add(con, table, range(20, 25), "2030-02-02")
        assert shown() == (past, (13, 13))  # the newest month grows
        add(con, table, range(30, 31), "2030-01-30")
        late, rows = shown()
        assert (len(late), rows) == (1, (14, 14))
        assert late != past
        moved = replace(settings, home=settings.home.rename(settings.home.with_name("moved")))
    catalog.rebuild(moved, publish_latest(moved))
    with catalog.connect(moved) as con:
        assert con.execute(COUNT).fetchall() == [(14, 14)]


def test_analysts_cannot_read_the_machine_or_write(settings: Settings, tmp_path: Path) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("a\n1\n")
    catalog.rebuild(settings, publish_latest(settings))
    with catalog.connect(settings) as con:
        for query in (
            f"SELECT * FROM read_csv('{secret}')",
            "CREATE TABLE x (a INT)",
            f"COPY (SELECT 1) TO '{tmp_path / 'out.csv'}'",
            f"ATTACH '{tmp_path / 'other.duckdb'}'",
            "SET enable_external_access = true",
        ):
            with pytest.raises(duckdb.Error):
                con.execute(query)


def test_two_connections_of_one_process_are_both_locked_down(settings: Settings) -> None:
    catalog.rebuild(settings, publish_latest(settings))
    with catalog.connect(settings) as one, catalog.connect(settings) as other:
        for con in (one, other):
            assert con.execute("SELECT current_setting('TimeZone')").fetchall() == [("UTC",)]
            with pytest.raises(duckdb.Error):
                con.execute("SET enable_external_access = true")


def test_every_view_and_column_is_documented(settings: Settings) -> None:
    catalog.rebuild(settings, publish_latest(settings))
    with catalog.connect(settings) as con:
        views = con.execute("SELECT view_name, comment FROM duckdb_views() WHERE NOT internal").fetchall()
        columns = con.execute(
            "SELECT table_name, column_name FROM duckdb_columns() "
            "WHERE comment IS NULL AND NOT internal AND schema_name = 'main'"
        ).fetchall()
    assert TABLE in {name for name, _ in views}
    assert [name for name, comment in views if not comment] == []
    assert columns == []


def test_without_a_publication_the_user_is_told_what_to_run(settings: Settings) -> None:
    with pytest.raises(UsageError, match="beleg ingest PATH"):
        catalog.connect(settings)


def test_a_damaged_record_is_named_not_guessed(settings: Settings) -> None:
    publish_latest(settings)
    (settings.lake / "_publication.json").write_text('{"number": 1')
    with pytest.raises(DamagedError, match=r"publications\.jsonl"):
        publication.current(settings)


def test_a_lake_of_another_format_is_refused(settings: Settings) -> None:
    publish_latest(settings)
    path = settings.lake / "_publication.json"
    path.write_text(path.read_text().replace('"lake_format": 1', '"lake_format": 2'))
    with pytest.raises(DamagedError, match=r"format 2; it was written by a newer release"):
        publication.current(settings)


def test_a_torn_fact_of_a_killed_writer_hides_no_later_one(settings: Settings) -> None:
    path = settings.ledger / "facts.jsonl"
    publication.append_fact(path, {"n": 1})
    with path.open("a") as file:
        file.write('{"n": 2, "torn')
    publication.append_fact(path, {"n": 3})
    assert publication.facts(path) == [{"n": 1}, {"n": 3}]


def test_a_writer_killed_between_record_and_ledger_leaves_no_gap_in_the_ledger(settings: Settings) -> None:
    for _ in range(3):
        publish_latest(settings)
    ledger = settings.ledger / "publications.jsonl"
    whole = ledger.read_text()
    ledger.write_text("".join(whole.splitlines(keepends=True)[:-1]))
    publish_latest(settings)
    assert [fact["number"] for fact in publication.facts(ledger)] == [1, 2, 3, 4]


def test_files_no_reader_needs_are_deleted_once_a_day_and_nothing_else(settings: Settings) -> None:
    table = LakeTable(settings, TABLE)
    yesterday = time.time() - 25 * 3600
    with connect(settings.home / "scratch") as con:
        add(con, table, range(3))
        published = publish_latest(settings)
        orphans = table.write(con, statuses(con, range(3, 5)))
        fresh = table.write(con, statuses(con, range(5, 7)))
    for file in orphans:
        os.utime(table.root / file.path, (yesterday, yesterday))
    now = datetime.now(UTC)
    lake = Snapshot.latest(settings)
    assert tidy(settings, lake, published, now) == len(orphans)
    assert tidy(settings, lake, published, now + timedelta(hours=1)) == 0
    assert all((table.root / file.path).exists() for file in (*table.files(), *fresh))
    assert lake.versions[TABLE] == table.version()
    assert not lake.changed(lake.at(published), TABLE)
