"""What one call costs. Names in brackets are the public bugs that the test keeps out (issue and tool)."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.cost.support import GPT, NOON, Lake, policies

SONNET = {"provider": "anthropic", "model": "claude-3-7-sonnet-20250219"}
HAIKU = {"provider": "anthropic", "model": "claude-haiku-4-5"}
GEMINI = {"provider": "google", "model": "gemini-2.5-pro"}
GROK = {"provider": "x-ai", "model": "grok-4.3"}


def micro(amount: str) -> int:
    """Micro-USD with decimals as pico-USD."""
    whole, _, rest = amount.partition(".")
    return int(whole + rest.ljust(6, "0"))


def priced(**step: Any) -> Lake:
    lake = Lake()
    lake.step(**step)
    return lake.build(("step_costs",))


BUGS: list[tuple[str, dict[str, str], dict[str, int], str]] = [
    ("C1 langfuse#10592", GPT, {"input_uncached": 86, "cache_read": 17_817}, "22486.25"),
    ("C6 litellm#9812", SONNET, {"input_uncached": 3, "cache_write": 12_304, "output": 550}, "54399"),
    (
        "C7 litellm#14849: a prompt above 200k pays the long-context price for all its tokens",
        GEMINI,
        {"input_uncached": 5_005, "cache_read": 257_955, "output": 1_744},
        "103161.25",
    ),
    (
        "C10 phoenix#10783",
        SONNET,
        {"input_uncached": 3, "output": 442, "cache_read": 7_917, "cache_write": 350},
        "10326.6",
    ),
    (
        "C12 phoenix#13379: cache tokens are no output",
        SONNET,
        {"input_uncached": 4_299, "output": 631, "cache_read": 35_574, "cache_write": 17_787},
        "99735.45",
    ),
    (
        "C4 langfuse: writes under the new name leave three tokens uncached",
        SONNET,
        {"input_uncached": 3, "cache_read": 5_758, "cache_write": 6_174},
        "24888.9",
    ),
    (
        "C5 litellm PR26919: writes are not input as well",
        SONNET,
        {"input_uncached": 10, "cache_write": 1_000},
        "3780",
    ),
    (
        "C15 mlflow#24869",
        HAIKU,
        {"input_uncached": 200, "cache_read": 10_000, "cache_write": 300},
        "1575",
    ),
    ("C25 aider#5516", HAIKU, {"input_uncached": 9, "cache_read": 17_102}, "1719.2"),
    ("C20 langfuse#16321: thinking is output", GEMINI, {"output": 100, "reasoning": 900}, "10000"),
    ("ccusage#899: an hour of cache costs twice the input", SONNET, {"cache_write_1h": 1_000}, "6000"),
    ("ccstats#86: five minutes cost 1.25 of it", SONNET, {"cache_write_5m": 1_000}, "3750"),
    ("C21 opik#4508: a hit in the caller's own cache", GPT, {"input_uncached": 0, "output": 0}, "0"),
]


@pytest.fixture(scope="module")
def bug_costs() -> dict[str, int]:
    lake = Lake()
    for bug, model, buckets, _ in BUGS:
        lake.step(step_id=bug, **model, **buckets)
    return dict(lake.build(("step_costs",)).rows("SELECT step_id, cost_pico_usd FROM step_costs"))


@pytest.mark.parametrize(("bug", "micro_usd"), [(bug, micro_usd) for bug, *_, micro_usd in BUGS])
def test_disjoint_buckets_cost_exactly(bug_costs: dict[str, int], bug: str, micro_usd: str) -> None:
    assert bug_costs[bug] == micro(micro_usd)


def test_a_thousand_calls_of_seven_tokens_cost_1050_micro_usd_not_1000() -> None:
    """C28: rounding each call to micro-USD loses 4.8 %."""
    lake = Lake()
    for _ in range(1_000):
        lake.step(provider="openai", model="gpt-4o-mini", input_uncached=7)
    lake.build(("step_costs",))
    assert lake.one("SELECT sum(cost_pico_usd) FROM step_costs") == 1_050 * 10**6


@pytest.mark.parametrize(
    ("model", "tokens", "usd_per_mtok"),
    [(GEMINI, 200_000, "1.25"), (GEMINI, 200_001, "2.50"), (GROK, 199_999, "1.25"), (GROK, 200_000, "2.50")],
)
def test_a_threshold_knows_whether_it_is_reached_or_exceeded(
    model: dict[str, str], tokens: int, usd_per_mtok: str
) -> None:
    """C23: Google charges more above 200 000 tokens, xAI from 200 000 on."""
    assert priced(**model, input_uncached=tokens).cost() == tokens * micro(usd_per_mtok)


def test_cached_tokens_count_for_the_tier_and_output_does_not() -> None:
    """C22: the threshold is on all input of the call."""
    long = priced(**GEMINI, input_uncached=1, cache_read=200_000)
    assert long.cost() == 2_500_000 + 200_000 * 250_000
    assert priced(**GEMINI, input_uncached=1, output=200_001).cost() == 1_250_000 + 200_001 * 10_000_000


def test_a_dated_price_changes_at_its_instant(tmp_path: Path) -> None:
    """M4 models.dev#4006: a call is priced as of its own time, old calls keep their price."""
    change = datetime(2026, 6, 15, 12, tzinfo=UTC)
    rows = """
    models:
      - {provider: openai, model: gpt-4o, valid_from: 2026-01-01, prices: {input: "2"}}
      - {provider: openai, model: gpt-4o, valid_from: 2026-06-15T14:00:00+02:00, prices: {input: "1"}}
    """
    lake = Lake(policies(tmp_path, rows))
    lake.step(**GPT, at=change - timedelta(microseconds=1), input_uncached=1)
    lake.step(**GPT, at=change, input_uncached=1)
    lake.build(("step_costs",))
    assert lake.rows("SELECT cost_pico_usd FROM step_costs") == [(2_000_000,), (1_000_000,)]


def test_a_book_price_changes_at_utc_midnight() -> None:
    lake = Lake()
    for at in (datetime(2026, 4, 29, 23, 59, 59, 999_999, tzinfo=UTC), datetime(2026, 4, 30, tzinfo=UTC)):
        lake.step(provider="x-ai", model="grok-4.20", at=at, output=1)
    lake.build(("step_costs",))
    assert lake.rows("SELECT cost_pico_usd FROM step_costs") == [(6_000_000,), (2_500_000,)]


@pytest.mark.parametrize(("minute", "usd_per_mtok"), [(29, "0.135"), (30, "0.27")])
def test_a_daily_window_opens_at_its_minute(minute: int, usd_per_mtok: str) -> None:
    at = datetime(2026, 6, 15, 0, minute, 59, tzinfo=UTC)
    assert priced(provider="deepseek", model="deepseek-chat", at=at, input_uncached=1).cost() == micro(usd_per_mtok)


def test_a_service_tier_and_a_batch_have_prices_of_their_own() -> None:
    """litellm#13810, dust-tt PR23702."""
    after = datetime(2026, 10, 20, tzinfo=UTC)
    call = {"provider": "openai", "model": "gpt-4.1", "at": after, "output": 1}
    assert priced(**call).cost() == 8_000_000
    assert priced(**call, service_tier="default").cost() == 8_000_000
    assert priced(**call, service_tier="priority").cost() == 14_000_000
    assert priced(**call, batch=True).cost() == 4_000_000


def test_reasoning_has_its_own_price_where_the_model_has_one() -> None:
    call = {"provider": "perplexity", "model": "sonar-deep-research"}
    assert priced(**call, output=1).cost() == 8_000_000
    assert priced(**call, reasoning=1).cost() == 3_000_000


def test_units_that_are_no_tokens_cost_per_unit() -> None:
    """A web search, a page, a second; a request fee where the model has one."""
    assert priced(**HAIKU, input_uncached=0, other_units={"web_searches": 3}).cost() == 3 * 10**10
    pages = priced(kind="tool", provider="mistral", model="mistral-ocr-2512", other_units={"input_document_pages": 5})
    assert pages.cost() == 5 * 2 * 10**9
    assert priced(provider="perplexity", model="sonar", input_uncached=1).cost() == 1_000_000 + 12 * 10**9


REASONS: list[tuple[str, dict[str, Any]]] = [
    ("unknown_provider", {"provider": "nobody", "model": "gpt-4o", "output": 1}),
    ("unknown_model", {"provider": "openai", "model": "gpt-from-the-future", "output": 1}),
    ("no_model", {"provider": "openai", "output": 1}),
    ("missing_usage", {**GPT}),
    ("no_price_for_bucket:output", {"provider": "openai", "model": "text-embedding-3-small", "output": 1}),
    ("no_price_for_unit:moon_landings", {**GPT, "output": 1, "other_units": {"moon_landings": 1}}),
    ("no_price_for_service_tier:scale", {**GPT, "output": 1, "service_tier": "scale"}),
    ("no_price_for_batch", {"provider": "cohere", "model": "command-r", "output": 1, "batch": True}),
    ("no_price_at_that_time", {"provider": "openai", "model": "gpt-4.1", "output": 1, "batch": True}),
    ("out_of_range", {"provider": "openai", "model": "o1-pro", "output": 10**12}),
]


def test_an_unknown_price_is_null_with_its_reason_never_zero() -> None:
    """litellm#21023: spend of zero hides what was spent."""
    lake = Lake()
    for reason, step in REASONS:
        lake.step(step_id=reason, **step)
    lake.build(("step_costs",))
    rows = lake.rows("SELECT step_id, unpriced_reason, priced, cost_pico_usd FROM step_costs")
    assert sorted(rows) == sorted((reason, reason, False, None) for reason, _ in REASONS)


def test_an_empty_bucket_needs_no_price() -> None:
    assert priced(provider="openai", model="text-embedding-3-small", input_uncached=1, output=0).cost() == 20_000


def test_a_tool_without_usage_has_nothing_to_price() -> None:
    lake = priced(kind="tool", tool_name="ledger")
    assert lake.rows("SELECT priced, cost_pico_usd FROM step_costs") == [(True, 0)]


def test_the_largest_cost_that_fits_is_kept_exact() -> None:
    """int64 holds 9.2 million USD; one token more is out of range, not wrapped."""
    fits = (2**63 - 1) // 600_000_000
    call = {"provider": "openai", "model": "o1-pro"}
    assert priced(**call, output=fits).cost() == fits * 600_000_000
    assert priced(**call, output=fits + 1).cost() is None


def test_a_rounded_book_price_is_labelled_on_the_step() -> None:
    late = datetime(2026, 11, 1, tzinfo=UTC)
    lake = priced(provider="openrouter", model="google/gemini-2.5-flash", at=late, cache_write=10)
    assert lake.rows("SELECT cost_pico_usd, price_inexact FROM step_costs") == [(10 * 83_333, True)]


NAMES: list[tuple[str | None, str, str]] = [
    ("openai", "gpt-4o-2024-08-06", "openai/gpt-4o"),
    ("openai", "gpt-4o-mini-search-preview", "openai/gpt-4o-mini"),
    ("anthropic", "claude-3-5-haiku-latest", "anthropic/claude-3-5-haiku-latest"),
    ("anthropic", "claude-haiku-4-5-20251001", "anthropic/claude-haiku-4-5"),
    (
        "bedrock",
        "us.anthropic.claude-haiku-4-5-20251001-v1:0",
        "aws/regional.anthropic.claude-haiku-4-5-20251001-v1:0",
    ),
    ("azure", "gpt-4o", "azure/openai/gpt-4o"),
    (None, "claude-haiku-4-5", "anthropic/claude-haiku-4-5"),
]


def test_a_name_finds_its_model_and_not_its_cheaper_cousin() -> None:
    """M1 langflow-e2e#1211, M3 langfuse PR13254."""
    lake = Lake()
    for provider, model, key in NAMES:
        lake.step(step_id=key, provider=provider, model=model, input_uncached=1)
    lake.build(("step_costs",))
    assert lake.rows("SELECT step_id, price_key FROM step_costs WHERE price_key IS DISTINCT FROM step_id") == []


def test_steps_of_an_unknown_run_keep_their_cost() -> None:
    lake = Lake()
    lake.step("never started", **GPT, output=1, tenant="acme")
    lake.build()
    assert lake.rows("SELECT workflow, tenant, cost_pico_usd FROM step_costs") == [(None, "acme", 10_000_000)]
    assert lake.rows("SELECT workflow, tenant, cost_pico_usd FROM unit_costs") == [(None, "acme", 10_000_000)]
    assert lake.rows("SELECT * FROM run_costs") == []


def test_the_same_instant_in_another_offset_has_the_same_price() -> None:
    at = datetime.fromisoformat("2026-06-15T14:00:00+02:00")
    assert at == NOON
    assert priced(**GPT, at=at, output=1).cost() == priced(**GPT, at=NOON, output=1).cost()
