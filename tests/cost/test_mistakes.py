"""A source's own cost of a call: which side is wrong, by the arithmetic of known mistakes of tools."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beleg.core.errors import UsageError
from beleg.cost.book import PriceBook
from beleg.cost.crosscheck import crosscheck
from beleg.cost.figures import Period
from beleg.cost.mistakes import Compared, verdict
from beleg.cost.policy import ModelPolicies
from tests.cost.support import NOON, Lake

SONNET = {"input_uncached": 3, "cache_read": 0.3, "cache_write": 3.75, "output": 15, "reasoning": 15}
HAIKU = {"input_uncached": 1, "cache_read": 0.1, "cache_write": 1.25, "output": 5, "reasoning": 5}


def compared(
    source_micro_usd: float, prices: dict[str, float], counts: dict[str, int], evidence: str = "identity"
) -> Compared:
    """A call with prices in USD per million tokens, so micro-USD a token."""
    pico = {bucket: round(price * 10**6) for bucket, price in prices.items()}
    ours = sum(count * pico[bucket] for bucket, count in counts.items())
    return Compared(round(source_micro_usd * 10**6), ours, counts, pico, pico, False, False, evidence)


ROWS: list[tuple[str, float, dict[str, float], dict[str, int], str]] = [
    ("c25_aider_5516_cached_at_full_price_and_again", 18_821.2, {"input_uncached": 1, "cache_read": 0.1},
     {"input_uncached": 9, "cache_read": 17_102}, "source_counts_cache_reads_twice"),
    ("c15_mlflow_24869_cached_as_uncached", 10_500, HAIKU,
     {"input_uncached": 200, "cache_read": 10_000, "cache_write": 300}, "source_prices_cached_as_uncached"),
    ("c17_opik_6969_no_discount_for_cached", 10_200, HAIKU,
     {"input_uncached": 200, "cache_read": 10_000}, "source_prices_cache_reads_as_uncached"),
    ("c5_litellm_26919_cache_writes_twice", 54_399 + 12_304 * 3, SONNET,
     {"input_uncached": 3, "cache_read": 0, "cache_write": 12_304, "output": 550}, "source_counts_cache_writes_twice"),
    ("c6_litellm_9812", 91_311, SONNET,
     {"input_uncached": 3, "cache_read": 0, "cache_write": 12_304, "output": 550}, "source_counts_cache_writes_twice"),
    ("c8_litellm_40006_cached_again", 200 + 10_000 * 1.1, HAIKU,
     {"input_uncached": 200, "cache_read": 10_000}, "source_counts_cache_reads_twice"),
    ("c10_phoenix_10783_cached_as_output", 10_326.6 + 8_267 * 15, SONNET,
     {"input_uncached": 3, "cache_read": 7_917, "cache_write": 350, "output": 442}, "source_prices_cached_as_output"),
    ("c20_langfuse_16321_thinking_left_out", 5 * 1 + 845 * 5, HAIKU,
     {"input_uncached": 5, "output": 845, "reasoning": 1_173}, "source_leaves_out_reasoning"),
    ("reasoning_twice", 5 * 1 + 845 * 5 + 2 * 1_173 * 5, HAIKU,
     {"input_uncached": 5, "output": 845, "reasoning": 1_173}, "source_counts_reasoning_twice"),
    ("equal", 1_675, HAIKU, {"input_uncached": 200, "cache_read": 10_000, "cache_write": 300, "output": 20}, "equal"),
    ("rounded_to_micro_usd", 1_719, {"input_uncached": 1, "cache_read": 0.1},
     {"input_uncached": 9, "cache_read": 17_102}, "rounded"),
    ("other_prices", 1_234.5, HAIKU, {"input_uncached": 200, "output": 20}, "unexplained"),
]  # fmt: skip


@pytest.mark.parametrize(("micro_usd", "prices", "counts", "said"), [row[1:] for row in ROWS], ids=[r[0] for r in ROWS])
def test_the_arithmetic_tells_the_mistake(
    micro_usd: float, prices: dict[str, float], counts: dict[str, int], said: str
) -> None:
    assert verdict(compared(micro_usd, prices, counts)) == said


def test_where_the_convention_is_only_a_habit_neither_side_is_proved_wrong() -> None:
    counts = {"input_uncached": 9, "cache_read": 17_102}
    assert verdict(compared(18_821.2, HAIKU, counts, "provider_rule")) == "convention_disputed"
    assert verdict(compared(18_821.2, HAIKU, counts, "declared")) == "source_counts_cache_reads_twice"


def test_c21_a_cost_on_a_cached_answer_is_the_sources_mistake() -> None:
    call = compared(1_675, HAIKU, {"input_uncached": 0, "output": 0})._replace(is_cached_answer=True)
    assert verdict(call) == "source_bills_a_cached_answer"


@given(st.integers(0, 10**15), st.dictionaries(st.sampled_from(sorted(HAIKU)), st.integers(0, 10**6)))
def test_a_mistake_is_claimed_only_where_ours_differs(pico: int, counts: dict[str, int]) -> None:
    call = compared(0, HAIKU, counts)
    assert verdict(call._replace(source_pico_usd=call.computed_pico_usd)) == "equal"
    said = verdict(call._replace(source_pico_usd=pico))
    assert said == "equal" or abs(pico - call.computed_pico_usd) > 2


# -- over the marts -----------------------------------------------------------------------------------

GEMINI = {"provider": "google", "model": "gemini-2.5-pro"}


def checked(lake: Lake, by: str = "model", **more: Any) -> list[tuple[Any, ...]]:
    lake.build(("step_costs",))
    found = crosscheck(lake.con, PriceBook(ModelPolicies()), Period(), by=by, **more)
    return [(one.group["verdict"], one.steps, one.source_pico_usd, one.computed_pico_usd) for one in found]


def cost(pico: int) -> dict[str, float]:
    return {"source_cost_pico_usd": float(pico)}


def test_c7_c22_the_context_tier_is_found_out() -> None:
    """litellm#14849: 262 960 input tokens are above the threshold of 200 000, cached ones included."""
    lake = Lake()
    counts = {"input_uncached": 5_005, "cache_read": 257_955, "output": 1_744}
    low = 5_005 * 1_250_000 + 257_955 * 125_000 + 1_744 * 10_000_000
    lake.step(**GEMINI, **counts, raw_usage=cost(low))
    lake.step(**GEMINI, **counts, raw_usage=cost(103_161_250_000))
    assert checked(lake) == [
        ("equal", 1, 103_161_250_000, 103_161_250_000),
        ("source_ignores_the_context_tier", 1, low, 103_161_250_000),
    ]


def test_calls_without_a_price_of_ours_and_repeated_ones_stand_apart() -> None:
    lake = Lake()
    lake.step(provider="azure", model="my-deployment", output=1, raw_usage=cost(7))
    lake.step(call_key="k", provider="openai", model="gpt-4o", output=1, raw_usage=cost(10_000_000))
    lake.step(call_key="k", provider="openai", model="gpt-4o", output=1, raw_usage=cost(10_000_000))
    lake.step(provider="openai", model="gpt-4o", output=1)
    assert checked(lake) == [("no_price_of_ours", 1, 7, None), ("equal", 1, 10_000_000, 10_000_000)]


def test_differences_are_shown_by_call_and_by_day() -> None:
    lake = Lake()
    for day in range(3):
        at = NOON + timedelta(days=day)
        lake.step(f"r{day}", provider="openai", model="gpt-4o", output=1, at=at, raw_usage=cost(10_000_000 + day * 77))
    assert [said for said, *_ in checked(lake, "call")] == ["unexplained", "unexplained"]
    assert [steps for _, steps, *_ in checked(lake, "day")] == [1, 1, 1]
    with pytest.raises(UsageError, match="allowed are model, day, call"):
        checked(lake, "week")


def test_the_answer_is_the_same_as_shown_and_exact() -> None:
    lake = Lake()
    lake.step(provider="openai", model="gpt-4o", output=1, raw_usage=cost(10_000_077))
    lake.build(("step_costs",))
    (row,) = (one.record() for one in crosscheck(lake.con, PriceBook(ModelPolicies()), Period(), by="day"))
    assert (row["source_usd"], row["computed_usd"], row["difference_usd"], row["business_day"]) == (
        "0.000010000077", "0.00001", "0.000000000077", "2026-06-15",
    )  # fmt: skip
