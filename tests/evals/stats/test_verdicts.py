"""Pass, fail, inconclusive: which is said when, and what forbids a pass."""

from dataclasses import replace

import numpy as np
import pytest

from beleg.evals import stats


def test_pass_comes_first_then_fail_then_neither() -> None:
    assert stats.verdict(0.05, 1.0) == "pass"
    assert stats.verdict(0.05, 0.01) == "pass"
    assert stats.verdict(0.051, 0.05) == "fail"
    assert stats.verdict(0.051, 0.051) == "inconclusive"
    assert stats.verdict(0.03, 1.0, 0.025) == "inconclusive"


def test_an_interval_without_width_never_passes() -> None:
    found = stats.assess_binary(0, 0, 100, 0.05)
    assert found.verdict == "pass"
    point = stats.Interval(0.0, 0.0, 0.05, "Wald")
    assert stats.wald_interval(0, 0, 100) == point
    assert replace(found, interval=point).verdict == "inconclusive"


def test_a_reason_against_it_forbids_any_conclusion() -> None:
    for n, b in ((100, 0), (200, 60)):
        found = stats.assess_binary(b, 0, n, 0.05)
        assert found.verdict == ("fail" if b else "pass")
        assert replace(found, blocks=("stale",)).verdict == "inconclusive"


def test_a_small_proven_loss_within_the_margin_passes_and_is_told() -> None:
    found = stats.assess_binary(10, 0, 1000, 0.05)
    assert found.verdict == "pass"
    assert found.regression_shown
    assert not stats.assess_binary(1, 3, 100, 0.05).regression_shown


def test_large_sets_say_that_the_score_test_was_used() -> None:
    assert stats.exact_ni(10, 10, 2000, 0.02).method == "exact unconditional"
    large = stats.assess_binary(10, 10, 2001, 0.02)
    assert large.method == large.interval.method == "Tango score"
    assert large.interval.lower == pytest.approx(stats.tango_interval(10, 10, 2001).lower, abs=1e-6)
    assert large.p_non_inferior == pytest.approx(stats.exact_ni(10, 10, 2000, 0.02).p, abs=1e-4)


def test_a_margin_of_a_few_cases_is_not_passed_by_the_score_test_alone() -> None:
    """At 2 704 cases without a difference Tango's test passes a margin of 0.001, with an error of 0.067."""
    found = stats.exact_ni(0, 0, 2704, 0.001)
    assert found.score_p <= 0.05
    assert found.p == pytest.approx(0.999**2704)
    assert stats.exact_interval(0, 0, 2704).lower < -0.001


def test_identical_costs_show_nothing() -> None:
    found = stats.assess_ratio([1.0, 2.0, 3.0] * 20, [1.0, 2.0, 3.0] * 20)
    assert found.estimate == 1
    assert found.verdict == "inconclusive"
    assert found.notes == ("no variation between cases: a zero-width interval shows nothing",)


@pytest.mark.parametrize(("factor", "expected"), [(1.0, "pass"), (0.5, "pass"), (1.1, "inconclusive"), (1.5, "fail")])
def test_cost_passes_if_its_upper_bound_is_within_the_margin(factor: float, expected: str) -> None:
    x = np.random.default_rng(5).lognormal(0, 1, 200)
    y = factor * x * np.random.default_rng(6).lognormal(0, 0.2, 200)
    found = stats.assess_ratio(x, y)
    assert found.verdict == expected
    assert (found.verdict == "pass") == (found.interval.upper <= 1.1)
    clustered = stats.assess_ratio(x, y, clusters=np.arange(200) // 2)
    assert clustered.verdict == expected
    assert clustered.estimate == pytest.approx(found.estimate)


def test_few_families_conclude_nothing_unless_that_is_allowed() -> None:
    d = [0.0, 0.0, 0.0, 0.1, -0.1] * 40
    families = [i % 9 for i in range(200)]
    found = stats.assess_clustered_scores(d, families, 0.9)
    assert found.blocks == ("too few independent families: 9, at least 10 are needed",)
    assert found.verdict == "inconclusive"
    assert stats.assess_clustered_scores(d, families, 0.9, min_families=2).verdict == "pass"
    outcomes = [0, 0, 0, 0, 1] * 40
    assert stats.assess_clustered_binary(outcomes, families, 0.5).verdict == "inconclusive"
    x, y = [1.0] * 200, [1.0 + 0.01 * each for each in d]
    assert stats.assess_ratio(x, y, clusters=families).verdict == "inconclusive"


def test_missing_results_that_decide_are_named() -> None:
    four = stats.Pairing(b=0, c=0, n_complete=96, missing_candidate_baseline_pass=4)
    found = stats.assess_pairing(four, 0.05)
    assert "missing results decide: pass without them, inconclusive at worst" in found.blocks
    assert found.verdict == "inconclusive"
    none = stats.assess_pairing(stats.Pairing(b=0, c=0, n_complete=100), 0.05)
    assert none.blocks == ()
    assert none.verdict == "pass"


def test_many_or_uneven_missing_results_conclude_nothing() -> None:
    assert stats.missing_reasons(100, 5, 5, 5) == ()
    assert stats.missing_reasons(100, 6, 6, 6) == (
        "6 of 100 baseline results are missing, more than 5 %",
        "6 of 100 candidate results are missing, more than 5 %",
    )
    assert stats.missing_reasons(1000, 0, 4) == ()
    assert stats.missing_reasons(1000, 0, 5) == ("sides miss unevenly: candidate 5, baseline 0",)
    assert stats.missing_reasons(1000, 5, 0) == ("sides miss unevenly: candidate 0, baseline 5",)
    nothing = stats.assess_pairing(stats.Pairing(b=0, c=0, n_complete=0, missing_both=30), 0.05)
    assert nothing.verdict == "inconclusive"
    assert nothing.estimate == -1


def test_the_reference_of_missing_results() -> None:
    pairing = stats.Pairing(
        b=2, c=3, n_complete=97, missing_candidate_baseline_pass=2, missing_candidate_baseline_fail=1
    )
    assert pairing.worst_case == (4, 3, 100)
    assert pairing.delta_bounds == pytest.approx((-0.01, 0.02))
    assert stats.assess_pairing(pairing, 0.1).p_non_inferior == pytest.approx(0.006106, abs=2e-6)
