"""A lake of an earlier release: read and written on without being made anew, or refused with words."""

import json
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from beleg.core.errors import DamagedError
from beleg.core.settings import Settings
from beleg.lake import format as lake_format
from beleg.lake import migrate, publication
from beleg.lake.exclusive import exclusive
from beleg.lake.migrate import Step
from beleg.lake.table import LakeTable
from tests.backup.support import beleg, day
from tests.flow.support import Installation
from tests.lake.older import OlderRelease

GAINED = [
    ("steps", "region"),
    pytest.param("steps", "raw_usage", marks=pytest.mark.soak),
    pytest.param("runs_started", "canon_version", marks=pytest.mark.soak),
    pytest.param("cache_efficiency", "unknown_savings_steps", marks=pytest.mark.soak),
]


def taken_by(release: OlderRelease, home: Installation, number: int) -> None:
    done = release(home.settings, "ingest", str(home.write(*day(number))))
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("table", "column"), GAINED)
def test_a_column_that_a_table_gains_is_unknown_in_old_rows_and_nothing_is_made_anew(
    tmp_path: Path, table: str, column: str
) -> None:
    home, fresh = Installation(tmp_path / "home"), Installation(tmp_path / "fresh")
    taken_by(OlderRelease(tmp_path / "older", table, column), home, 0)
    before = {f.path for f in LakeTable(home.settings, "steps").files()}
    assert [c.name for c in LakeTable(home.settings, table).gained()] == [column]
    value = {"region": "eu-west-1", "raw_usage": {"total": 7}, "canon_version": "1"}.get(column)
    kind = {"steps": "step", "runs_started": "run_started"}.get(table)
    later = [e | ({column: value} if e["event"] == kind else {}) for e in day(1)]
    for made in (fresh, home):
        made.take(*day(0), *later)
    assert home.marts() == fresh.marts() == home.rebuilt()
    assert home.ask(f"SELECT * FROM {table} ORDER BY ALL") == fresh.ask(f"SELECT * FROM {table} ORDER BY ALL") or kind
    if kind:
        assert home.ask(f"SELECT count(*), count({column}) FROM {table}") == [(6, 3)]
        assert before < {f.path for f in LakeTable(home.settings, "steps").files()}
    assert LakeTable(home.settings, table).gained() == []


def test_an_old_row_and_a_new_report_of_it_are_one(tmp_path: Path) -> None:
    home = Installation(tmp_path)
    taken_by(OlderRelease(tmp_path / "older", "steps", "region"), home, 0)
    again = home.take(*day(0)).ingest
    assert (again.duplicates, again.superseded) == (len(day(0)), 0)
    later = {"revision": "2030-02-01T00:00:00Z", "region": "eu-west-1"}
    home.take(*(e | later for e in day(0) if e["event"] == "step"))
    assert home.ask("SELECT count(*), count(region) FROM steps") == [(3, 3)]


def test_the_earlier_release_refuses_what_it_does_not_know(tmp_path: Path) -> None:
    home, older = Installation(tmp_path), OlderRelease(tmp_path / "older", "steps", "region")
    home.take(*day(0))
    before = home.marts()
    done = older(home.settings, "ingest", str(home.write(*day(1))))
    assert (done.returncode, "region" in done.stderr) == (4, True), done.stderr
    assert home.marts() == before


def test_migrate_adds_gained_columns_at_once_and_says_so(tmp_path: Path) -> None:
    home = Installation(tmp_path)
    taken_by(OlderRelease(tmp_path / "older", "steps", "region"), home, 0)
    before = home.marts()
    told = [json.loads(beleg(home.settings, "migrate", *how, "--json").stdout) for how in (["--dry-run"], [], [])]
    assert [t["columns"] for t in told] == [{"steps": ["region"]}] * 2 + [{}]
    assert "nothing to do" in beleg(home.settings, "migrate").stdout
    assert home.marts() == before
    home.take(*day(1))
    assert home.ask("SELECT count(*) FROM steps") == [(6,)]


@pytest.mark.parametrize(
    ("step", "when"),
    [
        ("beleg.lake.table:LakeTable.evolve", "after"),
        ("beleg.lake.table:LakeTable.start_anew", "before"),
        pytest.param("beleg.lake.table:LakeTable.evolve", "before", marks=pytest.mark.soak),
        pytest.param("beleg.lake.table:LakeTable.start_anew", "after", marks=pytest.mark.soak),
    ],
)
def test_migrate_killed_in_the_middle_shows_the_old_figures_and_goes_on(tmp_path: Path, step: str, when: str) -> None:
    home, fresh = Installation(tmp_path / "home"), Installation(tmp_path / "fresh")
    older = OlderRelease(tmp_path / "older", "steps", "region")
    older.without("runs_started", "canon_version")
    older.with_integer_results()
    taken_by(older, home, 0)
    before = home.ask("SELECT * FROM runs ORDER BY ALL")
    assert beleg(home.settings, "migrate", dying=(step, when, 1)).returncode == -signal.SIGKILL
    assert home.ask("SELECT * FROM runs ORDER BY ALL") == before
    assert beleg(home.settings, "migrate").returncode == 0
    assert home.ask("SELECT * FROM runs ORDER BY ALL") == before
    for made in (fresh, home):
        made.take(*day(0), *day(1))
    assert home.marts() == fresh.marts() == home.rebuilt()


@pytest.mark.parametrize("change", [{"type": "BIGINT"}, {"name": "renamed"}, {"name": "more", "required": True}])
def test_a_column_that_changed_takes_a_migration(settings: Settings, change: dict[str, object]) -> None:
    home = Installation.begun(settings.home, *day(0))
    table = LakeTable(home.settings, "steps")
    column = table.contract.column("region")
    kept = [c for c in table.contract.columns if c != column or "required" in change]
    table.contract = replace(table.contract, columns=(replace(column, **change), *kept))  # type: ignore[arg-type]
    with pytest.raises(DamagedError, match=r"region|more"):
        table.gained()


def test_a_mart_whose_columns_changed_is_computed_anew_and_readers_see_the_old_one_until_then(tmp_path: Path) -> None:
    home, fresh = Installation(tmp_path / "home"), Installation(tmp_path / "fresh")
    older = OlderRelease(tmp_path / "older", "cache_efficiency", "unknown_savings_steps")
    older.with_integer_results()
    taken_by(older, home, 0)
    before = home.ask("SELECT * FROM runs ORDER BY ALL")
    refused = beleg(home.settings, "run", str(home.write(*day(1))))
    assert (refused.returncode, "differs from its contract in results; run `beleg migrate`" in refused.stderr) == (
        4,
        True,
    )
    assert json.loads(beleg(home.settings, "migrate", "--json").stdout)["marts"] == ["unit_costs"]
    assert home.ask("SELECT * FROM runs ORDER BY ALL") == before
    for made in (fresh, home):
        made.take(*day(0), *day(1))
    assert home.marts() == fresh.marts() == home.rebuilt()


def test_a_format_that_no_release_wrote_is_called_damage_and_not_an_old_release(tmp_path: Path) -> None:
    with pytest.raises(DamagedError, match="format 0; no release of Beleg ever wrote that, the first is 1: restore"):
        lake_format.check(0, "the lake")


def test_a_new_lake_has_this_releases_format_and_one_without_a_number_the_first(tmp_path: Path) -> None:
    home = Installation(tmp_path)
    assert lake_format.of(home.settings) is None
    home.take(*day(0))
    path = home.settings.lake / "_format"
    assert int(path.read_text()) == lake_format.of(home.settings) == lake_format.LAKE_FORMAT
    path.unlink()
    assert lake_format.of(home.settings) == lake_format.FIRST_FORMAT
    home.take(*day(1))
    assert path.exists()


@pytest.mark.parametrize("words", [["run"], ["sql", "SELECT 1"], ["migrate"]])
def test_a_lake_of_a_newer_release_is_refused_by_every_command(tmp_path: Path, words: list[str]) -> None:
    home = Installation.begun(tmp_path, *day(0))
    lake_format.record(home.settings, lake_format.LAKE_FORMAT + 1)
    done = beleg(home.settings, *words)
    assert (done.returncode, "written by a newer release" in done.stderr) == (4, True), done.stderr


def test_a_damaged_number_is_named(tmp_path: Path) -> None:
    home = Installation.begun(tmp_path, *day(0))
    (home.settings.lake / "_format").write_text("one")
    with pytest.raises(DamagedError, match="_format holds 'one'"):
        home.take(*day(1))


@pytest.fixture
def next_release(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A release two formats on, whose steps move the ledger of ingests; returns how often each step ran."""
    ran: list[int] = []

    def move(settings: Settings, source: str, target: str, number: int) -> None:
        ran.append(number)
        path = settings.ledger / source
        if path.exists():  # a step that was killed may have done it already
            path.rename(settings.ledger / target)

    monkeypatch.setattr(lake_format, "LAKE_FORMAT", 2)
    monkeypatch.setattr(
        migrate, "STEPS", {1: Step("ingests move", lambda s: move(s, "ingests.jsonl", "taken.jsonl", 1))}
    )
    return ran


def test_a_release_reads_the_format_before_and_writes_after_migrating(
    tmp_path: Path, next_release: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    home = Installation(tmp_path)
    with monkeypatch.context() as before:
        before.setattr(lake_format, "LAKE_FORMAT", 1)
        home.take(*day(0))
    figures = home.marts()
    assert publication.current(home.settings) is not None
    with pytest.raises(DamagedError, match="`beleg migrate`"):
        home.take(*day(1))
    assert migrate.plan(home.settings).steps == ("ingests move",)
    assert next_release == []
    assert migrate.migrate(home.settings).steps == ("ingests move",)
    assert migrate.migrate(home.settings).nothing
    assert next_release == [1]
    assert (home.settings.ledger / "taken.jsonl").exists()
    assert home.marts() == figures
    home.take(*day(1))
    assert home.ask("SELECT count(*) FROM runs") == [(6,)]


def test_a_format_older_than_the_one_before_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = Installation.begun(tmp_path, *day(0))
    monkeypatch.setattr(lake_format, "LAKE_FORMAT", 3)
    for use in (lambda: migrate.plan(home.settings), lambda: publication.current(home.settings)):
        with pytest.raises(DamagedError, match="reads 3 and 2: migrate with the releases between"):
            use()
    with pytest.raises(DamagedError), exclusive(home.settings, any_format=True):
        pytest.fail("written")
