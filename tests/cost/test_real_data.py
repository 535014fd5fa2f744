"""Real calls with known answers."""

import csv
import json
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from beleg.core.paths import shipped
from beleg.cost.modelfile import load_models
from beleg.cost.policies import Policies
from tests.cost.support import Lake

BILLED_TOTAL_PICO_USD = 224_489_204_600_000
UNBILLED_TOTAL_MICRO_USD = 5_970_000


@pytest.fixture(scope="module")
def swebench(test_data: Path) -> Lake:
    """20 163 calls of one agent: through OpenRouter with a bill, or directly to Google without one."""
    lake = Lake(Policies(models=load_models(shipped("contracts", "policies", "models.yaml"))))
    with (test_data / "swebench-llm-calls" / "llm_calls.csv").open(encoding="utf-8", newline="") as file:
        for number, call in enumerate(csv.DictReader(file)):
            billed = call["cost_usd"]
            cached, completion = int(call["cached_tokens"] or 0), int(call["completion_tokens"])
            reasoning = int(call["reasoning_tokens"] or 0)
            conflict = reasoning > completion
            lake.step(
                call["instance_id"],
                at=datetime.fromtimestamp(int(float(call["created"])), UTC),
                step_id=str(number),
                provider="openrouter" if billed else "google",
                model=call["model"],
                input_uncached=int(call["prompt_tokens"]) - cached,
                cache_read=cached,
                output=completion if conflict else completion - reasoning,
                reasoning=None if conflict else reasoning,
                usage_check="conflict" if conflict else "ok",
                billed_pico_usd=int(Decimal(billed).scaleb(12)) if billed else None,
            )
    return lake.build(("step_costs", "reconciliation"))


def test_the_alias_rule_alone_reaches_the_exact_bill(swebench: Lake) -> None:
    assert not swebench.policies.models.rows_of("openrouter", "google/gemini-3-pro-preview")
    assert all(row.standard is None for row in swebench.policies.models.rows)
    billed = swebench.rows(
        "SELECT count(*), CAST(sum(cost_pico_usd) AS DECIMAL(38, 0)), sum(billed_pico_usd), "
        "count(*) FILTER (cost_pico_usd = billed_pico_usd), count(*) FILTER (price_source = 'book') "
        "FROM step_costs WHERE billed_pico_usd IS NOT NULL"
    )
    assert billed == [(19_584, BILLED_TOTAL_PICO_USD, BILLED_TOTAL_PICO_USD, 19_584, 19_584)]


def test_calls_without_a_bill_are_priced_the_same_way(swebench: Lake) -> None:
    ((calls, pico, unpriced),) = swebench.rows(
        "SELECT count(*), sum(cost_pico_usd), count(*) FILTER (NOT priced) FROM step_costs "
        "WHERE billed_pico_usd IS NULL"
    )
    assert (calls, unpriced) == (579, 0)
    assert round(pico / 10**10) == UNBILLED_TOTAL_MICRO_USD // 10**4
    assert swebench.one("SELECT count(*) FROM step_costs WHERE usage_check = 'conflict'") == 20


def test_reconciliation_finds_no_difference(swebench: Lake) -> None:
    names = "sum(compared_steps), sum(equal_steps), sum(difference_pico_usd), sum(unbilled_priced_steps)"
    assert swebench.rows(f"SELECT {names} FROM reconciliation") == [(19_584, 19_584, 0, 579)]


AS_OF = datetime(2026, 1, 1, 12, tzinfo=UTC)
"""The expected prices were written down before the price changes of 2026, at DeepSeek's daytime price."""

HELD = {
    "input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "cache_write_5m_tokens",
    "cache_write_1h_tokens", "output_reasoning_tokens", "input_audio_tokens", "cache_audio_read_tokens",
    "output_audio_tokens", "input_image_tokens", "cache_image_read_tokens", "output_image_tokens",
    "input_text_tokens", "output_text_tokens", "cache_text_read_tokens", "web_searches",
}  # fmt: skip
"""Usage of genai-prices that our buckets and units can hold; video and tool-use tokens they cannot."""


def disjoint(usage: dict[str, int]) -> dict[str, int]:
    """genai-prices' overlapping counts as disjoint buckets."""

    def count(name: str) -> int:
        return usage.get(f"{name}_tokens", 0)

    read_audio, read_image = count("cache_audio_read"), count("cache_image_read")
    read = count("cache_read") - read_audio - read_image
    timed = count("cache_write_5m") + count("cache_write_1h")
    parts = {
        "cache_read": read,
        "cache_read_audio": read_audio,
        "cache_read_image": read_image,
        "cache_write_5m": count("cache_write_5m"),
        "cache_write_1h": count("cache_write_1h"),
        "cache_write": count("cache_write") - timed,
        "input_audio": count("input_audio") - read_audio,
        "input_image": count("input_image") - read_image,
    }
    outputs = {
        "reasoning": count("output_reasoning"),
        "output_audio": count("output_audio"),
        "output_image": count("output_image"),
    }
    inputs = {"input_uncached": count("input") - sum(parts.values()), **parts}
    return {**inputs, "output": count("output") - sum(outputs.values()), **outputs}


def expectations(path: Path) -> Iterator[tuple[dict[str, Any], dict[str, int], str]]:
    """Each price that genai-prices' own tests expect: extractor, usage and model."""
    for line in path.read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        for extracted in entry["extracted"]:
            for extractor in extracted["extractors"]:
                if "input_price" in extractor:
                    yield extractor, extracted["usage"], entry["model"]


def test_real_usage_objects_cost_what_genai_prices_expects(test_data: Path) -> None:
    """775 real response bodies: every expected price that our buckets can hold, to the last digit."""
    lake = Lake()
    expected: dict[str, int] = {}
    verdicts: Counter[str] = Counter()
    for extractor, usage, model in expectations(test_data / "usage-objects" / "usages.jsonl"):
        if set(usage) - HELD:
            verdicts["usage that no bucket holds"] += 1
            continue
        buckets = disjoint(usage)
        assert min(buckets.values()) >= 0, usage
        step_id = str(len(expected))
        units = {"web_searches": usage["web_searches"]} if "web_searches" in usage else None
        lake.step(
            step_id=step_id, provider=extractor["provider_id"], model=model, at=AS_OF, other_units=units, **buckets
        )
        total = extractor.get("total_price") or Decimal(extractor["input_price"]) + Decimal(extractor["output_price"])
        expected[step_id] = int(Decimal(total).scaleb(12))
    lake.build(("step_costs",))
    for step_id, pico, reason, key in lake.rows(
        "SELECT step_id, cost_pico_usd, unpriced_reason, price_key FROM step_costs"
    ):
        if pico is None:
            verdicts[reason] += 1
        else:
            verdicts["equal" if pico == expected[step_id] else f"differs: {key}"] += 1
    assert verdicts == {
        "equal": 1_708,
        # google/gemini-2.0-flash-exp:free under Google: an OpenRouter name, which is no model of Google's.
        "unknown_model": 1,
        # Video and tool-use tokens.
        "usage that no bucket holds": 20,
        # 401 468 input tokens: the installed book has a price above 200 000, the expectation is older.
        "differs: google/claude-sonnet-4-5": 1,
        # A free model without any price in the book: genai-prices says 0, we say unknown.
        "no_price_for_bucket:input_uncached": 1,
    }
