"""One price list: what a model charges at one moment, from the book or from a policy row.

Token prices keep genai-prices' own shape, so that tiers mean the same for both: the tier of the highest
`start` that the call's input exceeds prices all tokens of the call. `from: 200000` (>=) is stored as a
start of 199 999, `above: 200000` (>) as 200 000. The book writes xAI's inclusive threshold the same way.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Literal, NamedTuple

from genai_prices.types import ModelPrice, TieredPrices

from beleg.cost.buckets import BUCKETS, COUNTED_UNITS, REQUEST_PRICE, UNITS, is_inherited, own_price

Source = Literal["book", "policy"]

MAX_INPUT_TOKENS = 2**63 - 1


@dataclass(frozen=True)
class PriceList:
    """Prices in USD as they were written down."""

    source: Source
    prices: Mapping[str, Decimal | TieredPrices]
    """Price name of genai-prices → USD per that unit's `per`."""
    own_units: Mapping[str, Decimal] = field(default_factory=dict)
    """Units that only a policy row knows → USD per unit."""

    @classmethod
    def from_book(cls, prices: ModelPrice) -> "PriceList":
        """The list of a book entry."""
        return cls("book", {k: v for k, v in prices.__dict__.items() if k in UNITS and v is not None})

    @property
    def tier_starts(self) -> list[int]:
        """Input token counts above which some price changes, ascending."""
        tiered = [p for p in self.prices.values() if isinstance(p, TieredPrices)]
        return sorted({tier.start for price in tiered for tier in price.tiers})

    def usd(self, name: str, input_tokens: int) -> Decimal:
        """Price of that name for a call with that many input tokens, in USD per its unit's `per`."""
        price = self.prices[name]
        if isinstance(price, Decimal):
            return price
        reached = [tier.price for tier in price.tiers if input_tokens > tier.start]
        return reached[-1] if reached else price.base


class Step(NamedTuple):
    """Integer prices of a list between two input token counts."""

    min_input_tokens: int
    max_input_tokens: int
    """Inclusive."""
    buckets: Mapping[str, int | None]
    """Micro-USD per million tokens; None where the list has no price."""
    units: Mapping[str, int]
    """Pico-USD per unit."""
    request_pico_usd: int
    inexact: tuple[str, ...]
    """Buckets and units whose price had to be rounded."""
    inherited: tuple[str, ...]
    """Buckets priced by a parent's price."""


def steps(prices: PriceList) -> list[Step]:
    """The list as integer prices, one entry per context tier, together covering every input length."""
    starts = prices.tier_starts
    lows = [0, *(start + 1 for start in starts)]
    return [_step(prices, low, high) for low, high in zip(lows, [*starts, MAX_INPUT_TOKENS], strict=True)]


def _step(prices: PriceList, low: int, high: int) -> Step:
    inexact: list[str] = []
    names = {bucket: own_price(at, prices.prices) for bucket, at in BUCKETS.items()}

    def rounded(label: str, value: Decimal) -> int:
        whole = value.to_integral_value(ROUND_HALF_EVEN)
        if whole != value:
            inexact.append(label)
        return int(whole)

    def unit_pico(label: str, name: str) -> int:
        return rounded(label, prices.usd(name, low).scaleb(12) / UNITS[name].per)

    buckets = {
        bucket: None if name is None else rounded(bucket, prices.usd(name, low).scaleb(6))
        for bucket, name in names.items()
    }
    covered = {unit: own_price(at, prices.prices) for unit, at in COUNTED_UNITS.items()}
    units = {unit: unit_pico(unit, name) for unit, name in covered.items() if name is not None}
    units |= {unit: rounded(unit, usd.scaleb(12)) for unit, usd in prices.own_units.items()}
    request = unit_pico("request", REQUEST_PRICE) if REQUEST_PRICE in prices.prices else 0
    inherited = tuple(b for b, name in names.items() if name is not None and is_inherited(b, name))
    return Step(low, high, buckets, units, request, tuple(inexact), inherited)
