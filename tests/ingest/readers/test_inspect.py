"""Inspect's logs: real ones of several ages, both conventions, nested calls, archives of any kind."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.ingest.readers.samples.inspect import archive, call, log, one
from tests.ingest.readers.support import Home, assert_adds_up, events, refusals, stage, write


def steps(tmp_path: Path, content: Any, name: str = "log.json") -> list[dict[str, Any]]:
    staged = stage(tmp_path / "staged", write(tmp_path, name, content))
    assert_adds_up(staged)
    assert refusals(staged) == []
    return events(staged, "step")


def test_real_logs_of_three_ages_load(tmp_path: Path, test_data: Path) -> None:
    home = Home(tmp_path)
    home.take(test_data / "inspect")
    found = home.rows(
        "SELECT provider, model, count(*) AS calls, sum(total_input_tokens)::BIGINT AS input, "
        "sum(output_tokens + coalesce(reasoning_tokens, 0))::BIGINT AS output, max(unpriced_reason) AS why, "
        "sum(latency_ms)::BIGINT AS ms FROM step_costs WHERE kind = 'model' GROUP BY ALL ORDER BY ALL"
    )
    assert [tuple(one.values()) for one in found] == [
        ("ollama", "llama3.1", 1, 66, 2, "unknown_provider", None),
        ("openai", "gpt-4o-mini-2024-07-18", 3, 192, 6, None, 2709),
    ]
    # 192 x 0.15 + 6 x 0.60 micro-USD; the sums of the log's own statistics
    assert home.one("SELECT sum(cost_pico_usd)::BIGINT FROM step_costs") == (32_400_000,)
    runs = home.one("SELECT count(*), count(DISTINCT purpose), min(purpose), min(workflow) FROM run_costs")
    assert runs[:3] == (5, 1, "eval")
    assert home.one("SELECT count(*), count(*) FILTER (status = 'failed') FROM steps WHERE kind = 'tool'") == (11, 11)


@pytest.mark.parametrize(
    ("counted", "convention"),
    [
        ({"input_tokens": 200, "total_tokens": 10_520}, "exclusive"),  # as Inspect counts today
        ({"input_tokens": 10_500, "total_tokens": 10_520}, "inclusive"),  # as it did in 2025
    ],
)
def test_the_total_decides_whether_the_input_held_the_cached_tokens(
    tmp_path: Path, counted: dict[str, int], convention: str
) -> None:
    usage = {"output_tokens": 20, "input_tokens_cache_read": 10_000, "input_tokens_cache_write": 300, **counted}
    (step,) = steps(tmp_path, log("x", one("x", call(uuid="call-1", usage=usage))))
    assert (step["convention"], step["convention_evidence"]) == (convention, "identity")
    assert {name: count for name, count in step["buckets"].items() if count} == {
        "input_uncached": 200, "cache_read": 10_000, "cache_write": 300, "output": 20,
    }  # fmt: skip


def test_an_archive_tells_the_same_as_the_log(tmp_path: Path) -> None:
    expected = steps(tmp_path, log())
    assert steps(tmp_path / "zip", archive(), "log.eval") == expected
    assert len(expected) == 3


def test_calls_within_a_tool_hang_below_it(tmp_path: Path) -> None:
    found = {step["step_id"]: step for step in steps(tmp_path, log())}
    assert found["call-within-tool"]["parent_step_id"] == "tool-1"
    assert "parent_step_id" not in found["call-1"]
    assert (found["tool-1"]["status"], found["tool-1"]["latency_ms"]) == ("failed", 3000)
    assert (found["call-1"]["latency_ms"], found["call-1"]["provider"]) == (250, "anthropic")


def test_c21_an_answer_out_of_inspects_cache_costs_nothing(tmp_path: Path) -> None:
    (step,) = steps(tmp_path, log("x", one("x", call(uuid="call-1", cache="read"))))
    assert (step["buckets"], step["raw_usage"]["response_cache_hit"]) == ({"input_uncached": 0, "output": 0}, 1)
    assert "call_key" not in step


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ("openai/gpt-4o", ("openai", "gpt-4o")),
        ("openai/azure/gpt-4o", ("azure", "gpt-4o")),
        ("anthropic/bedrock/anthropic.claude-3-7-sonnet-v1:0", ("aws", "anthropic.claude-3-7-sonnet-v1:0")),
        ("google/vertex/gemini-2.5-pro", ("google", "gemini-2.5-pro")),
        ("openrouter/google/gemini-2.5-pro", ("openrouter", "google/gemini-2.5-pro")),
    ],
)  # fmt: skip
def test_the_model_names_who_bills(tmp_path: Path, told: str, expected: tuple[str, str]) -> None:
    event = call(uuid="call-1") | {"model": told, "output": {"usage": {"input_tokens": 1, "output_tokens": 1}}}
    (step,) = steps(tmp_path, log("x", one("x", event)))
    assert (step["provider"], step["model"]) == expected


def test_a_log_without_events_gives_the_sums_of_each_model(tmp_path: Path) -> None:
    usage = {"openai/gpt-4o": {"input_tokens": 64, "output_tokens": 2, "total_tokens": 66}}
    (step,) = steps(tmp_path, log("x", one("x", model_usage=usage) | {"events": []}))
    assert (step["model"], step["buckets"]) == ("gpt-4o", {"input_uncached": 64, "output": 2})


def test_a_sample_that_was_retried_into_another_log_counts_once(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.take(write(tmp_path, "1.json", log()))
    home.take(write(tmp_path, "2.json", log(eval_id="another")))
    assert home.one("SELECT count(*) FROM steps") == (3,)


@pytest.mark.parametrize("keep", [0.1, 0.5, 0.9])
def test_a_torn_archive_is_refused_and_stops_nothing(tmp_path: Path, keep: float) -> None:
    whole = archive()
    torn = write(tmp_path, "torn.eval", whole[: int(len(whole) * keep)])
    good = write(tmp_path, "good.json", log())
    staged = stage(tmp_path / "s", torn, good, form="inspect")
    assert_adds_up(staged)
    assert [reason for _, reason in refusals(staged)] == ["damaged_archive"]
    assert len(events(staged, "step")) == 3


def test_a_damaged_sample_is_refused_alone(tmp_path: Path) -> None:
    whole = archive("x" * 50, one("x" * 50, uuid="first"), one("x" * 50, uuid="second"))
    at = whole.index(b"samples/0_epoch_1.json") + 60
    damaged = whole[:at] + bytes(byte ^ 0xFF for byte in whole[at : at + 20]) + whole[at + 20 :]
    staged = stage(tmp_path / "s", write(tmp_path, "log.eval", damaged))
    assert_adds_up(staged)
    assert refusals(staged) == [(1, "damaged_archive")]
    assert [event["run_id"] for event in events(staged, "run_started")] == ["second"]


def test_a_sample_that_inflates_without_end_is_refused_and_the_next_is_read(tmp_path: Path) -> None:
    path = tmp_path / "bomb.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as zipped:
        zipped.writestr("header.json", json.dumps({k: v for k, v in log().items() if k != "samples"}))
        zipped.writestr("samples/1_epoch_1.json", b" " * (40 * 1024 * 1024))
        zipped.writestr("samples/2_epoch_1.json", json.dumps(one()))
        zipped.writestr("samples/3_epoch_1.json", "{torn")
    staged = stage(tmp_path / "s", path)
    assert_adds_up(staged)
    assert [reason for _, reason in refusals(staged)] == ["document_too_large", "not_json"]
    assert len(events(staged, "step")) == 3


def test_an_archive_that_claims_too_much_is_a_bomb(tmp_path: Path) -> None:
    path = tmp_path / "bomb.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as zipped:
        zipped.writestr("header.json", json.dumps({k: v for k, v in log().items() if k != "samples"}))
        for number in range(1, 10):
            zipped.writestr(f"samples/{number}_epoch_1.json", b" " * (31 * 1024 * 1024))
    staged = stage(tmp_path / "s", path)
    assert refusals(staged)[-1][1] == "decompression_bomb"


def test_a_call_that_contradicts_itself_is_refused_alone(tmp_path: Path) -> None:
    bad = {"input_tokens": 5, "output_tokens": -1, "total_tokens": 4}
    staged = stage(
        tmp_path / "s", write(tmp_path, "log.json", log("x", one("x", call(uuid="1"), call(uuid="2", usage=bad))))
    )
    assert_adds_up(staged)
    assert [reason for _, reason in refusals(staged)] == ["contradicted_usage"]
    assert [step["step_id"] for step in events(staged, "step")] == ["1"]
