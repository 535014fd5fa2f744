"""The price book against genai-prices' own arithmetic."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import groupby
from pathlib import Path

import pytest
from genai_prices import Usage, calc_price
from genai_prices.data import providers
from genai_prices.types import ModelPrice, TieredPrices
from hypothesis import given, settings
from hypothesis import strategies as st

from beleg.cost.book import Call, PriceBook, book_calls, book_rows
from beleg.cost.buckets import BUCKETS
from beleg.cost.listing import inexact_records
from beleg.cost.policy import ModelPolicies
from beleg.cost.pricelist import MAX_INPUT_TOKENS
from beleg.cost.subject import BEGINNING, END
from tests.cost.support import Lake, policies

CALLS = book_calls()
PLAIN = PriceBook(ModelPolicies())


def genai_usage(buckets: Mapping[str, int]) -> Usage:
    """Disjoint buckets as the overlapping counts that genai-prices takes."""
    inputs = [b for b, at in BUCKETS.items() if at["direction"] == "input"]
    outputs = [b for b, at in BUCKETS.items() if at["direction"] == "output"]

    def total(*names: str) -> int:
        return sum(buckets.get(name, 0) for name in names)

    return Usage(
        input_tokens=total(*inputs),
        output_tokens=total(*outputs),
        cache_read_tokens=total("cache_read", "cache_read_audio", "cache_read_image"),
        cache_write_tokens=total("cache_write", "cache_write_5m", "cache_write_1h"),
        cache_write_5m_tokens=total("cache_write_5m"),
        cache_write_1h_tokens=total("cache_write_1h"),
        output_reasoning_tokens=total("reasoning"),
        input_audio_tokens=total("input_audio", "cache_read_audio"),
        cache_audio_read_tokens=total("cache_read_audio"),
        output_audio_tokens=total("output_audio"),
        input_image_tokens=total("input_image", "cache_read_image"),
        cache_image_read_tokens=total("cache_read_image"),
        output_image_tokens=total("output_image"),
    )


def expected_pico(
    call: Call, buckets: Mapping[str, int], at: datetime, context: Mapping[str, str] | None = None
) -> Decimal:
    assert call.model is not None
    price = calc_price(
        genai_usage(buckets),
        call.model,
        provider_id=call.provider,
        genai_request_timestamp=at,
        price_context=context,
    )
    return price.total_price * 10**12


TOKENS = st.dictionaries(st.sampled_from(list(BUCKETS)), st.integers(1, 400_000), min_size=1, max_size=6)
MOMENTS = st.integers(0, 3 * 365 * 24 * 60).map(
    lambda minute: datetime(2024, 6, 1, tzinfo=UTC) + timedelta(minutes=minute)
)


@given(st.lists(st.tuples(st.sampled_from(CALLS), TOKENS, MOMENTS), min_size=150, max_size=150))
@settings(max_examples=3, deadline=None)
def test_sql_prices_equal_genai_prices_to_the_last_digit(steps: list[tuple[Call, dict[str, int], datetime]]) -> None:
    lake = Lake()
    for number, (call, buckets, at) in enumerate(steps):
        lake.step(step_id=f"{number:03}", provider=call.provider, model=call.model, at=at, **buckets)
    lake.build(("step_costs",))
    rows = lake.rows("SELECT cost_pico_usd, unpriced_reason, price_inexact FROM step_costs ORDER BY step_id")
    for (call, buckets, at), (pico, reason, inexact) in zip(steps, rows, strict=True):
        if pico is None:
            assert reason.startswith("no_price_for_bucket:"), (call, reason)
        elif inexact:
            # Each price is off by at most half a micro-USD per million tokens.
            assert abs(pico - expected_pico(call, buckets, at)) <= Decimal(sum(buckets.values())) / 2
        else:
            assert pico == expected_pico(call, buckets, at), (call, buckets, at)


@pytest.mark.parametrize("variant", ["flex", "priority", "batch"])
def test_variants_equal_genai_prices_wherever_the_book_has_them(variant: str) -> None:
    at = datetime(2026, 11, 1, tzinfo=UTC)
    context = {"processing": "batch"} if variant == "batch" else {"service_tier": variant}
    buckets = {"input_uncached": 1_000, "output": 200}
    compared = 0
    for plain in CALLS:
        call = plain._replace(batch=True) if variant == "batch" else plain._replace(service_tier=variant)
        key = PLAIN.resolve(call).price_key
        for row in PLAIN.rows(key) if key else ():
            holds = (
                row.valid_from <= at < row.valid_to and row.step.min_input_tokens <= 1_000 <= row.step.max_input_tokens
            )
            if holds and not any(row.step.buckets[bucket] is None for bucket in buckets):
                pico = sum(tokens * (row.step.buckets[b] or 0) for b, tokens in buckets.items())
                assert pico == expected_pico(call, buckets, at, context)
                compared += 1
    assert compared >= {"flex": 20, "priority": 20, "batch": 90}[variant]


def test_the_rows_of_a_model_cover_each_moment_and_input_length_once() -> None:
    for key, group in groupby(book_rows(), key=lambda row: row.price_key):
        rows = list(group)
        assert rows[0].valid_from == BEGINNING
        assert rows[-1].valid_to == END
        for moment in {row.valid_from for row in rows}:
            held = [row for row in rows if row.valid_from <= moment < row.valid_to]
            windows = sorted({(row.from_minute, row.to_minute) for row in held})
            assert [opens for opens, _ in windows] == [0, *(closes for _, closes in windows[:-1])], key
            assert windows[-1][1] == 24 * 60
            for window in windows:
                tiers = [row.step for row in held if (row.from_minute, row.to_minute) == window]
                lows = [0, *(step.max_input_tokens + 1 for step in tiers[:-1])]
                assert [step.min_input_tokens for step in tiers] == lows, key
                assert tiers[-1].max_input_tokens == MAX_INPUT_TOKENS


def test_every_model_of_the_book_has_a_key_of_its_own() -> None:
    keys = [key for key, _ in groupby(book_rows(), key=lambda row: row.price_key)]
    assert len(keys) == len(set(keys)) > 2_000


def fractional(prices: ModelPrice) -> bool:
    tiered = [
        p if isinstance(p, TieredPrices) else TieredPrices(p, []) for k, p in prices.__dict__.items() if "_mtok" in k
    ]
    return any(usd.scaleb(6) % 1 for price in tiered for usd in (price.base, *(tier.price for tier in price.tiers)))


def test_exactly_the_fractional_token_prices_of_the_book_are_listed_as_rounded() -> None:
    expected = {
        f"{provider.id}/{model.id}"
        for provider in providers
        for model in provider.models
        for held in ([model.prices] if isinstance(model.prices, ModelPrice) else [c.prices for c in model.prices])
        if fractional(held)
    }
    listed = {r["price_key"] for r in inexact_records() if set(r["inexact"]) & set(BUCKETS)}
    assert listed == expected
    assert len(expected) >= 20


def test_a_bucket_without_a_price_of_its_own_is_listed_as_inherited() -> None:
    key = PLAIN.resolve(Call("openai", "gpt-4o", None, None)).price_key
    (row,) = PLAIN.rows(key or "")
    assert row.step.buckets["reasoning"] == row.step.buckets["output"] == 10_000_000
    assert "reasoning" in row.step.inherited
    assert not {"input_uncached", "cache_read", "output"} & set(row.step.inherited)


def test_the_digest_changes_with_what_can_change_a_price_and_with_nothing_else(tmp_path: Path) -> None:
    def digest(models: str) -> str:
        return PriceBook(policies(tmp_path, models).models).digest

    row = "models: [{provider: openai, model: gpt-4o, valid_from: 2026-01-01%s}]"
    assert digest("models: []") == PLAIN.digest == digest(row % ", risk_level: low")
    priced = row % ", prices: {input: '1'}"
    assert digest(priced) == digest(row % ", prices: {input: '1'}, risk_level: low, run_budget_usd: '1'")
    others = [
        row % ", prices: {input: '2'}",
        priced.replace("2026-01-01", "2026-01-02"),
        row % ", prices: {input: '1'}, batch: {prices: {input: '1'}}",
        row % ", prices: {input: '1'}, units: {pages: {price: '1'}}",
        "aliases: [{match: a/*, to: b/*, why: c}]",
    ]
    assert len({PLAIN.digest, digest(priced), *map(digest, others)}) == 2 + len(others)
