"""`beleg ingest`, `run`, `sql` and `open` as a user calls them."""

import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.events import event, lines
from tests.flow.support import run_events

NOON = datetime(2030, 1, 10, 12, tzinfo=UTC)


class Shell:
    """Calls the command with a home of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.env = {k: v for k, v in os.environ.items() if not k.startswith("BELEG_")}
        self.env |= {"BELEG_HOME": str(folder / "home with [brackets] and 'quotes'")}

    def __call__(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "beleg.cli.main", *arguments]
        return subprocess.run(command, cwd=self.folder, env=self.env, capture_output=True, text=True, check=False)

    def file(self, name: str, content: bytes) -> str:
        path = self.folder / name
        path.write_bytes(content)
        return str(path)


@pytest.fixture
def beleg(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def test_the_counts_of_an_ingest_add_up(beleg: Shell) -> None:
    good = lines(*run_events("a", NOON), *run_events("a", NOON))
    done = beleg("ingest", beleg.file("events.jsonl", good + b"\n" + b'{"event": "step"}\n{"torn'), "--json")
    assert done.returncode == 0, done.stderr
    counts = json.loads(done.stdout)
    assert counts["read"] == counts["accepted"] + counts["quarantined"] + counts["pending"] == 8
    assert (counts["accepted"], counts["duplicates"], counts["quarantined"], counts["blank"]) == (6, 3, 2, 1)
    assert sum(counts["quarantined_by_reason"].values()) == counts["quarantined"]


def test_too_many_refused_lines_fail_the_command_after_the_good_ones_were_kept(beleg: Shell) -> None:
    path = beleg.file("events.jsonl", lines(*run_events("a", NOON)) + b"broken\n" * 30)
    done = beleg("ingest", path)
    assert done.returncode == 1
    assert "30 of 33 lines were refused" in done.stderr
    assert json.loads(beleg("sql", "SELECT count(*) AS n FROM runs", "--json").stdout) == [{"n": 1}]
    assert beleg("ingest", path, "--max-quarantined", "1").returncode == 0


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["ingest", "no/such/file"], 2, "no file and no folder"),
        (["ingest", ".", "--mapping", "missing.yaml"], 2, "docs/mapping.md"),
        (["sql", "SELECT 1"], 2, "beleg ingest PATH"),
        (["open"], 2, "beleg ingest PATH"),
        (["costs"], 2, "beleg ingest PATH"),
        (["nonsense"], 2, "No such command"),
    ],
)
def test_a_wrong_call_says_what_to_do(beleg: Shell, arguments: list[str], code: int, message: str) -> None:
    done = beleg(*arguments)
    assert done.returncode == code
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_an_unknown_time_zone_is_refused_at_the_start(beleg: Shell) -> None:
    beleg.env["BELEG_TIMEZONE"] = "Europe/Atlantis"
    done = beleg("run")
    assert done.returncode == 2
    assert "'Europe/Atlantis' is no IANA time zone" in done.stderr


def test_run_takes_what_the_spool_holds_once(beleg: Shell) -> None:
    spool = Path(beleg.env["BELEG_HOME"]) / "spool"
    spool.mkdir(parents=True)
    (spool / "app.open.jsonl").write_bytes(lines(*run_events("a", NOON)) + b'{"event":"run_fin')
    first, second = (json.loads(beleg("run", "--json").stdout) for _ in range(2))
    assert (first["accepted"], first["pending"], first["quarantined"]) == (3, 1, 0)
    assert (second["accepted"], second["pending"]) == (0, 1)


def test_a_query_that_fails_is_an_answer_not_a_traceback(beleg: Shell) -> None:
    beleg("ingest", beleg.file("events.jsonl", lines(event("run_started", "a"))))
    done = beleg("sql", "SELECT * FROM nowhere")
    assert done.returncode == 2
    assert "nowhere" in done.stderr
    assert "Traceback" not in done.stderr


def test_in_a_pipe_a_row_is_a_line_and_csv_keeps_unknown_empty(beleg: Shell) -> None:
    beleg("ingest", beleg.file("events.jsonl", lines(*run_events("a", NOON))))
    assert len(beleg("sql", "SELECT * FROM runs").stdout.splitlines()) == 2
    as_csv = beleg("sql", "SELECT run_id, tenant FROM runs", "--csv").stdout
    assert as_csv == "run_id,tenant\na,\n"


def test_open_names_ways_that_work(beleg: Shell) -> None:
    beleg("ingest", beleg.file("events.jsonl", lines(*run_events("a", NOON))))
    ways = json.loads(beleg("open", "--json").stdout)
    code = f"import duckdb; print({ways['python']}.sql('SELECT count(*) FROM runs').fetchall())"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[(1,)]\n"
