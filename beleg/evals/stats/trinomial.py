"""Regions of tables ordered by Tango's score, and how probable they can get under a null hypothesis.

A table is (b regressions, c improvements) of n cases. A region holds, for every b, the tables with at least `least[b]`
improvements; n - b + 1 stands for none.
"""

from bisect import bisect_left

import numpy as np
from scipy.special import bdtr, bdtrc, betainc, gammaln, xlog1py, xlogy

from beleg.evals.stats.guard import Floats
from beleg.evals.stats.tango import scores

TIE = 1e-9
"""Scores closer than this are equal, so that rounding decides nothing."""
FINE, COARSE = np.linspace(0, 1, 201) ** 2, np.linspace(0, 1, 41) ** 2
"""Fixed nuisance grids, dense near zero, where the maximum mostly lies."""
NEGLIGIBLE = -34.0
"""Log probability of a single b below which its column adds nothing."""


def region(n: int, score: float, null: float) -> Floats:
    """The tables whose score of `null` is at least `score`, by bisection over c for all b at once."""
    b = np.arange(n + 1.0)
    low, high = np.zeros(n + 1), n - b + 1
    while (low < high).any():
        middle = np.floor((low + high) / 2)
        inside = scores(b, np.minimum(middle, n - b), n, null) >= score - TIE
        still = low < high
        high = np.where(still & inside, middle, high)
        low = np.where(still & ~inside, middle + 1, low)
    return low


def probability(least: Floats, p_b: Floats, p_c: Floats) -> Floats:
    """Probability of a region for pairs of rates: the sum over b of Binomial(b; n, p_b) P(Binomial(n - b, q) >= least),
    q = p_c / (1 - p_b).
    """
    n = len(least) - 1
    b = np.arange(n + 1.0)
    ways = gammaln(n + 1) - gammaln(b + 1) - gammaln(n - b + 1)
    log_b = ways + xlogy(b, p_b[:, None]) + xlog1py(n - b, -p_b[:, None])
    row, column = np.nonzero((log_b > NEGLIGIBLE) & (least <= n - b))
    # Rounding must not push the conditional rate past one: betainc would answer NaN.
    q = np.minimum(p_c / np.maximum(1 - p_b, 1e-300), 1.0)[row]
    at_least = np.maximum(least[column], 1)
    beyond = np.where(least[column] == 0, 1.0, betainc(at_least, n - column - at_least + 1, q))
    return np.minimum(np.bincount(row, np.exp(log_b[row, column]) * beyond, minlength=len(p_b)), 1.0)


def worst(least: Floats, null: float, *, fine: bool = True) -> float:
    """Largest probability of a region over all rates with p_c - p_b = null; with `fine`, peaks are refined.

    Tables with fewer regressions or more improvements score higher, so no smaller difference makes it more probable.
    """
    grid = (FINE if fine else COARSE) * (1 - abs(null)) / 2
    found = _along(least, null, grid)
    best = float(found.max())
    if not fine:
        return best
    padded = np.concatenate([[-1.0], found, [-1.0]])
    peaks = (found >= padded[:-2]) & (found >= padded[2:]) & (found >= 0.95 * best)
    return max(best, *(_refined(least, null, grid, peak) for peak in _highest(found, peaks)))


def edge(n: int, score: float, null: float) -> float:
    """The probability of scoring at least `score` where one of the two rates is zero, for any number of cases."""
    if null == 0:
        return 0.0
    column = np.zeros(1)

    def inside(k: int) -> bool:
        b, c = (np.array([float(k)]), column) if null < 0 else (column, np.array([float(k)]))
        return bool(scores(b, c, n, null)[0] >= score - TIE)

    if null < 0:
        most = bisect_left(range(n + 1), True, key=lambda k: not inside(k)) - 1
        return float(bdtr(most, n, -null)) if most >= 0 else 0.0
    return float(bdtrc(bisect_left(range(n + 1), True, key=inside) - 1, n, null))


def _highest(found: Floats, peaks: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> list[int]:
    return sorted(np.flatnonzero(peaks).tolist(), key=lambda i: -float(found[i]))[:3]


def _refined(least: Floats, null: float, grid: Floats, peak: int) -> float:
    best = 0.0
    for _ in range(4):
        grid = np.linspace(grid[max(peak - 1, 0)], grid[min(peak + 1, len(grid) - 1)], 9)
        found = _along(least, null, grid)
        peak = int(found.argmax())
        best = max(best, float(found[peak]))
    return best


def _along(least: Floats, null: float, smaller: Floats) -> Floats:
    return probability(least, smaller + max(-null, 0.0), smaller + max(null, 0.0))
