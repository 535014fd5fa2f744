"""Several criteria: all must hold (no correction), or any may (correction)."""

from collections.abc import Sequence

import numpy as np
from scipy.stats import false_discovery_control

from beleg.evals.stats.guard import Floats, within


def all_must_hold(p: Sequence[float]) -> float:
    """Intersection-union p-value of "every criterion passes": the largest, without correction.

    At most alpha false releases for any number of criteria and any dependence. Source: Berger 1982.
    """
    return float(_checked(p).max())


def holm(p: Sequence[float]) -> tuple[float, ...]:
    """Holm's adjusted p-values for "at least one" claims: max over j <= i of min(1, (k - j + 1) p_(j)), in the order
    given. Family-wise error at most alpha for any dependence. Source: Holm 1979.
    """
    given = _checked(p)
    order = np.argsort(given, kind="stable")
    raised = np.maximum.accumulate(given[order] * np.arange(len(given), 0, -1))
    adjusted = np.empty_like(given)
    adjusted[order] = np.minimum(raised, 1)
    return tuple(adjusted.tolist())


def benjamini_hochberg(p: Sequence[float]) -> tuple[float, ...]:
    """Adjusted p-values that bound the expected share of false findings, for lists that people look through.

    Assumes independent or positively dependent tests. Source: Benjamini and Hochberg 1995.
    """
    return tuple(false_discovery_control(_checked(p), method="bh").tolist())


def _checked(p: Sequence[float]) -> Floats:
    return within("p", p, 0, 1)
