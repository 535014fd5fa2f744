"""How many cases are needed, what a grader is worth, the tail, and the picture of the bootstrap."""

import numpy as np
import pytest
from scipy import stats as scipy_stats

from beleg.evals import stats


@pytest.mark.parametrize(
    ("n", "margin", "discordance", "delta", "power"),
    [(100, 0.05, 0.05, 0, 0.58), (50, 0.1, 0.1, 0, 0.64), (200, 0.02, 0.05, 0, 0.29), (200, 0.05, 0.1, -0.02, 0.33)],
)
def test_power_as_tabulated(n: int, margin: float, discordance: float, delta: float, power: float) -> None:
    assert stats.exact_power(n, margin, discordance, delta) == pytest.approx(power, abs=0.006)


@pytest.mark.parametrize(
    ("margin", "discordance", "cases"), [(0.1, 0.05, 50), (0.1, 0.1, 78), (0.1, 0.2, 132), (0.05, 0.02, 103)]
)
def test_cases_needed_as_tabulated(margin: float, discordance: float, cases: int) -> None:
    found = stats.cases_needed(margin, discordance)
    assert found.method == "exact power"
    assert found.cases == pytest.approx(cases, rel=0.03)
    assert stats.exact_power(found.cases, margin, discordance) >= 0.8
    assert stats.cases_needed(margin, discordance, design_effect=1.5).cases == -(-found.cases * 3 // 2)


def test_beyond_exact_power_a_formula_answers_and_says_so() -> None:
    assert stats.cases_needed(0.02, 0.2) == stats.CasesNeeded(3092, "normal approximation")
    assert stats.normal_cases(0.05, 0.1) == 248
    assert stats.normal_cases(0.05, 0.1, -0.05) is None
    assert stats.minimal_detectable_difference(100, 0.1) == pytest.approx(0.079, abs=5e-4)


def test_the_inconclusive_sentence_says_what_was_seen_and_what_would_settle_it() -> None:
    text = stats.inconclusive_sentence(9, 1, 100, 0.1)
    assert text.startswith(
        "Not shown either way. With 100 cases (9 worse, 1 better) the candidate may be up to 14.1 points worse. "
        "If candidate and baseline were truly equal, the 100 cases at hand already gave an 80 % chance of a pass"
    )
    assert "a second look and is counted as one" in text
    assert "almost" not in text
    lost = stats.inconclusive_sentence(10, 0, 60, 0.1)
    assert lost.endswith("If the observed difference is the true one, no number of cases leads to a pass.")
    plan = stats.further_cases(10, 0, 60, 0.1)
    assert plan.total_if_as_observed is None
    assert plan.more_if_equal == plan.total_if_equal - 60 == 60


def test_a_small_good_set_is_told_how_many_more() -> None:
    text = stats.inconclusive_sentence(0, 0, 40, 0.05)
    plan = stats.further_cases(0, 0, 40, 0.05)
    assert f"about {plan.total_if_equal} cases in total ({plan.more_if_equal} more of the same kind)" in text
    assert plan.total_if_as_observed == 60
    assert "about 60 cases in total would." in text


@pytest.mark.parametrize("table", [(60, 0, 0, 60), (38, 2, 2, 38)])
def test_a_good_grader_is_fit_and_narrows_the_margin(table: tuple[int, int, int, int]) -> None:
    found = stats.judge_calibration(*table)
    assert found.unfit == ()
    assert found.youden_lower < found.sensitivity + found.specificity - 1
    assert found.narrowed(0.05) == pytest.approx(0.05 * found.youden_lower)


def test_a_grader_that_is_little_known_or_weak_may_not_gate() -> None:
    few = stats.judge_calibration(20, 0, 0, 20)
    assert few.unfit == ("40 human labels, at least 50 are needed",)
    weak = stats.judge_calibration(40, 5, 10, 45)
    assert len(weak.unfit) == 1
    assert "may be as low as" in weak.unfit[0]
    with pytest.raises(stats.StatisticsError, match="unfit for gating"):
        weak.narrowed(0.05)
    with pytest.raises(stats.StatisticsError, match="both classes are needed"):
        stats.judge_calibration(60, 0, 0, 0)


def test_a_grader_no_better_than_chance_corrects_nothing() -> None:
    assert stats.rogan_gladen(0.5, 1, 1) == 0.5
    with pytest.raises(stats.StatisticsError, match="no better than chance"):
        stats.rogan_gladen(0.5, 0.5, 0.5)


def test_a_quantile_limit_needs_59_cases_for_p95() -> None:
    assert stats.quantile_upper(range(58)) == stats.QuantileLimit(None, 59)
    assert stats.quantile_upper(range(59)) == stats.QuantileLimit(58.0, 59)
    limit = stats.quantile_upper(range(200)).upper
    assert limit is not None
    k = int(limit) + 1
    assert scipy_stats.binom.cdf(k - 1, 200, 0.95) >= 0.95 > scipy_stats.binom.cdf(k - 2, 200, 0.95)


def test_exceedance_counts_cases_that_newly_pass_the_limit() -> None:
    x, y = [1.0, 1.0, 9.0, 9.0, 5.0], [1.0, 9.0, 1.0, 9.0, 5.0]
    one = stats.assess_exceedance(x, y, 5.0, 0.1)
    assert (one.worse, one.better, one.cases) == (1, 1, 5)
    own = stats.assess_exceedance(x, y, [10.0, 10.0, 5.0, 5.0, 4.0], 0.1)
    assert (own.worse, own.better) == (0, 1)


def test_fiellers_interval_solves_its_own_equation_or_is_unknown() -> None:
    rng = np.random.default_rng(9)
    x = rng.lognormal(0, 0.5, 40)
    y = 1.2 * x + rng.normal(0, 0.1, 40).clip(-0.1, 0.1)
    found = stats.ratio_of_means(x, y)
    assert found.interval is not None
    for end, sign in ((found.interval.lower, 1), (found.interval.upper, -1)):
        t = scipy_stats.ttest_1samp(y - end * x, 0).statistic
        assert t == pytest.approx(sign * scipy_stats.t.ppf(0.95, 39), abs=1e-6)
    assert stats.ratio_of_means([1.0, 1e6], [1.0, 1.0]).interval is None


def test_a_hard_cap_lets_the_bill_gate() -> None:
    x = np.random.default_rng(1).uniform(0, 1, 400)
    assert stats.capped_total_p(x, x * 0.8, 1.0) < 0.05
    assert stats.capped_total_p(x, (x * 1.5).clip(0, 1), 1.0) > 0.5
    with pytest.raises(stats.StatisticsError, match="allowed is 0 to 1"):
        stats.capped_total_p(x, x * 2, 1.0)


def test_the_bootstrap_has_the_moments_of_resampling_and_a_seed() -> None:
    d = np.repeat([-1.0, 0.0, 0.5], [10, 70, 20])
    one = stats.paired_bootstrap(d, seed=4, draws=20_000)
    assert np.array_equal(one.means, stats.paired_bootstrap(d[::-1], seed=4, draws=20_000).means)
    assert not np.array_equal(one.means, stats.paired_bootstrap(d, seed=5, draws=20_000).means)
    assert one.means.mean() == pytest.approx(d.mean(), abs=4 * d.std() / 10 / np.sqrt(20_000))
    assert one.means.std() == pytest.approx(d.std() / 10, rel=0.03)
    assert one.lower < d.mean() < one.upper
    assert len(stats.paired_bootstrap(np.linspace(-1, 1, 3001), seed=1, draws=1500).means) == 1500
