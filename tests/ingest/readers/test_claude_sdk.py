"""The Claude Agent SDK: the result of a query counts, the provisional counts of its answers do not."""

import json
from pathlib import Path

from tests.ingest.readers.samples.claude_agent_sdk import NAME, SESSION, result, sample, stream
from tests.ingest.readers.support import Home, write


def test_the_real_conversation_costs_what_its_result_says_to_the_last_digit(test_data: Path, tmp_path: Path) -> None:
    home = Home(tmp_path)
    report = home.take(test_data / "claude-agent-sdk")
    assert report.ingest.quarantined == 0
    assert home.one("SELECT count(*), sum(cost_pico_usd)::BIGINT, min(model) FROM step_costs") == (
        1, 10_390_050_000, "claude-sonnet-4-6"
    )  # fmt: skip
    (step,) = home.rows("SELECT raw_usage['source_cost_pico_usd'] AS told FROM steps")
    assert step["told"] == 10_390_050_000
    assert home.one("SELECT workflow, team, CAST(units AS JSON) FROM run_costs") == (
        "claude-agent-sdk", "logfire", '{"sessions":1}'
    )  # fmt: skip


def test_answers_are_not_counted_beside_the_result(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.take(write(tmp_path, NAME, sample("a secret sentence")))
    assert home.rows("SELECT output_tokens AS o, cache_write_5m_tokens AS w FROM step_costs") == [{"o": 50, "w": 2000}]


def test_several_models_are_several_steps(tmp_path: Path) -> None:
    used = {"inputTokens": 3, "outputTokens": 50, "cacheReadInputTokens": 7, "cacheCreationInputTokens": 0}
    models = {"claude-opus-4-5-20251101": {**used, "webSearchRequests": 1}, "claude-haiku-4-5-20251001": used}
    home = Home(tmp_path)
    home.take(write(tmp_path, "result.json", result(modelUsage=models)))
    assert home.rows("SELECT model, cache_read_tokens AS r, priced FROM step_costs ORDER BY model DESC") == [
        {"model": "claude-opus-4-5-20251101", "r": 7, "priced": True},
        {"model": "claude-haiku-4-5-20251001", "r": 7, "priced": True},
    ]


def test_a_stream_that_broke_off_has_calls_without_a_price(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.take(write(tmp_path, "out.jsonl", b"".join(json.dumps(one).encode() + b"\n" for one in stream())))
    assert home.rows("SELECT run_id, unpriced_reason AS why FROM step_costs") == [
        {"run_id": SESSION, "why": "missing_usage"}
    ]


def test_a_failed_query_is_a_failed_step(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.take(write(tmp_path, "result.json", [result(is_error=True, subtype="error_max_turns")]))
    assert home.one("SELECT status, output_tokens FROM step_costs") == ("failed", 50)
