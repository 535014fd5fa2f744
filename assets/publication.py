"""Publication: one atomic step makes everything that was built and checked visible."""

from datetime import timedelta

import dagster as dg

from assets.common import OWNERS, RETRIES, WRITER, Result, plain_failures, tell
from assets.marts import MARTS
from beleg import flow
from beleg.checks import expectations
from beleg.demo.home import notice_of
from beleg.report import render
from beleg.report.checks import render_checks
from pipelines.resources import Installation

LAST = [mart for mart in MARTS if not any(mart in upstream for upstream in MARTS.values())]
"""Marts that no other stands on: once they are there, all are."""


@dg.asset(
    deps=[
        *(dg.AssetDep(mart, partition_mapping=dg.LastPartitionMapping()) for mart in LAST),
        "quarantine",
    ],
    group_name="publication",
    kinds={"duckdb"},
    owners=OWNERS,
    pool=WRITER,
    retry_policy=RETRIES,
    backfill_policy=dg.BackfillPolicy.single_run(),  # else no backfill of days from the shell can end in it
    freshness_policy=dg.FreshnessPolicy.time_window(fail_window=timedelta(hours=26), warn_window=timedelta(hours=25)),
    description="What readers see: one version of every table, and `beleg.duckdb` over exactly these. "
    "Reads the evidence of all checks again; what fails stays unpublished and the old figures stand.",
)
def publication(context: dg.AssetExecutionContext, installation: Installation) -> Result:
    """Publishes; a run with nothing new leaves the publication as it is."""
    settings = installation.settings()
    try:
        with plain_failures():
            made = flow.publish(settings, as_of=installation.instant(), judge=expectations.judge)
    finally:
        page = render_checks(settings)
    return tell(
        context,
        number=made.number,
        published_at=dg.MetadataValue.text(made.published_at),
        tables=len(made.tables),
        database_bytes=settings.database.stat().st_size,
        database=dg.MetadataValue.path(settings.database),
        checks=dg.MetadataValue.path(page),
    )


@dg.asset(
    deps=[publication],
    group_name="publication",
    kinds={"html"},
    owners=OWNERS,
    description="The HTML report of the published figures, one file that needs nothing but itself.",
)
def report(context: dg.AssetExecutionContext, installation: Installation) -> Result:
    """Renders the report."""
    settings = installation.settings()
    made = render(settings, settings.home / "reports" / "report.html", notice=notice_of(settings))
    return tell(context, path=dg.MetadataValue.path(made), bytes=made.stat().st_size)
