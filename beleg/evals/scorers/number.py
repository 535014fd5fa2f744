"""Numbers: exact in decimals, with tolerance, and with a word for answers that are off by a unit."""

import re
from dataclasses import dataclass
from decimal import Context, Decimal
from typing import Any, ClassVar

from beleg.evals.scorers.model import RIGHT, CannotJudge, Kind, Score, Scorer, wrong
from beleg.evals.scorers.options import refuse

MAX_DIGITS = 400
"""Digits and exponent beyond which a text is no number: no result holds such a one, and arithmetic stays small."""
UNITS = (2, 3, 6)
"""Powers of ten that part units: cents and euros, thousands, millions."""
EXACT = Context(prec=4 * MAX_DIGITS, Emax=999_999, Emin=-999_999)
"""Wide enough that no difference or product of two such numbers is rounded."""

_PATTERNS = {
    ".": re.compile(
        r"([+\-\u2212]?)([0-9]+|[0-9]{1,3}(?:([,'\u2019 \u00a0\u202f])[0-9]{3}(?:\3[0-9]{3})*))?(\.[0-9]+)?"
    ),
    ",": re.compile(
        r"([+\-\u2212]?)([0-9]+|[0-9]{1,3}(?:([.'\u2019 \u00a0\u202f])[0-9]{3}(?:\3[0-9]{3})*))?(,[0-9]+)?"
    ),
}
_MINUS = {"-", "\u2212"}
_EXPONENT = re.compile(r"([+-]?[0-9]+(?:\.[0-9]+)?)[eE]([+-]?[0-9]{1,3})")


def read(value: Any, decimal: str = ".", strip: str = "") -> Decimal | None:
    """The number that a value or text means; None where it means none.

    Floats mean the shortest decimal that reads as them, as in JSON text. Texts may group thousands, in threes and
    with the same sign throughout; the characters of `strip` are removed first. True and false are no numbers.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal, str)):
        return None
    if isinstance(value, str):
        return _of_text(value, decimal, strip)
    if isinstance(value, int):
        return Decimal(value) if value.bit_length() <= 3 * MAX_DIGITS else None
    number = Decimal(repr(value)) if isinstance(value, float) else value
    return number if number.is_finite() and _fits(number) else None


def _of_text(text: str, decimal: str, strip: str) -> Decimal | None:
    if len(text) > 2 * MAX_DIGITS:
        return None
    text = "".join(each for each in text if each not in strip).strip()
    if found := _PATTERNS[decimal].fullmatch(text):
        sign, whole, group, fraction = found.groups()
        if whole is None and fraction is None:
            return None
        digits = (whole or "0").replace(group or ",", "") + (fraction or "").replace(",", ".")
        number = Decimal(digits).copy_negate() if sign in _MINUS else Decimal(digits)
    elif decimal == "." and _EXPONENT.fullmatch(text):
        number = Decimal(text)
    else:
        return None
    return number if _fits(number) else None


def _fits(number: Decimal) -> bool:
    _, digits, exponent = number.as_tuple()
    return len(digits) <= MAX_DIGITS and isinstance(exponent, int) and abs(exponent) <= MAX_DIGITS


def miss(expected: Decimal, actual: Decimal) -> str:
    """The kind of a miss: `unit_error_1000` for a number exactly 1 000 times too large or small, `sign_error`, …"""
    if not expected or not actual:
        return "different"
    for power in UNITS:
        if actual.scaleb(power, EXACT) == expected or expected.scaleb(power, EXACT) == actual:
            return f"unit_error_{10**power}"
    return "sign_error" if actual == expected.copy_negate() else "different"


@dataclass(frozen=True, kw_only=True)
class Number(Scorer):
    """Equal numbers, or within `abs` or `rel` (times the expected number's size) of each other.

    Numbers and numeric texts are read alike: "12", 12 and 12.0 are the same. `decimal` is the sign before the
    fraction in texts, `strip` what is taken out of them, such as `$`.
    """

    name: ClassVar[str] = "number"
    version: ClassVar[str] = "1.0.0"
    kind: ClassVar[Kind] = "binary"

    abs: Decimal = Decimal(0)
    rel: Decimal = Decimal(0)
    decimal: str = "."
    strip: str = ""

    def __post_init__(self) -> None:
        for option, value in (("abs", self.abs), ("rel", self.rel)):
            if not value.is_finite() or value < 0 or not _fits(value):
                raise refuse(self, option, value, "a number that is not negative, such as 0.01")
        if self.decimal not in _PATTERNS:
            raise refuse(self, "decimal", self.decimal, "one of . ,")

    def compare(self, expected: Any, actual: Any) -> Score:
        """Compare as exact decimals."""
        wanted = read(expected, self.decimal, self.strip)
        if wanted is None:
            raise CannotJudge("expected_is_no_number")
        given = read(actual, self.decimal, self.strip)
        if given is None:
            return wrong(
                "wrong_type" if isinstance(actual, bool) or not isinstance(actual, (str, int, float)) else "unparsable"
            )
        return RIGHT if self.near(wanted, given) else wrong(miss(wanted, given))

    def near(self, expected: Decimal, actual: Decimal) -> bool:
        """Whether two numbers are equal or within one of the tolerances."""
        if expected == actual:
            return True
        allowed = max(self.abs, EXACT.multiply(self.rel, EXACT.abs(expected)))
        return EXACT.abs(EXACT.subtract(expected, actual)) <= allowed
