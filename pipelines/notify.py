"""Tells people that a run failed."""

import dagster as dg

from beleg.core.notify import Notice, Targets, tell


@dg.run_failure_sensor(default_status=dg.DefaultSensorStatus.RUNNING, minimum_interval_seconds=15)
def tell_of_failure(context: dg.RunFailureSensorContext) -> None:
    """Tells people of a failed run, by BELEG_NOTIFY_WEBHOOK and BELEG_NOTIFY_MAIL."""
    run = context.dagster_run
    steps = [f"{event.step_key}: {_why(event)}" for event in context.get_step_failure_events()]
    text = "\n".join(steps) or (context.failure_event.message or "no reason given")
    notice = Notice(f"Beleg: {run.job_name} failed", text, run.job_name, run.run_id)
    for line in tell(notice, Targets.load()) or ["nobody to tell: set BELEG_NOTIFY_WEBHOOK or BELEG_NOTIFY_MAIL"]:
        context.log.info(line)


def _why(event: dg.DagsterEvent) -> str:
    """What a failed step said; the message of Beleg's own errors names what to do and holds no payload."""
    failure = event.step_failure_data
    if failure.user_failure_data is not None and failure.user_failure_data.description:
        return failure.user_failure_data.description
    error = failure.error
    while error is not None and error.cause is not None:
        error = error.cause
    if error is None:
        return "failed"
    # Only messages that are known to hold names alone; any other might hold a payload.
    return error.message.strip() if error.cls_name == "DagsterAssetCheckFailedError" else error.cls_name or "failed"
