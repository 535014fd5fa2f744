"""Money: whole minor units and a currency, never a float's rounding."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, ClassVar, NamedTuple

from beleg.evals.scorers import number
from beleg.evals.scorers.model import RIGHT, CannotJudge, Kind, Score, Scorer, wrong
from beleg.evals.scorers.options import refuse

SYMBOLS = {
    "€": ("EUR",),
    "£": ("GBP",),
    "$": ("USD", "AUD", "CAD", "HKD", "MXN", "NZD", "SGD"),
    "¥": ("JPY", "CNY"),
}
"""Signs of currencies: the declared currency where it is among them, else the first."""
MINOR_DIGITS = {
    **dict.fromkeys(("CLP", "ISK", "JPY", "KRW", "PYG", "UGX", "VND", "XAF", "XOF", "XPF"), 0),
    **dict.fromkeys(("BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"), 3),
}
"""Digits of the minor unit by ISO 4217, where they are not two."""
UNITS = ("major", "minor")


class Amount(NamedTuple):
    """An amount of money; `currency` is None where nothing says it."""

    minor: int
    currency: str | None


class NoAmount(Exception):
    """The value is no amount; the word says why."""


@dataclass(frozen=True, kw_only=True)
class Money(Scorer):
    """The same amount to the minor unit in the same currency.

    Reads numbers, texts ("1.234,56 €" with `decimal=,`; "EUR 99.96") and records with `amount` and `currency`.
    `currency` is meant where none is said; `unit=minor` says that amounts count cents. An amount that is no whole
    number of minor units is a miss.
    """

    name: ClassVar[str] = "money"
    version: ClassVar[str] = "1.0.0"
    kind: ClassVar[Kind] = "binary"

    currency: str = ""
    decimal: str = "."
    unit: str = "major"

    def __post_init__(self) -> None:
        if self.currency and not _is_code(self.currency):
            raise refuse(self, "currency", self.currency, "a code of ISO 4217 such as EUR")
        if self.decimal not in {".", ","}:
            raise refuse(self, "decimal", self.decimal, "one of . ,")
        if self.unit not in UNITS:
            raise refuse(self, "unit", self.unit, "one of major minor")

    def compare(self, expected: Any, actual: Any) -> Score:
        """Compare two amounts."""
        try:
            wanted = self.read(expected)
        except NoAmount:
            raise CannotJudge("expected_is_no_amount") from None
        try:
            given = self.read(actual)
        except NoAmount as error:
            return wrong(str(error))
        if given.currency != wanted.currency:
            return wrong("wrong_currency" if given.currency and wanted.currency else "currency_missing")
        if given.minor == wanted.minor:
            return RIGHT
        return wrong(number.miss(Decimal(wanted.minor), Decimal(given.minor)))

    def read(self, value: Any) -> Amount:
        """The amount that a value means; raises NoAmount."""
        said: Any = None
        if isinstance(value, Mapping):
            value, said = value.get("amount"), value.get("currency")
        if isinstance(value, str):
            value, found = self._apart(value)
            said = said if said is not None else found
        currency = self._currency(said)
        major = number.read(value, self.decimal)
        if major is None:
            raise NoAmount(
                "wrong_type" if isinstance(value, bool) or not isinstance(value, (str, int, float)) else "unparsable"
            )
        digits = 0 if self.unit == "minor" else MINOR_DIGITS.get(currency or "", 2)
        minor = major.scaleb(digits, number.EXACT)
        if minor != minor.to_integral_value(context=number.EXACT):
            raise NoAmount("fraction_of_a_minor_unit")
        return Amount(int(minor), currency)

    def _apart(self, text: str) -> tuple[str, str | None]:
        """The number and the sign or code before or after it."""
        text = text.strip()
        for size in (1, 3):
            for said, rest in ((text[:size], text[size:]), (text[-size:], text[:-size])):
                if said in SYMBOLS or (size == 3 and _is_code(said.upper())):
                    return rest.strip(), said
        if text[:1] in "-+\u2212" and text[1:2] in SYMBOLS:  # -€5
            return text[0] + text[2:].strip(), text[1]
        return text, None

    def _currency(self, said: Any) -> str | None:
        if said is None:
            return self.currency or None
        if not isinstance(said, str) or not (said in SYMBOLS or _is_code(said.strip().upper())):
            raise NoAmount("unparsable")
        known = SYMBOLS.get(said)
        if known is None:
            return said.strip().upper()
        return self.currency if self.currency in known else known[0]


def _is_code(text: str) -> bool:
    return len(text) == 3 and text.isascii() and text.isalpha() and text.isupper()
