"""Ingest: what applications wrote into the spool, and files that others deliver, into the lake."""

from dataclasses import asdict

import dagster as dg

from assets.common import OWNERS, RETRIES, WRITER, Result, look, plain_failures, specs, tell, tell_days
from beleg import flow
from beleg.core.contracts import event_tables
from beleg.core.errors import CheckFailed
from beleg.ingest import quarantine as refused
from beleg.ingest.inbox import fetched
from beleg.ingest.quarantine import Share
from beleg.ingest.run import IngestReport
from pipelines.partitions import DAYS
from pipelines.resources import Installation

TABLES = tuple(sorted(contract.table for contract in event_tables().values()))

spool = dg.AssetSpec(
    "spool",
    description="What applications write: one line per event, read on from where the last ingest stopped.",
    group_name="sources",
    kinds={"json"},
    owners=OWNERS,
)
inbox = dg.AssetSpec(
    "inbox",
    description="Files that other systems deliver to the folders and prefixes of BELEG_INBOX.",
    group_name="sources",
    kinds={"json"},
    owners=OWNERS,
)


class Deliveries(dg.Config):
    """What to take beside the spool."""

    urls: list[str] = []  # noqa: RUF012 - a field of pydantic, copied for each object


@dg.asset(
    deps=[spool, inbox],
    partitions_def=DAYS,
    backfill_policy=dg.BackfillPolicy.single_run(),
    group_name="ingest",
    kinds={"deltalake", "duckdb"},
    owners=OWNERS,
    pool=WRITER,
    retry_policy=RETRIES,
    check_specs=[
        *specs("events", TABLES),
        dg.AssetCheckSpec("refused_share", asset="events", description="at most 5 % of the lines were refused"),
    ],
    description="Every accepted event, one row per identity, by UTC day: the lake's event tables.",
)
def events(context: dg.AssetExecutionContext, config: Deliveries, installation: Installation) -> Result:
    """Takes what is new; a range asked for takes what is new as well, since files are not kept by day."""
    settings = installation.settings()
    with plain_failures():
        taken = flow.ingest(settings, list(fetched(settings, config.urls)))
    arrived = flow.arrived(settings)
    days = {day: {"dagster/partition_row_count": rows} for day, rows in arrived.rows_by_day.items()}
    counts = {name: value for name, value in asdict(taken).items() if isinstance(value, int)}
    told = tell_days(context, days, **{"dagster/row_count": arrived.rows}, **counts)
    return told._replace(check_results=[*look(settings, "events", TABLES, days), _share(taken)])


def _share(taken: IngestReport) -> dg.AssetCheckResult:
    """Whether too many lines were refused; what was good is kept in any case."""
    try:
        Share().check(taken.accepted, taken.quarantined)
    except CheckFailed as error:
        return dg.AssetCheckResult(passed=False, check_name="refused_share", metadata={"what_to_do": str(error)})
    return dg.AssetCheckResult(passed=True, check_name="refused_share", metadata={"quarantined": taken.quarantined})


@dg.asset(
    deps=[dg.AssetDep(events, partition_mapping=dg.LastPartitionMapping())],
    group_name="ingest",
    kinds={"deltalake"},
    owners=OWNERS,
    description="Lines that ingest refused, with their place and reason, never their text; written by ingest.",
)
def quarantine(context: dg.AssetExecutionContext, installation: Installation) -> Result:
    """Counts what is open, by reason."""
    counts = refused.counts(installation.settings())
    rows = "\n".join(f"| {row['reason']} | {row['open']} | {row['resolved']} |" for row in counts)
    return tell(
        context,
        open=sum(int(row["open"]) for row in counts),
        resolved=sum(int(row["resolved"]) for row in counts),
        reasons=dg.MetadataValue.md(f"| reason | open | resolved |\n|---|---|---|\n{rows}"),
    )
