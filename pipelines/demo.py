"""`make demo`: the demo of `beleg demo`, its events taken through the assets and checks of the pipeline."""

from datetime import datetime
from pathlib import Path

import dagster as dg

from beleg import flow
from beleg.cli.demo import tell
from beleg.cli.ingest import progress_bar
from beleg.core.errors import BelegError, CheckFailed
from beleg.core.progress import OnProgress
from beleg.core.settings import Settings
from beleg.demo.play import Played, play
from beleg.ingest.run import IngestReport
from beleg.lake import publication
from beleg.lake.publication import last_fact
from beleg.trace import losses
from pipelines.definitions import defs
from pipelines.partitions import today
from pipelines.resources import Installation

HOME = Path(".beleg/demo")
QUIET = {"loggers": {"console": {"config": {"log_level": "ERROR"}}}}
"""What went wrong, and no line for each thing that went well. A level set on the logger itself would be undone
by each run, which sets its own."""


def through_dagster(settings: Settings, now: datetime, on_progress: OnProgress) -> flow.Report:
    """Run the job `nightly` in this process; raises CheckFailed naming the step that failed."""
    on_progress("pipeline", 0, 1, "assets and checks in Dagster")
    return _report(settings, _job("nightly", settings, now, partition_key=today()))


def learning_through_dagster(settings: Settings, now: datetime, on_progress: OnProgress) -> None:
    """Run the job `evaluate` in this process; raises CheckFailed naming the step that failed."""
    on_progress("evaluation", 0, 1, "cases, scores and the gate in Dagster")
    _job("evaluate", settings, now)


def _job(name: str, settings: Settings, now: datetime, partition_key: str | None = None) -> set[str]:
    """Run a job; returns the days of unit costs that it made."""
    installation = Installation(
        home=str(settings.home),
        spool=str(settings.spool),
        project=str(settings.project),
        timezone=settings.timezone,
        as_of=now.isoformat(),
    )
    with dg.DagsterInstance.ephemeral() as instance:
        done = defs.resolve_job_def(name).execute_in_process(
            instance=instance,
            partition_key=partition_key,
            resources={"installation": installation},
            run_config=QUIET,
            raise_on_error=False,
        )
        days = instance.get_materialized_partitions(dg.AssetKey("unit_costs"))
    if not done.success:
        failed = ", ".join(event.step_key or "" for event in done.all_events if event.is_step_failure)
        raise CheckFailed(f"the pipeline failed at {failed}: its log stands above")
    return days


def _report(settings: Settings, days: set[str]) -> flow.Report:
    """What the pipeline did, as the ledger tells it."""
    made = publication.current(settings)
    if made is None:
        raise CheckFailed(f"the pipeline published nothing in {settings.home}")
    taken = IngestReport(**last_fact(settings.ledger / "ingests.jsonl"))
    return flow.Report(taken, made, tuple(sorted(days)), losses.read(settings.spool).lost)


def demo(home: Path = HOME, *, runs: int = 20_000, seed: int = 1) -> Played:
    """Play the demo through Dagster."""
    with progress_bar(show=True) as show:
        return play(
            home,
            runs=runs,
            seed=seed,
            on_progress=show,
            pipeline=through_dagster,
            learn=learning_through_dagster,
        )


if __name__ == "__main__":
    try:
        tell(demo(), json=False)
    except BelegError as error:
        raise SystemExit(f"beleg: {error}") from error
