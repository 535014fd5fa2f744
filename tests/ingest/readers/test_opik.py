"""Opik's spans: cached tokens as the provider reported them, and its mistakes in costs."""

import json
from pathlib import Path
from typing import Any

from beleg.cost.book import PriceBook
from beleg.cost.crosscheck import crosscheck
from beleg.cost.figures import Period
from beleg.cost.policy import ModelPolicies
from beleg.lake import catalog
from tests.ingest.readers.samples.opik import CALL, TRACE, sample, span, trace
from tests.ingest.readers.support import Home, assert_adds_up, events, json_lines, refusals, stage, write


def steps(tmp_path: Path, *rows: dict[str, Any]) -> list[dict[str, Any]]:
    staged = stage(tmp_path / "staged", write(tmp_path, "spans.json", list(rows)))
    assert_adds_up(staged)
    assert refusals(staged) == []
    return events(staged, "step")


def test_c17_cached_tokens_of_the_responses_api_have_their_discount_and_opiks_mistake_is_proved(tmp_path: Path) -> None:
    """opik#6969: only prompt_tokens_details was read, so that 1024 cached tokens cost their full price."""
    home = Home(tmp_path)
    home.take(write(tmp_path, "spans.jsonl", json_lines(trace(), span())))
    assert home.one("SELECT cost_pico_usd, cache_read_tokens, latency_ms FROM step_costs") == (
        2_592_500_000,
        1024,
        2500,
    )
    with catalog.connect(home.settings) as con:
        (found,) = crosscheck(con, PriceBook(ModelPolicies()), Period())
    assert found.group["verdict"] == "source_prices_cache_reads_as_uncached"
    assert found.source_pico_usd - (found.computed_pico_usd or 0) == 1024 * 1_250_000


def test_c17_cached_tokens_of_google_have_their_discount(tmp_path: Path) -> None:
    """opik#6976."""
    usage = {
        "prompt_tokens": 1000, "completion_tokens": 10, "total_tokens": 1015, "original_usage.prompt_token_count": 1000,
        "original_usage.cached_content_token_count": 800, "original_usage.candidates_token_count": 10,
        "original_usage.thoughts_token_count": 5, "original_usage.total_token_count": 1015,
    }  # fmt: skip
    (step,) = steps(tmp_path, span(usage=usage, model="gemini-2.5-flash", provider="google_vertexai"))
    assert step["buckets"] == {"input_uncached": 200, "cache_read": 800, "output": 10, "reasoning": 5}
    assert step["provider"] == "google"


def test_c18_a_count_in_the_metadata_is_no_cost(tmp_path: Path) -> None:
    """opik#5619: metadata.cost.total_tokens of 150 000 was read as 150 000 USD."""
    (step,) = steps(tmp_path, span(total_estimated_cost=None))
    assert "source_cost_pico_usd" not in step["raw_usage"]
    (step,) = steps(tmp_path, span(total_estimated_cost=150_000.0))
    assert "source_cost_pico_usd" not in step["raw_usage"]


def test_c21_an_answer_out_of_the_clients_cache_costs_nothing(tmp_path: Path) -> None:
    (step,) = steps(tmp_path, span(metadata={"cache_hit": True}))
    assert (step["buckets"], step["raw_usage"]["response_cache_hit"]) == ({"input_uncached": 0, "output": 0}, 1)


def test_spans_before_or_without_their_trace_give_the_run_once(tmp_path: Path) -> None:
    files = [write(tmp_path, f"{n}.json", [row]) for n, row in enumerate((span(), trace(), span(parent_span_id=None)))]
    for number, order in enumerate((files, files[::-1])):
        home = Home(tmp_path / str(number))
        for path in order:
            home.take(path)
        found = home.one("SELECT run_id, started_at::VARCHAR, finished_at::VARCHAR, steps FROM run_costs")
        assert found == (TRACE, "2026-03-05 10:00:00+00", "2026-03-05 10:00:04+00", 1)


def test_a_later_version_of_a_span_wins(tmp_path: Path) -> None:
    home = Home(tmp_path)
    late = span(last_updated_at="2026-03-05T11:00:00Z", model="o3")
    home.take(write(tmp_path, "spans.json", [late, span()]))
    assert home.one("SELECT step_id, model FROM steps") == (CALL, "o3")


def test_a_page_is_read_and_a_row_without_id_refused_alone(tmp_path: Path) -> None:
    page = json.loads(sample("some text"))
    page["data"].append(span(id=None))
    staged = stage(tmp_path / "s", write(tmp_path, "page.json", page))
    assert_adds_up(staged)
    assert refusals(staged) == [(5, "no_id")]
    assert [step["kind"] for step in events(staged, "step")] == ["other", "model", "tool"]
