"""Once a day: deletes files that no reader can need any more, and sums up the logs.

Replaced files and those of killed writers stay for a day, so that whoever has the previous `beleg.duckdb`
open can go on reading it.
"""

from datetime import datetime, timedelta

from beleg.core.files import replace_text
from beleg.core.settings import Settings
from beleg.lake.publication import Publication
from beleg.lake.snapshot import Snapshot

KEEP_HOURS = 24


def tidy(settings: Settings, lake: Snapshot, published: Publication | None, now: datetime) -> int:
    """Delete unreferenced files older than a day, at most once a day; returns how many.

    What the latest versions and the publication name is kept. `lake` is advanced past what this adds to
    the logs.
    """
    mark = settings.ledger / "tidied_at"
    if mark.exists() and _recent(mark.read_text(encoding="utf-8"), now):
        return 0
    replace_text(mark, now.isoformat())
    deleted = 0
    for name, version in list(lake.versions.items()):
        kept = {version, (published.tables if published else {}).get(name, version)}
        deleted += len(lake.table(name).vacuum(keep_versions=sorted(kept), retention_hours=KEEP_HOURS))
        lake.advance(name, lake.table(name).version() or version)
        lake.table(name).checkpoint()
    return deleted


def _recent(text: str, now: datetime) -> bool:
    """Whether that was less than a day ago; a clock that jumped back does not put it off for ever."""
    try:
        return abs(now - datetime.fromisoformat(text)) < timedelta(hours=KEEP_HOURS)
    except (ValueError, TypeError):
        return False
