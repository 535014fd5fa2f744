"""What each tool costs, and whether anybody calls it."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.agent.stats.support import CLAUDE, GPT, IN, READ, WRITE_1H, WRITE_5M, claude, minute
from tests.cost.support import NOON, Lake

TAX = "SELECT tool_name, tax_pico_usd::BIGINT, untaxed_requests FROM tool_usage ORDER BY place"
STAGES = ("step_costs", "tool_usage")


def offered(*tools: tuple[str, int | None], **values: Any) -> Lake:
    lake = Lake()
    lake.start("run", workflow="chat", **values)
    lake.toolset("T", *tools, cohort="core")
    return lake


def test_each_tool_pays_for_the_place_where_it_stands() -> None:
    """Read reaches into `b`, the hour's write ends in `c`, the rest of the definitions is written for five minutes."""
    lake = offered(("a", 100), ("b", 50), ("c", 30), ("d", 20))
    claude(lake, 0, read=120, cache_write_1h=40, write=200, toolset_hash="T")
    assert lake.build(STAGES).rows(TAX) == [
        ("a", 100 * READ, 0),
        ("b", 20 * READ + 30 * WRITE_1H, 0),
        ("c", 10 * WRITE_1H + 20 * WRITE_5M, 0),
        ("d", 20 * WRITE_5M, 0),
    ]
    assert lake.rows("SELECT sum(cached_tokens)::INT, sum(sent_tokens)::INT FROM tool_usage") == [(120, 200)]


@settings(max_examples=30)
@given(
    st.lists(st.integers(0, 5_000), min_size=1, max_size=6),
    st.lists(st.tuples(*[st.integers(0, 3_000)] * 4), min_size=1, max_size=5),
)
def test_all_tools_together_never_cost_more_than_the_request_paid_for_its_input(
    tokens: list[int], requests: list[tuple[int, int, int, int]]
) -> None:
    """And exactly that, where the estimate of the definitions fills or passes the whole prompt."""
    lake = offered(*((f"t{n}", size) for n, size in enumerate(tokens)))
    expected = 0
    for at, (read, hour, minutes, uncached) in enumerate(requests):
        claude(lake, at, read=read, cache_write_1h=hour, write=minutes, input_uncached=uncached, toolset_hash="T")
        kinds = ((read, READ), (hour, WRITE_1H), (minutes, WRITE_5M), (uncached, IN))
        prompt = [price for size, price in kinds for _ in range(size)]  # one price a token, from its start
        expected += sum(prompt[: sum(tokens)])
    assert lake.build(STAGES).one("SELECT sum(tax_pico_usd)::BIGINT FROM tool_usage") == expected
    output = 15_000_000 * len(requests)
    assert expected <= lake.one("SELECT sum(cost_pico_usd)::BIGINT FROM step_costs") - output
    if all(sum(one) <= sum(tokens) for one in requests):
        assert expected == lake.one("SELECT sum(cost_pico_usd)::BIGINT FROM step_costs") - output


def test_what_no_price_or_usage_tells_is_missing_and_counted_not_zero() -> None:
    lake = offered(("a", 100), ("b", None))
    claude(lake, 0, toolset_hash="T", input_uncached=200)
    lake.step(provider="nobody", model="of-the-future", input_uncached=200, toolset_hash="T", at=minute(1))
    lake.step(**CLAUDE, toolset_hash="T", at=minute(2))  # no usage
    columns = "tool_name, offering_requests, untaxed_requests, tax_pico_usd::BIGINT, definition_tokens"
    rows = lake.build(STAGES).rows(f"SELECT {columns} FROM tool_usage ORDER BY tool_name")
    assert rows == [("a", 3, 2, 100 * IN, 100), ("b", 3, 3, 0, None)]


COUNTS = "tool_name, offering_requests, offering_runs, calls, failed_calls, calling_runs"


def test_offered_called_and_failed_are_counted_apart() -> None:
    lake = offered(("a", 10), ("never", 10))
    lake.start("other", workflow="chat")
    for run in ("run", "run", "other"):
        claude(lake, 0, run=run, toolset_hash="T")
    for status in ("succeeded", "failed", "succeeded"):
        lake.step("run", kind="tool", tool_name="a", status=status, at=minute(1))
    lake.step("run", kind="tool", tool_name="invented", status="failed", at=minute(1))
    rows = lake.build(STAGES).rows(f"SELECT {COUNTS} FROM tool_usage ORDER BY tool_name")
    assert rows == [("a", 3, 2, 3, 1, 1), ("invented", 0, 0, 1, 1, 1), ("never", 3, 2, 0, 0, 0)]


def test_a_call_without_any_toolset_says_nothing_about_what_was_offered() -> None:
    lake = Lake()
    lake.start()
    lake.step(kind="tool", tool_name="a")
    lake.step(**GPT, input_uncached=5, toolset_hash="undefined", at=minute(1))
    lake.step(kind="tool", tool_name="b", at=minute(2))
    rows = lake.build(STAGES).rows(f"SELECT toolset_hash, {COUNTS} FROM tool_usage ORDER BY tool_name")
    assert rows == [("undefined", "a", None, None, 1, 0, 1), ("undefined", "b", None, None, 1, 0, 1)]


def test_a_call_belongs_to_the_toolset_of_the_request_before_it() -> None:
    lake = offered(("a", 10))
    lake.toolset("U", ("a", 12))
    lake.step(kind="tool", tool_name="a", at=minute(-1))  # the first request of the day comes after it
    claude(lake, 0, toolset_hash="T")
    lake.step(kind="tool", tool_name="a", at=minute(1))
    claude(lake, 2, toolset_hash="U")
    lake.step(kind="tool", tool_name="a", at=minute(3))
    lake.step(kind="tool", tool_name="a", toolset_hash="T", at=minute(4))  # says itself
    rows = lake.build(STAGES).rows("SELECT toolset_hash, calls FROM tool_usage ORDER BY ALL")
    assert rows == [("T", 3), ("U", 1)]


def test_repeated_reports_of_a_call_are_taxed_once() -> None:
    lake = offered(("a", 10))
    for number in range(3):
        claude(lake, number, toolset_hash="T", call_key="same")
    assert lake.build(STAGES).rows(TAX) == [("a", 10 * IN, 0)]


def test_contract_and_prompt_versions_stand_apart() -> None:
    lake = Lake()
    lake.toolset("T", ("a", 10))
    for run, version in (("one", "1.0.0"), ("two", "1.1.0")):
        lake.start(run, feature="bookkeeping", contract_version=version, prompt_version=f"p-{version}")
        claude(lake, 0, run=run, toolset_hash="T")
    rows = lake.build(STAGES).rows("SELECT feature, contract_version, prompt_version FROM tool_usage")
    assert rows == [("bookkeeping", "1.0.0", "p-1.0.0"), ("bookkeeping", "1.1.0", "p-1.1.0")]


def test_the_day_is_that_of_the_request() -> None:
    lake = offered(("a", 10))
    claude(lake, 0, toolset_hash="T")
    claude(lake, 24 * 60, toolset_hash="T")
    days = [(NOON.date(), 1), ((NOON + timedelta(days=1)).date(), 1)]
    assert lake.build(STAGES).rows("SELECT business_day, offering_runs FROM tool_usage") == days


def test_a_tool_that_is_listed_twice_is_one_tool() -> None:
    lake = offered(("a", 10), ("b", 5), ("a", 3))
    claude(lake, 0, toolset_hash="T", input_uncached=100)
    assert lake.build(STAGES).rows(TAX) == [("a", 13 * IN, 0), ("b", 5 * IN, 0)]


@pytest.mark.parametrize("tokens", [0, 10**12])
def test_absurd_sizes_stay_exact(tokens: int) -> None:
    lake = offered(("a", tokens), ("b", tokens))
    claude(lake, 0, toolset_hash="T", input_uncached=10**12)
    expected = [("a", tokens * 6_000_000, 0), ("b", 0, 0)]  # past 200 000 tokens the model costs twice as much
    assert lake.build(STAGES).rows(TAX) == expected


def test_the_latest_report_of_a_toolset_holds() -> None:
    lake = offered(("a", 10))
    lake.toolset("T", ("a", 20), cohort="renamed", at=minute(5))
    claude(lake, 0, toolset_hash="T", input_uncached=100)
    assert lake.build(STAGES).rows("SELECT cohort, definition_tokens FROM tool_usage") == [("renamed", 20)]


def test_runs_are_told_with_how_much_they_were_offered() -> None:
    lake = offered(("a", 1), ("b", 1), ("c", 1))
    claude(lake, 0, toolset_hash="T")
    for number in range(5):
        lake.start(f"ocr{number}")
        lake.step(f"ocr{number}", **GPT, input_uncached=1)
    columns = "workflow, runs, offered_runs, offered_tools::INT, max_tools_offered"
    assert lake.build().rows(f"SELECT {columns} FROM workflow_traffic ORDER BY runs DESC") == [
        ("ocr", 5, 0, 0, None),
        ("chat", 1, 1, 3, 3),
    ]
