"""Finds runs by what one knows of them."""

import re
from dataclasses import asdict, dataclass, field
from typing import Any

from beleg.ask.desk import Record, desk
from beleg.core.errors import UsageError
from beleg.core.settings import Settings
from beleg.cost.figures import Period
from beleg.cost.money import parse_usd, pico_usd

MOST_PICO_USD = 10**30
"""A condition that a query can still be given; no cost comes near."""
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
    label, value = _label(given.pop("label"))
    floor = given.pop("min_usd")
    given.pop("period")
    return {
        **given,
        "label": label,
        "label_value": value,
        "input_hash": _digits("--input-hash", wanted.input_hash),
        "output_hash": _digits("--output-hash", wanted.output_hash),
        "min_pico_usd": None if floor is None else _pico(floor),
    }


def _label(text: str | None) -> tuple[str | None, str | None]:
    """Name and value; without `=` any value will do."""
    if text is None:
        return None, None
    name, equals, value = text.partition("=")
    if not name:
        raise UsageError(f"--label {text!r} names no label: write NAME or NAME=VALUE")
    return name, value if equals else None


def _digits(option: str, text: str | None) -> str | None:
    """The first digits of a fingerprint as they are stored; one that can match nothing is a typing error."""
    if text is None:
        return None
    digits = text.strip().lower()
    if re.fullmatch("[0-9a-f]{1,64}", digits) is None:
        raise UsageError(f"{option} {text!r} is no fingerprint: write its 64 hex digits or the first of them")
    return digits


def _pico(text: str) -> int:
    try:
        amount = pico_usd(parse_usd(text))
    except ValueError as error:
        raise UsageError(f"--min-cost: {error}") from error
    if amount > MOST_PICO_USD:
        raise UsageError(f"--min-cost {text} is more than any run can cost; write USD, for example 0.50")
    return amount
