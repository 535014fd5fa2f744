"""Cache figures of an agent's requests, from a provider's answer to the marts: rows of the research on usage."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from beleg import traced_agent_run
from beleg.testing import capture
from beleg.trace.semconv import read_span
from tests.events import event
from tests.flow.support import Installation

SPAN = {
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "anthropic",
    "gen_ai.response.model": "claude-sonnet-4-5",
    "gen_ai.usage.input_tokens": 130_213,
    "gen_ai.usage.cache_read.input_tokens": 128_955,
    "gen_ai.usage.cache_creation.input_tokens": 1_253,
    "gen_ai.usage.output_tokens": 44,
}
ANSWER = {
    "id": "msg_1",
    "type": "message",
    "model": "claude-sonnet-4-5",
    "usage": {
        "input_tokens": 5,
        "cache_read_input_tokens": 128_955,
        "cache_creation_input_tokens": 1_253,
        "output_tokens": 44,
    },
}


def marts(tmp_path: Path, record: Any) -> Installation:
    """An installation that took one traced request."""
    with capture() as captured, traced_agent_run(workflow="copilot") as trace, trace.step("chat") as step:
        record(step)
    there = Installation(tmp_path)
    there.take(*captured.events)
    return there


@pytest.mark.parametrize(
    "record",
    [lambda step: step.record(ANSWER), lambda step: step.record_call(read_span(SPAN).call)],
    ids=["answer", "span"],
)
def test_case_14_cached_tokens_are_counted_once_whoever_reports_them(tmp_path: Path, record: Any) -> None:
    there = marts(tmp_path, record)
    assert there.ask("SELECT total_input_tokens, cache_read_tokens, input_uncached_tokens FROM step_costs") == [
        (130_213, 128_955, 5)
    ]
    ((share,),) = there.ask("SELECT sum(cache_read_tokens) / sum(input_tokens) FROM cache_efficiency")
    assert round(share, 3) == 0.990


def test_case_15_a_cached_token_is_paid_at_its_own_price_and_once(tmp_path: Path) -> None:
    answer = {
        "id": "resp_1",
        "object": "response",
        "model": "gpt-5",
        "usage": {
            "input_tokens": 1_270_492,
            "input_tokens_details": {"cached_tokens": 1_202_176},
            "output_tokens": 8_679,
            "total_tokens": 1_279_171,
        },
    }
    there = marts(tmp_path, lambda step: step.record(answer, provider="openai"))
    ((cost,),) = there.ask("SELECT cost_pico_usd FROM step_costs")
    assert cost == 68_316 * 1_250_000 + 1_202_176 * 125_000 + 8_679 * 10_000_000 == 322_457_000_000


def conversation(name: str, layout: str, begins: datetime, gap: timedelta) -> Iterator[dict[str, Any]]:
    """Three requests of one run with 4 000 tokens of prompt, read from the cache where the gap allows it."""
    yield event("run_started", name, begins.isoformat(), run_id=name, workflow="copilot")
    for number in range(3):
        held = number > 0 and gap < timedelta(minutes=5)
        yield event(
            "step",
            f"{name}-{number}",
            (begins + number * gap).isoformat(),
            run_id=name,
            layout_hash=layout,
            provider="anthropic",
            model="claude-sonnet-4-5",
            latency_ms=100,
            buckets={
                "input_uncached": 9,
                "output": 1,
                "cache_read": 4_000 * held,
                "cache_write_5m": 4_000 * (not held),
            },
        )


def test_case_17_longer_gaps_are_not_taken_for_a_worse_layout(tmp_path: Path) -> None:
    there, noon = Installation(tmp_path), datetime(2030, 1, 1, 12, tzinfo=UTC)
    before = [conversation(f"a{n}", "a" * 64, noon + n * timedelta(hours=1), timedelta(minutes=1)) for n in range(10)]
    after = [
        conversation(f"b{n}", "b" * 64, noon + timedelta(days=n + 3), timedelta(hours=2)) for n in range(10)
    ]  # the layout is another, and so is the gap
    there.take(*(each for events in (*before, *after) for each in events))
    rows = there.ask(
        "SELECT layout_hash, cause, CAST(sum(requests) AS BIGINT) FROM cache_misses GROUP BY ALL ORDER BY ALL"
    )
    causes = {(layout[0], cause): requests for layout, cause, requests in rows}
    assert causes["a", "hit"] == 20
    assert causes["b", "expired"] == 29  # also the first of each later conversation, a day after the one before
    assert {cause for _, cause in causes} == {"hit", "expired", "first_use"}
