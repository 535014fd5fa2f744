"""When a sensor asks for a run: once for each thing to take, again a few times if the run failed."""

from collections.abc import Mapping
from typing import Any

import dagster as dg

from pipelines.partitions import today

TAG = "beleg/key"
"""Tag of a run: what it was asked to take."""
ATTEMPTS = 3
_OPEN = {
    dg.DagsterRunStatus.QUEUED,
    dg.DagsterRunStatus.NOT_STARTED,
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
    dg.DagsterRunStatus.CANCELING,
}


def request(
    instance: dg.DagsterInstance, key: str, config: Mapping[str, Any] | None = None
) -> dg.RunRequest | dg.SkipReason:
    """A run for what a key stands for, or why none is asked for.

    A run key is never launched twice, so each attempt has its own. A key whose run succeeded is done.
    """
    runs = instance.get_runs(dg.RunsFilter(tags={TAG: key}), limit=ATTEMPTS)
    if any(run.status in _OPEN for run in runs):
        return dg.SkipReason(f"a run is taking {key} already")
    if succeeded(instance, key):
        return dg.SkipReason(f"{key} was taken")
    if len(runs) >= ATTEMPTS:
        return dg.SkipReason(
            f"{ATTEMPTS} runs for {key} failed: see their logs, mend and start the job by hand; new events start it too"
        )
    name = f"{key}__attempt{len(runs) + 1}" if runs else key
    return dg.RunRequest(run_key=name, partition_key=today(), run_config=dict(config or {}), tags={TAG: key})


def succeeded(instance: dg.DagsterInstance, key: str) -> bool:
    """Whether a run took what a key stands for."""
    done = dg.RunsFilter(tags={TAG: key}, statuses=[dg.DagsterRunStatus.SUCCESS])
    return bool(instance.get_runs(done, limit=1))
