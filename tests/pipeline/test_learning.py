"""From what people said to the gate's reports, through Dagster: each asset tells what it did."""

from pathlib import Path

import dagster as dg
import pytest

from beleg.core.errors import CheckFailed
from beleg.core.progress import silent
from beleg.demo import learning
from beleg.demo.generate import as_of
from beleg.demo.play import WEEKS, Played, play
from beleg.demo.reader import serving
from beleg.lake import catalog
from pipelines.definitions import defs
from pipelines.demo import QUIET, learning_through_dagster
from pipelines.resources import Installation

pytestmark = pytest.mark.filterwarnings("ignore")  # of Dagster and of the judge's dependencies


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    """A small demo, judged through Dagster."""
    home = tmp_path_factory.mktemp("learned") / "demo"
    return play(home, runs=300, seed=1, on_progress=silent, learn=learning_through_dagster)


def evaluate(played: Played) -> dg.ExecuteInProcessResult:
    """The job once more, on what is there."""
    settings = played.settings
    resource = Installation(
        home=str(settings.home),
        project=str(settings.project),
        timezone=settings.timezone,
        as_of=as_of(WEEKS).isoformat(),
    )
    with dg.DagsterInstance.ephemeral() as instance, serving(), learning.demo_time(as_of(WEEKS)):
        return defs.resolve_job_def("evaluate").execute_in_process(
            instance=instance, resources={"installation": resource}, run_config=QUIET, raise_on_error=False
        )


def test_the_job_freezes_scores_and_judges_and_analysts_see_it(played: Played) -> None:
    assert all(check.holds for check in played.checks)
    with catalog.connect(played.settings) as con:
        ((cases,),) = con.execute("SELECT count(*) FROM eval_cases WHERE dataset = 'receipts-2026-08'").fetchall()
        ((scored,),) = con.execute(
            "SELECT count(DISTINCT case_id) FROM eval_scores WHERE feature = 'receipt-extraction'"
        ).fetchall()
        reports = con.execute("SELECT feature, verdict FROM gate_reports").fetchall()
    assert cases == scored == played.gate.cases
    assert reports == [("receipt-extraction", played.gate.verdict)]


def test_a_second_run_asks_no_model_and_finds_the_same(played: Played) -> None:
    page = played.gate.page.read_bytes()
    done = evaluate(played)
    assert done.success
    told = {name: done.asset_materializations_for_node(name)[0].metadata for name in ("eval_scores", "gate_reports")}
    assert told["eval_scores"]["answered"].value == 0
    assert told["eval_scores"]["left"].value == 0
    assert told["gate_reports"]["verdicts"].value == {"receipt-extraction": played.gate.verdict}
    assert played.gate.page.read_bytes() == page


def test_a_suite_that_is_wrong_is_named_and_keeps_no_other_feature_from_its_turn(played: Played) -> None:
    assert played.settings.project is not None
    suite = played.settings.project / "evals" / "suites" / "bank-reconciliation.yaml"
    suite.write_text("workers: 2\n")
    try:
        done = evaluate(played)
    finally:
        suite.unlink()
    assert not done.success
    (failure,) = [event for event in done.all_node_events if event.is_step_failure]
    told = str(failure.step_failure_data.user_failure_data.description)  # type: ignore[union-attr]
    assert "bank-reconciliation" in told
    assert "resolver is missing" in told


def test_the_job_that_asks_models_is_off_until_somebody_switches_it_on() -> None:
    schedule = defs.resolve_schedule_def("evaluate_schedule")
    assert schedule.default_status is dg.DefaultScheduleStatus.STOPPED
    for name in ("refresh", "nightly"):
        nodes = {node.name for node in defs.resolve_job_def(name).nodes}
        assert not nodes & {"eval_scores", "gate_reports"}


def test_a_demo_without_tracing_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("BELEG_DISABLED", "1")
    with pytest.raises(Exception, match="BELEG_DISABLED") as caught, learning.demo_time(as_of(WEEKS)):
        pytest.fail("there is no trace to listen to")
    assert not isinstance(caught.value, CheckFailed)
