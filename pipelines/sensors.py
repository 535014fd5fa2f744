"""Looks at where events arrive and asks for a run where there is something new."""

import json
import os

import dagster as dg

from beleg.ingest.inbox import Delivery, deliveries, key_of
from beleg.ingest.unread import unread
from pipelines.jobs import refresh
from pipelines.requests import TAG, request
from pipelines.resources import Installation

INTERVAL_S = int(os.environ.get("BELEG_SENSOR_SECONDS", "30"))
"""Seconds between two looks: a finished event is in `beleg.duckdb` within two of them."""


@dg.sensor(job=refresh, minimum_interval_seconds=INTERVAL_S, default_status=dg.DefaultSensorStatus.RUNNING)
def spool_sensor(context: dg.SensorEvaluationContext, installation: Installation) -> dg.RunRequest | dg.SkipReason:
    """Runs the pipeline when the spool holds unread lines; files still being written count up to their last line."""
    key = unread(installation.settings())
    if key is None:
        return dg.SkipReason("nothing unread in the spool")
    return request(context.instance, f"spool-{key}")


@dg.sensor(job=refresh, minimum_interval_seconds=INTERVAL_S, default_status=dg.DefaultSensorStatus.RUNNING)
def inbox_sensor(context: dg.SensorEvaluationContext) -> dg.SensorResult | dg.SkipReason:
    """Runs the pipeline over files that were delivered to the addresses in BELEG_INBOX, comma-separated."""
    addresses = [a.strip() for a in os.environ.get("BELEG_INBOX", "").split(",") if a.strip()]
    if not addresses:
        return dg.SkipReason("BELEG_INBOX names no folder and no prefix")
    found = [delivery for address in addresses for delivery in deliveries(address)]
    taken = _taken(context, found)
    new = [delivery for delivery in found if delivery.version not in taken]
    if not new:
        return dg.SensorResult(skip_reason="nothing new", cursor=json.dumps(sorted(taken)))
    config = {"ops": {"events": {"config": {"urls": [delivery.url for delivery in new]}}}}
    asked = request(context.instance, f"inbox-{key_of(new)}", config)
    if isinstance(asked, dg.SkipReason):
        return dg.SensorResult(skip_reason=asked, cursor=json.dumps(sorted(taken)))
    return dg.SensorResult(run_requests=[asked], cursor=json.dumps(sorted(taken)))


def _taken(context: dg.SensorEvaluationContext, found: list[Delivery]) -> set[str]:
    """Versions that a run took; forgets those that are no longer there, so that the cursor stays small."""
    known = set(json.loads(context.cursor or "[]"))
    open_ = [delivery for delivery in found if delivery.version not in known]
    runs = context.instance.get_runs(dg.RunsFilter(tags={TAG: f"inbox-{key_of(open_)}"}), limit=3)
    done = {d.version for d in open_} if any(run.status == dg.DagsterRunStatus.SUCCESS for run in runs) else set()
    return (known | done) & {delivery.version for delivery in found}
