"""Fail closed: what is missing counts against the candidate, and what cannot be trusted gives no verdict."""

from dataclasses import replace
from datetime import timedelta
from math import inf, nan

import pytest

from beleg.core.errors import DamagedError, UsageError
from beleg.evals.gate.judge import judge
from beleg.evals.gate.pairing import Stopped
from beleg.evals.results import Result
from tests.evals.gate.support import (
    BASELINE,
    COST,
    EXACT,
    LATENCY,
    LINES,
    NOW,
    Scored,
    Side,
    cases,
    codes,
    counts,
    judged,
    plan,
    result,
    results,
    rules,
)

ASKED = plan(EXACT, cases=cases(200))
GOOD = results(ASKED, [1.0] * 200, [1.0] * 200)


def test_a_missing_candidate_is_wrong_and_a_missing_baseline_right() -> None:
    """2 worse and 3 better of 97 complete; 2 candidates missing where the baseline was right, 1 where it was wrong."""
    candidate: list[Scored] = [*[0.0] * 2, *[1.0] * 3, *[1.0] * 92, *[None] * 3]
    baseline: list[Scored] = [*[1.0] * 2, *[0.0] * 3, *[1.0] * 92, 1.0, 1.0, 0.0]
    compared = judged(candidate, baseline, criterion=replace(EXACT, margin=0.1), max_margin=0.1).criteria[0].comparison
    assert compared is not None
    assert compared.complete is not None
    assert compared.assessed is not None
    assert (compared.worse, compared.better, compared.assessed.cases) == (4, 3, 100)
    assert (compared.complete.cases, compared.complete.lowest, compared.complete.highest) == (97, -0.01, 0.02)


def test_both_missing_is_a_loss() -> None:
    compared = judged([1.0] * 99 + [None], [1.0] * 99 + [None]).criteria[0].comparison
    assert compared is not None
    assert (compared.worse, compared.better) == (1, 0)


def test_a_result_that_never_came_counts_as_one_that_failed() -> None:
    lost = [each for each in GOOD if not (each.digest != BASELINE and each.case_id == ASKED.cases[0].case_id)]
    report = judge(ASKED, lost, rules(EXACT))
    assert report.missing == 1
    assert report.criteria[0].comparison is not None
    assert report.criteria[0].comparison.worse == 1


@pytest.mark.parametrize("side", [0, 1])
def test_more_than_five_percent_missing_decides_nothing(side: int) -> None:
    sides: list[list[Scored]] = [[1.0] * 200, [1.0] * 200]
    sides[side][:11] = [None] * 11
    found = judged(sides[0], sides[1])
    assert found.verdict == "inconclusive"
    assert "missing_too_many" in codes(found)


def test_missing_on_one_side_only_decides_nothing() -> None:
    candidate: Side = [*[None] * 6, *[1.0] * 394]
    found = judged(candidate, [1.0] * 400)
    assert "missing_differs" in codes(found)
    assert found.verdict == "inconclusive"
    assert judged([None, *candidate[6:], *[1.0] * 5], [1.0] * 400).verdict == "pass"


def test_where_missing_results_decide_nothing_is_decided() -> None:
    candidate: Side = [*[None] * 4, *[1.0] * 96]
    baseline: Side = [*[1.0] * 96, *[None] * 4]
    found = judged(candidate, baseline)
    assert "missing_decides" in codes(found)
    assert found.verdict == "inconclusive"


def test_a_gap_in_cost_is_dear_and_above_the_limit() -> None:
    baseline: list[Scored] = [0.02 + 0.0001 * number for number in range(100)]
    found = judged([None, *baseline[1:]], baseline, criterion=COST)
    paired = found.criteria[0].paired
    assert paired.candidate[0] > COST.threshold
    assert found.criteria[0].tail is not None
    assert found.criteria[0].tail.above == (1, 0)


def test_a_lost_repetition_counts_in_the_case_mean() -> None:
    candidate: Side = [[1.0, 1.0, None], *[[1.0] * 3] * 99]
    found = judged(candidate, [[1.0] * 3] * 100, repetitions=3)
    assert found.criteria[0].paired.candidate[0] == pytest.approx(2 / 3)
    assert found.criteria[0].comparison is not None
    assert found.criteria[0].comparison.worse == 1


def test_stale_cases_stop_the_gate_by_name() -> None:
    stale = replace(GOOD[7], status="stale", score=None)
    with pytest.raises(Stopped, match=f"1 cases are stale.*{GOOD[7].case_id}"):
        judge(ASKED, [stale if each is GOOD[7] else each for each in GOOD], rules(EXACT))


def test_doubled_cases_stop_the_gate_by_name() -> None:
    with pytest.raises(Stopped, match=f"the case {GOOD[7].case_id} has two results"):
        judge(ASKED, [*GOOD, replace(GOOD[7], score=0.0)], rules(EXACT))
    twice = cases(1) * 2
    with pytest.raises(UsageError, match="twice"):
        plan(EXACT, cases=twice)


def test_two_versions_of_a_scorer_stop_the_gate() -> None:
    mixed = [replace(each, scorer_version="2") if each.digest == BASELINE else each for each in GOOD]
    with pytest.raises(Stopped, match=r"versions 1 and 2"):
        judge(ASKED, mixed, rules(EXACT))
    older = [each for each in mixed if each.digest == BASELINE]
    assert judge(ASKED, [*GOOD, *older], rules(EXACT), scorer_versions={EXACT.scorer: "1"}).verdict == "pass"
    alone = judge(ASKED, mixed, rules(EXACT), scorer_versions={EXACT.scorer: "1"})
    assert "missing_too_many" in codes(alone)


@pytest.mark.parametrize("score", [nan, inf, -inf, 0.5, -1.0, 2.0, None])
def test_a_score_that_is_none_stops_the_gate(score: float | None) -> None:
    broken = replace(GOOD[7], score=score)
    with pytest.raises(DamagedError, match=GOOD[7].case_id):
        judge(ASKED, [broken if each is GOOD[7] else each for each in GOOD], rules(EXACT))


@pytest.mark.parametrize(
    ("criterion", "score"), [(LINES, 1.5), (LINES, -0.1), (COST, 0.0), (LATENCY, -3.0), (LATENCY, nan)]
)
def test_scores_out_of_range_stop_the_gate(criterion: object, score: float) -> None:
    with pytest.raises(DamagedError, match="scored"):
        judged([score] * 100, [0.5] * 100, criterion=criterion)  # type: ignore[arg-type]


def test_a_failed_result_with_a_score_stops_the_gate() -> None:
    with pytest.raises(DamagedError, match="is failed and has a score"):
        judge(ASKED, [replace(GOOD[0], status="failed")], rules(EXACT))


def test_a_case_that_is_not_in_the_dataset_stops_the_gate() -> None:
    with pytest.raises(DamagedError, match="does not hold"):
        judge(ASKED, [*GOOD, result("f" * 24, 1.0)], rules(EXACT))


def test_results_of_another_dataset_version_or_feature_do_not_count() -> None:
    others = [replace(each, dataset_digest="e" * 64) for each in GOOD] + [replace(GOOD[0], feature="x", score=0.0)]
    assert judge(ASKED, [*GOOD, *others], rules(EXACT)).verdict == "pass"
    found = judge(ASKED, others, rules(EXACT))
    assert (found.verdict, found.missing) == ("inconclusive", 200)


def test_no_criterion_and_no_case_are_nothing_to_judge() -> None:
    with pytest.raises(UsageError, match="no criterion"):
        plan(cases=cases(3))
    with pytest.raises(UsageError, match="says anything"):
        judge(plan(EXACT, cases=()), [], rules(EXACT))


def aged(days: float, of: list[Result]) -> list[Result]:
    return [replace(each, event_time=NOW - timedelta(days=days)) if each.digest == BASELINE else each for each in of]


def test_a_baseline_of_long_ago_says_nothing() -> None:
    assert judge(ASKED, aged(14, GOOD), rules(EXACT)).verdict == "pass"
    found = judge(ASKED, aged(14.1, GOOD), rules(EXACT))
    assert (found.verdict, codes(found)) == ("inconclusive", ["baseline_old"])


def test_latency_is_compared_within_a_day() -> None:
    asked = plan(LATENCY, cases=cases(100))
    taken = [1000.0 + number for number in range(100)]
    found = results(asked, [each * 0.9 + number % 3 for number, each in enumerate(taken)], taken, criterion=LATENCY)
    assert judge(asked, aged(1, found), rules(LATENCY)).verdict == "pass"
    assert codes(judge(asked, aged(1.1, found), rules(LATENCY))) == ["baseline_old"]


def test_answers_that_were_asked_again_by_choice_decide_nothing() -> None:
    again = [replace(each, attempt=2 if number == 3 else 1) for number, each in enumerate(GOOD)]
    found = judge(ASKED, again, rules(EXACT))
    assert (found.verdict, codes(found)) == ("inconclusive", ["repeated_look", "selected_again"])
    whole = judge(ASKED, [replace(each, attempt=2) for each in GOOD], rules(EXACT))
    assert (whole.verdict, codes(whole)) == ("inconclusive", ["repeated_look"])  # the first round could be read


def test_a_failure_excuses_no_regression() -> None:
    """Losing the results of the cases that got worse helps nobody."""
    candidate, baseline = counts(12, 0, 188, 0)
    assert judged([*[None] * 12, *candidate[12:]], baseline).verdict != "pass"
