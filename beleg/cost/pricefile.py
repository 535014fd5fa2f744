"""Reads the price lists of one row of `models.yaml`, and refuses what looks like a slip."""

from decimal import Decimal

from genai_prices.types import Tier, TieredPrices

from beleg.cost.buckets import POLICY_PRICES, UNITS
from beleg.cost.money import exact_integer, parse_usd
from beleg.cost.pricelist import PriceList
from beleg.cost.reading import MOST_USD, Fields

USD_PER_MTOK_BOUNDS = (Decimal("0.001"), Decimal(1000))
"""Outside of these a price per million tokens is taken for a slip of a factor. Book prices lie between
0.0011 and 600; a price per token typed as per million falls below, one per million typed as per thousand above."""
USD_PER_UNIT_BOUNDS = (Decimal("0.000000001"), Decimal(10))
"""The same for one page, search or second; the dearest in the book is a web search at 0.035."""

_PER = {"million": 1, "thousand": 1000}


class PriceLists:
    """The price lists of one row: standard first, then its variants, which override it price by price."""

    def __init__(self, fields: Fields) -> None:
        self._fields = fields
        self._per = _PER[fields.choice("per", tuple(_PER), "million") or "million"]
        self._units = {name: self._unit(name, raw) for name, raw in fields.mapping("units").items()}
        self._prices: dict[str, Decimal | TieredPrices] = {}

    def standard(self) -> PriceList | None:
        """The row's own list, None where it leaves prices to the book."""
        fields = self._fields
        if not (fields.mapping("prices") or self._units):
            for key in ("tiers", "service_tiers", "batch"):
                if fields.raw.get(key):
                    fields.fail(f"{key} needs prices beside it: a row with prices replaces the book as a whole")
            return None
        self._prices = self._read(fields, "")
        return PriceList("policy", self._prices, self._units)

    def variant(self, raw: object, label: str) -> PriceList:
        """The list of a service tier or of batches: the standard one with the prices that differ."""
        fields = Fields(raw, f"{self._fields.where}, {label}", ("prices", "tiers"))
        return PriceList("policy", self._prices | self._read(fields, f"{label}."), self._units)

    def _read(self, fields: Fields, label: str) -> dict[str, Decimal | TieredPrices]:
        base = {name: self._usd(f"{label}prices", name, v) for name, v in fields.mapping("prices").items()}
        tiers: dict[str, list[Tier]] = {}
        for number, raw in enumerate(fields.items("tiers")):
            place = f"{label}tiers[{number}]"
            tier = Fields(raw, f"{self._fields.where}, {place}", ("above", "from", "prices"))
            for name, value in tier.mapping("prices").items():
                if name not in base:
                    self._fields.fail(f"{place}.{name} has no price below the tier: add {label}prices.{name}")
                tiers.setdefault(name, []).append(Tier(_start(tier), self._usd(place, name, value)))
        return {
            POLICY_PRICES[name]: TieredPrices(usd, tiers[name]) if name in tiers else usd for name, usd in base.items()
        }

    def _usd(self, place: str, name: str, value: object) -> Decimal:
        if name not in POLICY_PRICES:
            self._fields.fail(f"{place} has no price {name!r}; allowed are {', '.join(POLICY_PRICES)}")
        try:
            usd = parse_usd(value) * self._per
            self._plausible(usd, f"{place}.{name}", *USD_PER_MTOK_BOUNDS, "USD per million tokens")
            exact_integer(usd.scaleb(6), "micro-USD per million tokens")
        except ValueError as error:
            self._fields.fail(f"{place}.{name}: {error}")
        return usd

    def _plausible(self, usd: Decimal, place: str, low: Decimal, high: Decimal, unit: str) -> None:
        if self._fields.raw.get("unusual_price") is True:
            low, high = Decimal(0), Decimal(MOST_USD)
        if usd and not low <= usd <= high:
            hint = "check `per` and the decimal point, or set unusual_price: true"
            self._fields.fail(f"{place} is {usd:f} {unit}, outside {low} to {high}: {hint}")

    def _unit(self, name: str, raw: object) -> Decimal:
        fields = Fields(raw, f"{self._fields.where}, units.{name}", ("price", "per"))
        if name in POLICY_PRICES or name in UNITS:
            fields.fail("is a price, not a unit; units are named as in other_units, for example web_searches")
        try:
            usd = parse_usd(fields.raw.get("price"))
        except ValueError as error:
            fields.fail(f"price: {error}")
        each = usd / Decimal(fields.count("per", 1) or 1)
        self._plausible(each, f"units.{name}", *USD_PER_UNIT_BOUNDS, "USD per unit")
        return each


def _start(tier: Fields) -> int:
    """Input tokens that the tier's call exceeds."""
    if ("above" in tier.raw) == ("from" in tier.raw):
        tier.fail("needs either above: N (more than N input tokens) or from: N (N or more)")
    above, since = tier.count("above"), tier.count("from")
    return above if above is not None else (since or 1) - 1
