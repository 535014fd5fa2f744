"""Usage that stands elsewhere is not added again."""

from datetime import timedelta

import pytest

from tests.cost.support import GPT, NOON, Lake

ONE = 10_000_000
"""Cost of one output token of gpt-4o in pico-USD."""


def counted(lake: Lake) -> list[tuple[object, ...]]:
    lake.build(("step_costs",))
    return lake.rows("SELECT step_id, counted, not_counted_reason, cost_pico_usd FROM step_costs ORDER BY step_id")


def test_a_parent_that_repeats_its_child_is_not_added_again() -> None:
    """N5 semantic-conventions-genai#19, N6 Vercel AI SDK: invoke_agent usage is a roll-up."""
    lake = Lake()
    lake.step(step_id="agent", kind="other", **GPT, output=5)
    lake.step(step_id="call", parent_step_id="agent", **GPT, output=5)
    assert counted(lake) == [("agent", False, "rollup", 0), ("call", True, None, 5 * ONE)]


def test_a_wrapper_two_levels_up_is_not_added_either() -> None:
    """N1 mlflow#22746 (3x), N2 mlflow#17852: also where the span between carries no usage."""
    lake = Lake()
    lake.step(step_id="a wrapper", kind="other", **GPT, output=7)
    lake.step(step_id="b agent", parent_step_id="a wrapper", kind="other")
    lake.step(step_id="c call", parent_step_id="b agent", **GPT, output=3)
    lake.step(step_id="d call", parent_step_id="b agent", **GPT, output=4)
    assert [row[2:] for row in counted(lake)] == [("rollup", 0), (None, 0), (None, 3 * ONE), (None, 4 * ONE)]


def test_tokens_cost_and_latency_are_taken_from_the_same_steps() -> None:
    """N3 mlflow#24307, N4 mlflow#25007."""
    lake = Lake()
    lake.start()
    lake.step(step_id="agent", kind="model", **GPT, output=5, latency_ms=900, billed_pico_usd=1)
    lake.step(step_id="call", parent_step_id="agent", **GPT, output=5, latency_ms=800, billed_pico_usd=1)
    lake.build()
    row = lake.rows(
        "SELECT output_tokens, cost_pico_usd, latency_ms, billed_pico_usd, not_counted_steps FROM run_costs"
    )
    assert row == [(5, 5 * ONE, 800, 1, 1)]


def test_a_parent_in_the_run_that_started_this_one_is_a_rollup_too() -> None:
    lake = Lake()
    lake.start("outer")
    lake.start("inner", parent_run_id="outer")
    lake.step("outer", step_id="agent", kind="other", **GPT, output=5)
    lake.step("inner", step_id="call", parent_step_id="agent", **GPT, output=5)
    assert [row[3] for row in counted(lake)] == [0, 5 * ONE]


def test_equal_step_ids_of_other_runs_are_no_parents() -> None:
    lake = Lake()
    lake.step("one", step_id="1", **GPT, output=5)
    lake.step("two", step_id="2", parent_step_id="1", **GPT, output=5)
    assert [row[3] for row in counted(lake)] == [5 * ONE, 5 * ONE]


def test_a_child_without_tokens_leaves_its_parent_counted() -> None:
    lake = Lake()
    lake.step(step_id="call", **GPT, output=5)
    lake.step(step_id="tool", parent_step_id="call", kind="tool")
    lake.step(step_id="zero", parent_step_id="call", **GPT, output=0)
    assert [row[3] for row in counted(lake)] == [5 * ONE, 0, 0]


def test_a_step_that_names_itself_as_parent_is_counted() -> None:
    lake = Lake()
    lake.step(step_id="call", parent_step_id="call", **GPT, output=5)
    assert [row[3] for row in counted(lake)] == [5 * ONE]


def test_a_call_seen_by_two_instrumentations_is_one_call() -> None:
    """N7 langfuse#9344, N9 litellm#15740: the report that knows more of the usage counts."""
    lake = Lake()
    lake.step(step_id="plain", call_key="k", **GPT, input_uncached=10, output=1)
    lake.step(step_id="rich", call_key="k", source="z", **GPT, input_uncached=2, cache_read=8, output=1)
    assert counted(lake)[0] == ("plain", False, "duplicate_call", 0)
    assert lake.one("SELECT sum(cost_pico_usd) FROM step_costs") == 2 * 2_500_000 + 8 * 1_250_000 + ONE


def test_equally_complete_reports_are_chosen_by_source_and_event() -> None:
    lake = Lake()
    for source, event in (("b", "1"), ("a", "2"), ("a", "1")):
        lake.step(step_id=f"{source}{event}", source=source, event_id=event, call_key="k", **GPT, output=1)
    assert [row[:2] for row in counted(lake)] == [("a1", True), ("a2", False), ("b1", False)]


def test_a_wrapper_with_the_call_key_of_its_child_never_loses_both() -> None:
    lake = Lake()
    lake.step(step_id="outer", call_key="k", **GPT, input_uncached=1, cache_read=1, output=1)
    lake.step(step_id="within", parent_step_id="outer", call_key="k", **GPT, input_uncached=2, output=1)
    assert [row[:3] for row in counted(lake)] == [("outer", False, "rollup"), ("within", True, None)]


def test_calls_without_a_key_are_never_merged() -> None:
    """N11 litellm#6633: an empty id kept only the first row. N10 #28376: response ids are not unique."""
    lake = Lake()
    lake.step(step_id="1", response_id="chatcmpl-213", **GPT, output=1)
    lake.step(step_id="2", response_id="chatcmpl-213", **GPT, output=1)
    assert [row[3] for row in counted(lake)] == [ONE, ONE]


@pytest.mark.parametrize(("apart", "calls"), [(timedelta(hours=11), 1), (timedelta(hours=12), 2)])
def test_a_call_key_holds_within_one_utc_day(apart: timedelta, calls: int) -> None:
    lake = Lake()
    lake.step(step_id="1", call_key="k", **GPT, output=1)
    lake.step(step_id="2", call_key="k", at=NOON + apart, **GPT, output=1)
    assert sum(bool(row[1]) for row in counted(lake)) == calls


def test_retries_are_calls_of_their_own() -> None:
    """finops 32: an attempt that failed after it was billed is not lost."""
    lake = Lake()
    lake.step(step_id="1", attempt=1, status="failed", **GPT, output=1)
    lake.step(step_id="2", attempt=2, attempt_reason="retry", **GPT, output=1)
    assert sum(int(str(row[3])) for row in counted(lake)) == 2 * ONE
