"""Scores from 0 to 1, also means over repetitions: one difference d in [-1, 1] for each case.

The bounded bound is the default; the t bound serves only where enough losses were seen to trust a normal
approximation. Which one was used, and on how many effective losses, stands in the result.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import fsum, sqrt

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtri, stdtr, stdtrit

from beleg.evals.stats.bounded import bounded_lower, bounded_p
from beleg.evals.stats.guard import Floats, Values, alpha_of, margin_of, numbers, within
from beleg.evals.stats.verdict import Assessment, Interval

MIN_LOSSES = 20.0
"""Effective losses from which the t bound may serve."""
MIN_CASES = 30
BOUNDED, GUARDED_T = "bounded mean", "t, skew-adjusted"


@dataclass(frozen=True, slots=True)
class OneSided:
    """The method chosen for a set of differences, to bound their mean from below and to test any null value."""

    method: str
    effective_losses: float
    lower: Callable[[float], float]
    """Lower bound at a one-sided level."""
    p: Callable[[float], float]
    """P-value of H0: mean <= its argument."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreAssessment(Assessment):
    """Mean difference of scores within a margin."""

    effective_losses: float
    """Of cases, or of clusters where there are any."""
    clusters: int | None = None


def effective_losses(d: Values) -> float:
    """(sum d-)^2 / sum (d-)^2 over the negative parts: as many equal losses carry as much information; 0 for none."""
    losses = np.maximum(-numbers("d", d), 0)
    squares = fsum(losses**2)
    return fsum(losses) ** 2 / squares if squares > 0 else 0.0


def guarded_t_lower(d: Values, alpha: float = 0.05) -> float:
    """min(t, t + g s (1 + 2 z^2) / (6 n)): the t bound, lowered where losses are skewed (g: sample skewness).

    Not valid by itself: use it through `assess_scores`, which asks for 30 cases and 20 effective losses. The mean
    itself where nothing varies. Source: Johnson 1978, Hall 1992.
    """
    x = np.sort(numbers("d", d))
    s = _deviation(x)
    if s == 0:
        return float(x.mean())
    n, g, z = len(x), _skewness(x, s), float(ndtri(alpha_of(alpha)))
    plain = float(x.mean()) + float(stdtrit(n - 1, alpha)) * s / sqrt(n)
    return min(plain, plain + g * s * (1 + 2 * z**2) / (6 * n))


def guarded_t_p(d: Values, null: float) -> float:
    """Smallest level at which `guarded_t_lower` reaches `null`; 1 where nothing varies or the mean is not above it."""
    x = np.sort(numbers("d", d))
    s, above = _deviation(x), float(x.mean()) - null
    if s == 0 or above <= 0:
        return 1.0
    plain = float(stdtr(len(x) - 1, -above / (s / sqrt(len(x)))))
    if guarded_t_lower(x, max(plain, 1e-300)) >= null - 1e-12:
        return plain
    most = 0.5 - 1e-9
    if guarded_t_lower(x, most) <= null:
        return 1.0
    return float(brentq(lambda a: guarded_t_lower(x, a) - null, max(plain, 1e-300), most, xtol=1e-14))


def _deviation(x: Floats) -> float:
    s = float(x.std(ddof=1)) if len(x) > 1 else 0.0
    return 0.0 if s <= 1e-12 else s


def _skewness(x: Floats, s: float) -> float:
    return float(((x - x.mean()) ** 3).mean()) / s**3


def lower_bound(d: Values, support_min: float = -1.0) -> OneSided:
    """Lower bound of the mean difference by the rule of this module.

    t if n >= 30, at least 20 effective losses and some variation; else the bounded mean. `support_min` is the worst
    loss a grader can report, declared before looking. Type I error seen: at most 0.063 at 0.05.
    """
    x = within("d", d, support_min, 1)
    losses = effective_losses(x)
    if len(x) >= MIN_CASES and losses >= MIN_LOSSES and _deviation(x) > 0:
        return OneSided(GUARDED_T, losses, partial(guarded_t_lower, x), partial(guarded_t_p, x))
    return OneSided(
        BOUNDED,
        losses,
        lambda alpha: bounded_lower(x, alpha, support_min),
        lambda null: bounded_p(x, null, support_min),
    )


def assess_scores(d: Values, margin: float, alpha: float = 0.05, *, support_min: float = -1.0) -> ScoreAssessment:
    """Verdict on the mean of d = candidate - baseline over independent cases, by `lower_bound` of d and of -d.

    Repetitions are averaged for each case and side before: they are never cases. Raises StatisticsError for no
    cases, NaN, infinite and out-of-range differences.
    """
    x = within("d", d, support_min, 1)
    return assessed(x, lower_bound(x, support_min), lower_bound(-x), margin, alpha)


def assessed(x: Floats, down: OneSided, up: OneSided, margin: float, alpha: float) -> ScoreAssessment:
    """The assessment that follows from the bounds of d and of -d."""
    return ScoreAssessment(
        method=down.method,
        effective_losses=down.effective_losses,
        cases=len(x),
        estimate=float(np.sort(x).mean()),
        interval=Interval(down.lower(alpha), -up.lower(alpha), alpha, f"{down.method} below, {up.method} above"),
        margin=margin,
        alpha=alpha,
        p_non_inferior=down.p(-margin_of(margin)),
        p_worse_than_margin=up.p(margin),
        p_superior=down.p(0.0),
        p_inferior=up.p(0.0),
    )
