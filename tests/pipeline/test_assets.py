"""The assets: what they show is what was done."""

import base64
import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import dagster as dg
import grimp
import pytest

from beleg import flow
from beleg.core import contracts
from beleg.core.errors import CheckFailed
from beleg.core.progress import silent
from beleg.cost.build import MARTS
from pipelines.definitions import defs
from pipelines.demo import through_dagster
from pipelines.partitions import today
from tests.checks.support import damage
from tests.events import event
from tests.flow.support import AS_OF, Installation, run_events
from tests.pipeline.support import Pipeline, failed_steps

pytestmark = pytest.mark.filterwarnings("ignore")  # of Dagster and of the judge's dependencies
ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "pipeline.md"
NOON = datetime(2026, 1, 10, 12, tzinfo=UTC)


def test_every_mart_is_an_asset_and_every_asset_has_an_owner_and_a_description() -> None:
    dg.Definitions.validate_loadable(defs)
    specs = {spec.key.to_user_string(): spec for spec in defs.resolve_all_asset_specs()}
    assert set(MARTS) - {"run_lookup"} <= specs.keys()
    assert specs.keys() - set(contracts.names()) == {"spool", "inbox", "events", "publication", "report"}
    assert all(spec.owners and spec.description and spec.kinds for spec in specs.values())


def test_exactly_the_touched_days_are_shown_as_made(pipeline: Pipeline) -> None:
    pipeline.arrive(*run_events("a", NOON), *run_events("b", NOON + timedelta(days=3)))
    first = pipeline.refresh()
    assert first.success
    for asset in ("events", "step_costs", "run_costs", "unit_costs", "drift"):
        assert pipeline.made(first, asset) == {"2026-01-10", "2026-01-13"}
    assert pipeline.made(first, "publication") == {""}
    pipeline.arrive(*run_events("late", NOON + timedelta(hours=1)))
    late = pipeline.refresh()
    assert pipeline.made(late, "unit_costs") == {"2026-01-10"}
    (made,) = late.asset_materializations_for_node("step_costs")
    assert made.metadata["dagster/partition_row_count"].value == 2
    assert made.metadata["dagster/row_count"].value == 3
    assert made.metadata["calls"].value == 2
    assert made.metadata["cost_micro_usd"].value == 2 * (2500 + 100)
    assert made.metadata["unpriced_share"].value == 0
    assert pipeline.ask("SELECT count(*) FROM runs") == [(3,)]
    nothing = pipeline.refresh()
    assert nothing.success
    assert pipeline.made(nothing, "events") == pipeline.made(nothing, "unit_costs") == set()


def test_the_row_count_of_an_asset_is_that_of_its_table(pipeline: Pipeline) -> None:
    pipeline.arrive(*run_events("a", NOON), *run_events("b", NOON), *run_events("c", NOON + timedelta(days=1)))
    result = pipeline.refresh()
    assert result.success
    for mart in set(MARTS) - {"run_lookup"}:
        rows = pipeline.ask(f"SELECT count(*) FROM {mart}")[0][0]
        for made in result.asset_materializations_for_node(mart):
            assert made.metadata["dagster/row_count"].value == rows, mart
    counted = {m.partition: m.metadata["dagster/partition_row_count"].value for m in
               result.asset_materializations_for_node("run_costs")}  # fmt: skip
    assert counted == {"2026-01-10": 2, "2026-01-11": 1}
    events = result.asset_materializations_for_node("events")
    of_days: list[Any] = [m.metadata["dagster/partition_row_count"].value for m in events]
    assert sum(of_days) == 9
    assert {m.metadata["dagster/row_count"].value for m in events} == {9}


def test_the_picture_of_the_cost_has_a_size_of_its_own(pipeline: Pipeline) -> None:
    """Dagster's page gives it none, and a picture without a size is drawn at 0 by 0 pixels there."""
    pipeline.arrive(*run_events("a", NOON))
    made = pipeline.refresh().asset_materializations_for_node("unit_costs")[0]
    text = str(made.metadata["cost_plot"].value)
    picture = base64.b64decode(text.partition("base64,")[2].rstrip(")")).decode()
    root = ElementTree.fromstring(picture)
    assert root.get("viewBox") == f"0 0 {root.get('width')} {root.get('height')}"


def test_the_pipeline_and_one_run_give_the_same_rows(pipeline: Pipeline, tmp_path: Path) -> None:
    events = [*run_events("a", NOON), *run_events("b", NOON + timedelta(hours=13), parent_run_id="a")]
    pipeline.arrive(*events)
    assert pipeline.refresh().success
    whole = Installation(tmp_path / "whole")
    whole.take(*events)
    assert pipeline.marts() == whole.marts()


def test_a_range_asked_for_is_computed_again_a_day_without_events_included(pipeline: Pipeline) -> None:
    pipeline.arrive(*run_events("a", NOON), *run_events("b", NOON + timedelta(days=2)))
    assert pipeline.refresh().success
    before, marts = flow.publish(pipeline.settings), pipeline.marts()
    again = pipeline.backfill("2026-01-10", "2026-01-12")
    assert again.success
    assert pipeline.made(again, "unit_costs") == {"2026-01-10", "2026-01-11", "2026-01-12"}
    assert flow.publish(pipeline.settings).number == before.number + 1
    assert pipeline.marts() == marts


def test_a_failed_check_stops_what_stands_on_it_now_and_in_later_runs(pipeline: Pipeline) -> None:
    pipeline.arrive(*run_events("a", NOON))
    assert pipeline.refresh().success
    before = pipeline.marts()
    damage(pipeline.settings, "steps", "SELECT * REPLACE (CAST(NULL AS VARCHAR) AS status) FROM rows")
    broken = pipeline.refresh()
    assert failed_steps(broken) == {"events"}
    assert pipeline.checks(broken)["events.contract"] is False
    alone = dg.materialize(
        [a for a in defs.assets or () if isinstance(a, dg.AssetsDefinition)],
        selection=dg.AssetSelection.assets("run_costs"),
        instance=pipeline.instance,
        resources={"installation": pipeline.resource},
        partition_key="2026-01-10",
        raise_on_error=False,
    )
    assert failed_steps(alone) == {"run_costs"}
    assert pipeline.marts() == before
    damage(pipeline.settings, "steps", "SELECT * REPLACE ('succeeded' AS status) FROM rows")
    assert pipeline.refresh().success


def test_a_warning_stops_nothing_and_stays_while_nothing_changes(pipeline: Pipeline) -> None:
    unknown = event("step", "u", "2026-01-10T12:00:01Z", run_id="a", model="nobody-knows", buckets={"output": 1})
    pipeline.arrive(*run_events("a", NOON), unknown)
    for result in (pipeline.refresh(), pipeline.refresh()):
        assert result.success
        assert pipeline.checks(result)["step_costs.notices"] is False
        assert pipeline.checks(result)["step_costs.contract"] is True
    page = (pipeline.settings.home / "reports" / "checks.html").read_text()
    assert "every_step_is_priced" in page
    assert "http" not in page.replace("http://www.w3.org", "")


def test_too_many_refused_lines_show_in_the_check_and_what_is_good_is_published(pipeline: Pipeline) -> None:
    pipeline.arrive(*run_events("a", NOON), *({"event": "broken", "n": n} for n in range(30)))
    result = pipeline.refresh()
    assert result.success
    assert pipeline.checks(result)["events.refused_share"] is False
    assert result.asset_materializations_for_node("quarantine")[0].metadata["open"].value == 30
    assert pipeline.ask("SELECT count(*) FROM runs") == [(1,)]


def test_events_before_the_first_day_are_computed_and_counted_as_not_shown(pipeline: Pipeline) -> None:
    pipeline.arrive(*run_events("old", datetime(2019, 5, 1, tzinfo=UTC)), *run_events("new", NOON))
    result = pipeline.refresh()
    (made,) = result.asset_materializations_for_node("run_costs")
    assert (made.partition, made.metadata["days_not_shown"].value) == ("2026-01-10", 1)
    assert pipeline.ask("SELECT count(*) FROM runs") == [(2,)]


@pytest.mark.soak
def test_a_clock_that_jumps_back_neither_loses_nor_doubles_anything(
    pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipeline.arrive(*run_events("a", NOON))
    assert pipeline.refresh().success
    for day in ("2026-02-01", "2024-02-01"):
        monkeypatch.setattr("tests.pipeline.support.today", lambda day=day: day)
        pipeline.arrive(*run_events(f"on-{day}", NOON))
        result = pipeline.refresh()
        assert result.success
        assert pipeline.made(result, "run_costs") == {"2026-01-10"}
    assert pipeline.ask("SELECT count(*), sum(steps) FROM runs") == [(3, 3)]


def test_beside_beleg_run_both_succeed_and_nothing_is_doubled(pipeline: Pipeline) -> None:
    for n in range(3):
        pipeline.arrive(*run_events(f"r{n}", NOON + timedelta(days=n)))
    env = {"BELEG_HOME": str(pipeline.settings.home), "PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT)}
    code = "from beleg.cli.main import main; main()"
    beside = [subprocess.Popen([sys.executable, "-c", code, "run"], env=env, stdout=subprocess.DEVNULL) for _ in "ab"]
    assert pipeline.refresh().success
    assert [process.wait() for process in beside] == [0, 0]
    assert pipeline.ask("SELECT count(*), sum(steps) FROM runs") == [(3, 3)]
    flow.publish(pipeline.settings, as_of=AS_OF)
    assert pipeline.marts() == pipeline.rebuilt()


@pytest.mark.soak
def test_two_runs_at_once_both_succeed_and_nothing_is_doubled(pipeline: Pipeline, tmp_path: Path) -> None:
    pipeline.arrive(*run_events("a", NOON), *run_events("b", NOON))
    shutil.copy(ROOT / "dagster.yaml", tmp_path)
    env = {k: v for k, v in os.environ.items() if not k.startswith(("BELEG_", "DAGSTER_"))}
    env |= {"BELEG_HOME": str(pipeline.settings.home), "DAGSTER_HOME": str(tmp_path)}
    tags = json.dumps({"dagster/partition": today()})
    job = ["-m", "dagster", "job", "execute", "-m", "pipelines.definitions", "-j", "refresh", "--tags", tags]
    command = [sys.executable, *job]
    nowhere = subprocess.DEVNULL
    runs = [subprocess.Popen(command, cwd=ROOT, env=env, stdout=nowhere, stderr=nowhere) for _ in "ab"]
    assert [run.wait() for run in runs] == [0, 0]
    assert pipeline.ask("SELECT count(*), sum(steps) FROM runs") == [(2, 2)]


def test_the_demo_says_what_went_wrong_and_nothing_else(pipeline: Pipeline, capfd: pytest.CaptureFixture[str]) -> None:
    settings = replace(pipeline.settings, project=ROOT)
    pipeline.arrive(*run_events("a", NOON))
    through_dagster(settings, AS_OF, silent)
    out, err = capfd.readouterr()
    assert out + err == ""
    damage(settings, "steps", "SELECT * REPLACE (CAST(NULL AS VARCHAR) AS status) FROM rows")
    with pytest.raises(CheckFailed, match="failed at events"):
        through_dagster(settings, AS_OF, silent)
    out, err = capfd.readouterr()
    assert "ERROR" in err
    assert "DEBUG" not in out + err


def test_the_documented_backfill_from_the_shell_is_one_run() -> None:
    """Dagster's command takes a range only where everything it selects is made in a single run."""
    (command,) = re.findall(r"^dagster asset materialize .*", PAGE.read_text(), re.MULTILINE)
    selection = re.search(r"--select '([^']+)'", command)
    assert selection is not None
    groups = dg.AssetSelection.from_string(
        " or ".join(selection[1].split(",")).replace("publication", 'key:"publication"')
    )
    graph = defs.resolve_asset_graph()
    keys = groups.resolve(graph)
    assert len(keys) == len(MARTS)  # run_lookup is made along with run_costs
    assert {graph.get(key).backfill_policy for key in keys} == {dg.BackfillPolicy.single_run()}


def test_the_verb_that_publishes_contracts_cannot_be_reached_from_the_pipeline() -> None:
    graph = grimp.build_graph("assets", "pipelines", "beleg", cache_dir=None)
    ours = {name for name in graph.modules if name.partition(".")[0] in {"assets", "pipelines"}}
    reached = {module for name in ours for module in graph.find_upstream_modules(name)}
    assert "beleg.flow" in reached
    assert "beleg.contract.promotion" not in reached
