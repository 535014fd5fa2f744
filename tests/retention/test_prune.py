"""Pruning: what is older than its retention goes, the figures computed from it stay."""

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from beleg import flow
from beleg.cli.main import app
from beleg.core.errors import UsageError
from beleg.lake.sealed import sealed_before
from beleg.retention.policy import keep_days, prunable
from beleg.retention.prune import prune
from tests.flow.support import Installation, run_events

ROOT = Path(__file__).resolve().parents[2]
OLD = datetime(2030, 1, 10, 12, tzinfo=UTC)
NEW = datetime(2030, 5, 20, 12, tzinfo=UTC)
NOW = datetime(2030, 6, 1, tzinfo=UTC)
FIGURES = ("unit_costs", "workflow_traffic", "prompt_versions", "cache_efficiency", "reconciliation", "restatements")


def take(beleg: Installation) -> None:
    beleg.take(*run_events("old", OLD, tenant="t"), *run_events("new", NEW, tenant="t"), as_of=NOW)


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Installation:
    made = Installation(tmp_path_factory.mktemp("original"))
    take(made)
    return made


@pytest.fixture
def beleg(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, original: Installation) -> Installation:
    beleg = original.copied_to(tmp_path)
    monkeypatch.setenv("BELEG_HOME", str(beleg.settings.home))
    monkeypatch.setenv("BELEG_PROJECT", str(tmp_path))
    return beleg


def figures(beleg: Installation) -> dict[str, list[tuple[Any, ...]]]:
    return {name: beleg.ask(f"SELECT * FROM {name} ORDER BY ALL") for name in FIGURES}


def days(beleg: Installation, table: str) -> list[str]:
    return [day for (day,) in beleg.ask(f"SELECT DISTINCT day::VARCHAR FROM {table} ORDER BY 1")]


def test_without_a_policy_everything_is_kept(beleg: Installation) -> None:
    assert prune(beleg.settings, now=NOW) == []
    assert days(beleg, "steps") == ["2030-01-10", "2030-05-20"]


def test_old_events_go_and_their_figures_stay(beleg: Installation) -> None:
    before = figures(beleg)
    made = prune(beleg.settings, older_than_days=90, now=NOW)
    assert {(m.table, m.rows, m.days) for m in made} >= {("steps", 1, 1), ("run_costs", 1, 1)}
    for table in ("steps", "runs_started", "run_costs", "step_costs"):
        assert days(beleg, table) == ["2030-05-20"]
    assert figures(beleg) == before


def test_figures_of_pruned_days_survive_every_later_build(beleg: Installation) -> None:
    before = figures(beleg)
    prune(beleg.settings, older_than_days=90, now=NOW)
    beleg.rebuilt()
    assert figures(beleg) == before
    beleg.take(*run_events("late", OLD), as_of=NOW)
    assert figures(beleg) == before
    beleg.settings = replace(beleg.settings, timezone="Asia/Tokyo")
    flow.publish(beleg.settings, as_of=NOW)
    assert figures(beleg)["unit_costs"] == before["unit_costs"]


def test_open_days_go_on_beside_sealed_ones_of_the_same_month(beleg: Installation) -> None:
    beleg.take(*run_events("same-month", OLD + timedelta(days=10)), as_of=NOW)
    before = beleg.ask("SELECT * FROM unit_costs WHERE business_day = '2030-01-10' ORDER BY ALL")
    prune(beleg.settings, older_than_days=(NOW - OLD).days - 5, now=NOW)
    beleg.take(*run_events("late", OLD + timedelta(days=10)), as_of=NOW)
    assert beleg.ask("SELECT * FROM unit_costs WHERE business_day = '2030-01-10' ORDER BY ALL") == before
    assert beleg.ask("SELECT sum(runs) FROM unit_costs WHERE business_day = '2030-01-20'") == [(2,)]


def test_one_table_alone_seals_nothing_that_figures_do_not_need(beleg: Installation) -> None:
    assert prune(beleg.settings, older_than_days=90, table="artifacts", now=NOW) == []
    assert sealed_before(beleg.settings) == ""


def test_the_policy_file_says_what_goes(beleg: Installation, tmp_path: Path) -> None:
    project = tmp_path / "project"
    policy = project / "contracts" / "policies" / "retention.yaml"
    policy.parent.mkdir(parents=True)
    policy.write_text("keep_days: {steps: 90}\n")
    settings = replace(beleg.settings, project=project)
    assert keep_days(settings) == {"steps": 90}
    assert {made.table for made in prune(settings, now=NOW)} == {"steps", "step_costs", "run_costs", "run_lookup"}


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("keep_days: {unit_costs: 3}", "cannot be pruned"),
        ("keep_days: {steps: soon}", "no number of days"),
        ("keep_days: {steps: 0}", "no number of days"),
        ("keep_days: [steps]", "write a table"),
        ("keep_days: {steps: 1, steps: 2}", "twice"),
    ],
)
def test_a_wrong_policy_is_refused(beleg: Installation, tmp_path: Path, text: str, word: str) -> None:
    policy = tmp_path / "project" / "contracts" / "policies" / "retention.yaml"
    policy.parent.mkdir(parents=True)
    policy.write_text(text)
    with pytest.raises(UsageError, match=word):
        prune(replace(beleg.settings, project=tmp_path / "project"), now=NOW)


def test_a_dry_run_removes_nothing(beleg: Installation) -> None:
    planned = prune(beleg.settings, older_than_days=90, dry_run=True, now=NOW)
    assert days(beleg, "steps") == ["2030-01-10", "2030-05-20"]
    assert planned == prune(beleg.settings, older_than_days=90, now=NOW)


def test_figures_and_ledgers_cannot_be_pruned(beleg: Installation) -> None:
    assert not {"unit_costs", "restatements", "quarantine", "keys"} & set(prunable())
    with pytest.raises(UsageError, match="cannot be pruned"):
        prune(beleg.settings, older_than_days=1, table="restatements")


def test_the_command_speaks_json_and_refuses_a_wrong_age(beleg: Installation) -> None:
    beleg.take(*run_events("long-ago", datetime(2025, 1, 10, 12, tzinfo=UTC)), as_of=NOW)
    run = CliRunner()
    words = ["prune", "--older-than", "300d", "--table", "steps", "--dry-run", "--json"]
    answer = json.loads(run.invoke(app, words, catch_exceptions=False).stdout)
    assert [(row["table"], row["rows"]) for row in answer["tables"]] == [("steps", 1)]
    with pytest.raises(UsageError, match="for example 400d"):
        run.invoke(app, ["prune", "--older-than", "a year"], catch_exceptions=False)


DRIVER = """
import sys
from datetime import datetime
from pathlib import Path
from beleg.core.settings import Settings
from beleg.retention.prune import prune
from tests.dying import arm

home, step, when, now = sys.argv[1:]
arm(step, when, 1)
prune(Settings(Path(home), Path(home) / "spool"), older_than_days=90, now=datetime.fromisoformat(now))
"""


@pytest.mark.parametrize(
    ("step", "when"),
    [
        pytest.param("beleg.lake.sealed:seal", "after", marks=pytest.mark.soak),
        pytest.param("beleg.lake.table:LakeTable.commit", "before", marks=pytest.mark.soak),
        ("beleg.lake.table:LakeTable.commit", "after"),
        pytest.param("beleg.lake.publication:publish", "before", marks=pytest.mark.soak),
        pytest.param("beleg.lake.catalog:rebuild", "before", marks=pytest.mark.soak),
    ],
)
def test_killed_anywhere_no_figure_is_lost_and_the_same_call_again_completes_it(
    beleg: Installation, step: str, when: str
) -> None:
    before = figures(beleg)
    command = [sys.executable, "-c", DRIVER, str(beleg.settings.home), step, when, NOW.isoformat()]
    done = subprocess.run(command, cwd=ROOT, env=os.environ, check=False, capture_output=True)
    assert done.returncode == -signal.SIGKILL
    assert figures(beleg) == before
    prune(beleg.settings, older_than_days=90, now=NOW)
    assert figures(beleg) == before
    assert days(beleg, "steps") == days(beleg, "run_costs") == ["2030-05-20"]
