"""What runs at a time of day."""

import os

import dagster as dg

from beleg.core.settings import Settings
from pipelines.jobs import evaluate, nightly
from pipelines.partitions import today

TIMEZONE = Settings.load(os.environ).timezone


@dg.schedule(
    job=nightly,
    cron_schedule=os.environ.get("BELEG_NIGHTLY", "15 2 * * *"),
    execution_timezone=TIMEZONE,
    default_status=dg.DefaultScheduleStatus.RUNNING,
)
def nightly_schedule(context: dg.ScheduleEvaluationContext) -> dg.RunRequest:
    """Once a day, in the business zone: whatever the sensors missed, silent runs, and the report."""
    key = f"nightly-{context.scheduled_execution_time:%Y-%m-%dT%H:%M%z}"
    return dg.RunRequest(run_key=key, partition_key=today())


@dg.schedule(
    job=evaluate,
    cron_schedule=os.environ.get("BELEG_EVALUATE", "15 3 * * *"),
    execution_timezone=TIMEZONE,
    default_status=dg.DefaultScheduleStatus.STOPPED,  # it asks models: whoever pays for that switches it on
)
def evaluate_schedule(context: dg.ScheduleEvaluationContext) -> dg.RunRequest:
    """Once a day, after the figures: drafts against active versions."""
    return dg.RunRequest(run_key=f"evaluate-{context.scheduled_execution_time:%Y-%m-%dT%H:%M%z}")
