"""What one sees first: logs of coding agents, taken in without set-up, and what a session of each project costs."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from beleg.ask.sessions import Spent
from beleg.cli.main import app
from tests.ingest.readers.samples.claude_code import answer, lines
from tests.ingest.readers.samples.codex import context, counted, meta, usage
from tests.ingest.readers.support import write

PICO_USD = 4 * 3_000_000 + 1000 * 3_750_000 + 2000 * 6_000_000 + 20_000 * 300_000 + 250 * 15_000_000


@pytest.fixture
def logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folders as agents keep them: three sessions of Claude Code in two projects, one of Codex without a price."""
    monkeypatch.setenv("BELEG_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    told = {"server_tool_use": None}
    for number, (project, calls) in enumerate([("shop", 1), ("shop", 2), ("site", 1)]):
        rows = [
            {
                **answer(identity=f"msg_01ABCDEFGHIJ{number}{n}", usage=told),
                "sessionId": f"s{number}",
                "cwd": f"/home/{project}",
            }
            for n in range(calls)
        ]
        write(tmp_path, f"logs/-home-{project}/s{number}.jsonl", lines(*rows))
    rows = [meta(), context(model="codex-auto-review"), counted(1, total=usage(9, 5, 9), last=usage(9, 5, 9))]
    write(tmp_path, "logs/sessions/rollout.jsonl", lines(*rows))
    return tmp_path / "logs"


def test_a_folder_of_logs_shows_cost_by_session_and_project_and_what_has_no_price(logs: Path) -> None:
    result = CliRunner().invoke(app, ["ingest", str(logs)], catch_exceptions=False)
    assert result.exit_code == 0
    assert "0 quarantined" in result.stdout
    assert "follow no naming rule" not in result.stdout
    shown = {tuple(line.split()) for line in result.stdout.splitlines()}
    assert ("claude-code", "shop", "2", "3", "86.9%", "0.076536", "0.038268") in shown
    assert ("claude-code", "site", "1", "1", "86.9%", "0.025512", "0.025512") in shown
    assert "1 calls of codex to codex-auto-review have no price: unknown_model" in result.stdout


def test_machines_get_the_same_and_again_where_nothing_is_new(logs: Path) -> None:
    first, second = (
        json.loads(CliRunner().invoke(app, ["ingest", str(logs), "--json"], catch_exceptions=False).stdout)
        for _ in range(2)
    )
    assert first["formats"] == {"claude-code": 3, "codex": 1}
    assert first["sessions"] == second["sessions"]
    total, (shop, *_) = first["sessions"]["total"], first["sessions"]["projects"]
    assert (total["sessions"], total["calls"], total["unpriced_steps"]) == (4, 5, 1)
    assert shop == {
        "agent": "claude-code", "project": "shop", "sessions": 2, "calls": 3, "unpriced_steps": 0,
        "input_tokens": 69_012, "output_tokens": 750, "cache_share": 0.869414, "cost_usd": "0.076536",
        "cost_exact_usd": "0.076536", "cost_per_session_usd": "0.038268",
    }  # fmt: skip


def test_costs_know_what_a_session_costs(logs: Path) -> None:
    run = CliRunner()
    run.invoke(app, ["ingest", str(logs)], catch_exceptions=False)
    found = json.loads(run.invoke(app, ["costs", "--by", "team", "--workflow", "claude-code", "--json"]).stdout)
    assert [(row["team"], row["results"], row["unit"], row["unit_cost_usd"]) for row in found["rows"]] == [
        ("shop", 2, "session", "0.038268"),
        ("site", 1, "session", "0.025512"),
    ]


def test_other_files_show_no_sessions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BELEG_HOME", str(tmp_path / "home"))
    path = write(tmp_path, "events.jsonl", b'{"event": "run_started", "schema_version": 1}\n')
    result = CliRunner().invoke(app, ["ingest", str(path), "--max-quarantined", "1", "--json"], catch_exceptions=False)
    assert "sessions" not in json.loads(result.stdout)


def test_unknown_is_not_zero() -> None:
    unpriced = Spent("codex", None, 2, 3, 3, 0, 0, 9, 0)
    assert (unpriced.per_session_pico_usd, unpriced.cache_share) == (None, None)
    assert Spent("codex", None, 0, 0, 0, 0, 0, 0, 0).per_session_pico_usd is None
    # Half a micro-USD is rounded to the even one.
    assert Spent("codex", None, 2, 1, 0, 1, 1, 1, 1_000_000).per_session_pico_usd == 0
