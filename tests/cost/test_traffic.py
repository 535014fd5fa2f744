"""How much each workflow runs, how wide and how slow."""

from datetime import timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cost.support import NOON, Lake


def test_states_are_counted_on_the_day_of_the_start() -> None:
    lake = Lake()
    for n, status in enumerate(("succeeded", "succeeded", "failed", "cancelled")):
        lake.start(f"r{n}")
        lake.finish(f"r{n}", status=status, at=NOON + timedelta(days=1))
    lake.start("silent")
    lake.start("child", parent_run_id="r0")
    lake.state("needs_input", "child")
    counts = "succeeded_runs, failed_runs, cancelled_runs, abandoned_runs, needs_input_runs, running_runs, child_runs"
    rows = lake.build().rows(f"SELECT CAST(business_day AS VARCHAR), runs, {counts} FROM workflow_traffic")
    assert rows == [("2026-06-15", 6, 2, 1, 1, 1, 1, 0, 1)]


def test_retries_and_fallbacks_are_told_apart() -> None:
    lake = Lake()
    lake.start("calm")
    lake.step("calm", attempt=1)
    lake.start("shaky")
    for attempt, reason in ((1, None), (2, "retry"), (3, "retry"), (4, "fallback")):
        lake.step("shaky", attempt=attempt, attempt_reason=reason)
    columns = "steps, retry_steps, fallback_steps, repair_steps, repeated_runs"
    assert lake.build().rows(f"SELECT {columns} FROM workflow_traffic") == [(5, 2, 1, 0, 1)]


def test_the_widest_run_called_the_most_different_tools() -> None:
    lake = Lake()
    for run, tools in (("busy", ["a"] * 9), ("wide", ["a", "b", "c"]), ("narrow", ["a"])):
        lake.start(run)
        for tool in tools:
            lake.step(run, kind="tool", tool_name=tool)
    columns = "widest_run_id, max_tools_called, max_steps, tool_steps"
    assert lake.build().rows(f"SELECT {columns} FROM workflow_traffic") == [("wide", 3, 9, 13)]


@settings(max_examples=20)
@given(st.lists(st.one_of(st.none(), st.integers(0, 50)), min_size=1, max_size=25))
def test_percentiles_are_what_percentile_disc_says_of_the_ended_runs(latencies: list[int | None]) -> None:
    """None is a run that was cancelled: it has a latency, which counts in no percentile."""
    lake = Lake()
    for n, latency in enumerate(latencies):
        lake.start(f"r{n}")
        lake.step(f"r{n}", latency_ms=latency or 99)
        lake.finish(f"r{n}", status="cancelled" if latency is None else "succeeded")
    lake.build(("step_costs", "run_costs", "workflow_traffic"))
    wanted = "PERCENTILE_DISC({}) WITHIN GROUP (ORDER BY latency_ms)"
    ended = f"SELECT {wanted.format(0.5)}, {wanted.format(0.95)} FROM run_costs WHERE status = 'succeeded'"
    assert lake.rows("SELECT p50_latency_ms, p95_latency_ms FROM workflow_traffic") == lake.rows(ended)
