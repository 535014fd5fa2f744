"""A lower bound of the mean of bounded scores that rare losses cannot fool, without random numbers."""

import numpy as np
from scipy.integrate import quad
from scipy.optimize import brentq, minimize_scalar

from beleg.evals.stats.guard import Floats, Values, alpha_of, distinct, numbers, share, within

FLOOR = 1e-10
"""Absolute accuracy of the integral: smaller p-values are reported as an upper bound of this size at most."""
MOST_DISTINCT = 2000
"""Distinct values beyond which scores are rounded down to thousandths."""


def gamma_sum_below_zero(weights: Floats, shapes: Floats) -> float:
    """P(sum G_v l_v <= 0), G_v ~ Gamma(shape k_v) independent, with an absolute error of at most 1e-9.

    Imhof's inversion: 1/2 - (1/pi) int_0^inf sin(theta(u)) / (u rho(u)) du with theta = sum k_v atan(l_v u) and
    rho = prod (1 + l_v^2 u^2)^(k_v / 2). Far tails are given as Chernoff's bound, which is never too small.
    Source: Imhof 1961; 2 G_v is chi-square with 2 k_v degrees of freedom.
    """
    if not (weights > 0).any():
        return 1.0
    if not (weights < 0).any():
        return 0.0
    scaled = weights / np.sqrt((shapes * weights**2).sum())
    tail = _chernoff(scaled, shapes) if (shapes * scaled).sum() > 0 else 1.0
    return tail if tail < FLOOR else min(max(_imhof(scaled, shapes), FLOOR), 1.0)


def _imhof(weights: Floats, shapes: Floats) -> float:
    def integrand(u: float) -> float:
        x = weights * u
        return float(np.sin(shapes @ np.arctan(x)) * np.exp(-(shapes @ np.log1p(x * x)) / 2) / u)

    found = quad(integrand, 0, np.inf, epsabs=1e-11, epsrel=0, limit=1000, full_output=1)
    # What the integral may be wrong by is added: the p-value is then at most too large.
    return 0.5 - float(found[0]) / np.pi + (float(found[1]) if found[1] > FLOOR else 0.0)


def _chernoff(weights: Floats, shapes: Floats) -> float:
    """The smallest E exp(-t X) over the allowed t > 0, which bounds P(X <= 0)."""
    end = -1 / weights.min()
    best = minimize_scalar(lambda t: -(shapes @ np.log1p(weights * t)), bounds=(0, end * (1 - 1e-12)), method="bounded")
    return float(np.exp(min(best.fun, 0.0)))


def bounded_p(values: Values, null: float, support_min: float = -1.0) -> float:
    """P-value of H0: mean <= null for scores of at least `support_min`.

    W ~ Dirichlet(counts of the distinct values, and one pseudo-observation at `support_min`); p = P(sum W x <= null).
    Equal to a Bayesian bootstrap with one worst case added; for two values it is Clopper-Pearson's. Assumes independent
    cases and a support declared in advance; no violation is known, general validity is a conjecture. Source: Gaffke
    2005, Learned-Miller and Thomas 2019. Raises StatisticsError for values below the support.
    """
    x, k = _with_worst_case(values, support_min)
    return gamma_sum_below_zero(x - _null(null), k)


def bounded_lower(values: Values, alpha: float = 0.05, support_min: float = -1.0) -> float:
    """Lower bound of the mean at 1 - alpha: the alpha quantile of the same weighted mean as in `bounded_p`."""
    x, k = _with_worst_case(values, support_min)
    level = alpha_of(alpha)
    if x[0] == x[-1]:
        return float(x[0])
    return float(brentq(lambda null: gamma_sum_below_zero(x - null, k) - level, float(x[0]), float(x[-1]), xtol=1e-10))


def _with_worst_case(values: Values, support_min: float) -> tuple[Floats, Floats]:
    checked = within("values", values, float(numbers("support_min", [support_min])[0]), np.inf)
    x, k = distinct(checked)
    if len(x) > MOST_DISTINCT:
        # Rounding down can only lower the bound, and the cost depends on how many values differ.
        x, k = distinct(np.maximum(np.floor(checked * 1000) / 1000, support_min))
    return np.concatenate([[support_min], x]), np.concatenate([[1.0], k])


def _null(null: float) -> float:
    return share("null", null, above=-np.inf, below=np.inf)
