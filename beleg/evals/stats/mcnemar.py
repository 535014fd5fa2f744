"""McNemar's test: whether two sides differ at all. It knows no margin: conditioning on b + c removes n."""

from dataclasses import dataclass

from scipy.special import bdtr, bdtrc
from scipy.stats import binom

from beleg.evals.stats.guard import whole


@dataclass(frozen=True, slots=True)
class McNemar:
    """P-values of delta = 0; "not significant" is no evidence of equality."""

    p_two_sided: float
    p_superior: float
    p_inferior: float
    midp_two_sided: float
    midp_superior: float
    """Mid-p values are more powerful and not guaranteed: never for a verdict."""


def mcnemar(b: int, c: int) -> McNemar:
    """Exact conditional test on b regressions and c improvements.

    X ~ Binomial(b + c, 1/2). Two-sided: min(1, 2 P(X <= min(b, c))); superior: P(X >= c); inferior: P(X >= b); mid-p
    takes off half the probability of the observed point. Without discordant pairs every p is 1 (mid-p superior 1/2).
    Assumes independent pairs. Source: McNemar 1947; mid-p: Lancaster 1961, Fagerland et al. 2013.
    """
    b, c = whole("b (regressions)", b), whole("c (improvements)", c)
    k, least = b + c, min(b, c)
    point, superior = float(binom.pmf(c, k, 0.5)), _at_least(c, k)
    below = float(bdtr(least, k, 0.5)) if k else 1.0
    return McNemar(
        p_two_sided=min(1.0, 2 * below),
        p_superior=superior,
        p_inferior=_at_least(b, k),
        midp_two_sided=1.0 if b == c else min(1.0, 2 * below - point),
        midp_superior=superior - point / 2,
    )


def _at_least(x: int, k: int) -> float:
    return 1.0 if x == 0 else float(bdtrc(x - 1, k, 0.5))
