"""What is a finding, what is noise, and what the figures beside it say."""

from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beleg.evals import stats
from beleg.evals.findings.rule import Finding, Group, Rule, holm, interval, judge
from benchmarks.findings import World, found

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)


def group(field: str = "/x", inputs: int = 20, *, runs: int = 200, version: int = 1, **changed: Any) -> Group:
    given_: dict[str, Any] = {
        "workflow": "ocr",
        "field": field,
        "reason": "mapping_bug",
        "prompt_version": f"v{version}",
        "version_place": version,
        "of_runs": runs,
        "inputs": inputs,
        "people": 2,
        "runs": inputs,
        "corrections": inputs,
        "rejected_corrections": 0,
        "first_said_at": NOON,
        "last_said_at": NOON,
    }
    return Group(**{**given_, **changed})


def kinds(*groups: Group) -> dict[str, str]:
    return {found.group.field: found.kind for found in judge(groups)}


def only(*groups: Group, **more: Any) -> Finding:
    """The verdict on the last of the groups."""
    return next(found for found in judge(groups, **more) if found.group == groups[-1])


def test_a_field_that_stands_out_is_a_finding_and_the_others_are_watched() -> None:
    others = [group(f"/{n}", 2) for n in range(5)]
    assert kinds(group(), *others) == {"/x": "finding", **{f"/{n}": "watch" for n in range(5)}}


def test_a_single_input_is_a_slip_however_many_corrected_it() -> None:
    assert kinds(group("/x", 1, corrections=40, people=9)) == {"/x": "slip"}


def test_fewer_inputs_than_the_rule_asks_for_are_no_finding() -> None:
    wide = [group(f"/{n}", 1, runs=10) for n in range(40)]
    assert only(*wide, group("/x", 3, runs=10), rule=Rule(min_inputs=4)).kind == "watch"


def test_taste_is_no_error_however_often() -> None:
    taste = only(group("/y", 2), group("/x", 90, reason="user_preference"))
    assert (taste.kind, taste.base_rate, taste.p_value) == ("preference", None, None)


def test_a_month_of_eager_reviewers_finds_nothing() -> None:
    calm = [group(f"/{n}", 3) for n in range(6)]
    eager = [group(f"/{n}", 15, version=2) for n in range(6)]
    assert {found.kind for found in judge([*calm, *eager])} == {"watch"}


def test_a_reason_that_people_like_to_tick_finds_nothing() -> None:
    groups = [group(f"/{n}", 20, reason="extraction_error") for n in range(6)]
    assert {found.kind for found in judge([*groups, group("/0", 2)])} == {"watch"}


def test_fields_that_are_all_wrong_are_no_noise() -> None:
    found_ = judge([group("/x", 90), group("/y", 80)])
    assert [(f.kind, f.base, f.base_rate) for f in found_] == [("finding", "most", 0.1)] * 2


def test_a_workflow_with_one_field_is_compared_with_an_assumed_rate() -> None:
    loud, quiet = only(group("", 12)), only(group("", 4))
    assert (loud.kind, loud.base, loud.base_rate) == ("finding", "assumed", 0.01)
    assert quiet.kind == "watch"


def test_workflows_are_not_compared_with_each_other() -> None:
    assert only(group("/y", 60, workflow="dunning"), group("/x", 2)).base == "assumed"


@pytest.mark.parametrize(
    ("before", "now", "trend"), [(2, 20, "rising"), (20, 2, "falling"), (9, 11, "steady"), (0, 12, "rising")]
)
def test_the_trend_compares_with_the_version_before(before: int, now: int, trend: str) -> None:
    groups = [group(inputs=before), group(inputs=now, version=2)] if before else [group(inputs=now, version=2)]
    told = only(*groups, versions={("ocr", 1): ("v1", 200), ("ocr", 2): ("v2", 200)})
    assert (told.trend, told.previous and told.previous.inputs, told.previous and told.previous.prompt_version) == (
        trend,
        before,
        "v1",
    )


def test_a_first_version_has_no_trend() -> None:
    assert (only(group()).trend, only(group()).previous) == (None, None)


def test_the_same_error_under_a_later_version_names_the_earlier_finding() -> None:
    others = [group(f"/{n}", 2, version=v) for n in range(5) for v in (1, 2, 3)]
    first, third = group(), group(version=3)
    again = only(*others, first, group(inputs=2, version=2), third)
    assert (again.kind, again.earlier_finding_id) == ("finding", first.finding_id)
    assert first.finding_id != third.finding_id


def test_an_id_depends_on_what_it_is_about_alone() -> None:
    ids = {group(inputs=n, runs=100 + n).finding_id for n in range(9)}
    assert len(ids) == 1
    parts: list[dict[str, Any]] = [
        {"workflow": "w"},
        {"field": "/y"},
        {"reason": "extraction_error"},
        {"prompt_version": None},
    ]
    assert len({group(**part).finding_id for part in parts} | ids) == 5


def test_what_a_person_decided_is_told() -> None:
    told = only(group(), decided={group().finding_id: "rejected"})
    assert (told.kind, told.status) == ("finding", "rejected")


def test_a_group_whose_corrections_were_all_rejected_is_no_finding() -> None:
    told = only(group("/y", 5), group(inputs=0, corrections=9, rejected_corrections=9))
    assert (told.kind, told.rate, told.p_value) == ("slip", 0.0, None)


@given(st.integers(0, 50), st.integers(0, 50), st.sampled_from([0.05, 0.025]))
def test_intervals_are_those_of_the_statistics(hits: int, more: int, alpha: float) -> None:
    if hits + more:
        exact = stats.clopper_pearson(hits, hits + more, alpha)
        assert interval(hits, hits + more, alpha) == pytest.approx((exact.lower, exact.upper), abs=1e-9)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_corrected_p_values_are_those_of_the_statistics(p_values: list[float]) -> None:
    assert holm(p_values) == pytest.approx(stats.holm(p_values))


@given(st.randoms(use_true_random=False))
def test_the_order_of_groups_does_not_matter(random: Any) -> None:
    groups = World(5, 300, 0.03, effect=5).groups(np.random.default_rng(3))
    shuffled = random.sample(groups, len(groups))
    assert judge(shuffled) == judge(groups)


@pytest.mark.parametrize(
    "world",
    [
        World(1, 300, 0.01),
        World(2, 1_000, 0.04),
        World(6, 1_000, 0.01),
        World(6, 1_000, 0.01, favourite=5),
        World(6, 1_000, 0.01, zeal=3),
        World(20, 100, 0.002),
    ],
    ids=str,
)
def test_in_pure_noise_little_is_found(world: World) -> None:
    """At most 5 %; the bound is what 300 draws of 5 % stay below in all but one of 10 000 tries."""
    assert found(world, 300, seed=11)[0] <= 0.107


def test_five_times_the_noise_is_recalled() -> None:
    assert found(World(8, 1_000, 0.01, effect=5), 60, seed=5)[1] > 0.9
