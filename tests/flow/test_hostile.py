"""What a hostile user, file or disk must not achieve."""

import gzip
import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from beleg import flow
from beleg.core.errors import DamagedError, UsageError
from beleg.core.settings import Settings
from tests.events import lines
from tests.flow.support import AS_OF, Installation, run_events
from tests.flow.test_commands import Shell

NOON = datetime(2030, 1, 10, 12, tzinfo=UTC)


@pytest.fixture
def beleg(tmp_path: Path) -> Shell:
    shell = Shell(tmp_path)
    made = shell("ingest", shell.file("events.jsonl", lines(*run_events("a", NOON))))
    assert made.returncode == 0, made.stderr
    return shell


@pytest.mark.parametrize(
    "query",
    [
        "COPY (SELECT 1) TO '{lake}/steps/planted.parquet'",
        "EXPLAIN ANALYZE COPY (SELECT 1) TO '{lake}/steps/planted.parquet'",
        "SELECT 1; COPY (SELECT 1) TO '{lake}/steps/planted.parquet'",
        "CREATE TABLE x (a INT)",
        "",
    ],
)
def test_sql_only_reads(beleg: Shell, query: str) -> None:
    lake = Path(beleg.env["BELEG_HOME"]) / "lake"
    done = beleg("sql", query.format(lake=str(lake).replace("'", "''")))
    assert done.returncode == 2, done.stdout
    assert not list(lake.rglob("planted*"))


def test_json_has_no_number_that_json_does_not_have_and_no_column_is_lost(beleg: Shell) -> None:
    done = beleg("sql", "SELECT 'NaN'::DOUBLE AS x, 1 AS y", "--json")
    assert json.loads(done.stdout, parse_constant=pytest.fail) == [{"x": None, "y": 1}]
    assert beleg("sql", "SELECT 1 AS a, 2 AS a", "--json").returncode == 2


def test_names_from_events_are_neither_markup_nor_commands_to_the_terminal(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    odd = run_events("a", NOON, workflow="[/x][red]\x1b]0;title\x07\x1b[31m")
    shell("ingest", shell.file("events.jsonl", lines(*odd)))
    done = shell("costs")
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout
    assert "[/x][red]\\x1b]0;title" in done.stdout


def test_a_home_beside_one_that_its_name_would_match_reads_its_own_files(tmp_path: Path) -> None:
    for name in ("b*", "bcopy", "b[x]", "bx"):
        installation = Installation(tmp_path / name)
        installation.take(*run_events(name, NOON))
        installation.take(*run_events(f"{name} later", NOON))
        assert installation.ask("SELECT count(*) FROM runs") == [(2,)]


def test_a_home_that_duckdb_cannot_open_is_refused_at_the_start(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="question mark"):
        Settings.load({"BELEG_HOME": str(tmp_path / "h?")})


def test_a_pipe_in_a_folder_is_passed_over(tmp_path: Path) -> None:
    beleg = Installation(tmp_path)
    os.mkfifo(beleg.inbox / "pipe.jsonl")
    beleg.write(*run_events("a", NOON))
    assert flow.run(beleg.settings, [beleg.inbox], as_of=AS_OF).ingest.accepted == 3


def test_a_small_file_of_very_many_empty_lines_is_counted_quickly(tmp_path: Path) -> None:
    beleg = Installation(tmp_path)
    path = beleg.inbox / "bomb.jsonl.gz"
    path.write_bytes(gzip.compress(b"\n" * 200_000_000, 9))
    assert flow.run(beleg.settings, [path], as_of=AS_OF).ingest.blank == 200_000_000


def test_a_damaged_mark_means_reading_again_not_a_crash(tmp_path: Path) -> None:
    beleg = Installation.begun(tmp_path, *run_events("a", NOON))
    beleg.settings.ledger.joinpath("marks.json").write_text("{")
    assert beleg.take(*run_events("a", NOON)).ingest.duplicates == 3


def test_a_lost_log_is_named_instead_of_publishing_less(tmp_path: Path) -> None:
    beleg = Installation.begun(tmp_path, *run_events("a", NOON))
    for file in (beleg.settings.lake / "steps" / "_delta_log").iterdir():
        file.unlink()
    with pytest.raises(DamagedError, match="lake/steps has lost version"):
        flow.publish(beleg.settings, as_of=AS_OF)


def test_a_lost_file_is_called_damage_not_a_full_disk(tmp_path: Path) -> None:
    beleg = Installation.begun(tmp_path, *run_events("a", NOON))
    for file in (beleg.settings.lake / "steps").rglob("*.parquet"):
        file.unlink()
    with pytest.raises(DamagedError, match="restore a backup"):
        beleg.take(*run_events("b", NOON))


def test_a_reader_who_may_not_write_can_still_ask(beleg: Shell, tmp_path: Path) -> None:
    home = Path(beleg.env["BELEG_HOME"])
    (home / "scratch").rmdir()
    (home / "scratch").write_text("in the way: not even the super-user can make a folder here")
    assert beleg("quarantine", "list", "--json").returncode == 0
    assert beleg("costs", "--json").returncode == 0


def test_a_typo_in_a_kind_of_flag_is_refused(beleg: Shell) -> None:
    done = beleg("flags", "--kind", "run_bugdet", "--fail")
    assert done.returncode == 2
    assert "run_budget" in done.stderr


def test_a_key_that_stands_twice_in_a_policy_is_refused(tmp_path: Path) -> None:
    policies = tmp_path / "contracts" / "policies"
    policies.mkdir(parents=True)
    twice = "{provider: a, model: b, valid_from: 2026-01-01, per: million, prices: {input: '2', input: '3'}}"
    (policies / "models.yaml").write_text(f"models:\n  - {twice}\n")
    with pytest.raises(UsageError, match="'input' stands here twice"):
        flow.publish(Settings(tmp_path / "home", tmp_path / "spool", tmp_path), as_of=AS_OF)


def test_a_closed_pipe_is_no_failure(beleg: Shell) -> None:
    query = "SELECT * FROM range(200000)"
    command = f"set -o pipefail; {sys.executable} -m beleg.cli.main sql '{query}' --csv | head -1"
    done = subprocess.run(["bash", "-c", command], env=beleg.env, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "range\n")
