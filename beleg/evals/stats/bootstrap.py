"""A picture of how the mean difference scatters; no verdict rests on it."""

from dataclasses import dataclass

import numpy as np

from beleg.evals.stats.guard import Floats, Values, alpha_of, distinct, numbers, whole

AT_ONCE = 2_000_000


@dataclass(frozen=True, slots=True)
class BootstrapPicture:
    """Percentiles of resampled means, with what is needed to draw them again."""

    means: Floats
    lower: float
    upper: float
    alpha: float
    seed: int


def paired_bootstrap(d: Values, *, seed: int, draws: int = 10_000, alpha: float = 0.05) -> BootstrapPicture:
    """Resample paired differences: counts of the distinct values are Multinomial(n, k / n), so that the cost of a draw
    depends on how many values differ, not on how many cases there are; the distribution is the same.

    alpha is one-sided, for each end. Undercovers with few cases or rare losses: descriptive only. Source: Efron 1979.
    """
    x, k = distinct(numbers("d", d))
    n, rng = int(k.sum()), np.random.default_rng(whole("seed", seed))
    left, at_once, found = whole("draws", draws, least=1), max(1, AT_ONCE // len(x)), []
    while left > 0:
        found.append(rng.multinomial(n, k / n, size=min(left, at_once)) @ x / n)
        left -= at_once
    means = np.concatenate(found)
    lower, upper = np.quantile(means, (alpha_of(alpha), 1 - alpha))
    return BootstrapPicture(means, float(lower), float(upper), alpha, seed)
