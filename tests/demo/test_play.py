"""The demo end to end: the pipeline finds every answer that was known beforehand."""

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from beleg.agent.example.prompt import ROLES
from beleg.agent.toolsets.account import tools_tokens
from beleg.ask.calibration import calibration
from beleg.cli import demo as demo_command
from beleg.cli import report as report_command
from beleg.core.errors import CheckFailed, UsageError
from beleg.core.progress import silent
from beleg.demo import play as play_module
from beleg.demo.check import Check
from beleg.demo.home import NOTICE
from beleg.demo.play import Played, play
from beleg.demo.vendor import tokens
from beleg.lake import catalog
from beleg.report import render


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    return play(tmp_path_factory.mktemp("play") / "demo", runs=900, seed=5, on_progress=silent)


@pytest.fixture
def app() -> typer.Typer:
    app = typer.Typer()
    demo_command.register(app)
    report_command.register(app)
    return app


@pytest.fixture
def replayed(played: Played, monkeypatch: pytest.MonkeyPatch) -> Played:
    """The command shows what was played before instead of playing again."""
    monkeypatch.setattr(play_module, "play", lambda *_args, **_options: played)
    return played


def test_every_known_answer_is_found_exactly(played: Played) -> None:
    assert {check.what: check.found for check in played.checks if not check.holds} == {}
    assert len(played.checks) == 12


def test_the_planted_difference_shows_in_reconciliation(played: Played) -> None:
    (row,) = (row for row in played.reconciliation if row["difference_pico_usd"])
    known = played.summary
    assert row["model"] == known.own_model
    assert row["difference_pico_usd"] == known.own_model_billed_pico_usd - known.own_model_cost_pico_usd
    assert (str(row["first_difference"]), str(row["last_difference"])) == ("2026-09-21", "2026-09-23")


def test_a_model_nobody_knows_is_unpriced_and_no_other(played: Played) -> None:
    with catalog.connect(played.settings) as con:
        unpriced = con.execute(
            "SELECT DISTINCT model FROM step_costs WHERE NOT priced AND unpriced_reason <> 'missing_usage'"
        ).fetchall()
    assert unpriced == [("aurora-preview-3",)]


def test_the_report_says_that_its_data_is_made_up_and_repeats_byte_for_byte(played: Played, tmp_path: Path) -> None:
    html = played.report.read_bytes()
    assert b"Synthetic data" in html
    again = render(played.settings, tmp_path / "again.html", notice=NOTICE)
    assert again.read_bytes() == html


def test_the_draft_reads_deposits_better_and_nothing_worse(played: Played) -> None:
    gate = played.gate
    assert (gate.criteria["gross_exact"], gate.criteria["tax_lines"]) == ("pass", "pass")  # latency is measured
    assert (gate.better, gate.worse) == (gate.known_better, 0)
    assert gate.known_better > 30
    assert "receipt-extraction" in gate.page.read_text(encoding="utf-8")


def test_a_calibration_by_what_was_traced_comes_to_what_the_provider_counts(played: Played) -> None:
    """The provider's double has a vocabulary of its own, which the estimate knows nothing of."""
    cohorts = [ROLES.toolset.cohort_of(context) for context in ROLES.contexts.values()]
    estimated = {each.digest: tools_tokens(each.tools, "claude") for each in cohorts}
    found = calibration(played.settings, {name: each.tokens for name, each in estimated.items()}, "claude")
    assert found.samples > 100
    for cohort in cohorts:
        counted = sum(tokens(tool.data.decode()) for tool in cohort.tools)
        corrected = found.apply(estimated[cohort.digest])
        assert corrected.low < counted < corrected.high
        assert abs(corrected.tokens - counted) < abs(estimated[cohort.digest].tokens - counted)


def test_every_workflow_has_a_unit_cost(played: Played) -> None:
    assert len(played.unit_costs) == 6
    assert all(line.unit_cost_micro_usd for line in played.unit_costs)


def test_the_command_shows_each_part_and_ends_with_the_next_step(app: typer.Typer, replayed: Played) -> None:
    result = CliRunner().invoke(app, ["demo"])
    assert result.exit_code == 0
    for part in ("Synthetic data", "What a result costs", "Flags", "Quarantine", "Billed against computed"):
        assert part in result.stdout
    assert "12 of 12 answers" in result.stdout
    *_, report, gate, last = result.stdout.splitlines()
    assert report == f"Report: {replayed.report}"
    assert gate == f"Gate:   {replayed.gate.page}"
    assert last == "Your own data: beleg ingest PATH"


def test_the_command_speaks_json(app: typer.Typer, replayed: Played) -> None:
    told = json.loads(CliRunner().invoke(app, ["demo", "--json"]).stdout)
    assert told["synthetic"] is True
    assert told["report"] == str(replayed.report)
    assert told["known"]["runs"] == 900
    assert all(told["checks"].values())
    assert isinstance(told["reconciliation"][0]["difference_pico_usd"], str)


def test_a_wrong_answer_fails_the_command(app: typer.Typer, played: Played, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = Check("tokens by model", {"m": 2}, {"m": 1})
    broken = Played(**{**played.__dict__, "checks": (wrong,)})
    monkeypatch.setattr(play_module, "play", lambda *_args, **_options: broken)
    result = CliRunner().invoke(app, ["demo"])
    assert isinstance(result.exception, CheckFailed)
    assert "tokens by model" in str(result.exception)


def test_the_command_passes_its_options_on(
    app: typer.Typer, played: Played, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked: list[object] = []

    def note(home: Path, *, runs: int, seed: int, on_progress: object) -> Played:
        asked.extend((home, runs, seed))
        return played

    monkeypatch.setattr(play_module, "play", note)
    CliRunner().invoke(app, ["demo", "--home", str(tmp_path), "--runs", "7", "--seed", "3"])
    assert asked == [tmp_path, 7, 3]


def test_no_run_at_all_is_a_usage_error(app: typer.Typer) -> None:
    assert CliRunner().invoke(app, ["demo", "--runs", "0"]).exit_code == 2


def test_absent_and_zero_are_the_same_count() -> None:
    assert Check("x", {"a": 1, "b": 0}, {"a": 1}).holds
    assert not Check("x", {"a": 1}, {"a": 1, "b": 1}).holds


def test_report_writes_the_days_asked_for(app: typer.Typer, played: Played, tmp_path: Path) -> None:
    out, home = tmp_path / "week.html", {"BELEG_HOME": str(played.settings.home)}
    options = ["report", "--from", "2026-09-07", "--to", "2026-09-13", "--out", str(out), "--json"]
    told = json.loads(CliRunner().invoke(app, options, env=home).stdout)
    assert told["report"] == str(out)
    assert told["bytes"] == out.stat().st_size
    assert "<title>What the AI cost, 2026-09-07 to 2026-09-13</title>" in out.read_text(encoding="utf-8")
    assert "Synthetic data" in out.read_text(encoding="utf-8")


def test_report_prints_where_it_is(app: typer.Typer, played: Played, tmp_path: Path) -> None:
    out = tmp_path / "all.html"
    result = CliRunner().invoke(app, ["report", "-o", str(out)], env={"BELEG_HOME": str(played.settings.home)})
    assert result.stdout == f"{out}\n"


def test_report_refuses_what_is_no_day(app: typer.Typer) -> None:
    result = CliRunner().invoke(app, ["report", "--from", "March"])
    assert isinstance(result.exception, UsageError)
    assert "--from 'March' is no day" in str(result.exception)
