"""Which bound is used for scores, and that rare losses never look safe."""

import numpy as np
import pytest

from beleg.evals import stats


def losses(how_many: int, of: int, size: float = 0.5) -> list[float]:
    return [-size] * how_many + [0.0] * (of - how_many)


@pytest.mark.parametrize(
    ("d", "method"),
    [
        (losses(20, 60), "t, skew-adjusted"),
        (losses(19, 60), "bounded mean"),
        (losses(20, 29), "bounded mean"),
        (losses(0, 500), "bounded mean"),
        (losses(40, 40), "bounded mean"),
        ([-1.0, *losses(25, 60, 0.01)], "bounded mean"),
    ],
    ids=["20 of 60", "19 of 60", "20 of 29", "none", "all the same", "one outweighs the rest"],
)
def test_the_t_bound_needs_cases_losses_and_variation(d: list[float], method: str) -> None:
    found = stats.assess_scores(d, 0.05)
    assert found.method == method
    assert found.interval.method.startswith(f"{method} below")


def test_effective_losses_count_equal_ones() -> None:
    assert stats.effective_losses(losses(7, 50)) == pytest.approx(7)
    assert stats.effective_losses([0.5, 0.0]) == 0
    assert stats.effective_losses([-1.0] + [-0.01] * 25) == pytest.approx(1.25**2 / 1.0025)


def test_the_same_small_difference_everywhere_is_no_proof() -> None:
    """A t test of constant differences has p near 0; the bounded bound still asks what was not seen."""
    found = stats.assess_scores([0.05] * 20, 0.05)
    assert found.verdict == "inconclusive"
    assert found.interval.lower < -0.05


def test_skewed_losses_lower_the_t_bound_and_gains_never_raise_it() -> None:
    rng = np.random.default_rng(3)
    d = np.concatenate([np.zeros(150), -rng.uniform(0.1, 1, 50)])
    n, s = len(d), d.std(ddof=1)
    plain = d.mean() - 1.65254 * s / np.sqrt(n)
    assert stats.guarded_t_lower(d) < plain
    gains = stats.guarded_t_lower(-d)
    assert gains == pytest.approx(-d.mean() - 1.65254 * s / np.sqrt(n), abs=1e-5)


@pytest.mark.parametrize("null", [-0.3, -0.2, -0.18, -0.15])
def test_the_guarded_p_is_the_level_at_which_the_bound_reaches_the_null(null: float) -> None:
    d = losses(30, 100)
    p = stats.guarded_t_p(d, null)
    if 1e-12 < p < 0.5:
        assert stats.guarded_t_lower(d, p) == pytest.approx(null, abs=1e-9)
    else:
        assert p == (1.0 if null >= np.mean(d) else pytest.approx(0, abs=1e-12))


def test_a_declared_worst_loss_is_used_and_believed_only_if_it_holds() -> None:
    assert stats.bounded_lower([0.0] * 30, 0.05, -0.5) == pytest.approx(stats.bounded_lower([0.0] * 30) / 2, abs=1e-6)
    with pytest.raises(stats.StatisticsError, match=r"is -0.6: allowed is -0.5 to"):
        stats.assess_scores([0.0, -0.6], 0.05, support_min=-0.5)


@pytest.mark.parametrize("null", [-0.99, -0.5, -0.001, 0.0])
def test_the_bounded_p_of_many_cases_stays_a_probability(null: float) -> None:
    rng = np.random.default_rng(8)
    for d in (np.zeros(100_000), rng.choice([-1.0, 0.0, 0.25], 50_000), rng.uniform(-0.2, 0.2, 2000), np.ones(3)):
        assert 0 <= stats.bounded_p(d, null) <= 1


def test_very_many_distinct_scores_are_rounded_to_the_safe_side() -> None:
    d = np.random.default_rng(7).uniform(0, 0.1, 5000)
    rounded, exact = stats.bounded_lower(d), stats.bounded_lower(d[:1999])
    assert d.mean() - 0.003 < rounded < d.mean() - 0.0005
    assert exact == pytest.approx(d[:1999].mean(), abs=0.004)
    assert stats.bounded_lower(np.floor(d * 1000) / 1000) == pytest.approx(rounded, abs=1e-9)


def test_the_references_of_the_bounded_bound() -> None:
    d = np.repeat([-0.5, -0.25, 0, 0.25, 0.5], [3, 8, 70, 12, 7])
    assert stats.bounded_p(d, -0.05) == pytest.approx(0.0018618706, abs=1e-9)
    assert stats.bounded_lower(d) == pytest.approx(-0.0158563297, abs=1e-8)
    assert stats.bounded_p([0.0] * 60, -0.05) == pytest.approx(0.0460697990, abs=1e-9)


def test_clusters_use_cr2_only_with_enough_of_them_and_enough_losing_ones() -> None:
    rng = np.random.default_rng(2)
    many = rng.normal(0, 0.2, 240).clip(-1, 1) - 0.02
    assert stats.assess_clustered_scores(many, np.arange(240) // 4, 0.05).method == "CR2, Bell-McCaffrey"
    assert stats.assess_clustered_scores(many, np.arange(240) // 15, 0.05).method == "bounded mean"
    rare = np.zeros(240)
    rare[::40] = -1
    found = stats.assess_clustered_scores(rare, np.arange(240) // 4, 0.05)
    assert (found.method, found.clusters) == ("bounded mean", 60)
    assert found.effective_losses == pytest.approx(6)


def test_clusters_of_one_case_each_give_the_bound_of_independent_cases() -> None:
    d = [-0.5, 0.0, 0.0, 0.25, 0.5, 0.0, -0.25, 0.0]
    assert stats.cluster_bounded_lower(d, range(8)) == pytest.approx(stats.bounded_lower(d), abs=1e-6)
    assert stats.cluster_bounded_p(d, range(8), -0.2) == pytest.approx(stats.bounded_p(d, -0.2), abs=1e-9)


def test_copying_every_case_within_its_family_adds_no_certainty() -> None:
    rng = np.random.default_rng(4)
    d = rng.choice([-1.0, 0.0, 0.0, 0.0, 1.0], 60)
    once = stats.cluster_binary_exact(d, np.arange(60), 0.1)
    tripled = stats.cluster_binary_exact(np.repeat(d, 3), np.repeat(np.arange(60), 3), 0.1)
    assert tripled.p == pytest.approx(once.p, abs=1e-6)
    assert (tripled.n_eff, tripled.b_eff, tripled.c_eff) == (once.n_eff, once.b_eff, once.c_eff)


def test_sign_flips_of_many_clusters_are_drawn_and_repeatable() -> None:
    sums = [1.0] * 15 + [-1.0] * 10
    first = stats.sign_flip(sums, seed=1)
    assert first == stats.sign_flip(sums[::-1], seed=1)
    # Binomial(25, 1/2): at least 15 plus signs.
    assert first == pytest.approx(0.2122, abs=0.006)
    assert stats.sign_flip([1.0] * 40) == pytest.approx(1e-5)
