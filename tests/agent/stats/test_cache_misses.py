"""Why the prompt cache did not hold: what changed told apart from what had to miss anyway."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.agent.stats.support import CLAUDE, GPT, IN, READ, WRITE_5M, causes, claude, minute
from tests.cost.support import NOON, Lake

ONE = "SELECT cause, detail, missed_tokens::INT, lost_pico_usd::BIGINT FROM cache_misses WHERE cause NOT IN {}"
USUAL = "('hit', 'first_use')"


def lake_with(*runs: str, **values: Any) -> Lake:
    lake = Lake()
    for run in runs or ("run",):
        lake.start(run, workflow="chat", **values)
    return lake


def test_a_conversation_that_only_grows_hits() -> None:
    lake = lake_with()
    claude(lake, 0, write=2000)
    claude(lake, 1, read=2000, write=300)
    claude(lake, 2, read=2300, write=100)
    assert causes(lake) == {"first_use": 1, "hit": 2}


def test_a_changed_segment_is_named_with_what_it_cost() -> None:
    lake = lake_with()
    lake.layout("L", ("instructions", 1500), ("workflows", 400), ("facts", 100))
    lake.layout("M", ("instructions", 1500), ("workflows", 420), ("facts", 101))
    claude(lake, 0, write=2000, layout_hash="L")
    claude(lake, 1, read=1500, write=520, layout_hash="M")
    lake.build()
    assert lake.rows(ONE.format(USUAL)) == [("layout_changed", "workflows", 500, 500 * (WRITE_5M - READ))]


@pytest.mark.parametrize(
    ("segments", "told"),
    [
        ((("clock", None), ("instructions", 1500), ("today", None), ("facts", 500)), ("volatile_segment", "clock")),
        ((("instructions", 1500), ("facts", 500), ("clock", None)), ("unexplained", None)),
    ],
    ids=["before what is shared", "behind it"],
)
def test_a_text_of_the_turn_before_what_is_shared_is_named(
    segments: tuple[tuple[str, int | None], ...], told: tuple[str, str | None]
) -> None:
    lake = lake_with("one", "two")
    lake.layout("L", *segments)
    claude(lake, 0, write=2000, layout_hash="L", run="one")
    claude(lake, 1, read=0, write=2000, layout_hash="L", run="one")
    claude(lake, 2, read=0, write=2000, layout_hash="L", run="two")
    lake.build()
    assert {row[:2] for row in lake.rows(ONE.format(USUAL))} == {told}
    assert lake.one("SELECT sum(requests)::INT FROM cache_misses WHERE cause <> 'first_use'") == 2


def test_a_segment_that_has_gone_is_named_too() -> None:
    lake = lake_with()
    lake.layout("L", ("instructions", 1500), ("workflows", 400))
    lake.layout("M", ("instructions", 1500))
    claude(lake, 0, write=2000, layout_hash="L")
    claude(lake, 1, input_uncached=1600, write=0, layout_hash="M")
    lake.build()
    assert lake.rows(ONE.format(USUAL))[0][:2] == ("no_breakpoint", None)
    claude(lake, 2, write=2000, layout_hash="L")
    claude(lake, 3, write=1600, layout_hash="M")
    lake.build()
    assert ("layout_changed", "workflows") in [row[:2] for row in lake.rows(ONE.format(USUAL))]


def test_changed_tools_come_before_a_changed_layout() -> None:
    lake = lake_with()
    lake.toolset("T", ("search", 900), ("pay", 900), cohort="core")
    lake.toolset("U", ("search", 900), ("pay", 950), cohort="core")
    lake.layout("L", ("instructions", 100))
    lake.layout("M", ("instructions", 110))
    claude(lake, 0, write=2000, toolset_hash="T", layout_hash="L")
    claude(lake, 1, read=900, write=1100, toolset_hash="U", layout_hash="M")
    lake.build()
    assert lake.rows(ONE.format(USUAL)) == [("tools_changed", "pay", 1100, 1100 * (WRITE_5M - READ))]


def test_a_definition_that_nobody_reported_has_no_first_difference() -> None:
    lake = lake_with()
    claude(lake, 0, write=2000, layout_hash="L")
    claude(lake, 1, write=2000, layout_hash="M")
    lake.build()
    assert [row[:2] for row in lake.rows(ONE.format(USUAL))] == [("layout_changed", None)]


@pytest.mark.parametrize(
    ("gap_minutes", "hour", "cause"),
    [(4.9, 0, "layout_changed"), (5.1, 0, "expired"), (59, 100, "layout_changed"), (61, 100, "expired")],
)
def test_an_entry_lives_as_long_as_its_provider_says_and_expiry_comes_first(
    gap_minutes: float, hour: int, cause: str
) -> None:
    lake = lake_with()
    claude(lake, 0, write=2000, cache_write_1h=hour, layout_hash="L")
    claude(lake, gap_minutes, write=2100, layout_hash="M")
    assert causes(lake) == {"first_use": 1, cause: 1}


def test_requests_at_the_same_time_do_not_find_each_others_entry() -> None:
    lake = lake_with("a", "b", "c")
    for number, run in enumerate("abc"):
        claude(lake, number / 60, run=run, write=2000, toolset_hash="T", layout_hash="L", latency_ms=10_000)
    claude(lake, 1, run="a", read=2000, toolset_hash="T", layout_hash="L")
    assert causes(lake) == {"concurrent": 2, "first_use": 1, "hit": 1}


def test_the_prefix_of_another_conversation_counts_while_it_is_warm() -> None:
    lake = lake_with("a", "b", "c", "d")
    same: dict[str, Any] = {"toolset_hash": "T", "layout_hash": "L"}
    claude(lake, 0, run="a", write=2000, **same)
    claude(lake, 1, run="b", read=1500, write=500, **same)
    claude(lake, 2, run="c", write=2000, **same)
    claude(lake, 9, run="d", write=2000, **same)
    assert causes(lake) == {"expired": 1, "first_use": 1, "hit": 1, "unexplained": 1}


def test_the_first_request_after_a_deployment_pays_for_the_change_and_another_cohort_does_not() -> None:
    lake = lake_with("a", "b", "c", "d")
    lake.toolset("T", ("x", 5), cohort="core")
    lake.toolset("V", ("x", 5), ("z", 5), cohort="core+more")
    lake.layout("L", ("instructions", 1500))
    lake.layout("M", ("instructions", 1501))
    claude(lake, 0, run="a", write=2000, toolset_hash="T", layout_hash="L")
    claude(lake, 1, run="b", write=2000, toolset_hash="T", layout_hash="M")
    claude(lake, 2, run="c", read=1501, write=499, toolset_hash="T", layout_hash="M")
    claude(lake, 2.5, run="d", write=2000, toolset_hash="V", layout_hash="M")
    assert causes(lake) == {"first_use": 2, "hit": 1, "layout_changed": 1}


def test_what_the_provider_says_holds() -> None:
    lake = lake_with()
    claude(lake, 0, write=2000, layout_hash="L")
    claude(lake, 1, write=2000, layout_hash="M", cache_miss_reason="system_changed")
    claude(lake, 2, write=2000, layout_hash="M", cache_miss_reason="history-rewritten: messages[17]")
    lake.build()
    found = [row[:2] for row in lake.rows(ONE.format(USUAL))]
    assert found == [("provider_reason", "history-rewritten"), ("provider_reason", "system_changed")]


def test_a_reason_beside_a_hit_is_no_miss() -> None:
    lake = lake_with()
    claude(lake, 0, write=2000)
    claude(lake, 1, read=2000, cache_miss_reason="messages_changed")
    assert causes(lake) == {"first_use": 1, "hit": 1}


def test_what_is_too_short_or_not_marked_is_no_miss_of_the_layout() -> None:
    lake = lake_with()
    claude(lake, 0, write=2000, layout_hash="L")
    claude(lake, 1, input_uncached=900, layout_hash="M")
    claude(lake, 2, input_uncached=3000, layout_hash="M")
    assert causes(lake) == {"below_minimum": 1, "first_use": 1, "no_breakpoint": 1}


def test_a_provider_that_counts_in_increments_is_not_blamed_for_the_rest() -> None:
    lake = lake_with()
    for at, read, total in ((0, 0, 1500), (1, 1408, 1700), (2, 1408, 2400), (3, 1024, 2500)):
        lake.step(**GPT, at=minute(at), cache_read=read, input_uncached=total - read, output=1)
    assert causes(lake) == {"first_use": 1, "hit": 1, "unexplained": 2}
    # 1 700 were there and 1 408 read, at 1.25 instead of 2.50; then 2 400 and 1 024.
    lost = (292 + 1376) * 1_250_000
    assert lake.one("SELECT sum(lost_pico_usd)::BIGINT FROM cache_misses") == lost


def test_a_provider_without_rules_has_neither_expiry_nor_minimum() -> None:
    lake = lake_with()
    for at in (0, 60):
        lake.step(provider="own", model="local", at=minute(at), cache_read=0, input_uncached=100)
    assert causes(lake) == {"first_use": 1, "unexplained": 1}
    assert lake.one("SELECT sum(unknown_loss_requests)::INT FROM cache_misses") == 1


def test_a_conversation_goes_on_in_its_next_run_and_a_child_has_a_prompt_of_its_own() -> None:
    lake = lake_with("one", "two", conversation_id="c")
    lake.start("child", workflow="chat", conversation_id="c", parent_run_id="one")
    claude(lake, 0, run="one", write=2000, layout_hash="L")
    claude(lake, 1, run="child", write=1500, layout_hash="K")
    claude(lake, 2, run="two", read=2000, layout_hash="L")
    assert causes(lake) == {
        "first_use": 1,
        "hit": 1,
        "layout_changed": 1,
    }  # the child's prompt, as a first of its cohort


def test_calls_of_other_names_and_models_keep_prompts_of_their_own() -> None:
    lake = lake_with()
    for at in (0, 2):
        claude(lake, at, name="route", read=1200 * (at > 0), write=1200 * (at == 0), toolset_hash=None)
        claude(lake, at + 1, name="answer", read=2000 * (at > 0), write=2000 * (at == 0))
    assert causes(lake) == {"first_use": 2, "hit": 2}


def test_silent_calls_are_in_no_row_and_all_others_in_one() -> None:
    lake = lake_with()
    lake.step(**GPT, input_uncached=5000)
    assert causes(lake) == {}


def test_nothing_is_compared_over_more_than_a_day() -> None:
    lake = lake_with()
    claude(lake, 0, write=2000)
    claude(lake, 24 * 60 + 1, write=2000)
    claude(lake, 47 * 60, write=2000)
    assert causes(lake) == {"expired": 1, "first_use": 2}


def naive_alarms(lake: Lake) -> int:
    """The rule of a known detector: fewer tokens read than the request before in the session had read and written."""
    return int(
        lake.one(
            "SELECT count(*) FILTER (read < before) FROM (SELECT coalesce(cache_read_tokens, 0) AS read, "
            "lag(coalesce(cache_read_tokens, 0) + coalesce(cache_write_5m_tokens, 0)) "
            "OVER (PARTITION BY run_id ORDER BY event_time, event_id) AS before FROM step_costs)"
        )
    )


def test_of_221_alarms_of_the_naive_rule_the_52_real_ones_are_told() -> None:
    lake = Lake()
    kinds = {"layout": 30, "tools": 22, "expiry": 100, "model": 29, "parallel": 20, "short": 20}
    for kind, threads in kinds.items():
        for number in range(threads):
            run = f"{kind}{number}"
            hashes: dict[str, Any] = {"toolset_hash": f"T-{run}", "layout_hash": f"L-{run}"}
            later: dict[str, tuple[float, int, dict[str, Any]]] = {
                "layout": (1.0, 2000, {"layout_hash": f"M-{run}"}),
                "tools": (1, 2000, {"toolset_hash": f"U-{run}"}),
                "expiry": (10, 2000, {}),
                "model": (1, 5000, {"model": "claude-haiku-4-5"}),
                "parallel": (0.02, 2000, {}),
                "short": (1, 0, {"input_uncached": 300, "name": "title"}),
            }
            lake.start(run, workflow="chat")
            claude(lake, 0, run=run, write=2000, name="answer", latency_ms=5_000, **hashes)
            at, write, other = later[kind]
            tokens = {"input_uncached": 10, "cache_read": 0, "cache_write_5m": write, "output": 1}
            lake.step(run, **{**CLAUDE, "name": "answer", **tokens, **hashes, **other}, at=minute(at))
    found = causes(lake)
    assert naive_alarms(lake) == 221 == sum(kinds.values())
    assert found["layout_changed"] + found["tools_changed"] == 52
    assert found == {
        "below_minimum": 20,
        "concurrent": 20,
        "expired": 100,
        "first_use": 221 + 29,
        "layout_changed": 30,
        "tools_changed": 22,
    }


REQUEST = st.fixed_dictionaries(
    {
        "at": st.integers(0, 3 * 24 * 60),
        "run": st.sampled_from("ab"),
        "read": st.one_of(st.none(), st.integers(0, 5000)),
        "write": st.integers(0, 5000),
        "toolset_hash": st.sampled_from([None, "T", "U"]),
        "layout_hash": st.sampled_from([None, "L", "M"]),
        "latency_ms": st.one_of(st.none(), st.integers(0, 10**9)),
        "cache_miss_reason": st.sampled_from([None, "tools_changed", ":", ""]),
    }
)


@settings(max_examples=40)
@given(st.lists(REQUEST, max_size=12))
def test_every_reporting_call_has_one_cause_and_the_sums_are_those_of_cache_efficiency(
    requests: list[dict[str, Any]],
) -> None:
    lake = lake_with("a", "b")
    lake.toolset("T", ("x", 5))
    lake.layout("L", ("x", None))
    for request in requests:
        claude(lake, request.pop("at"), run=request.pop("run"), **request) if request[
            "read"
        ] is not None else lake.step("a", **GPT, input_uncached=3, at=NOON + timedelta(minutes=request["at"]))
    lake.build()
    sums = "coalesce(sum({}), 0)::BIGINT, coalesce(sum({}), 0)::BIGINT, coalesce(sum(cache_read_tokens), 0)::BIGINT"
    assert lake.rows(f"SELECT {sums.format('requests', 'input_tokens')} FROM cache_misses") == lake.rows(
        f"SELECT {sums.format('reporting_steps', 'reported_input_tokens')} FROM cache_efficiency"
    )


def test_the_loss_is_what_reading_would_have_saved() -> None:
    lake = lake_with()
    claude(lake, 0, write=3000, layout_hash="L")
    claude(lake, 1, write=2000, input_uncached=1010, layout_hash="M")
    lake.build()
    lost = 2000 * (WRITE_5M - READ) + 1000 * (IN - READ)
    assert lake.one("SELECT sum(lost_pico_usd)::BIGINT FROM cache_misses") == lost
