"""Cost and latency as ratios; lower is better. The typical case (geometric mean ratio) may gate; the bill (ratio of
means) is informational, unless a hard cap holds. The tail is in `tails`: three questions, three numbers.
"""

from dataclasses import dataclass
from math import log1p, sqrt

import numpy as np
from scipy.special import stdtr, stdtrit

from beleg.evals.stats.bounded import bounded_p
from beleg.evals.stats.clusters import MIN_FAMILIES, cluster_mean, too_few
from beleg.evals.stats.guard import (
    Families,
    Floats,
    StatisticsError,
    Values,
    alpha_of,
    numbers,
    same_length,
    share,
    within,
)
from beleg.evals.stats.verdict import Assessment, Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class RatioAssessment(Assessment):
    """Geometric mean of candidate / baseline: the typical case, not the bill. 1 is equal, above is worse."""

    ratio_of_means: float
    clusters: int | None = None


@dataclass(frozen=True, slots=True)
class RatioOfMeans:
    """What the totals say; informational, since a few cases can decide it."""

    ratio: float
    interval: Interval | None
    """None where the data do not bound the ratio."""


@dataclass(frozen=True, slots=True)
class _Logs:
    mean: float
    se: float
    dof: float


def assess_ratio(
    baseline: Values,
    candidate: Values,
    margin: float = 0.10,
    alpha: float = 0.05,
    *,
    clusters: Families | None = None,
    min_families: int = MIN_FAMILIES,
) -> RatioAssessment:
    """Verdict on the geometric mean ratio: pass if its upper bound is at most 1 + margin.

    GMR = exp(mean log(y / x)), upper = exp(mean + t(1 - alpha, n - 1) sd / sqrt(n)); with clusters CR2 and
    Bell-McCaffrey dof. Assumes roughly symmetric log ratios (type I error seen: at most 0.064). Raises StatisticsError
    for zero and negative values: they have no logarithm, and adding a constant would be arbitrary. Without any
    variation the verdict is inconclusive.
    """
    x, y = _pairs(baseline, candidate)
    logs, families = _logs(np.log(y) - np.log(x), clusters)
    limit = log1p(share("margin", margin, below=float("inf")))
    reach = -float(stdtrit(logs.dof, alpha_of(alpha))) * logs.se
    with np.errstate(over="ignore"):
        low, ratio, high = np.exp([logs.mean - reach, logs.mean, logs.mean + reach]).tolist()
    return RatioAssessment(
        method="t on log ratios" if families is None else "CR2, Bell-McCaffrey, on log ratios",
        cases=len(x),
        estimate=ratio,
        interval=Interval(low, high, alpha, "exponentiated t"),
        margin=margin,
        alpha=alpha,
        p_non_inferior=_below(logs, limit),
        p_worse_than_margin=_below(_Logs(-logs.mean, logs.se, logs.dof), -limit),
        p_superior=_below(logs, 0.0),
        p_inferior=_below(_Logs(-logs.mean, logs.se, logs.dof), 0.0),
        blocks=() if families is None else too_few(families, min_families),
        notes=() if logs.se else ("no variation between cases: a zero-width interval shows nothing",),
        ratio_of_means=float(y.sum() / x.sum()),
        clusters=families,
    )


def _pairs(baseline: Values, candidate: Values) -> tuple[Floats, Floats]:
    x, y = numbers("baseline", baseline), numbers("candidate", candidate)
    same_length(baseline=x, candidate=y)
    for name, values in (("baseline", x), ("candidate", y)):
        if (values <= 0).any():
            where = int(np.flatnonzero(values <= 0)[0])
            msg = f"{name}[{where}] is {values[where]:g}: ratios need values above zero; a missing result costs the cap"
            raise StatisticsError(msg)
    return x, y


def _logs(logs: Floats, clusters: Families | None) -> tuple[_Logs, int | None]:
    if clusters is not None:
        found = cluster_mean(logs, clusters)
        return _Logs(found.mean, _varying(found.se_cr2), found.dof), found.clusters
    if len(logs) < 2:
        msg = "one case shows no variation: at least two are needed"
        raise StatisticsError(msg)
    ordered = np.sort(logs)
    return _Logs(float(ordered.mean()), _varying(float(ordered.std(ddof=1))) / sqrt(len(logs)), len(logs) - 1), None


def _varying(s: float) -> float:
    return 0.0 if s <= 1e-12 else s


def _below(logs: _Logs, limit: float) -> float:
    return float(stdtr(logs.dof, (logs.mean - limit) / logs.se)) if logs.se else 1.0


def ratio_of_means(baseline: Values, candidate: Values, alpha: float = 0.05) -> RatioOfMeans:
    """Ratio of totals with Fieller's interval: all R with |mean(y - R x)| <= t sd(y - R x) / sqrt(n). Informational.

    With heavy tails on one side its error reaches 0.25 instead of 0.05 at n = 20. Source: Fieller 1954.
    """
    x, y = _pairs(baseline, candidate)
    if len(x) < 2:
        return RatioOfMeans(float(y[0] / x[0]), None)
    (sxx, sxy), (_, syy) = np.cov(x, y) / len(x)
    t2 = float(stdtrit(len(x) - 1, alpha_of(alpha))) ** 2
    a, half, c = x.mean() ** 2 - t2 * sxx, x.mean() * y.mean() - t2 * sxy, y.mean() ** 2 - t2 * syy
    inside = half**2 - a * c
    bounded = a > 0 and inside >= 0
    reach = sqrt(inside) if bounded else 0.0
    interval = Interval(float((half - reach) / a), float((half + reach) / a), alpha, "Fieller") if bounded else None
    return RatioOfMeans(float(y.sum() / x.sum()), interval)


def capped_total_p(baseline: Values, candidate: Values, cap: float, margin: float = 0.10) -> float:
    """P-value of H0: mean(candidate) >= (1 + margin) mean(baseline), where a hard cap on each case holds at run time.

    (1 + margin) x - y is at least -cap: its mean is tested with the bounded bound. Raises StatisticsError for values
    above the cap: then there was none.
    """
    highest = share("cap", cap, below=np.inf)
    x, y = within("baseline", baseline, 0, highest), within("candidate", candidate, 0, highest)
    same_length(baseline=x, candidate=y)
    return bounded_p(((1 + share("margin", margin, below=np.inf)) * x - y) / highest, 0.0)
