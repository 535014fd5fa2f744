"""What a cell of a table means, exactly: numbers from their decimal text, money and times by declared unit."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Context, Decimal
from typing import Any, Literal

_NUMBER = re.compile(r"[+-]?[0-9]{1,30}(\.[0-9]{1,30})?([eE][+-]?[0-9]{1,2})?")
_ISO = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})[T ]([0-9]{2}:[0-9]{2}(:[0-9]{2})?)(\.[0-9]+)?(Z|[+-][0-9]{2}:?[0-9]{2})?"
)
_EXACT = Context(prec=100)
"""Python's default keeps 28 digits and rounds the rest away in silence."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_WORDS = {"true": True, "false": False, "1": True, "0": False, "yes": True, "no": False}

Kind = Literal["time", "duration", "money"]


class BadCell(Exception):
    """A cell that cannot be read as declared; the text says what was expected, never what stands there."""


@dataclass(frozen=True)
class Unit:
    """A declared unit: which fields it fits and how a cell becomes the field's value."""

    kind: Kind
    meaning: str
    convert: Callable[[Any, str], Any]
    """From a cell and the table's decimal mark."""


def text(cell: Any) -> str:
    """The cell as text; numbers in their shortest exact form."""
    if isinstance(cell, str):
        return cell
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, datetime):
        return cell.isoformat()
    if isinstance(cell, int | float | Decimal):
        return str(cell)
    raise BadCell("expected one value, found a list or an object")


def decimal(cell: Any, mark: str) -> Decimal:
    """The cell as an exact number; `mark` is the decimal mark of the table's text."""
    if isinstance(cell, bool) or not isinstance(cell, str | int | float | Decimal):
        raise BadCell("expected a number")
    digits = text(cell).strip()
    if isinstance(cell, str) and mark == ",":
        if "." in digits:
            raise BadCell("expected a number with a decimal comma and without thousands separators")
        digits = digits.replace(",", ".")
    if _NUMBER.fullmatch(digits) is None:
        hint = "; for a decimal comma declare `decimal: ','`" if "," in digits else ""
        raise BadCell(f"expected a number{hint}")
    return Decimal(digits)


def integer(cell: Any, mark: str) -> int:
    """The cell as a whole number; 12.0 is one, 12.5 is not."""
    number = decimal(cell, mark)
    if number != number.to_integral_value():
        raise BadCell("expected a whole number")
    return int(number)


def number(cell: Any, mark: str) -> int | float:
    """The cell as a JSON number, whole ones as integers."""
    exact = decimal(cell, mark)
    return int(exact) if exact == exact.to_integral_value() else float(exact)


def boolean(cell: Any, _mark: str) -> bool:
    """The cell as true or false: true, false, yes, no, 1, 0 in any case."""
    if isinstance(cell, bool):
        return cell
    word = text(cell).strip().lower()
    if word not in _WORDS:
        raise BadCell(f"expected one of {', '.join(_WORDS)}")
    return _WORDS[word]


def _instant(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _epoch(micros_per_unit: int) -> Callable[[Any, str], str]:
    def convert(cell: Any, mark: str) -> str:
        micros = int(_EXACT.multiply(decimal(cell, mark), Decimal(micros_per_unit)))
        if not 946_684_800_000_000 <= micros < 4_102_444_800_000_000:
            raise BadCell("expected an instant between 2000 and 2099; check the unit")
        return _instant(_EPOCH + timedelta(microseconds=micros))

    return convert


def _iso(*, naive_is_utc: bool) -> Callable[[Any, str], str]:
    def convert(cell: Any, _mark: str) -> str:
        found = _ISO.fullmatch(text(cell).strip())
        if found is None:
            raise BadCell("expected a time such as 2026-03-01T12:00:00Z")
        day, clock, seconds, fraction, zone = found.groups()
        if zone is None and not naive_is_utc:
            raise BadCell("expected a time with a zone; where the format defines UTC, declare iso_naive_utc")
        if zone is not None and naive_is_utc:
            raise BadCell("expected a time without a zone; declare iso")
        whole = f"{day}T{clock}{'' if seconds else ':00'}"
        try:
            moment = datetime.fromisoformat(whole + (fraction or "")[:7] + (zone or "Z"))
        except ValueError:
            raise BadCell("expected a time that exists") from None
        return _instant(moment)

    return convert


def _duration(ms_per_unit: Decimal) -> Callable[[Any, str], int]:
    return lambda cell, mark: round(_EXACT.multiply(decimal(cell, mark), ms_per_unit))


def _money(pico_per_unit: int, *, rounded: bool = False) -> Callable[[Any, str], int]:
    def convert(cell: Any, mark: str) -> int:
        pico = _EXACT.multiply(decimal(cell, mark), Decimal(pico_per_unit))
        if pico != pico.to_integral_value() and not rounded:
            raise BadCell("expected at most 12 decimals of a dollar; declare usd_half_even to round floats")
        return round(pico)

    return convert


UNITS = {
    "epoch_s": Unit("time", "seconds since 1970, fractions allowed", _epoch(1_000_000)),
    "epoch_ms": Unit("time", "milliseconds since 1970", _epoch(1000)),
    "epoch_us": Unit("time", "microseconds since 1970", _epoch(1)),
    "iso": Unit("time", "ISO 8601 with a zone; digits past the microsecond are cut off", _iso(naive_is_utc=False)),
    "iso_naive_utc": Unit("time", "ISO 8601 without a zone, declared to be UTC", _iso(naive_is_utc=True)),
    "s": Unit("duration", "seconds, rounded half even to milliseconds", _duration(Decimal(1000))),
    "ms": Unit("duration", "milliseconds", _duration(Decimal(1))),
    "us": Unit("duration", "microseconds", _duration(Decimal("0.001"))),
    "ns": Unit("duration", "nanoseconds", _duration(Decimal("0.000001"))),
    "usd": Unit("money", "US dollars, exact: at most 12 decimals", _money(10**12)),
    "usd_half_even": Unit(
        "money", "US dollars with binary noise, rounded half even to 1e-12", _money(10**12, rounded=True)
    ),
    "cent": Unit("money", "US cents, exact", _money(10**10)),
    "micro_usd": Unit("money", "1e-6 US dollars, exact", _money(10**6)),
    "pico_usd": Unit("money", "1e-12 US dollars, exact", _money(1)),
}
"""Unit → meaning and conversion, as documented in docs/mapping.md."""
