"""The token buckets of a step, and which of a model's prices holds for each.

A bucket is a point in the dimensions of genai-prices (direction, token type, modality, lifetime). Its
price is the most specific one that the model has for it, as genai-prices decides it: a bucket without
a price of its own rolls up to its parent. Where two parents compete, there is no price.
"""

from collections.abc import Collection, Mapping
from typing import NamedTuple

from genai_prices.data_units import unit_data

Dimensions = Mapping[str, str]


def _tokens(direction: str, kind: str | None = None, lifetime: str | None = None, modality: str = "text") -> Dimensions:
    more = {"token_type": kind, "cache_ttl": lifetime}
    given = {key: value for key, value in more.items() if value is not None}
    return {"family": "tokens", "direction": direction, "modality": modality, **given}


BUCKETS: Mapping[str, Dimensions] = {
    "input_uncached": _tokens("input"),
    "cache_read": _tokens("input", "cache_read"),
    "cache_write_5m": _tokens("input", "cache_write", "5m"),
    "cache_write_1h": _tokens("input", "cache_write", "1h"),
    "cache_write": _tokens("input", "cache_write"),
    "output": _tokens("output"),
    "reasoning": _tokens("output", "reasoning"),
    "input_audio": _tokens("input", modality="audio"),
    "cache_read_audio": _tokens("input", "cache_read", modality="audio"),
    "output_audio": _tokens("output", modality="audio"),
    "input_image": _tokens("input", modality="image"),
    "cache_read_image": _tokens("input", "cache_read", modality="image"),
    "output_image": _tokens("output", modality="image"),
}
"""Bucket → its place in the dimensions of genai-prices. The order is that of the steps table."""

POLICY_PRICES: Mapping[str, str] = {
    "input": "input_mtok",
    "cache_read": "cache_read_mtok",
    "cache_write": "cache_write_mtok",
    "cache_write_5m": "cache_write_5m_mtok",
    "cache_write_1h": "cache_write_1h_mtok",
    "output": "output_mtok",
    "reasoning": "output_reasoning_mtok",
    "input_audio": "input_audio_mtok",
    "cache_read_audio": "cache_audio_read_mtok",
    "output_audio": "output_audio_mtok",
    "input_image": "input_image_mtok",
    "cache_read_image": "cache_image_read_mtok",
    "output_image": "output_image_mtok",
}
"""Name of a price in `models.yaml` → the name that genai-prices gives it."""


class Unit(NamedTuple):
    """What one price of genai-prices is for."""

    name: str
    """Name of the usage, for example `web_searches`."""
    per: int
    """Number of usages that the price is for."""
    dimensions: Dimensions


UNITS: Mapping[str, Unit] = {
    raw.get("price_key", name): Unit(name, raw["per"], raw["dimensions"]) for name, raw in unit_data.items()
}
"""Price name of genai-prices → its unit."""

COUNTED_UNITS: Mapping[str, Dimensions] = {
    unit.name: unit.dimensions for unit in UNITS.values() if unit.dimensions["family"] not in ("tokens", "requests")
}
"""Units that are no tokens and that a step can report, such as `web_searches`."""

REQUEST_PRICE = "requests_kcount"
"""The price of the call itself, whatever it uses."""


def own_price(dimensions: Dimensions, priced: Collection[str]) -> str | None:
    """Name of the most specific price that covers a point; None where none or several compete."""
    covering = [name for name in priced if UNITS[name].dimensions.items() <= dimensions.items()]
    if not covering:
        return None
    depth = max(len(UNITS[name].dimensions) for name in covering)
    deepest = [name for name in covering if len(UNITS[name].dimensions) == depth]
    return deepest[0] if len(deepest) == 1 else None


def is_inherited(bucket: str, price_name: str) -> bool:
    """True where the bucket is priced by a parent's price, for example reasoning by that of output."""
    priced = UNITS[price_name].dimensions
    # The book prices plain text under the name without a modality.
    return {"modality": "text", **priced} != BUCKETS[bucket]
