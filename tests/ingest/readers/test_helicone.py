"""Helicone's request log: two ways to count, three ways to write a cost, and its sessions."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.ingest.readers.samples.helicone import IDENTITY, row
from tests.ingest.readers.support import Home, assert_adds_up, events, json_lines, refusals, stage, write


def steps(tmp_path: Path, *rows: dict[str, Any]) -> list[dict[str, Any]]:
    staged = stage(tmp_path / "staged", write(tmp_path, "requests.json", list(rows)))
    assert_adds_up(staged)
    assert refusals(staged) == []
    return events(staged, "step")


def test_c15_a_call_with_cache_reads_and_writes_costs_exactly_its_parts(tmp_path: Path) -> None:
    """200 uncached, 10 000 read and 300 written on claude-haiku-4-5, and 20 out: 1 675 micro-USD."""
    home = Home(tmp_path)
    home.take(write(tmp_path, "requests.jsonl", json_lines(row())))
    found = home.one("SELECT provider, model, cost_pico_usd, latency_ms, cache_write_tokens FROM step_costs")
    assert found == ("anthropic", "claude-haiku-4-5-20251001", 1_675_000_000, 2500, 300)
    assert home.one("SELECT raw_usage['source_cost_pico_usd'], event_time::VARCHAR FROM steps") == (
        1_675_000_000,
        "2026-03-05 10:00:00.123+00",
    )


@pytest.mark.parametrize(
    ("cost", "pico"),
    [
        ({"cost": 1_675_000}, 1_675_000_000),  # whole nano-USD, as the database keeps them
        ({"cost": 0.001675}, 1_675_000_000),  # USD, as the API shows them
        ({"cost": 1_675_000, "costUSD": 0.001675}, 1_675_000_000),
        ({"cost": 0}, 0),
        ({"cost": None}, None),
        ({"cost": None, "costUSD": 150_000}, None),  # C18: a count is no cost
    ],
)
def test_its_own_cost_in_any_unit(tmp_path: Path, cost: dict[str, Any], pico: int | None) -> None:
    (step,) = steps(tmp_path, row(**cost))
    assert step["raw_usage"].get("source_cost_pico_usd") == pico


@pytest.mark.parametrize(
    ("provider", "prompt", "total", "evidence"),
    [
        ("ANTHROPIC", 200, 220, "provider_rule"),
        ("ANTHROPIC", 200, 10_520, "identity"),
        ("OPENAI", 10_500, 10_520, "identity"),
        ("OPENAI", 200, 10_520, "identity"),  # newer rows leave cached tokens out for every provider
        ("OPENAI", 200, None, "provider_rule"),  # an input of 200 cannot hold what was cached
    ],
)
def test_the_convention_is_decided_for_each_row(
    tmp_path: Path, provider: str, prompt: int, total: int | None, evidence: str
) -> None:
    (step,) = steps(tmp_path, row(provider=provider, prompt_tokens=prompt, total_tokens=total))
    assert (step["buckets"]["input_uncached"], step["convention_evidence"]) == (200, evidence)


def test_c21_an_answer_out_of_helicones_cache_costs_nothing(tmp_path: Path) -> None:
    (step,) = steps(tmp_path, row(cache_reference_id="0a1b2c3d-0000-4000-8000-000000000009"))
    assert (step["buckets"], step["raw_usage"]["response_cache_hit"]) == ({"input_uncached": 0, "output": 0}, 1)


@pytest.mark.parametrize(
    ("code", "status"), [(200, "succeeded"), (429, "failed"), (500, "failed"), (-3, "cancelled"), (-1, "failed")]
)
def test_status_follows_the_answer(tmp_path: Path, code: int, status: str) -> None:
    assert [step["status"] for step in steps(tmp_path, row(response_status=code))] == [status]


def test_a_pending_request_becomes_a_step_once_it_is_answered(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.take(write(tmp_path, "1.json", [row(response_status=-2, response_created_at=None)]))
    assert home.one("SELECT count(*) FROM steps") == (0,)
    home.take(write(tmp_path, "2.json", [row()]))
    assert home.one("SELECT count(*), sum(cost_pico_usd)::BIGINT FROM step_costs") == (1, 1_675_000_000)


def test_a_session_is_a_run_of_its_calls_under_its_name(tmp_path: Path) -> None:
    session = {"Helicone-Session-Id": "s-1", "Helicone-Session-Name": "invoice-check"}
    rows = [row(properties=session), row(properties=json.dumps(session), request_id=IDENTITY.replace("6f", "7f"))]
    home = Home(tmp_path)
    home.take(write(tmp_path, "requests.json", {"data": rows, "error": None}))
    assert home.one("SELECT run_id, workflow, status, steps FROM run_costs") == ("s-1", "invoice-check", "succeeded", 2)


def test_audio_inside_the_prompt_gets_a_bucket_of_its_own(tmp_path: Path) -> None:
    audio = {"prompt_audio_tokens": 60, "prompt_cache_read_tokens": 0, "prompt_cache_write_tokens": 0}
    (step,) = steps(tmp_path, row(provider="OPENAI", prompt_tokens=100, completion_audio_tokens=5, **audio))
    known = {name: count for name, count in step["buckets"].items() if count}
    assert known == {"input_uncached": 40, "input_audio": 60, "output": 15, "output_audio": 5}


def test_a_row_without_id_is_refused_alone(tmp_path: Path) -> None:
    staged = stage(tmp_path / "s", write(tmp_path, "requests.json", [row(), row(request_id=None)]))
    assert_adds_up(staged)
    assert refusals(staged) == [(2, "no_id")]
