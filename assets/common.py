"""What every asset does the same way: read which days are asked for, tell which days were made, show the checks."""

import os
from collections.abc import Collection, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import dagster as dg

from beleg import flow
from beleg.checks import expectations
from beleg.checks.evidence import Evidence
from beleg.checks.judge import last_passed
from beleg.checks.sums import SUMS
from beleg.core.contracts import load
from beleg.core.errors import CheckFailed, UsageError
from beleg.core.settings import Settings
from pipelines.partitions import DAYS, DEFERRED

if TYPE_CHECKING:
    Result = dg.MaterializeResult[Any]
else:
    Result = dg.MaterializeResult  # Dagster takes a parametrised one for a tuple where an asset has checks
WRITER = "beleg_writer"
"""Pool of everything that writes: one at a time."""
OWNERS = ["team:data"]
RETRY_S = float(os.environ.get("BELEG_RETRY_SECONDS", "20"))
RETRIES = dg.RetryPolicy(max_retries=2, delay=RETRY_S, backoff=dg.Backoff.EXPONENTIAL)
"""For what passes by itself: a busy lock, a full disk. What would only fail again says so."""
TOLD_DAYS = 400
"""Most days that one run records for an asset."""
AGREEMENTS = {"events": ("rows_by_ingest",), "run_costs": ("cost_of_runs",), "unit_costs": ("cost_by_day",)}
"""Asset → sums over several tables that can be looked at once it is made."""


def asked_days(context: dg.AssetExecutionContext) -> list[str]:
    """The days a person or a backfill asked for; none in a run that takes what is new."""
    return [] if _is_deferred(context) else list(context.partition_keys)


def tell_days(context: dg.AssetExecutionContext, days: Mapping[str, Mapping[str, Any]], **figures: Any) -> Result:
    """Record each day as made, with its figures, and those of the asset as a whole; returns them as the result.

    A run that was asked for days records those by itself. Days before Dagster's first have no square, and of a
    whole history computed again only the newest are shown: each costs Dagster a row in its log.
    """
    known = sorted(day for day in days if DAYS.has_partition_key(day))[-TOLD_DAYS:]
    asked = set(asked_days(context))
    whole = {**figures, "days": len(days), "days_not_shown": len(days) - len(known)}
    for day in known:
        if day not in asked:
            context.log_event(
                dg.AssetMaterialization(context.asset_key, partition=day, metadata={**whole, **days[day]})
            )
    return Result(metadata=whole)


def tell(context: dg.AssetExecutionContext, **figures: Any) -> Result:
    """Record an asset without days as made, with its figures; returns them as the result."""
    if _is_deferred(context):
        context.log_event(dg.AssetMaterialization(context.asset_key, metadata=figures))
    return Result(metadata=figures)


def _is_deferred(context: dg.AssetExecutionContext) -> bool:
    return DEFERRED.items() <= context.run.tags.items()


def specs(asset: str, tables: Sequence[str]) -> list[dg.AssetCheckSpec]:
    """The checks of an asset: one of the contracts, one of the warnings they hold, one for each agreement."""
    words = {one.name: one.meaning for one in SUMS}
    made = [dg.AssetCheckSpec("contract", asset=asset, blocking=True, description="the rules of the table contract")]
    if any(load(table).notices for table in tables):
        made.append(dg.AssetCheckSpec("notices", asset=asset, description="worth a look; stops nothing"))
    named = (dg.AssetCheckSpec(n, asset=asset, blocking=True, description=words[n]) for n in AGREEMENTS.get(asset, ()))
    return [*made, *named]


def look(settings: Settings, asset: str, tables: Sequence[str], days: Collection[str]) -> list[dg.AssetCheckResult]:
    """Check what an asset has staged on some days, judged by Great Expectations, and show the verdicts.

    A run with nothing new shows those on what is published, so that a warning stays where it was.
    """
    subjects = {*tables, *AGREEMENTS.get(asset, ())}
    found = flow.check(settings, subjects, judge=expectations.judge) if days else last_passed(settings, subjects)
    own = [entry for entry in found if entry.subject in tables]
    warned = [f"{e.subject}.{rule}" for e in own for rule in e.warned]
    results = [_verdict("contract", own)]
    if any(load(table).notices for table in tables):
        meta = {"rules": ", ".join(warned) or "none"}
        results.append(dg.AssetCheckResult(passed=not warned, check_name="notices", severity=dg.AssetCheckSeverity.WARN,
                                           metadata=meta))  # fmt: skip
    named = AGREEMENTS.get(asset, ())
    return results + [_verdict(name, [e for e in found if e.subject == name]) for name in named]


def _verdict(name: str, entries: Collection[Evidence]) -> dg.AssetCheckResult:
    """One check of Dagster's out of the evidence on some subjects."""
    broken = [f"| {e.subject} | {f.rule} | {f.severity} | {f.violations} | {f.detail} |" for e in entries
              for f in e.findings if f.violations]  # fmt: skip
    head = "| subject | rule | severity | violations | where |\n|---|---|---|---|---|\n"
    metadata: dict[str, Any] = {
        "rows": sum(e.rows for e in entries),
        "rules_passed": sum(e.passed for e in entries),
        "violations": sum(f.violations or 0 for e in entries for f in e.findings),
        "judge": ", ".join(sorted({e.judge for e in entries})) or "nothing was checked yet",
        "findings": dg.MetadataValue.md(head + "\n".join(broken) if broken else "none"),
    }
    return dg.AssetCheckResult(passed=not any(e.failed for e in entries), check_name=name, metadata=metadata)


@contextmanager
def plain_failures() -> Generator[None]:
    """A failed check or a wrong setting would only fail again: say what to do and do not retry."""
    try:
        yield
    except (CheckFailed, UsageError) as error:
        raise dg.Failure(description=str(error), allow_retries=False) from error
