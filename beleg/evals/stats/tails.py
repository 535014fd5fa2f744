"""The slow and the dear cases: how many exceed a limit, and how far a high quantile may lie."""

from dataclasses import dataclass

import numpy as np
from scipy.special import bdtr

from beleg.evals.stats.binary import BinaryAssessment, assess_binary
from beleg.evals.stats.guard import Values, alpha_of, numbers, same_length, share, within


@dataclass(frozen=True, slots=True)
class QuantileLimit:
    """Distribution-free upper limit of a quantile."""

    upper: float | None
    """None where there are too few cases for any limit."""
    cases_needed: int
    """Fewest cases for a limit."""


def assess_exceedance(
    baseline: Values, candidate: Values, limit: float | Values, margin: float, alpha: float = 0.05
) -> BinaryAssessment:
    """Verdict on the share of cases over a declared limit (one for all, or one for each case), by `assess_binary`.

    Over the limit counts as failed. Raises StatisticsError for negative values.
    """
    x, y = (within(name, each, 0, np.inf) for name, each in (("baseline", baseline), ("candidate", candidate)))
    limits = np.full(len(x), share("limit", limit, below=np.inf)) if isinstance(limit, int | float) else limit
    most = within("limit", limits, 0, np.inf)
    same_length(baseline=x, candidate=y, limit=most)
    before, after = x > most, y > most
    return assess_binary(int((after & ~before).sum()), int((before & ~after).sum()), len(x), margin, alpha)


def quantile_upper(values: Values, quantile: float = 0.95, alpha: float = 0.05) -> QuantileLimit:
    """Upper limit x_(k) of a quantile q: the smallest k with P(Binomial(n, q) <= k - 1) >= 1 - alpha.

    Needs q^n <= alpha: 59 cases for p95 at 0.05. Source: order statistics, David and Nagaraja 2003.
    """
    x, q, level = np.sort(numbers("values", values)), share("quantile", quantile), alpha_of(alpha)
    needed = int(np.ceil(np.log(level) / np.log(q) - 1e-12))
    reached = np.flatnonzero(bdtr(np.arange(len(x)), len(x), q) >= 1 - level)
    return QuantileLimit(float(x[reached[0]]) if reached.size else None, needed)
