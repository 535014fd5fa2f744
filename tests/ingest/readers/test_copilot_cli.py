"""GitHub Copilot CLI's events."""

from pathlib import Path

from tests.ingest.readers.samples.copilot_cli import NAME, SESSION, event, lines, metrics, sample
from tests.ingest.readers.support import Home, events, stage, write

BEGUN = event(0, "session.start", {"sessionId": SESSION})


def test_a_session_is_a_run_and_its_input_holds_what_was_cached(tmp_path: Path) -> None:
    home = Home(tmp_path)
    report = home.take(write(tmp_path, NAME, sample("a secret sentence")))
    assert report.ingest.quarantined == 0
    assert home.one("SELECT run_id, workflow, CAST(units AS JSON) FROM run_costs") == (
        SESSION, "copilot-cli", '{"sessions":1}'
    )  # fmt: skip
    counts = "input_uncached_tokens AS i, cache_read_tokens AS c, cache_write_tokens AS w, output_tokens AS o"
    assert [
        tuple(row.values()) for row in home.rows(f"SELECT name, status, {counts} FROM step_costs ORDER BY kind")
    ] == [
        ("process", "succeeded", 70, 10, 20, 45),
        ("bash", "failed", None, None, None, None),
    ]
    assert home.one("SELECT max(model), max(latency_ms) FROM step_costs") == ("claude-opus-4.6", 2000)
    assert home.one("SELECT count(*) FROM step_costs WHERE NOT priced") == (0,)


def test_sums_of_a_resumed_session_are_taken_apart_and_begin_anew_with_a_process(tmp_path: Path) -> None:
    closed = [(9, metrics()), (19, metrics(200, 20, 30, 80, 10)), (29, metrics(40, 0, 0, 9, 0))]
    rows = [event(at, "session.shutdown", {"modelMetrics": found}) for at, found in closed]
    steps = events(stage(tmp_path / "s", write(tmp_path, NAME, lines(BEGUN, *rows))), "step")
    assert [step["buckets"]["output"] + step["buckets"]["reasoning"] for step in steps] == [50, 30, 9]
    assert [step["buckets"]["input_uncached"] for step in steps] == [70, 80, 40]


def test_credits_are_the_sources_own_cost_and_no_bill(tmp_path: Path) -> None:
    """One AIU is 0.01 USD: five million nano-AIU are 50 million pico-USD."""
    rows = [BEGUN, event(9, "session.shutdown", {"modelMetrics": metrics()})]
    (step,) = events(stage(tmp_path / "s", write(tmp_path, NAME, lines(*rows))), "step")
    assert step["raw_usage"]["source_cost_pico_usd"] == 50_000_000
    assert "billed_pico_usd" not in step


def test_a_session_without_its_start_is_that_of_its_folder(tmp_path: Path) -> None:
    path = write(tmp_path, f"{SESSION}/{NAME}", lines(event(9, "session.shutdown", {"modelMetrics": metrics()})))
    assert {event["run_id"] for event in events(stage(tmp_path / "s", path))} == {SESSION}
