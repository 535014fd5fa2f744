"""How numbers are shown: exact until here, rounded half to even once, and unknown is a dash, never zero."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from beleg.cost.money import PICO_PER_USD, divide_half_even

UNKNOWN = "—"
_MINUS = "\N{MINUS SIGN}"
_EXACT_DIGITS = 12
_SHARE_DIGITS = 1


@dataclass(frozen=True)
class Numbers:
    """How a language writes numbers."""

    group: str
    """Between thousands."""
    point: str
    """Before the decimal places."""

    def usd(self, pico_usd: int | Fraction | None, digits: int = 2) -> str:
        """An amount in USD with that many decimal places."""
        return UNKNOWN if pico_usd is None else self.decimal(Fraction(pico_usd) / PICO_PER_USD, digits)

    def small_usd(self, pico_usd: int | Fraction | None) -> str:
        """An amount that may be tiny, in USD: at least three significant digits, at most six decimal places."""
        if pico_usd is None:
            return UNKNOWN
        amount = abs(Fraction(pico_usd) / PICO_PER_USD)
        digits = next((d for d in range(2, 6) if amount >= Fraction(100, 10**d)), 6)
        return self.usd(pico_usd, digits if amount else 2)

    def signed_usd(self, pico_usd: int) -> str:
        """A change of an amount that may be tiny, in USD, with its sign."""
        return f"{'+' if pico_usd > 0 else ''}{self.small_usd(pico_usd)}"

    def signed(self, number: int) -> str:
        """A change of a number of things with its sign."""
        return f"{'+' if number > 0 else ''}{self.count(number)}"

    def exact_usd(self, amounts_pico_usd: Iterable[int]) -> list[str]:
        """Amounts in USD without any rounding, all with as many decimal places as one of them needs."""
        amounts = list(amounts_pico_usd)
        digits = max((_needed_digits(amount) for amount in amounts), default=2)
        return [self.usd(amount, digits) for amount in amounts]

    def share(self, part: int, whole: int) -> str:
        """A share in percent; a share that is not whole is never shown as 100 %, a part never as 0 %."""
        if not whole:
            return UNKNOWN
        text = self.decimal(Fraction(100 * part, whole), _SHARE_DIGITS)
        if part < whole and text == f"100{self.point}0":
            return f"> 99{self.point}9 %"
        return f"< 0{self.point}1 %" if part and text == f"0{self.point}0" else f"{text} %"

    def change(self, before: Fraction | None, after: Fraction | None) -> str | None:
        """A change in whole percent with its sign; None where one side is unknown or zero."""
        if not before or after is None:
            return None
        percent = (after - before) / before * 100
        text = self.decimal(abs(percent), 0)
        return "±0 %" if text == "0" else f"{'+' if percent > 0 else _MINUS}{text} %"

    def count(self, number: int | None) -> str:
        """A number of things."""
        return UNKNOWN if number is None else self.decimal(Fraction(int(number)), 0)

    def mean(self, total: int, things: int) -> str:
        """How many there are of something per thing, with one decimal place."""
        return self.decimal(Fraction(total, things), 1) if things else UNKNOWN

    def decimal(self, value: Fraction, digits: int) -> str:
        """A number with that many decimal places, rounded half to even."""
        scaled = divide_half_even(value.numerator * 10**digits, value.denominator)
        whole, rest = divmod(abs(scaled), 10**digits)
        shown = f"{whole:,}".replace(",", self.group)
        return f"{_MINUS if scaled < 0 else ''}{shown}{f'{self.point}{rest:0{digits}d}' if digits else ''}"


ENGLISH = Numbers(",", ".")
GERMAN = Numbers(".", ",")


def ratio(cost_pico_usd: int | None, results: int, per: int | None) -> Fraction | None:
    """Cost in pico-USD of `per` results; None where nothing came out, or cost or unit are unknown."""
    return None if cost_pico_usd is None or not per or not results else Fraction(cost_pico_usd * per, results)


def _needed_digits(pico_usd: int) -> int:
    rest = f"{abs(pico_usd) % PICO_PER_USD:0{_EXACT_DIGITS}d}".rstrip("0")
    return max(2, len(rest))
