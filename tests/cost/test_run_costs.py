"""One run, one row: how it ended and what it cost."""

from datetime import timedelta
from pathlib import Path

import pytest

from tests.cost.support import GPT, NOON, Lake, policies

HOUR = timedelta(hours=1)

WORKFLOWS = """
defaults: {abandon_after: 24h}
workflows:
  ocr: {unit: document, result: {run_unit: documents}, abandon_after: 2h}
"""


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(policies(tmp_path, workflows=WORKFLOWS))


RUNS = ("step_costs", "run_costs")


def status(lake: Lake) -> str:
    return str(lake.build(RUNS).one("SELECT status FROM run_costs"))


def test_a_run_has_the_state_of_its_end(lake: Lake) -> None:
    lake.start()
    lake.finish(status="failed", exception_class="ValueError", at=NOON + HOUR, duration_ms=7)
    lake.build(RUNS)
    row = lake.rows("SELECT status, exception_class, finished_at, duration_ms, abandon_at FROM run_costs")
    assert row == [("failed", "ValueError", NOON + HOUR, 7, None)]


@pytest.mark.parametrize(
    ("silence", "expected"), [(2 * HOUR - timedelta(microseconds=1), "running"), (2 * HOUR, "abandoned")]
)
def test_silence_for_the_workflows_span_means_abandoned(lake: Lake, silence: timedelta, expected: str) -> None:
    lake.start()
    lake.step(at=NOON + HOUR, **GPT, output=1)
    lake.as_of = NOON + HOUR + silence
    assert status(lake) == expected
    assert lake.one("SELECT abandon_at FROM run_costs") == NOON + 3 * HOUR


def test_a_workflow_without_an_entry_has_the_default_span(lake: Lake) -> None:
    lake.start(workflow="new")
    lake.as_of = NOON + 23 * HOUR
    assert status(lake) == "running"
    lake.as_of = NOON + 24 * HOUR
    assert status(lake) == "abandoned"


def test_a_run_that_waits_for_a_person_is_never_abandoned(lake: Lake) -> None:
    lake.start()
    lake.state("needs_input", at=NOON + HOUR)
    assert status(lake) == "needs_input"
    assert lake.one("SELECT abandon_at FROM run_costs") is None


def test_a_resumed_run_can_be_abandoned_again(lake: Lake) -> None:
    lake.start()
    lake.state("needs_input", at=NOON + HOUR)
    lake.state("running", at=NOON + 100 * HOUR)
    lake.as_of = NOON + 101 * HOUR
    assert status(lake) == "running"
    lake.as_of = NOON + 102 * HOUR
    assert status(lake) == "abandoned"


def test_a_late_finish_corrects_an_abandoned_run(lake: Lake) -> None:
    lake.start()
    assert status(lake) == "abandoned"
    lake.finish(at=NOON + 1000 * HOUR)
    assert status(lake) == "succeeded"


def test_cost_is_that_of_the_runs_own_steps_on_whatever_day(lake: Lake) -> None:
    lake.start("outer", at=NOON, prompt_version="v1", input_hash="a" * 64)
    lake.start("inner", at=NOON, parent_run_id="outer")
    lake.step("outer", at=NOON, **GPT, input_uncached=1, latency_ms=10)
    lake.step("outer", at=NOON + 30 * HOUR, **GPT, output=1, reasoning=2, latency_ms=20, status="failed")
    lake.step("inner", at=NOON, **GPT, output=100)
    lake.build(RUNS)
    row = lake.rows(
        "SELECT cost_pico_usd, latency_ms, steps, failed_steps, output_tokens, reasoning_tokens, prompt_version, "
        "model, day FROM run_costs WHERE run_id = 'outer'"
    )
    assert row == [(32_500_000, 30, 2, 1, 1, 2, "v1", "gpt-4o", NOON.date())]


def test_unpriced_steps_are_counted_beside_the_cost(lake: Lake) -> None:
    lake.start()
    lake.step(**GPT, output=1)
    lake.step(**GPT)
    lake.build(RUNS)
    assert lake.rows("SELECT cost_pico_usd, unpriced_steps, steps FROM run_costs") == [(10_000_000, 1, 2)]


def test_a_run_without_steps_costs_nothing_and_says_so(lake: Lake) -> None:
    lake.start()
    lake.build(RUNS)
    row = lake.rows("SELECT cost_pico_usd, steps, unpriced_steps, billed_pico_usd, model FROM run_costs")
    assert row == [(0, 0, 0, None, None)]


def test_several_models_are_no_single_model(lake: Lake) -> None:
    lake.start()
    lake.step(**GPT, output=1)
    lake.step(provider="openai", model="gpt-4o-mini", output=1)
    lake.step(kind="tool")
    lake.build(RUNS)
    row = lake.rows("SELECT provider, model, model_count, model_steps, steps FROM run_costs")
    assert row == [("openai", None, 2, 2, 3)]


def test_a_start_reported_twice_is_one_run(lake: Lake) -> None:
    lake.start(source="b", at=NOON + HOUR)
    lake.start(source="a", at=NOON)
    lake.step(**GPT, output=1)
    lake.build()
    assert lake.rows("SELECT source, started_at, cost_pico_usd FROM run_costs") == [("a", NOON, 10_000_000)]
    assert lake.one("SELECT sum(runs) FROM unit_costs") == 1
