"""Everything Dagster knows: `[tool.dagster]` in pyproject.toml points here."""

import dagster as dg

from assets.ingest import events, inbox, quarantine, spool
from assets.marts import marts
from assets.publication import publication, report
from pipelines.jobs import nightly, refresh
from pipelines.notify import tell_of_failure
from pipelines.resources import Installation
from pipelines.schedules import nightly_schedule
from pipelines.sensors import inbox_sensor, spool_sensor

defs = dg.Definitions(
    assets=[spool, inbox, events, quarantine, *marts, publication, report],
    jobs=[refresh, nightly],
    schedules=[nightly_schedule],
    sensors=[spool_sensor, inbox_sensor, tell_of_failure],
    resources={"installation": Installation()},
    # A process for each step costs more than most steps; a heavy backfill may choose another executor.
    executor=dg.in_process_executor,
)
