"""Other people's implementations and plain definitions give the same numbers."""

import csv
import itertools
from math import comb, log
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize
from scipy import stats as scipy_stats
from statsmodels.regression.linear_model import OLS
from statsmodels.stats.contingency_tables import mcnemar as other_mcnemar
from statsmodels.stats.inter_rater import cohens_kappa
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

from beleg.evals import stats

P = st.lists(st.floats(0, 1), min_size=1, max_size=12)
FEW = st.integers(0, 40)


@given(FEW, FEW)
def test_mcnemar_is_statsmodels(b: int, c: int) -> None:
    found = stats.mcnemar(b, c)
    assert found.p_two_sided == pytest.approx(other_mcnemar([[5, b], [c, 5]], exact=True).pvalue, abs=1e-12)


@settings(max_examples=10)  # statsmodels takes its time
@given(P)
def test_holm_and_benjamini_hochberg_are_statsmodels(p: list[float]) -> None:
    assert stats.holm(p) == pytest.approx(multipletests(p, method="holm")[1], abs=1e-12)
    assert stats.benjamini_hochberg(p) == pytest.approx(multipletests(p, method="fdr_bh")[1], abs=1e-12)


@given(st.integers(0, 60), st.integers(1, 60), st.sampled_from([0.01, 0.025, 0.05]))
def test_bounds_of_a_rate_are_statsmodels(hits: int, of: int, alpha: float) -> None:
    hits = min(hits, of)
    for function, method in ((stats.clopper_pearson, "beta"), (stats.wilson, "wilson")):
        found = function(hits, of, alpha)
        low, high = proportion_confint(hits, of, alpha=2 * alpha, method=method)
        assert (found.lower, found.upper) == pytest.approx((low, high), abs=1e-9)


@settings(max_examples=40)
@given(st.lists(st.integers(1, 30), min_size=4, max_size=4))
def test_kappa_and_its_interval_are_statsmodels(cells: list[int]) -> None:
    found = stats.judge_calibration(*cells)
    other = cohens_kappa(np.reshape(cells, (2, 2)))
    assert found.kappa == pytest.approx(other.kappa, abs=1e-12)
    assert found.kappa_interval is not None
    ends = found.kappa_interval.lower, found.kappa_interval.upper
    assert ends == pytest.approx((other.kappa_low, other.kappa_upp), abs=1e-9)


def clustered(seed: int, sizes: list[int]) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    rng = np.random.default_rng(seed)
    return rng.normal(0, 0.2, sum(sizes)).clip(-1, 1), np.repeat(np.arange(len(sizes)), sizes)


@settings(max_examples=50)
@given(st.integers(0, 1000), st.lists(st.integers(1, 7), min_size=2, max_size=9))
def test_cluster_errors_are_statsmodels_and_the_matrix_definition(seed: int, sizes: list[int]) -> None:
    d, clusters = clustered(seed, sizes)
    found = stats.cluster_mean(d, clusters)
    n, g = len(d), len(sizes)
    if n > g:
        other = OLS(d, np.ones(n)).fit(cov_type="cluster", cov_kwds={"groups": clusters})
        # statsmodels multiplies by G / (G - 1) (N - 1) / (N - K), which is G / (G - 1) here.
        assert found.se_cr1 == pytest.approx(float(other.bse[0]), rel=1e-9)
    share = np.array(sizes) / n
    root = 1 / np.sqrt(1 - share)
    matrix = (np.diag(sizes) - np.outer(sizes, sizes) / n) * np.outer(root, root)
    assert found.dof == pytest.approx(np.trace(matrix) ** 2 / np.trace(matrix @ matrix), rel=1e-9)
    sums = np.array([(d[clusters == i] - d.mean()).sum() for i in range(g)])
    for power, se in ((0, found.se_cr0), (1, found.se_cr2), (2, found.se_cr3)):
        assert se**2 == pytest.approx((sums**2 / (1 - share) ** power).sum() / n**2, rel=1e-9)


@given(st.lists(st.integers(-24, 24).map(lambda x: x / 8), min_size=2, max_size=9))
def test_sign_flip_is_scipys_permutation_test(sums: list[float]) -> None:
    other = scipy_stats.permutation_test(
        (np.array(sums),), np.sum, permutation_type="samples", alternative="greater", n_resamples=10_000
    )
    assert stats.sign_flip(sums) == pytest.approx(other.pvalue, abs=1e-12)


@settings(max_examples=30)
@given(st.integers(0, 30), st.integers(1, 60), st.floats(-0.9, -0.01))
def test_the_bounded_bound_of_two_values_is_clopper_pearson(losses: int, others: int, null: float) -> None:
    """Losses of a whole point are failures: the mean is minus their rate."""
    d = [-1.0] * losses + [0.0] * others
    upper = stats.clopper_pearson(losses, losses + others, 0.05).upper
    assert stats.bounded_lower(d) == pytest.approx(-upper, abs=1e-6)
    beta = scipy_stats.beta(losses + 1, others)
    assert stats.bounded_p(d, null) == pytest.approx(beta.sf(-null), abs=1e-8)


def numeric_score(b: int, c: int, n: int, null: float) -> float:
    """Tango's T with the constrained likelihood maximised numerically."""

    def unlikely(p_b: float) -> float:
        cells = (p_b, p_b + null, 1 - 2 * p_b - null)
        return -sum(times * log(max(rate, 1e-300)) for times, rate in zip((b, c, n - b - c), cells, strict=True))

    ends = max(0.0, -null), (1 - null) / 2
    best = optimize.minimize_scalar(unlikely, bounds=ends, method="bounded", options={"xatol": 1e-12})
    p_b = min((float(best.x), *ends), key=unlikely)
    return float((c - b - n * null) / np.sqrt(n * (2 * p_b + null * (1 - null))))


def enumerated_p(b: int, c: int, n: int, null: float) -> float:
    """The exact p by its definition: every table, a numeric score, a plain grid of nuisance rates."""
    observed = numeric_score(b, c, n, null) - 1e-6
    tables = [(i, j) for i, j in itertools.product(range(n + 1), repeat=2) if i + j <= n]
    inside = [(i, j) for i, j in tables if numeric_score(i, j, n, null) >= observed]

    def probability(p_c: float) -> float:
        p_b = p_c - null
        rest = max(1 - p_b - p_c, 0.0)
        return float(sum(comb(n, i) * comb(n - i, j) * p_b**i * p_c**j * rest ** (n - i - j) for i, j in inside))

    return max(probability(p) for p in np.linspace(max(0, null), (1 + null) / 2, 400))


@pytest.mark.parametrize(
    ("b", "c", "n", "null"), [(0, 0, 6, -0.1), (1, 2, 8, -0.05), (3, 0, 7, -0.3), (0, 2, 8, 0.05), (2, 4, 9, 0.2)]
)
def test_the_exact_p_is_the_full_enumeration(b: int, c: int, n: int, null: float) -> None:
    assert stats.tango_score(b, c, n, null) == pytest.approx(numeric_score(b, c, n, null), abs=1e-6)
    assert stats.exact_test(b, c, n, null).p == pytest.approx(enumerated_p(b, c, n, null), abs=2e-4)


def test_two_agents_on_729_shared_tasks(test_data: Path) -> None:
    with (test_data / "paired" / "resolved_gpt5_vs_claude45.csv").open(encoding="utf-8", newline="") as file:
        rows = [(row["gpt5"], row["claude_sonnet_4_5"]) for row in csv.DictReader(file)]
    b, c, complete = rows.count(("1", "0")), rows.count(("0", "1")), [row for row in rows if "" not in row]
    assert (b, c, len(complete)) == (59, 113, 729)
    assert stats.mcnemar(b, c).p_two_sided == pytest.approx(4.7e-5, rel=0.01)
    # One more task has no result of the first agent: a missing baseline counts as passed.
    assert [row for row in rows if "" in row] == [("", "0")]
    pairing = stats.Pairing(b=b, c=c, n_complete=729, missing_baseline_candidate_fail=1)
    assert pairing.worst_case == (60, 113, 730)
    found = stats.assess_pairing(pairing, 0.02)
    assert found.verdict == "pass"
    assert found.p_superior < 1e-4
    back = stats.assess_binary(c, b, len(complete), 0.02)
    assert back.verdict == "fail"
    assert back.regression_shown
