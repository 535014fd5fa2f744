"""Days whose events were pruned: their figures stand as they are and are never computed again."""

import json
from datetime import date, timedelta

from beleg.core.errors import DamagedError
from beleg.core.files import replace_text
from beleg.core.settings import Settings


def sealed_before(settings: Settings) -> str:
    """First UTC day, as ISO text, that is still computed; the empty text where nothing was ever pruned."""
    path = settings.ledger / "sealed.json"
    try:
        return str(json.loads(path.read_text(encoding="utf-8"))["before"])
    except FileNotFoundError:
        return ""
    except (ValueError, KeyError, TypeError) as error:
        msg = f'{path} is damaged ({error!r}): write {{"before": "YYYY-MM-DD"}}, the first day that has its events'
        raise DamagedError(msg) from error


def seal(settings: Settings, day: str) -> None:
    """Seal all UTC days before one; what was sealed stays sealed."""
    if day > sealed_before(settings):
        replace_text(settings.ledger / "sealed.json", json.dumps({"before": day}))


def open_business_days(days: set[str], before: str, timezone: str) -> set[str]:
    """Those business days of which no part lies on a sealed UTC day."""
    if not before:
        return days
    first = date.fromisoformat(before) + timedelta(days=0 if timezone == "UTC" else 1)
    return {day for day in days if day >= first.isoformat()}
