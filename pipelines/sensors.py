"""Looks at where events arrive and asks for a run where there is something new."""

import json
import os
from collections.abc import Mapping, Sequence

import dagster as dg

from beleg.ingest.inbox import Delivery, deliveries, key_of
from beleg.ingest.unread import unread
from pipelines.jobs import refresh
from pipelines.requests import request, succeeded
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
    """Runs the pipeline over files that were delivered to the addresses in BELEG_INBOX, comma-separated.

    Files seen together are one batch, with a run of its own; what arrives meanwhile is the next one.
    """
    addresses = [a.strip() for a in os.environ.get("BELEG_INBOX", "").split(",") if a.strip()]
    if not addresses:
        return dg.SkipReason("BELEG_INBOX names no folder and no prefix")
    found = {delivery.version: delivery for address in addresses for delivery in deliveries(address)}
    taken, batches = _remembered(context, found)
    if new := set(found) - taken - {version for batch in batches.values() for version in batch}:
        batches[key_of(found[version] for version in new)] = sorted(new)
    asked = {key: _ask(context, key, [found[version].url for version in batch]) for key, batch in batches.items()}
    requests = [one for one in asked.values() if isinstance(one, dg.RunRequest)]
    reasons = [f"{key}: {one.skip_message}" for key, one in asked.items() if isinstance(one, dg.SkipReason)]
    return dg.SensorResult(
        run_requests=requests,
        skip_reason=None if requests else "; ".join(reasons) or "nothing new",
        cursor=json.dumps({"taken": sorted(taken), "batches": batches}),
    )


def _remembered(
    context: dg.SensorEvaluationContext, found: Mapping[str, Delivery]
) -> tuple[set[str], dict[str, list[str]]]:
    """Versions that a run took, and batches that none has taken yet; of both what is still there."""
    cursor = json.loads(context.cursor or "{}")
    taken, batches = set(cursor.get("taken", ())), dict(cursor.get("batches", {}))
    for key in [key for key in batches if succeeded(context.instance, _key(key))]:
        taken |= set(batches.pop(key))
    there = {key: [version for version in batch if version in found] for key, batch in batches.items()}
    return taken & set(found), {key: batch for key, batch in there.items() if batch}


def _ask(context: dg.SensorEvaluationContext, key: str, urls: Sequence[str]) -> dg.RunRequest | dg.SkipReason:
    return request(context.instance, _key(key), {"ops": {"events": {"config": {"urls": list(urls)}}}})


def _key(batch: str) -> str:
    return f"inbox-{batch}"
