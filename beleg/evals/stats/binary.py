"""Passed or failed, once for each independent case: exact unconditional tests with a margin.

b counts regressions (baseline passed, candidate failed), c improvements, n all planned cases; delta = (c - b) / n.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr

from beleg.evals.stats.guard import alpha_of, counts, margin_of, share
from beleg.evals.stats.mcnemar import mcnemar
from beleg.evals.stats.tango import CLOSE_TO_ONE, tango_interval, tango_score
from beleg.evals.stats.trinomial import edge, region, worst
from beleg.evals.stats.verdict import Assessment, Interval

EXACT, SCORE = "exact unconditional", "Tango score"
EXACT_UP_TO = 2000
"""Cases up to which tests are exact; beyond, the score test does (type I error at most 0.051 from n = 500), together
with the exact probability where only one side can win: it alone is too bold for margins of a few cases."""
CONSERVATIVE = "interval is conservative: the p-value is not monotone here, and the verdict rests on it"


@dataclass(frozen=True, slots=True)
class BinaryTest:
    """A one-sided test of H0: delta <= null."""

    p: float
    """By `method`."""
    score_z: float
    score_p: float
    """Asymptotic, for comparison."""
    method: str
    """`exact unconditional`, or `Tango score` above 2000 cases."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BinaryAssessment(Assessment):
    """Counts compared within a margin."""

    worse: int
    better: int
    mcnemar_p_two_sided: float
    """Exact, delta = 0 only: printed because reviewers know it."""


def exact_test(b: int, c: int, n: int, null: float) -> BinaryTest:
    """Test of H0: delta <= null, whose level holds for every n and every rate of discordance.

    p = max of P(T >= T observed) over all rates with p_c - p_b = null, summed over all tables of n cases (trinomial)
    and ordered by Tango's score; the grid of nuisance rates is fixed, its peaks refined. Above 2000 cases Tango's
    asymptotic p, or the exact one at p_c = 0 if that is larger; `method` says which. Assumes independent cases. Source:
    Chan 1998, Tango 1998.
    """
    return _test(*counts(b, c, n), share("null", null, above=-1.0))


def exact_ni(b: int, c: int, n: int, margin: float) -> BinaryTest:
    """`exact_test` of H0: delta <= -margin (non-inferiority); margin 0 tests superiority.

    p = max over p_c in [0, (1 - margin) / 2] with p_b = p_c + margin, so at least (1 - margin)^n for b = c = 0.
    """
    return exact_test(b, c, n, -margin_of(margin))


def exact_worse(b: int, c: int, n: int, margin: float) -> BinaryTest:
    """`exact_test` of H0: delta >= -margin, the opposite of `exact_ni`: a small p shows a loss beyond the margin."""
    return exact_test(c, b, n, margin_of(margin))


@lru_cache(maxsize=4096)
def _test(b: int, c: int, n: int, null: float) -> BinaryTest:
    z = tango_score(b, c, n, null)
    return BinaryTest(_p(n, z, null), z, float(ndtr(-z)), _method(n))


def _p(n: int, z: float, null: float, *, fine: bool = True) -> float:
    if n > EXACT_UP_TO:
        return max(float(ndtr(-z)), edge(n, z, null))
    return worst(region(n, z, null), null, fine=fine)


def _method(n: int) -> str:
    return EXACT if n <= EXACT_UP_TO else SCORE


def exact_interval(b: int, c: int, n: int, alpha: float = 0.05) -> Interval:
    """Interval of delta by inversion: lower = inf {d0: p(d0) > alpha}, upper(b, c) = -lower(c, b).

    alpha is one-sided, for each end. Descriptive: p(d0) is almost monotone, and a verdict uses p at the margin.
    Above 2000 cases in effect Tango's interval; `method` says which. Never of zero width.
    """
    b, c, n = counts(b, c, n)
    return Interval(_lower(b, c, n, alpha_of(alpha)), -_lower(c, b, n, alpha), alpha, _method(n))


@lru_cache(maxsize=4096)
def _lower(b: int, c: int, n: int, alpha: float) -> float:
    if b == n:
        return -1.0

    def surplus(null: float, *, fine: bool = True) -> float:
        return _p(n, tango_score(b, c, n, null), null, fine=fine) - alpha

    # From Tango's end downwards until p is small enough, then between the two.
    end = min((c - b) / n, CLOSE_TO_ONE)
    near = tango_interval(b, c, n, alpha).lower
    step = (end - near) / 4
    while near > -CLOSE_TO_ONE and surplus(near) > 0:
        end, near, step = near, max(near - step, -CLOSE_TO_ONE), 2 * step
    return _lowest(partial(surplus, fine=False), float(brentq(surplus, near, end, xtol=1e-8)), 1 / n)


def _lowest(surplus: Callable[[float], float], root: float, reach: float) -> float:
    """The root, or the lowest crossing within reach: p(d0) has zones, 1 / n wide at most, where it falls."""
    below = np.linspace(max(root - reach, -CLOSE_TO_ONE), root, 17)[:-1].tolist()
    above = next((i for i, null in enumerate(below) if surplus(null) > 0), None)
    if above is None:
        return root
    return float(brentq(surplus, below[above - 1], below[above], xtol=1e-8)) if above else float(below[0])


def assess_binary(b: int, c: int, n: int, margin: float, alpha: float = 0.05) -> BinaryAssessment:
    """Verdict on counts of independent cases: pass if no loss of the margin or more is shown.

    Raises StatisticsError for counts that do not fit together, no cases, or a margin or alpha out of range.
    """
    b, c, n = counts(b, c, n)
    interval, test = exact_interval(b, c, n, alpha), exact_ni(b, c, n, margin)
    return BinaryAssessment(
        method=test.method,
        cases=n,
        estimate=(c - b) / n,
        interval=interval,
        margin=margin,
        alpha=alpha,
        p_non_inferior=test.p,
        p_worse_than_margin=exact_worse(b, c, n, margin).p,
        p_superior=exact_ni(b, c, n, 0).p,
        p_inferior=exact_worse(b, c, n, 0).p,
        notes=(CONSERVATIVE,) if test.p <= alpha and interval.lower <= -margin else (),
        worse=b,
        better=c,
        mcnemar_p_two_sided=mcnemar(b, c).p_two_sided,
    )
