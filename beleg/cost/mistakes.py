"""Why a source's own cost of a call differs from ours, where the arithmetic proves it.

Each known mistake of a tool is a formula over the call's buckets and prices. A mistake is proved where its
formula gives the source's figure to the pico-USD; whatever else differs stays unexplained.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from beleg.cost.money import PICO_PER_MICRO

Counts = Mapping[str, int]
"""Bucket → tokens."""
Prices = Mapping[str, int]
"""Bucket → pico-USD a token; a bucket without a price is absent."""

_NOISE_PICO = 2
"""What binary fractions may add to a sum of a few products below 1000 USD."""
_READS = ("cache_read", "cache_read_audio", "cache_read_image")
_WRITES = ("cache_write", "cache_write_5m", "cache_write_1h")
_CACHED = (*_READS, *_WRITES)
_ROUNDINGS = (PICO_PER_MICRO, 1000)
"""Sources that keep micro-USD or nano-USD."""


class Compared(NamedTuple):
    """One call with both costs; `prices` is what ours was computed with."""

    source_pico_usd: int
    computed_pico_usd: int
    counts: Counts
    prices: Prices
    low_prices: Prices
    """The prices of the lowest context tier."""
    batch: bool
    is_cached_answer: bool
    convention_evidence: str | None


def verdict(call: Compared) -> str:
    """`equal`, `rounded`, a proved mistake (`source_…`), `convention_disputed` or `unexplained`."""
    ours, theirs = call.computed_pico_usd, call.source_pico_usd
    if abs(theirs - ours) <= _NOISE_PICO:
        return "equal"
    if any(theirs % unit == 0 and 2 * abs(theirs - ours) <= unit for unit in _ROUNDINGS):
        return "rounded"
    if call.is_cached_answer:
        return "source_bills_a_cached_answer"
    name = next((name for name, formula in MISTAKES.items() if _explains(formula, call)), None)
    if name is None:
        return "unexplained"
    # Whether the input held the cached tokens was only the provider's habit: then neither side is proved wrong.
    guessed = name in _ABOUT_CONVENTION and call.convention_evidence == "provider_rule"
    return "convention_disputed" if guessed else name


def _explains(formula: Callable[[Compared], int | None], call: Compared) -> bool:
    wrong = formula(call)
    if wrong is None or wrong == call.computed_pico_usd:
        return False
    return abs(wrong - call.source_pico_usd) <= _NOISE_PICO


def _cost(counts: Counts, prices: Prices) -> int | None:
    if any(count and bucket not in prices for bucket, count in counts.items()):
        return None
    return sum(count * prices[bucket] for bucket, count in counts.items() if count)


@dataclass(frozen=True)
class _Moved:
    """Tokens of some buckets priced as another one, or as none."""

    buckets: tuple[str, ...]
    to: str | None
    kept: bool = False
    """True where they are priced as their own bucket as well."""

    def __call__(self, call: Compared) -> int | None:
        moved = sum(call.counts.get(bucket, 0) for bucket in self.buckets)
        counts = {bucket: count for bucket, count in call.counts.items() if self.kept or bucket not in self.buckets}
        if self.to is not None:
            counts[self.to] = counts.get(self.to, 0) + moved
        return _cost(counts, call.prices)


MISTAKES: Mapping[str, Callable[[Compared], int | None]] = {
    "source_prices_cache_reads_as_uncached": _Moved(_READS, "input_uncached"),
    "source_prices_cache_writes_as_uncached": _Moved(_WRITES, "input_uncached"),
    "source_prices_cached_as_uncached": _Moved(_CACHED, "input_uncached"),
    "source_counts_cache_reads_twice": _Moved(_READS, "input_uncached", kept=True),
    "source_counts_cache_writes_twice": _Moved(_WRITES, "input_uncached", kept=True),
    "source_counts_cached_twice": _Moved(_CACHED, "input_uncached", kept=True),
    "source_prices_cached_as_output": _Moved(_CACHED, "output", kept=True),
    "source_leaves_out_cached": _Moved(_CACHED, None),
    "source_leaves_out_reasoning": _Moved(("reasoning",), None),
    "source_counts_reasoning_twice": _Moved(("reasoning",), "output", kept=True),
    "source_ignores_the_context_tier": lambda call: _cost(call.counts, call.low_prices),
    "source_ignores_the_batch_discount": lambda call: 2 * call.computed_pico_usd if call.batch else None,
}
"""Name of a mistake → what the call costs for whom makes it. The narrower ones first: without cache writes,
all that is cached is what was read, and both names mean the same."""
_ABOUT_CONVENTION = frozenset(name for name in MISTAKES if name.endswith("_twice") and "cache" in name)
"""Mistakes that are none if the input did not hold the cached tokens."""
