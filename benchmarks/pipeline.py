"""A run with nothing new: the assets in Dagster against the same functions in one process that imports Dagster."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from benchmarks.timing import in_turn
from benchmarks.year import Shape, build

ROOT = Path(__file__).resolve().parent.parent
_COMMON = """
import sys, logging
import dagster as dg
from pathlib import Path
from pipelines.definitions import defs
from pipelines.partitions import today
from pipelines.resources import Installation
from assets.marts import MARTS
from beleg import flow
from beleg.core.settings import Settings
from beleg.checks.judge import last_passed
from beleg.ingest import quarantine
from beleg.report.checks import render_checks
home = Path(sys.argv[1])
"""
_ASSETS = """
logging.getLogger("dagster").setLevel(logging.CRITICAL)
quiet = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
with dg.DagsterInstance.from_config(sys.argv[2]) as instance:
    done = defs.resolve_job_def("refresh").execute_in_process(
        instance=instance, partition_key=today(), run_config=quiet,
        resources={"installation": Installation(home=str(home), as_of="2027-01-01T00:00:00+00:00")})
    assert done.success
"""
_FUNCTIONS = """
from datetime import datetime
as_of = datetime.fromisoformat("2027-01-01T00:00:00+00:00")
settings = Settings(home, home / "spool")
flow.ingest(settings)
flow.arrived(settings)
quarantine.counts(settings)
for mart in MARTS:
    flow.build(settings, mart, as_of=as_of)
    last_passed(settings, {mart})
flow.publish(settings, as_of=as_of)
render_checks(settings)
"""


def measure(work: Path, *, quick: bool, say: Callable[[str], None]) -> list[tuple[object, ...]]:
    """Rows of the table about the pipeline."""
    rounds = 2 if quick else 5
    say("pipeline: a year of a hundredth of the runs; nothing new")
    settings = build(work / "year-274", Shape(365, 274), say)
    dagster = work / "dagster"
    dagster.mkdir(exist_ok=True)
    base = f"storage:\n  sqlite:\n    base_dir: {dagster}\ntelemetry:\n  enabled: false\n"
    (dagster / "dagster.yaml").write_text(base, encoding="utf-8")

    def process(code: str) -> Callable[[], object]:
        command = [sys.executable, "-W", "ignore", "-c", _COMMON + code, str(settings.home), str(dagster)]
        return lambda: subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)

    found = in_turn(process(_ASSETS), process(_FUNCTIONS), rounds)
    note = f"[{found.low:.2f}, {found.high:.2f}] {found.subject_s:.1f} s against {found.limit_s:.1f} s"
    what, against = "a run of the pipeline with nothing new", "the same functions in a process that imports Dagster"
    return [(what, against, 3.0, 2.5, "×", round(found.median, 2), note)]
