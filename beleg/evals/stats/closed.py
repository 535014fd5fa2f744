"""Closed intervals of a paired difference: to plan with and to reproduce other tools, never for a verdict."""

from math import sqrt

from scipy.special import ndtri

from beleg.evals.stats.guard import alpha_of, counts, whole
from beleg.evals.stats.proportions import wilson
from beleg.evals.stats.verdict import Interval


def wald_interval(b: int, c: int, n: int, alpha: float = 0.05) -> Interval:
    """(c - b)/n +- z sqrt(b + c - (c - b)^2/n)/n. Zero width without discordant pairs: the classic error.

    One-sided type I error up to 67 % at n = 20. alpha is one-sided, for each end.
    """
    return _wald((b, c, n), alpha, 0.0, "Wald")


def agresti_min_interval(b: int, c: int, n: int, alpha: float = 0.05) -> Interval:
    """Wald with half a pair added to b and to c. Source: Agresti and Min 2005."""
    return _wald((b, c, n), alpha, 0.5, "Agresti-Min")


def bonett_price_interval(b: int, c: int, n: int, alpha: float = 0.05) -> Interval:
    """Wald with one pair added to b and to c: for planning displays. Source: Bonett and Price 2012."""
    return _wald((b, c, n), alpha, 1.0, "Bonett-Price")


def _wald(table: tuple[int, int, int], alpha: float, added: float, method: str) -> Interval:
    b, c, n = counts(*table)
    total = n + (2 if added else 0)
    reach = -ndtri(alpha_of(alpha)) * sqrt(b + c + 2 * added - (c - b) ** 2 / total) / total
    middle = (c - b) / total
    return Interval(max(-1.0, middle - reach), min(1.0, middle + reach), alpha, method)


def newcombe_interval(
    both_pass: int, b: int, c: int, both_fail: int, alpha: float = 0.05, *, corrected: bool = True
) -> Interval:
    """Square-and-add of two Wilson intervals with the correlation phi: method 10 (`corrected`), else 8.

    phi = (a e - b c) / sqrt((a+b)(c+e)(a+c)(b+e)), 0 where a margin is empty; method 10 takes n/2 off a positive
    numerator. Not guaranteed (type I error up to 6.6 % corrected, 10 % not). Source: Newcombe 1998.
    """
    a, e = whole("both_pass", both_pass), whole("both_fail", both_fail)
    b, c, n = counts(b, c, a + e + b + c)
    phi = _phi(a, b, c, e, corrected=corrected)
    p1, p2 = (a + b) / n, (a + c) / n
    first, second = wilson(a + b, n, alpha), wilson(a + c, n, alpha)
    down = _squares(p2 - second.lower, first.upper - p1, phi)
    up = _squares(second.upper - p2, p1 - first.lower, phi)
    return Interval(p2 - p1 - down, p2 - p1 + up, alpha, "Newcombe 10" if corrected else "Newcombe 8")


def _squares(x: float, y: float, phi: float) -> float:
    return sqrt(max(x * x - 2 * phi * x * y + y * y, 0.0))


def _phi(a: int, b: int, c: int, e: int, *, corrected: bool) -> float:
    margins = (a + b) * (c + e) * (a + c) * (b + e)
    product = float(a * e - b * c)
    if corrected and product > 0:
        product = max(product - (a + b + c + e) / 2, 0.0)
    return product / sqrt(margins) if margins else 0.0
