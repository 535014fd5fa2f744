"""What every reader makes of its file: one row per answer. A file that cannot be read as a whole gives none."""

import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from beleg.core.errors import DamagedError, UsageError
from beleg.evals.scorers.answers import not_run
from beleg.evals.scoring.receipt import Receipt

MOST_BYTES = 512 << 20
"""Largest file, and largest member of an archive, that is read."""


@dataclass(frozen=True)
class Row:
    """One answer as a file holds it."""

    place: str
    """Where it stands, for messages."""
    keys: tuple[str, ...]
    """What may tell its case, in this order: a case_id or an input_ref."""
    answer: Any = None
    """The words of the model, or the value where the tool has read it already; None for one that was not run."""
    error: bool = False
    """Whether the model was asked in vain."""
    repetition: int | None = None
    """None: the next one of its case, in the order of the file."""
    input_hash: str | None = None
    """Fingerprint of the input that was used, where the file tells it."""
    cached: bool = False
    """Whether the answer is a copy of an earlier one."""
    took: Receipt = field(default_factory=lambda: Receipt(None))
    at: datetime | None = None
    """When it was given; None where the file does not tell."""


Reader = Callable[[Path, str | None], list[Row]]
"""From a file, and the variant that is wanted of several, to its rows."""


def wrong(name: str, place: str, what: str) -> DamagedError:
    """The error for a file that cannot be read: nothing of it is taken in."""
    return DamagedError(f"{name}: {place}: {what}; nothing was taken in")


def content(path: Path) -> bytes:
    """The bytes of a file; raises UsageError for none, DamagedError for one that is too large."""
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    if len(data) > MOST_BYTES:
        raise wrong(path.name, "the file", f"it holds more than {MOST_BYTES >> 20} MiB")
    return data


def document(data: bytes, name: str, place: str = "the file") -> Any:
    """The JSON of some bytes; raises DamagedError that says where it breaks."""
    try:
        return json.loads(data.decode("utf-8-sig"))
    except json.JSONDecodeError as error:
        raise wrong(name, f"{place}, line {error.lineno}", f"no JSON: {error.msg}") from error
    except (ValueError, RecursionError) as error:
        raise wrong(name, place, f"no JSON: {type(error).__name__}") from error


def member(value: Any, key: str, kind: type, name: str, place: str) -> Any:
    """A member that must be there; raises DamagedError."""
    found = value.get(key) if isinstance(value, Mapping) else None
    if not isinstance(found, kind):
        raise wrong(name, place, f"{key} is missing, or no {kind.__name__}")
    return found


def texts(*values: object) -> tuple[str, ...]:
    """Those values that may tell a case, as text."""
    return tuple(
        str(each) for each in values if isinstance(each, (str, int)) and not isinstance(each, bool) and each != ""
    )


def count(value: object) -> int | None:
    """A count or a time as a whole number; None for what is none."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value) or value < 0:
        return None
    return round(value)


def pico_usd(value: object) -> int | None:
    """An amount in USD, as tools write it: a float or text; None for what is none.

    A float means the shortest decimal that reads as it; below 10⁻¹² USD it is rounded half to even.
    """
    try:
        amount = Decimal(repr(value) if isinstance(value, float) else str(value))
        return round(amount.scaleb(12)) if amount.is_finite() and amount >= 0 else None
    except (InvalidOperation, ValueError, OverflowError):
        return None


def instant(value: object) -> datetime | None:
    """An instant with an offset; None for what is none, or for a time without zone."""
    try:
        found = datetime.fromisoformat(str(value))
    except ValueError:
        return None
    return None if found.tzinfo is None else found.astimezone(UTC)


def of_variant(rows: Iterable[tuple[str, Row]], variant: str | None, name: str) -> list[Row]:
    """The rows of one variant; raises UsageError, naming them, where there are several and none is chosen."""
    told = list(rows)
    variants = sorted({each for each, _ in told})
    if (variant is None and len(variants) > 1) or (variant is not None and variant not in variants):
        shown = ", ".join(variants[:20])
        raise UsageError(f"{name} holds answers of: {shown}; choose one with --variant")
    return [row for each, row in told if variant in {None, each}]


def empty(answer: Any) -> bool:
    """Whether nothing was run: no answer, or a cell that says so."""
    return answer is None or (isinstance(answer, str) and not_run(answer))
