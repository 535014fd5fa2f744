"""How much the prompt cache held, and what that saved."""

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cost.support import GPT, Lake, policies

CLAUDE = {"provider": "anthropic", "model": "claude-sonnet-4-5"}
"""3.00 in, 0.30 read, 3.75 written for five minutes, 6.00 for an hour, USD per million tokens."""
SUMS = "reported_input_tokens, cache_read_tokens, cache_write_tokens, net_savings_pico_usd, unknown_savings_steps"


def test_reads_save_and_writes_cost_a_premium() -> None:
    lake = Lake()
    lake.start()
    lake.step(**CLAUDE, input_uncached=10, cache_read=100, cache_write_5m=40, cache_write_1h=5, output=1)
    saved = 100 * (3_000_000 - 300_000) - 40 * (3_750_000 - 3_000_000) - 5 * (6_000_000 - 3_000_000)
    assert lake.build().rows(f"SELECT {SUMS} FROM cache_efficiency") == [(155, 100, 45, saved, 0)]


def test_writing_without_reading_is_a_loss() -> None:
    lake = Lake()
    lake.start()
    lake.step(**CLAUDE, cache_read=0, cache_write_5m=1000, output=1)
    assert lake.build().one("SELECT net_savings_pico_usd FROM cache_efficiency") == -1000 * 750_000


def test_a_call_that_is_silent_about_the_cache_is_in_no_share() -> None:
    lake = Lake()
    lake.start()
    lake.step(**GPT, input_uncached=900)
    lake.step(**GPT, input_uncached=50, cache_read=50)
    columns = f"model_steps, reporting_steps, hit_steps, input_tokens, {SUMS}"
    assert lake.build().rows(f"SELECT {columns} FROM cache_efficiency") == [
        (2, 1, 1, 1000, 100, 50, 0, 50 * 1_250_000, 0)
    ]


def test_savings_of_a_model_without_a_price_are_unknown_not_zero(tmp_path: Path) -> None:
    lake = Lake(policies(tmp_path))
    lake.start()
    lake.step(provider="openai", model="gpt-from-the-future", input_uncached=1, cache_read=9)
    assert lake.build().rows(f"SELECT {SUMS} FROM cache_efficiency") == [(10, 9, 0, 0, 1)]
    assert lake.one("SELECT cache_savings_pico_usd FROM step_costs") is None


@settings(max_examples=20)
@given(st.lists(st.tuples(*[st.integers(0, 10**7)] * 3), min_size=1, max_size=5))
def test_cost_and_savings_together_are_the_cost_without_any_cache(calls: list[tuple[int, int, int]]) -> None:
    lake = Lake()
    lake.start()
    for uncached, read, written in calls:
        lake.step(**CLAUDE, input_uncached=uncached, cache_read=read, cache_write_5m=written, output=1)
    lake.build(("step_costs", "run_costs", "cache_efficiency"))
    tiered = "cost_pico_usd + cache_savings_pico_usd - 15000000 = total_input_tokens * 3000000"
    doubled = "cost_pico_usd + cache_savings_pico_usd - 22500000 = total_input_tokens * 6000000"
    assert lake.one(f"SELECT bool_and({tiered} OR {doubled}) FROM step_costs") is True
    assert lake.one("SELECT sum(net_savings_pico_usd) FROM cache_efficiency") == lake.one(
        "SELECT sum(cache_savings_pico_usd) FROM step_costs"
    )
