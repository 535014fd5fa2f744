"""OpenAI's batch output: order, half price by its endpoint, errors."""

from pathlib import Path

from tests.ingest.readers.samples.openai_batch import answer, sample
from tests.ingest.readers.support import Home, assert_adds_up, events, json_lines, refusals, stage, write

AFTER_BATCH_PRICES = 1_795_000_000  # 2026-11-18, when the price book has batch prices


def test_the_real_line_is_a_call_at_batch_prices_which_its_time_has_none_of(tmp_path: Path, test_data: Path) -> None:
    home = Home(tmp_path)
    home.take(test_data / "litellm" / "openai_batch_output_doc_sample.jsonl")
    step = (
        "SELECT source, provider, model, batch, input_uncached_tokens, output_tokens, unpriced_reason FROM step_costs"
    )
    expected = ("openai-batch", "openai", "gpt-3.5-turbo-0125", True, 22, 2, "no_price_at_that_time")
    assert home.one(step) == expected
    assert home.one("SELECT input_ref, started_at::VARCHAR FROM run_costs") == ("request-2", "2024-03-28 19:06:35+00")


def test_a_batch_costs_half(tmp_path: Path) -> None:
    """1000 in and 100 out on gpt-4o-mini: 210 micro-USD, in a batch 105."""
    home = Home(tmp_path)
    home.take(write(tmp_path, "out.jsonl", json_lines(answer(created=AFTER_BATCH_PRICES))))
    assert home.one("SELECT cost_pico_usd, price_key FROM step_costs") == (105_000_000, "openai/gpt-4o-mini batch")


def test_answers_in_any_order_are_the_same_runs(tmp_path: Path) -> None:
    lines = [answer(identity=f"batch_req_{n}", created=AFTER_BATCH_PRICES + n) for n in range(4)]
    found = []
    for name, order in (("a", lines), ("b", lines[::-1])):
        staged = stage(tmp_path / name, write(tmp_path, f"{name}.jsonl", json_lines(*order)))
        starts = {event["run_id"]: event["input_ref"] for event in events(staged, "run_started")}
        found.append((starts, sorted(str(step) for step in events(staged, "step"))))
    assert found[0] == found[1]
    assert found[0][0] == {f"batch_req_{n}": f"document-batch_req_{n}" for n in range(4)}


def test_failed_and_expired_requests_are_failed_runs_of_unknown_cost(tmp_path: Path) -> None:
    staged = stage(tmp_path / "s", write(tmp_path, "out.jsonl", sample("some text of a document")))
    assert_adds_up(staged)
    assert (refusals(staged), staged.ignored) == ([], 1)  # a line of the input file tells nothing of a run
    ended = {event["run_id"]: event["status"] for event in events(staged, "run_finished")}
    assert ended == {"batch_req_1": "succeeded", "batch_req_failed": "failed", "batch_req_expired": "failed"}
    assert ["buckets" in step for step in events(staged, "step")] == [True, False, False]


def test_a_torn_last_line_is_pending_and_a_broken_one_is_refused(tmp_path: Path) -> None:
    content = json_lines(answer()) + b"{broken}\n" + json_lines(answer(identity="batch_req_2"))[:40]
    staged = stage(tmp_path / "s", write(tmp_path, "out.jsonl", content))
    assert_adds_up(staged)
    assert (refusals(staged), staged.pending) == ([(2, "not_json")], 1)
