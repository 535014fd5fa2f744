"""Removes events that are older than their table's retention; figures computed from them stay.

Days are sealed before anything is removed, so a writer killed anywhere loses no figure; the same call again
completes it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from beleg import flow
from beleg.core.progress import OnProgress, silent
from beleg.core.settings import Settings
from beleg.lake.exclusive import exclusive
from beleg.lake.publication import append_fact
from beleg.lake.sealed import seal
from beleg.lake.snapshot import Snapshot
from beleg.lake.table import DataFile
from beleg.retention.policy import COMPUTED, FOUNDATIONS, check_table, keep_days, prunable
from beleg.work import instant


@dataclass(frozen=True)
class Pruned:
    """What was, or would be, removed from a table."""

    table: str
    before: str
    """First UTC day that is kept."""
    rows: int
    days: int
    size_bytes: int


def prune(
    settings: Settings,
    *,
    older_than_days: int | None = None,
    table: str | None = None,
    dry_run: bool = False,
    now: datetime | None = None,
    on_progress: OnProgress = silent,
) -> list[Pruned]:
    """Remove whole UTC days of tables that are older than the policy says, or than `older_than_days`.

    Without `table` that age holds for all tables with an age. Publishes first what is due, so that the figures of
    the pruned days are up to date. Files go from disk after a day, as all replaced ones. Raises UsageError.
    """
    at = now or datetime.now(UTC)
    limits = _limits(settings, older_than_days, table, at)
    if dry_run:
        return [made for made, _ in _found(Snapshot.latest(settings), limits)]
    if not limits:
        return []
    flow.publish(settings, as_of=at, on_progress=on_progress)
    with exclusive(settings):
        lake = Snapshot.latest(settings)
        found = _found(lake, limits)
        if foundations := [limits[name] for name in limits if name in FOUNDATIONS]:
            seal(settings, max(foundations))
        for made, files in found:
            lake.table(made.table).commit((), files, note="prune")
        removed = {made.table: {"before": made.before, "rows": made.rows} for made, _ in found}
        append_fact(settings.ledger / "prunes.jsonl", {"at": instant(at), "tables": removed})
    flow.publish(settings, as_of=at, on_progress=on_progress)
    return [made for made, _ in found]


def _limits(settings: Settings, older_than_days: int | None, table: str | None, at: datetime) -> dict[str, str]:
    """Table → first UTC day that is kept."""
    if table is not None:
        check_table(table)
    ages: Mapping[str, int] = keep_days(settings)
    if older_than_days is not None:
        ages = dict.fromkeys([table] if table else prunable(), older_than_days)
    elif table is not None:
        ages = {name: days for name, days in ages.items() if name == table}
    limits = {name: (at.date() - timedelta(days=days)).isoformat() for name, days in ages.items()}
    if (foundations := [day for name, day in limits.items() if name in FOUNDATIONS]) and table is None:
        for name in COMPUTED:
            limits.setdefault(name, max(foundations))
    return dict(sorted(limits.items()))


def _found(lake: Snapshot, limits: Mapping[str, str]) -> list[tuple[Pruned, list[DataFile]]]:
    found = []
    for name, before in limits.items():
        days = {day for day in lake.partitions(name) if day < before}
        if days:
            files = lake.files(name, days)
            rows, size = sum(f.rows for f in files), sum(f.size_bytes for f in files)
            found.append((Pruned(name, before, rows, len(days), size), files))
    return found
