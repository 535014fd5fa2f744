"""The verdict: thresholds, margins, and all that must hold beside them."""

from dataclasses import replace

import pytest

from beleg.core.errors import UsageError
from beleg.evals.gate.judge import judge, judge_hidden
from beleg.evals.gate.plan import Grader
from beleg.evals.gate.planning import planned
from tests.evals.gate.support import (
    COST,
    EXACT,
    LATENCY,
    LINES,
    cases,
    codes,
    counts,
    judged,
    plan,
    results,
    rules,
)


def test_no_worse_than_the_margin_passes() -> None:
    found = judged(*counts(2, 6, 150, 20))
    assert (found.verdict, codes(found)) == ("pass", [])


def test_equal_sides_on_few_cases_are_no_pass() -> None:
    """Wald's interval would have no width here, and pass."""
    found = judged(*counts(0, 0, 40, 2))
    assert found.verdict == "inconclusive"
    assert codes(found) == ["margin_not_shown", "too_few_cases"]
    assert judged(*counts(0, 0, 57, 2)).verdict == "pass"  # 0.95^59 < 0.05


def test_what_would_settle_it_is_told_apart_from_the_verdict() -> None:
    tight = replace(EXACT, margin=0.02)
    found = judged(*counts(5, 5, 190, 0), criterion=tight)
    told = planned(found)
    assert (told.verdict, codes(told)) == ("inconclusive", ["margin_not_shown", "cases_needed"])
    assert 800 < (told.criteria[0].cases_needed or 0) < 950  # 820 at a discordance of exactly 5 %
    assert codes(planned(judged(*counts(6, 1, 193, 0), criterion=tight)))[-1] == "no_cases_suffice"
    assert planned(judged(*counts(0, 0, 100, 0))).criteria[0].reasons == ()


def test_shown_to_be_worse_fails() -> None:
    found = judged(*counts(20, 0, 140, 2))
    assert (found.verdict, codes(found)) == ("fail", ["worse_than_margin"])


def test_a_loss_within_the_margin_passes_and_is_told() -> None:
    found = judged(*counts(8, 0, 592, 0))
    (criterion,) = found.criteria
    assert found.verdict == "pass"
    assert criterion.p_inferior_holm is not None
    assert criterion.p_inferior_holm <= found.alpha


@pytest.mark.parametrize(("right", "verdict"), [(99, "pass"), (90, "pass"), (89, "fail")])
def test_the_threshold_holds_for_the_first_version(right: int, verdict: str) -> None:
    found = judged([1.0] * right + [0.0] * (100 - right), None, criterion=replace(EXACT, threshold=0.9))
    assert found.verdict == verdict
    assert found.criteria[0].comparison is None


def test_a_higher_tier_asks_for_the_bound() -> None:
    scores = [1.0] * 92 + [0.0] * 8
    criterion = replace(EXACT, threshold=0.9)
    assert judged(scores, None, criterion=criterion, tier=1).verdict == "pass"
    found = judged(scores, None, criterion=criterion, tier=2)
    assert (found.verdict, codes(found)) == ("inconclusive", ["threshold_not_shown"])
    assert judged([1.0] * 99 + [0.0], None, criterion=criterion, tier=2).verdict == "pass"


def test_better_than_the_baseline_excuses_no_missed_threshold() -> None:
    found = judged(*counts(0, 60, 40, 100), criterion=replace(EXACT, threshold=0.9))
    assert found.criteria[0].comparison is not None
    assert found.criteria[0].comparison.verdict == "pass"
    assert (found.verdict, codes(found)) == ("fail", ["threshold_missed"])


def test_scores_are_compared_by_a_bounded_mean() -> None:
    assert judged([0.9, 0.8] * 80, [0.88, 0.82] * 80, criterion=LINES).verdict == "pass"
    assert judged([0.9, 0.6] * 80, [0.9, 0.9] * 80, criterion=LINES).verdict == "fail"


def test_rare_total_losses_do_not_pass_as_a_small_mean() -> None:
    """A t bound passes inferior versions one time in three here; 20 cases with one loss show nothing."""
    assert judged([0.9] * 19 + [0.0], [0.9] * 19 + [0.9], criterion=LINES).verdict == "inconclusive"


@pytest.mark.parametrize(("factor", "verdict"), [(1.0, "pass"), (1.1, "pass"), (1.15, "inconclusive"), (1.3, "fail")])
def test_cost_is_compared_by_geometric_means(factor: float, verdict: str) -> None:
    baseline = [0.02 + 0.0005 * number for number in range(80)]
    candidate = [each * factor * (1.02 if number % 2 else 0.98) for number, each in enumerate(baseline)]
    assert judged(candidate, baseline, criterion=COST).criteria[0].comparison.verdict == verdict  # type: ignore[union-attr]


def test_more_cases_above_the_limit_do_not_pass_whatever_is_typical() -> None:
    baseline = [1000.0 + number for number in range(100)]
    candidate = [900.0 + number for number in range(88)] + [20_000.0] * 12
    found = judged(candidate, baseline, criterion=LATENCY)
    criterion = found.criteria[0]
    assert criterion.comparison is not None
    assert criterion.tail is not None
    assert criterion.tail.above == (12, 0)
    assert found.verdict == "fail"
    assert "tail_worse" in codes(found)


def test_the_same_ratio_everywhere_has_no_width_and_is_no_pass() -> None:
    found = judged([1000.0] * 80, [1000.0] * 80, criterion=LATENCY)
    assert found.verdict == "inconclusive"
    assert "degenerate" in codes(found)


def test_what_is_above_no_limit_but_typically_dearer_fails() -> None:
    baseline = [0.02 + 0.0001 * number for number in range(80)]
    found = judged(
        [each * 1.5 + 0.0001 * (number % 3) for number, each in enumerate(baseline)], baseline, criterion=COST
    )
    assert (found.verdict, codes(found)) == ("fail", ["ratio_above_margin"])


def test_a_critical_criterion_of_tier_3_is_not_worse_at_all() -> None:
    sides = counts(1, 0, 2999, 0)
    critical = replace(EXACT, critical=True, margin=0.01)
    assert judged(*sides, criterion=critical, tier=2).verdict == "pass"
    found = judged(*sides, criterion=critical, tier=3)
    assert (found.verdict, codes(found)) == ("fail", ["critical_worse"])
    assert judged(*counts(1, 1, 2998, 0), criterion=critical, tier=3).verdict == "pass"


def test_superiority_is_asked_beside_everything_else() -> None:
    found = judged(*counts(2, 4, 194, 0), superiority=EXACT.name)
    assert (found.verdict, codes(found)) == ("inconclusive", ["superiority_not_shown"])
    assert judged(*counts(2, 20, 178, 0), superiority=EXACT.name).verdict == "pass"


def test_every_criterion_must_hold() -> None:
    asked = plan(EXACT, LINES, cases=cases(160))
    right, wrong = [1.0] * 160, [0.1] * 160
    found = [*results(asked, right, right), *results(asked, wrong, right, criterion=LINES)]
    report = judge(asked, found, rules(EXACT, LINES))
    assert [each.verdict for each in report.criteria] == ["pass", "fail"]
    assert report.verdict == "fail"


def test_clusters_are_the_sample_size() -> None:
    candidate, baseline = counts(0, 0, 60, 0)
    assert judged(candidate, baseline).verdict == "pass"
    shared = {number: {"family": f"tenant {number // 5}"} for number in range(60)}
    assert judged(candidate, baseline, facts=shared).verdict == "inconclusive"


def test_one_family_shows_nothing() -> None:
    shared = {number: {"family": "the only tenant"} for number in range(200)}
    found = judged(*counts(0, 20, 180, 0), facts=shared)
    assert found.verdict == "inconclusive"
    assert {"too_few_families", "degenerate"} <= set(codes(found))


def test_few_families_do_not_pass_in_the_higher_tiers() -> None:
    shared = {number: {"family": f"tenant {number % 9}"} for number in range(900)}
    sides = counts(0, 90, 810, 0)
    assert judged(*sides, facts=shared, tier=1).verdict == "pass"
    found = judged(*sides, facts=shared, tier=2)
    assert (found.verdict, codes(found)) == ("inconclusive", ["too_few_families"])


def test_preferences_are_shown_and_never_block() -> None:
    candidate, baseline = counts(0, 0, 100, 0)
    wishes = {number: {"preference": True, "critical": True} for number in range(100, 150)}
    found = judged([*candidate, *[0.0] * 50], [*baseline, *[1.0] * 50], facts=wishes)
    assert found.verdict == "pass"
    assert found.cases == 100
    (wished,) = found.preferences
    assert len(wished.pairs) == 50


def test_only_preferences_are_nothing_to_judge() -> None:
    wishes = {number: {"preference": True} for number in range(100)}
    with pytest.raises(UsageError, match="no case of receipts-2030 says anything"):
        judged([1.0] * 100, [1.0] * 100, facts=wishes)


def test_a_case_counts_only_for_criteria_on_which_it_says_something() -> None:
    asked = plan(EXACT, LINES, cases=cases(100))
    some = frozenset(each.case_id for each in asked.cases[:70])
    asked = replace(asked, planned={LINES.name: some})
    found = [
        *results(asked, [1.0] * 100, [1.0] * 100),
        *results(replace(asked, cases=asked.cases[:70]), [0.9] * 70, [0.9] * 70, criterion=LINES),
    ]
    report = judge(asked, found, rules(EXACT, LINES))
    assert [len(each.paired.pairs) for each in report.criteria] == [100, 70]
    assert report.missing == 0


def test_a_hidden_set_must_pass_too() -> None:
    asked = plan(EXACT, cases=cases(100))
    shown = results(asked, [1.0] * 100, [1.0] * 100)
    demands = rules(EXACT, hidden=True)
    assert codes(judge(asked, shown, demands)) == ["hidden_missing"]
    bad = judge_hidden(asked, results(asked, [0.0] * 100, [1.0] * 100), demands)
    found = judge(asked, shown, demands, hidden=bad)
    assert (found.verdict, codes(found)) == ("fail", ["hidden_not_passed"])
    good = judge_hidden(asked, shown, demands)
    assert judge(asked, shown, demands, hidden=good).verdict == "pass"


def test_a_judge_that_is_not_fit_decides_nothing() -> None:
    asked = plan(EXACT, cases=cases(100), graders={EXACT.name: Grader(0.9, ("tone is not calibrated",))})
    found = judge(asked, results(asked, [1.0] * 100, [1.0] * 100), rules(EXACT))
    assert (found.verdict, codes(found)) == ("inconclusive", ["judge_unfit"])


def test_a_judge_s_errors_narrow_the_margin() -> None:
    """It shrinks a true loss by as much."""
    asked = plan(EXACT, cases=cases(65))
    scored = results(asked, [1.0] * 65, [1.0] * 65)
    assert judge(asked, scored, rules(EXACT)).verdict == "pass"
    imperfect = replace(asked, graders={EXACT.name: Grader(0.7)})
    found = judge(imperfect, scored, rules(EXACT))
    assert found.verdict == "inconclusive"
    assert found.criteria[0].criterion.margin == pytest.approx(0.035)


def test_the_level_is_spent_on_the_hidden_set_too() -> None:
    asked = plan(EXACT, cases=cases(100), tier=3)
    scored = results(asked, [1.0] * 100, [1.0] * 100)
    assert judge_hidden(asked, scored, rules(EXACT, tier=3), attempt=3).alpha == pytest.approx(0.0033774, abs=1e-6)
