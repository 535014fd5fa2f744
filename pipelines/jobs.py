"""What is run as one."""

import dagster as dg

from assets.learning import eval_scores, gate_reports
from assets.publication import report
from pipelines.partitions import DEFERRED

MEASURED = dg.AssetSelection.assets(eval_scores, gate_reports)
"""Asks models, which costs money: done on purpose."""
LEARNED = dg.AssetSelection.groups("learning")
FIGURES = dg.AssetSelection.all(include_sources=False) - LEARNED

refresh = dg.define_asset_job(
    "refresh",
    selection=FIGURES - dg.AssetSelection.assets(report),
    tags=DEFERRED,
    description="Takes what is new, computes the days it touches, checks and publishes.",
)
nightly = dg.define_asset_job(
    "nightly",
    selection=dg.AssetSelection.all(include_sources=False) - MEASURED,
    tags=DEFERRED,
    description="The same, the report, and what people corrected: also finds runs that fell silent without any event.",
)
evaluate = dg.define_asset_job(
    "evaluate",
    selection=LEARNED,
    tags=DEFERRED,
    description="Freezes cases, has drafts and active versions answer them, judges the drafts. Publishes no version.",
)
