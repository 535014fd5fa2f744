"""What is run as one."""

import dagster as dg

from assets.publication import report
from pipelines.partitions import DEFERRED

refresh = dg.define_asset_job(
    "refresh",
    selection=dg.AssetSelection.all(include_sources=False) - dg.AssetSelection.assets(report),
    tags=DEFERRED,
    description="Takes what is new, computes the days it touches, checks and publishes.",
)
nightly = dg.define_asset_job(
    "nightly",
    selection=dg.AssetSelection.all(include_sources=False),
    tags=DEFERRED,
    description="The same, and the report: also finds runs that fell silent without any event.",
)
