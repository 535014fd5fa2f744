"""Exact money: integers of pico-USD (10⁻¹² USD); floats never occur.

A price is an integer of micro-USD per million tokens, so tokens times price is pico-USD without a
remainder. Rounding happens once, half to even, when a summed figure is shown.
"""

from decimal import Decimal, InvalidOperation

PICO_PER_USD = 10**12
PICO_PER_MICRO = 10**6


def divide_half_even(numerator: int, denominator: int) -> int:
    """The integer nearest to `numerator / denominator`, ties to the even one; the denominator is positive."""
    whole, rest = divmod(numerator, denominator)
    twice = 2 * rest
    return whole + (twice > denominator or (twice == denominator and whole % 2 == 1))


def known_cost(cost_pico_usd: int, *, runs: int, steps: int, unpriced_steps: int) -> int | None:
    """A sum of cost; None where nothing tells it, like the macro `known_cost` of contracts/metrics.yaml.

    Results without runs or steps cost an unknown amount, and so do steps of which none has a known price.
    Runs without steps were free.
    """
    return cost_pico_usd if steps > unpriced_steps or (steps == 0 and runs > 0) else None


def parse_usd(text: object) -> Decimal:
    """Read an amount given as text or integer; raises ValueError for a float, a negative or no number."""
    exact = isinstance(text, str | int) and not isinstance(text, bool)
    try:
        amount = Decimal(str(text)) if exact else Decimal("NaN")
    except InvalidOperation:
        amount = Decimal("NaN")
    if not amount.is_finite() or amount < 0:
        msg = f"{text!r} is no exact amount: write a decimal number, zero or more, in quotes, for example '0.15'"
        raise ValueError(msg)
    return amount


def exact_integer(value: Decimal, what: str) -> int:
    """The value as an integer; raises ValueError where that would lose a digit."""
    whole = int(value)
    if whole != value:
        msg = f"{value} is no whole {what}: give fewer decimal places"
        raise ValueError(msg)
    return whole


def pico_usd(amount: Decimal) -> int:
    """USD as pico-USD; raises ValueError for more than twelve decimal places."""
    return exact_integer(amount.scaleb(12), "pico-USD")


def micro_usd(pico: int) -> int:
    """Pico-USD as micro-USD, rounded half to even: for sums that are shown, never before."""
    return divide_half_even(pico, PICO_PER_MICRO)


def usd_text(pico: int) -> str:
    """Pico-USD as USD with six decimal places, rounded half to even."""
    micro = micro_usd(pico)
    sign = "-" if micro < 0 else ""
    return f"{sign}{abs(micro) // 10**6}.{abs(micro) % 10**6:06d}"


def exact_usd_text(pico: int) -> str:
    """Pico-USD as USD, exact: as many of the twelve decimal places as it takes, at least two."""
    sign = "-" if pico < 0 else ""
    decimals = f"{abs(pico) % PICO_PER_USD:012d}".rstrip("0").ljust(2, "0")
    return f"{sign}{abs(pico) // PICO_PER_USD}.{decimals}"
