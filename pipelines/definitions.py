"""Everything Dagster knows: `[tool.dagster]` in pyproject.toml points here."""

import dagster as dg

from assets.ingest import events, inbox, quarantine, spool
from assets.learning import corrections, eval_cases, eval_scores, feedback, findings, gate_reports
from assets.marts import marts
from assets.publication import publication, report
from pipelines.jobs import evaluate, nightly, refresh
from pipelines.notify import tell_of_failure
from pipelines.resources import Installation
from pipelines.schedules import evaluate_schedule, nightly_schedule
from pipelines.sensors import inbox_sensor, spool_sensor

defs = dg.Definitions(
    assets=[
        *(spool, inbox, events, quarantine),
        *marts,
        *(publication, report),
        *(feedback, corrections, findings, eval_cases, eval_scores, gate_reports),
    ],
    jobs=[refresh, nightly, evaluate],
    schedules=[nightly_schedule, evaluate_schedule],
    sensors=[spool_sensor, inbox_sensor, tell_of_failure],
    resources={"installation": Installation()},
    # A process for each step costs more than most steps; a heavy backfill may choose another executor.
    executor=dg.in_process_executor,
)
