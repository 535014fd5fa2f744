"""The core of usage: disjoint buckets, a convention with its evidence, and never a clamped figure."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beleg.trace.usage import BUCKETS, Reported, normalise
from beleg.trace.usage_read import read_calls

counts = st.integers(0, 100_000)


def test_nothing_reported_is_unknown_and_not_zero() -> None:
    usage = normalise(Reported())
    assert usage.buckets == dict.fromkeys(BUCKETS)
    assert usage.usage_check is None


def test_inclusive_input_is_split_into_cached_and_uncached() -> None:
    usage = normalise(Reported(input=17_903, cache_read=17_817, output=9, total=17_912, provider_rule="inclusive"))
    assert usage.known == {"input_uncached": 86, "cache_read": 17_817, "output": 9}
    assert (usage.convention, usage.convention_evidence, usage.usage_check) == ("inclusive", "identity", "ok")


def test_cache_reads_and_writes_are_both_inside_an_inclusive_input() -> None:
    usage = normalise(Reported(input=11_935, cache_read=5_758, cache_write=6_174, declared="inclusive"))
    assert usage.known["input_uncached"] == 3


@pytest.mark.parametrize("rule", ["inclusive", None])
def test_total_that_only_adds_up_beside_the_cache_outranks_the_rule_of_the_provider(rule: Any) -> None:
    usage = normalise(
        Reported(input=4_299, cache_read=35_574, cache_write=17_787, output=631, total=58_291, provider_rule=rule)
    )
    assert usage.known == {"input_uncached": 4_299, "cache_read": 35_574, "cache_write": 17_787, "output": 631}
    assert (usage.convention, usage.convention_evidence, usage.usage_check) == ("exclusive", "identity", "ok")


def test_same_provider_may_report_either_way_from_call_to_call() -> None:
    beside = normalise(
        Reported(input=2, cache_write=4_993, output=19, total=5_014, provider_rule="exclusive"),
    )
    inside = normalise(
        Reported(input=4_995, cache_write=4_993, output=19, total=5_014, provider_rule="exclusive"),
    )
    assert beside.known == inside.known == {"input_uncached": 2, "cache_write": 4_993, "output": 19}


def test_more_cached_than_an_inclusive_input_holds_is_a_contradiction() -> None:
    usage = normalise(Reported(input=3, cache_read=9, output=1, declared="inclusive"))
    assert usage.contradiction == "9 cached tokens cannot be inside 3 input tokens"
    assert usage.usage_check == "conflict"
    assert usage.known == {}


def test_exactly_as_much_cached_as_input_is_no_contradiction() -> None:
    assert normalise(Reported(input=9, cache_read=9, declared="inclusive")).known["input_uncached"] == 0


def test_undecidable_convention_leaves_the_uncached_input_unknown() -> None:
    usage = normalise(Reported(input=100, cache_read=40, output=1))
    assert usage.convention == "unknown"
    assert usage.buckets["input_uncached"] is None
    assert usage.known == {"cache_read": 40, "output": 1}


def test_reasoning_inside_output_is_taken_out_of_it() -> None:
    usage = normalise(Reported(input=45, output=1_719, reasoning=1_408, total=1_764, reasoning_inside=True))
    assert (usage.known["output"], usage.known["reasoning"]) == (311, 1_408)


def test_reasoning_above_output_keeps_the_output_whole_and_marks_the_call() -> None:
    usage = normalise(Reported(input=5, output=4, reasoning=6, total=9, reasoning_inside=True))
    assert (usage.buckets["output"], usage.buckets["reasoning"]) == (4, None)
    assert (usage.usage_check, usage.contradiction) == ("conflict", None)


def test_total_tells_reasoning_beside_the_output() -> None:
    usage = normalise(Reported(input=10, output=20, reasoning=5, total=35, reasoning_rule=True))
    assert (usage.known["output"], usage.known["reasoning"]) == (20, 5)


def test_reasoning_of_unknown_place_counts_once() -> None:
    usage = normalise(Reported(input=10, output=20, reasoning=5))
    assert (usage.buckets["output"], usage.buckets["reasoning"]) == (20, None)


def test_reasoning_hidden_in_the_total_is_found_only_where_the_source_is_known_to_hide_it() -> None:
    hidden = Reported(input=5, output=845, total=2_023, hidden_reasoning=True)
    assert normalise(hidden).known == {"input_uncached": 5, "output": 845, "reasoning": 1_173}
    plain = normalise(Reported(input=5, output=845, total=2_023))
    assert plain.known == {"input_uncached": 5, "output": 845}
    assert plain.usage_check == "conflict"


def test_cache_writes_are_split_by_lifetime() -> None:
    usage = normalise(
        Reported(input=4, cache_write=379, cache_write_5m=300, cache_write_1h=79, declared="exclusive"),
    )
    assert (usage.known["cache_write_5m"], usage.known["cache_write_1h"]) == (300, 79)
    assert usage.buckets["cache_write"] is None


def test_cache_writes_without_lifetime_stay_apart_from_those_with_one() -> None:
    usage = normalise(Reported(input=4, cache_write=100, cache_write_5m=60, declared="exclusive"))
    assert (usage.known["cache_write_5m"], usage.known["cache_write"]) == (60, 40)


def test_lifetimes_above_the_sum_of_writes_are_a_contradiction() -> None:
    assert normalise(Reported(cache_write=10, cache_write_5m=11)).contradiction is not None


def test_audio_and_image_have_buckets_of_their_own_on_both_sides_of_the_cache() -> None:
    usage = normalise(
        Reported(
            input=373,
            input_image=258,
            cache_read=204,
            cache_read_image=141,
            output=89,
            reasoning=167,
            total=629,
            declared="inclusive",
            reasoning_inside=False,
        )
    )
    assert usage.known == {
        "input_uncached": 52,
        "input_image": 117,
        "cache_read": 63,
        "cache_read_image": 141,
        "output": 89,
        "reasoning": 167,
    }
    assert usage.usage_check == "ok"


def test_audio_of_which_an_untold_part_was_cached_is_kept_whole_and_marked() -> None:
    usage = normalise(Reported(input=150, input_audio=120, cache_read=100, output=1, declared="inclusive"))
    assert usage.known == {"input_uncached": 50, "cache_read": 100, "output": 1}
    assert usage.usage_check == "conflict"


def test_negative_count_is_a_contradiction() -> None:
    assert normalise(Reported(input=-1)).contradiction == "input is -1; a token count is at least 0"


reports = st.builds(
    Reported,
    **{
        name: st.none() | st.integers(-2, 300)
        for name in ("input", "cache_read", "cache_write", "cache_write_5m", "cache_write_1h", "output")
    },
    reasoning=st.none() | st.integers(0, 300),
    total=st.none() | st.integers(0, 900),
    input_audio=st.none() | st.integers(0, 300),
    cache_read_audio=st.none() | st.integers(0, 300),
    output_audio=st.none() | st.integers(0, 300),
    declared=st.sampled_from([None, "inclusive", "exclusive"]),
    provider_rule=st.sampled_from([None, "inclusive", "exclusive"]),
    reasoning_inside=st.sampled_from([None, True, False]),
    hidden_reasoning=st.booleans(),
)


@given(reports)
def test_no_bucket_is_ever_negative_and_a_contradicted_call_has_none(reported: Reported) -> None:
    usage = normalise(reported)
    assert all(count >= 0 for count in usage.known.values())
    assert usage.contradiction is None or usage.known == {}
    assert (usage.convention is None or usage.convention == "unknown") == (usage.convention_evidence is None)


@given(reports)
def test_a_call_that_passed_the_check_adds_up_to_its_total(reported: Reported) -> None:
    usage = normalise(reported)
    complete = usage.buckets["input_uncached"] is not None and usage.buckets["output"] is not None
    if usage.usage_check == "ok" and reported.total is not None and complete:
        assert sum(usage.known.values()) == reported.total


@given(counts, counts, counts, counts, counts)
def test_both_conventions_of_the_same_call_give_the_same_buckets(
    uncached: int, read: int, write: int, visible: int, reasoning: int
) -> None:
    total = uncached + read + write + visible + reasoning
    parts: dict[str, Any] = {"cache_read": read, "cache_write": write, "reasoning": reasoning, "total": total}
    inside = normalise(
        Reported(
            input=uncached + read + write,
            output=visible + reasoning,
            declared="inclusive",
            reasoning_inside=True,
            **parts,
        )
    )
    beside = normalise(Reported(input=uncached, output=visible, declared="exclusive", reasoning_inside=False, **parts))
    assert inside.buckets == beside.buckets
    assert inside.usage_check == beside.usage_check == "ok"
    assert sum(inside.known.values()) == total


@pytest.mark.parametrize(
    ("usage", "api", "told"),
    [
        ({"input_tokens": 11, "output_tokens": 7}, None, ("responses", "inclusive")),
        ({"input_tokens": 11, "output_tokens": 7}, "messages", ("messages", "exclusive")),
        ({"input_tokens": 11, "output_tokens": 7}, "responses", ("responses", "inclusive")),
        ({"input_tokens": 11, "input_tokens_details": {}, "output_tokens": 7}, "messages", ("responses", "inclusive")),
        ({"prompt_tokens": 11, "completion_tokens": 7}, "messages", ("chat", None)),
    ],
)
def test_who_knows_the_api_decides_between_usages_that_look_alike(
    usage: dict[str, Any], api: str | None, told: tuple[str, str | None]
) -> None:
    (call,) = read_calls({"model": "m", "usage": usage}, api)
    assert (call.api, call.reported.declared) == told
