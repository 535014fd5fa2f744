"""`beleg restatements`: what changed, and which runs did it, as long as that can be told."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from beleg.ask.restatements import Wanted, causes, restatements
from beleg.cli.main import app
from beleg.core.errors import UsageError
from beleg.lake.table import LakeTable
from tests.events import event
from tests.flow.support import Installation, run_events

NOON = datetime(2030, 1, 10, 12, tzinfo=UTC)
COST = 1000 * 2_500_000 + 10 * 10_000_000


@pytest.fixture
def beleg(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Installation:
    beleg = Installation(tmp_path)
    beleg.take(*run_events("a", NOON), *run_events("b", NOON + timedelta(days=3)))
    beleg.take(*run_events("late", NOON), *run_events("later", NOON + timedelta(days=1), workflow="dunning"))
    monkeypatch.setenv("BELEG_HOME", str(beleg.settings.home))
    monkeypatch.setenv("BELEG_PROJECT", str(tmp_path))
    return beleg


def answer(*words: str) -> Any:
    return json.loads(CliRunner().invoke(app, ["restatements", *words, "--json"], catch_exceptions=False).stdout)


def test_each_change_says_day_figure_reason_and_amount(beleg: Installation) -> None:
    row = answer("--day", "2030-01-10", "--figure", "cost_pico_usd")["rows"]
    assert [(r["workflow"], r["reason"], int(r["delta"]), r["delta_usd"]) for r in row] == [
        ("ocr", "late_event", COST, "0.002600")
    ]


def test_conditions_narrow_it_down(beleg: Installation) -> None:
    assert {r["workflow"] for r in answer("--workflow", "dunning")["rows"]} == {"dunning"}
    assert answer("--publication", "1")["rows"] == []
    assert len(answer("--publication", "2")["rows"]) == len(answer()["rows"])
    assert {r["business_day"] for r in answer("--from", "2030-01-11")["rows"]} == {"2030-01-11"}


def test_the_runs_behind_it_add_up_to_it(beleg: Installation) -> None:
    told = answer("--figure", "cost_pico_usd", "--runs")
    assert [(r["run_id"], int(r["delta"])) for r in told["runs"]] == [("late", COST), ("later", COST)]
    assert told["runs_untold"] == []


def test_outcomes_are_named_as_well(beleg: Installation) -> None:
    filed = {"workflow": "vat_return", "kind": "filed_return", "count": 2}
    beleg.take(event("outcome", "filed-1", "2030-01-11T12:00:00Z", **filed))
    told = answer("--figure", "results", "--publication", "3", "--runs")
    assert [(r["outcome_id"], r["reason"], int(r["delta"])) for r in told["runs"]] == [("filed-1", "result", 2)]


def test_where_replaced_files_are_gone_it_says_so_and_shows_the_sums(beleg: Installation) -> None:
    table = LakeTable(beleg.settings, "step_costs")
    latest = table.version()
    assert latest is not None
    table.vacuum(keep_versions=[latest], retention_hours=0)
    told = answer("--runs")
    assert told["rows"]
    assert told["runs"] == []
    assert [(row["publication"], "kept for a day" in row["why"]) for row in told["runs_untold"]] == [(2, True)]


def test_under_other_policies_no_run_is_named_wrongly(beleg: Installation, tmp_path: Path) -> None:
    policies = tmp_path / "contracts" / "policies"
    policies.mkdir(parents=True)
    (policies / "workflows.yaml").write_text("workflows:\n  ocr: {unit: page, per: 1, result: {run_unit: pages}}\n")
    told = answer("--runs")
    assert told["runs"] == []
    assert "policies have changed" in told["runs_untold"][0]["why"]


def test_fail_exits_with_1_and_a_wrong_figure_or_day_with_2(beleg: Installation) -> None:
    run = CliRunner()
    assert run.invoke(app, ["restatements", "--fail"]).exit_code == 1
    assert run.invoke(app, ["restatements", "--fail", "--from", "2031-01-01"]).exit_code == 0
    with pytest.raises(UsageError, match="allowed are cost_pico_usd"):
        restatements(beleg.settings, Wanted(figure="costs"))
    with pytest.raises(UsageError, match="exclude each other"):
        run.invoke(app, ["restatements", "--day", "2030-01-10", "--to", "2030-01-11"], catch_exceptions=False)


def test_nothing_found_is_an_answer(beleg: Installation) -> None:
    assert causes(beleg.settings, Wanted(), []) == ([], [])
