"""Bounds of one rate: what a number of failures, also none, says about the rate behind it."""

from scipy.stats import binomtest

from beleg.evals.stats.guard import StatisticsError, alpha_of, whole
from beleg.evals.stats.verdict import Interval


def clopper_pearson(hits: int, of: int, alpha: float = 0.05) -> Interval:
    """Exact bounds of a rate: upper = Beta^-1(1 - alpha; x + 1, n - x), lower = Beta^-1(alpha; x, n - x + 1).

    alpha is one-sided, for each end. No failure of n shows at most 1 - alpha^(1/n), about 3/n. Assumes independent
    trials. Source: Clopper and Pearson 1934.
    """
    return _interval(hits, of, alpha, "exact", "Clopper-Pearson")


def wilson(hits: int, of: int, alpha: float = 0.05) -> Interval:
    """Score bounds of a rate: close to the level on average, for displays. Source: Wilson 1927."""
    return _interval(hits, of, alpha, "wilson", "Wilson score")


def _interval(hits: int, of: int, alpha: float, method: str, name: str) -> Interval:
    hits, of = whole("hits", hits), whole("of (trials)", of, least=1)
    if hits > of:
        msg = f"{hits} hits of {of} trials: hits are a part of the trials"
        raise StatisticsError(msg)
    ends = binomtest(hits, of).proportion_ci(1 - 2 * alpha_of(alpha), method)
    return Interval(float(ends.low), float(ends.high), alpha, name)
