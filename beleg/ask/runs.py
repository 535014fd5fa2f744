"""Finds runs by what one knows of them."""

from dataclasses import asdict, dataclass, field
from typing import Any

from beleg.ask.desk import Record, desk
from beleg.core.errors import UsageError
from beleg.core.settings import Settings
from beleg.cost.figures import Period
from beleg.cost.money import parse_usd, pico_usd

STATUSES = ("running", "needs_input", "succeeded", "failed", "cancelled", "abandoned")


@dataclass(frozen=True)
class Wanted:
    """Conditions on runs; None asks for nothing. All must hold."""

    period: Period = field(default_factory=Period)
    """Business days of the start."""
    workflow: str | None = None
    purpose: str | None = None
    status: str | None = None
    tenant: str | None = None
    prompt_version: str | None = None
    input_ref: str | None = None
    input_key: str | None = None
    input_hash: str | None = None
    """The fingerprint or its first digits."""
    output_hash: str | None = None
    """The fingerprint or its first digits."""
    min_usd: str | None = None
    """Known cost of at least that many USD, as decimal text."""
    label: str | None = None
    """`name` or `name=value`."""


def runs(settings: Settings, wanted: Wanted, *, limit: int) -> list[Record]:
    """Runs that meet the conditions, newest first; raises UsageError for a condition that cannot hold."""
    if wanted.status not in {None, *STATUSES}:
        msg = f"--status {wanted.status!r} does not exist; allowed are {', '.join(STATUSES)}"
        raise UsageError(msg)
    conditions = _conditions(wanted)
    with desk(settings) as at:
        at.lay({"run_costs": None, "runs_started": None if wanted.label else ()})
        return at.ask("runs", timezone=settings.timezone, limit=limit, **wanted.period.parameters, **conditions)


def _conditions(wanted: Wanted) -> dict[str, Any]:
    given = asdict(wanted)
    label, _, value = (given.pop("label") or "").partition("=")
    floor = given.pop("min_usd")
    given.pop("period")
    return {
        **given,
        "label": label or None,
        "label_value": value or None,
        "min_pico_usd": None if floor is None else _pico(floor),
    }


def _pico(text: str) -> int:
    try:
        return pico_usd(parse_usd(text))
    except ValueError as error:
        raise UsageError(f"--min-cost: {error}") from error
