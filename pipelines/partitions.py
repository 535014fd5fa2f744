"""The days that assets are shown by."""

import os
from datetime import UTC, datetime

import dagster as dg

FIRST_DAY = os.environ.get("BELEG_FIRST_DAY", "2023-01-01")
"""First UTC day that Dagster shows; earlier events are computed like any others, but have no square."""
DAYS = dg.DailyPartitionsDefinition(start_date=FIRST_DAY, end_offset=1)
"""UTC days of the events, today included."""
DEFERRED = {"dagster/defer_asset_events": "true"}
"""Tags of a run that takes what is new: its assets say themselves which days they made, Dagster assumes none."""


def today() -> str:
    """The UTC day, under which a run that takes what is new is filed; it computes whatever days are touched."""
    return datetime.now(UTC).date().isoformat()
