"""Looking often: e-values are fair bets under the null, whatever the order."""

from itertools import product
from math import comb, exp, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beleg.evals import stats


@pytest.mark.parametrize("margin", [0.02, 0.1, 0.4])
@pytest.mark.parametrize("p_c", [0.0, 0.1, 0.25])
def test_the_expected_e_value_at_the_margin_is_one(margin: float, p_c: float) -> None:
    n, p_b = 14, p_c + margin
    rest = 1 - p_b - p_c
    expected = sum(
        comb(n, b) * comb(n - b, c) * p_b**b * p_c**c * rest ** (n - b - c) * exp(stats.log_e_ni(b, c, n, margin))
        for b, c in product(range(n + 1), repeat=2)
        if b + c <= n
    )
    assert expected == pytest.approx(1, abs=1e-9)


def test_the_expected_e_value_of_equal_sides_is_one_for_superiority() -> None:
    n = 18
    assert sum(comb(n, c) * exp(stats.log_e_superior(n - c, c)) for c in range(n + 1)) / 2**n == pytest.approx(1)


@given(st.lists(st.sampled_from([-1, 0, 0, 0, 1]), min_size=1, max_size=80), st.sampled_from([0.02, 0.05, 0.2]))
def test_counts_scores_and_single_clusters_bet_alike(d: list[int], margin: float) -> None:
    table = d.count(-1), d.count(1), len(d)
    one = stats.log_e_ni(*table, margin)
    assert stats.log_e_scores(d, margin) == pytest.approx(one, abs=1e-9)
    if len(d) > 1:
        assert stats.log_e_clusters(d, range(len(d)), margin) == pytest.approx(one, abs=1e-9)
    bets = (np.arange(64) + 0.5) / 64 / (1 - margin)
    fortune = np.ones(64)
    for each in d:
        fortune *= 1 + bets * (each + margin)
    assert one == pytest.approx(log(fortune.mean()), abs=1e-9)


@settings(max_examples=30)
@given(st.integers(0, 5), st.integers(0, 5), st.integers(1, 200), st.sampled_from([0.05, 0.2]))
def test_looks_at_counts_scores_and_single_families_conclude_alike(b: int, c: int, same: int, margin: float) -> None:
    d = [-1.0] * b + [1.0] * c + [0.0] * same
    one = stats.assess_looks(b, c, len(d), margin)
    for other in (
        stats.assess_looks_scores(d, margin),
        stats.assess_looks_scores(d, margin, clusters=range(len(d)), min_families=1) if len(d) > 1 else one,
    ):
        assert other.verdict == one.verdict
        assert other.p_non_inferior == pytest.approx(one.p_non_inferior, abs=1e-9)
        assert other.p_worse_than_margin == pytest.approx(one.p_worse_than_margin, abs=1e-9)
        assert other.interval.lower == pytest.approx(one.interval.lower, abs=1e-9)


def test_looks_at_few_families_conclude_nothing() -> None:
    found = stats.assess_looks_scores([0.0] * 300, 0.2, clusters=[i % 9 for i in range(300)])
    assert (found.verdict, found.clusters, len(found.blocks)) == ("inconclusive", 9, 1)
    assert stats.assess_looks_scores([0.0] * 300, 0.2, clusters=[i % 60 for i in range(300)]).verdict == "pass"


@settings(max_examples=50)
@given(st.integers(0, 8), st.integers(0, 8), st.integers(0, 300), st.sampled_from([0.02, 0.05, 0.2]))
def test_verdict_and_confidence_sequence_agree(b: int, c: int, agreeing: int, margin: float) -> None:
    n = b + c + agreeing
    if n == 0:
        return
    found = stats.assess_looks(b, c, n, margin)
    if abs(found.interval.lower + margin) > 1e-9:
        assert (found.verdict == "pass") == (found.interval.lower > -margin)
    assert found.interval.lower <= stats.tango_interval(b, c, n).lower + 0.02


def test_huge_counts_stay_numbers() -> None:
    for b, c, n in ((0, 0, 10**6), (10**6, 0, 10**6), (0, 10**6, 10**6), (5000, 5000, 10**6)):
        found = stats.assess_looks(b, c, n, 0.05)
        assert found.verdict == ("fail" if b == n else "pass")
        assert np.isfinite([found.p_superior, found.p_inferior, found.interval.width]).all()


def test_levels_of_looks_and_attempts() -> None:
    assert stats.look_alpha(8) == pytest.approx(0.05 / 8)
    assert stats.attempt_alpha(1) == pytest.approx(0.05 * 6 / np.pi**2)
    assert sum(stats.attempt_alpha(k) for k in range(1, 5000)) == pytest.approx(0.05, abs=1e-5)
    for wrong in (0, -1, 1.5):
        with pytest.raises(stats.StatisticsError):
            stats.attempt_alpha(wrong)  # type: ignore[arg-type]
