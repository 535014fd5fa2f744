"""LiteLLM's spend logs: the real row with its known answer, every export, and identities that come again."""

import base64
import csv
import io
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from tests.ingest.readers.samples.litellm import row
from tests.ingest.readers.support import Home, assert_adds_up, events, json_lines, refusals, stage, write


def steps(tmp_path: Path, *rows: dict[str, Any]) -> list[dict[str, Any]]:
    staged = stage(tmp_path / "staged", write(tmp_path, "logs.json", list(rows)))
    assert_adds_up(staged)
    assert refusals(staged) == []
    return events(staged, "step")


def metadata(**usage: Any) -> str:
    return json.dumps({"usage_object": usage})


def test_the_real_row_costs_what_litellm_says(tmp_path: Path, test_data: Path) -> None:
    home = Home(tmp_path)
    home.take(test_data / "litellm" / "litellm_spend_log.json")
    step = "SELECT source, provider, model, cost_pico_usd, latency_ms, unpriced_reason FROM step_costs"
    assert home.one(step) == ("litellm", "openai", "gpt-4o", 225_000_000, 5, None)
    assert home.one("SELECT raw_usage['source_cost_pico_usd'], event_time::VARCHAR, call_key FROM steps") == (
        225_000_000,  # 0.00022500000000000002 without the noise of a binary fraction
        "2025-01-24 09:20:46.847371+00",  # a time without a zone is UTC
        "chatcmpl-2283081b-dc89-41f6-93e6-d4f914774027",
    )
    assert home.one("SELECT run_id, status, cost_pico_usd FROM run_costs") == ("1234567890", "succeeded", 225_000_000)


def test_cached_and_reasoning_tokens_stand_once_though_the_row_repeats_them(tmp_path: Path) -> None:
    (step,) = steps(tmp_path, row())
    assert step["buckets"] == {
        "input_uncached": 125, "cache_read": 1024, "output": 36, "reasoning": 64,
    }  # fmt: skip
    assert (step["convention"], step["convention_evidence"], step["usage_check"]) == ("inclusive", "identity", "ok")


def flat(row_: dict[str, Any]) -> dict[str, Any]:
    """The row as a table holds it: JSON in text."""
    return {name: json.dumps(cell) if isinstance(cell, dict | list) else cell for name, cell in row_.items()}


def as_csv(rows: list[dict[str, Any]]) -> bytes:
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]))
    writer.writeheader()
    writer.writerows(map(flat, rows))
    return out.getvalue().encode()


def as_parquet(rows: list[dict[str, Any]]) -> bytes:
    out = io.BytesIO()
    parquet.write_table(pa.Table.from_pylist([flat(one) for one in rows]), out)
    return out.getvalue()


LATER = {"startTime": "2026-01-24T10:00:00Z", "endTime": "2026-01-24T10:00:01Z"}
ROWS = [row(), row(request_id="chatcmpl-0f1e2d3c4b5a69788796", **LATER)]
EXPORTS = {
    "list.json": json.dumps(ROWS).encode(),
    "page.json": json.dumps({"data": ROWS, "total": 2, "page": 1}).encode(),
    "lines.jsonl": json_lines(*ROWS),
    "table.csv": as_csv(ROWS),
    "table.parquet": as_parquet(ROWS),
}


@pytest.mark.parametrize("name", EXPORTS)
def test_every_export_tells_the_same_steps(tmp_path: Path, name: str) -> None:
    expected = steps(tmp_path, *ROWS)
    staged = stage(tmp_path / "export", write(tmp_path, name, EXPORTS[name]))
    assert (staged.read_as[next(iter(staged.read_as))], refusals(staged)) == ("format:litellm", [])
    kept = ("event_id", "event_time", "run_id", "buckets", "provider", "model", "latency_ms", "status", "call_key")
    assert [[s[k] for k in kept] for s in events(staged, "step")] == [[s[k] for k in kept] for s in expected]


def test_n10_short_request_ids_that_come_again_are_several_calls(tmp_path: Path) -> None:
    """litellm#28376: chatcmpl-213 is what a local server calls its 213th answer, again and again."""
    found = steps(
        tmp_path,
        row(request_id="chatcmpl-213"),
        row(request_id="chatcmpl-213", startTime="2026-01-24 09:21:00"),
        row(request_id="chatcmpl-213", startTime="2026-01-24 09:21:00"),
    )
    assert len({step["event_id"] for step in found}) == 2
    assert all("call_key" not in step for step in found)


def test_n11_rows_without_a_request_id_are_all_kept(tmp_path: Path) -> None:
    """litellm#6633: only the first row with an empty id survived."""
    found = steps(
        tmp_path,
        row(request_id=""),
        row(request_id="", **LATER),
        row(request_id="", model="o3"),
    )
    assert len({step["event_id"] for step in found}) == 3


def test_n9_a_response_that_is_logged_again_as_a_completion_counts_once(tmp_path: Path) -> None:
    """litellm#15740: the id handed out for the response holds the provider's own."""
    inner = "chatcmpl-0a1b2c3d4e5f67788990"
    told = f"litellm:custom_llm_provider:anthropic;model_id:m;response_id:{inner}"
    outer = "resp_" + base64.b64encode(told.encode()).decode()
    home = Home(tmp_path)
    home.take(write(tmp_path, "logs.json", [row(request_id=inner), row(request_id=outer, call_type="aresponses")]))
    found = home.rows("SELECT counted, not_counted_reason FROM step_costs ORDER BY counted")
    assert [tuple(one.values()) for one in found] == [(False, "duplicate_call"), (True, None)]


def test_b3_a_row_that_is_exported_twice_is_one_call(tmp_path: Path) -> None:
    home = Home(tmp_path)
    path = write(tmp_path, "logs.jsonl", json_lines(*ROWS, *ROWS))
    home.take(path)
    home.take(write(tmp_path, "again.json", ROWS))
    assert home.one("SELECT count(*), sum(total_input_tokens)::BIGINT FROM step_costs") == (2, 2298)


def test_c21_an_answer_out_of_litellms_cache_costs_nothing_and_keeps_its_figures(tmp_path: Path) -> None:
    (step,) = steps(tmp_path, row(cache_hit="True", spend=0.0, request_id="chatcmpl-2283081b-dc_cache_hit1.5"))
    assert step["buckets"] == {"input_uncached": 0, "output": 0}
    assert (step["raw_usage"]["response_cache_hit"], step["raw_usage"]["prompt_tokens"]) == (1, 1149)


def test_c6_cache_writes_of_anthropic_are_not_billed_twice(tmp_path: Path) -> None:
    """litellm#9812: 3 uncached, 12 304 written and 550 out cost 54 399 micro-USD, where it showed 91 311."""
    usage = {"cache_creation_input_tokens": 12_304, "cache_read_input_tokens": 0}
    counts = {"prompt_tokens": 12_307, "completion_tokens": 550, "total_tokens": 12_857}
    home = Home(tmp_path)
    home.take(
        write(
            tmp_path,
            "logs.json",
            [
                row(
                    **counts, spend=0.091311, model="claude-3-7-sonnet-20250219", custom_llm_provider="anthropic",
                    startTime="2025-04-07 10:00:00",
                    endTime="2025-04-07 10:00:01", metadata=metadata(**usage, **counts),
                )
            ],
        )
    )  # fmt: skip
    assert home.one("SELECT cost_pico_usd, cache_write_tokens FROM step_costs") == (54_399_000_000, 12_304)


def test_c7_the_large_context_tier_prices_the_whole_call(tmp_path: Path) -> None:
    """litellm#14849: 262 960 in of which 257 955 cached, above 200 000 tokens: 103 161.25 micro-USD."""
    counts = {"prompt_tokens": 262_960, "completion_tokens": 1_744, "total_tokens": 264_704}
    given = metadata(**counts, prompt_tokens_details={"cached_tokens": 257_955})
    home = Home(tmp_path)
    rows = [row(**counts, spend=0.7642, model="gemini-2.5-pro", custom_llm_provider="gemini", metadata=given)]
    home.take(write(tmp_path, "logs.json", rows))
    assert home.one("SELECT cost_pico_usd, cache_read_tokens FROM step_costs") == (103_161_250_000, 257_955)


def test_c18_a_spend_that_is_a_token_count_is_no_cost(tmp_path: Path) -> None:
    """opik#5619: 150 000 tokens read as 150 000 USD."""
    (step,) = steps(tmp_path, row(spend=1249))
    assert "source_cost_pico_usd" not in step["raw_usage"]


def test_a_row_without_counts_is_unknown_and_not_free(tmp_path: Path) -> None:
    counts = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
    (step,) = steps(tmp_path, row(**counts, metadata="{}", status="failure"))
    assert "buckets" not in step
    assert step["status"] == "failed"


def test_an_azure_deployment_is_priced_as_the_model_that_the_gateway_maps_it_to(tmp_path: Path) -> None:
    mapped = json.dumps({"model_map_information": {"model_map_key": "azure/gpt-4o", "model_map_value": None}})
    (step,) = steps(tmp_path, row(model="my-deployment", custom_llm_provider="azure", metadata=mapped))
    assert (step["provider"], step["model"]) == ("azure", "gpt-4o")


def test_a_session_starts_with_its_first_call_and_ends_with_its_last_in_any_order(tmp_path: Path) -> None:
    rows = [
        row(
            request_id=f"chatcmpl-0f1e2d3c4b5a6978879{n}", startTime=f"2026-01-24 09:0{n}:00",
            endTime=f"2026-01-24 09:0{n}:30",
        )
        for n in (3, 1, 2)
    ]  # fmt: skip
    for number, order in enumerate((rows, rows[::-1], [rows[1], rows[0], rows[2]])):
        home = Home(tmp_path / str(number))
        home.take(*[write(tmp_path, f"{number}/{n}.json", one) for n, one in enumerate(order)])
        found = home.one("SELECT run_id, started_at::VARCHAR, finished_at::VARCHAR, steps FROM run_costs")
        assert found == ("5f6a7b8c-session-of-a-chat", "2026-01-24 09:01:00+00", "2026-01-24 09:03:30+00", 3)


def test_a_row_without_a_time_is_refused_alone(tmp_path: Path) -> None:
    staged = stage(tmp_path / "s", write(tmp_path, "logs.json", [row(), row(startTime=None), 5, row(metadata=7)]))
    assert_adds_up(staged)
    assert refusals(staged) == [(2, "no_time"), (3, "unreadable_item")]
