"""Cases that come in families (one document, tenant, conversation): the number of families is the sample size."""

from dataclasses import dataclass
from math import fsum, sqrt

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.special import stdtrit

from beleg.evals.stats.bounded import gamma_sum_below_zero
from beleg.evals.stats.guard import Families, Floats, StatisticsError, Values, alpha_of, labels, numbers, within

MIN_FAMILIES = 10
"""Fewer families never give a pass at tiers 2 and 3."""


@dataclass(frozen=True, slots=True)
class ClusterMean:
    """Mean over all cases with standard errors that let cases of one cluster go together."""

    mean: float
    cases: int
    clusters: int
    se_cr0: float
    se_cr1: float
    se_cr2: float
    se_cr3: float
    dof: float
    """Of Bell and McCaffrey, for CR2; equal sizes give clusters - 1."""
    design_effect: float
    """How many times the variance of as many independent cases, at least 1; the mean squared size where nothing
    varies."""

    def lower(self, alpha: float = 0.05) -> float:
        """mean - t(1 - alpha, dof) se_cr2: right for roughly symmetric scores, not for rare losses."""
        return self.mean + float(stdtrit(self.dof, alpha_of(alpha))) * self.se_cr2


def cluster_mean(d: Values, clusters: Families) -> ClusterMean:
    """Mean and cluster-robust standard errors of differences d, one family label for each case.

    With s_g = sum over g of (d - mean), sizes n_g and N cases: CR0 = sum s_g^2 / N^2; CR1 = CR0 G/(G-1); CR2 divides
    each s_g^2 by 1 - n_g/N, CR3 by its square. Intercept-only model, working independence. Source: Liang and Zeger
    1986, Bell and McCaffrey 2002. Raises StatisticsError for fewer than two clusters.
    """
    values, family = _grouped(d, clusters)
    sizes = np.bincount(family).astype(np.float64)
    n, g = len(values), len(sizes)
    # Exact sums know no order, so neither names nor places of families change a bit of the result.
    mean = fsum(values) / n
    squares = np.bincount(family, values - mean) ** 2
    rest = 1 - sizes / n
    cr0, cr2, cr3 = (fsum(squares / rest**power) / n**2 for power in (0, 1, 2))
    return ClusterMean(
        mean=mean,
        cases=n,
        clusters=g,
        se_cr0=sqrt(cr0),
        se_cr1=sqrt(cr0 * g / (g - 1)),
        se_cr2=sqrt(cr2),
        se_cr3=sqrt(cr3),
        dof=_dof(sizes, n),
        design_effect=_design_effect(values, sizes, cr2),
    )


def _dof(sizes: Floats, n: int) -> float:
    # (tr B)^2 / tr(B B) with B_gh = (n_g [g = h] - n_g n_h / N) / sqrt((1 - n_g/N)(1 - n_h/N)): the diagonal is n_g,
    # and off it the squares are a product.
    a = sizes**2 / (1 - sizes / n)
    return float(n**2 / (fsum(sizes**2) + (fsum(a) ** 2 - fsum(a**2)) / n**2))


def _design_effect(values: Floats, sizes: Floats, cr2: float) -> float:
    variance = float(np.sort(values).var())
    if variance <= 1e-18:
        return fsum(sizes**2) / len(values)
    return max(1.0, cr2 / (variance / len(values)))


def _grouped(d: Values, clusters: Families) -> tuple[Floats, npt.NDArray[np.intp]]:
    """Values and families in an order that does not depend on the order of the cases."""
    values = numbers("d", d)
    family = labels(clusters, len(values))
    if family.max() == 0:
        msg = f"all {len(values)} cases are of one family: at least two are needed to see how much families differ"
        raise StatisticsError(msg)
    order = np.lexsort((values, family))
    return values[order], family[order]


def too_few(clusters: int, least: int) -> tuple[str, ...]:
    """The reason that forbids a verdict, if any."""
    if clusters >= least:
        return ()
    return (f"too few independent families: {clusters}, at least {least} are needed",)


def cluster_sums(d: Values, clusters: Families) -> tuple[Floats, Floats]:
    """Sum of the differences and number of cases of every cluster."""
    values, family = _grouped(d, clusters)
    return np.bincount(family, values).astype(np.float64), np.bincount(family).astype(np.float64)


def cluster_bounded_p(d: Values, clusters: Families, null: float, support_min: float = -1.0) -> float:
    """P-value of H0: mean <= null by the bounded bound over clusters.

    P(sum over g of G_g (S_g - null n_g) <= 0), G_g ~ Exponential, over the clusters and one pseudo-cluster of mean size
    with every case at `support_min`. Nearly exact for equal sizes; for unequal ones up to 0.065 at 0.05 was seen.
    """
    return _bounded(*_with_worst_cluster(d, clusters, support_min), null)


def cluster_bounded_lower(d: Values, clusters: Families, alpha: float = 0.05, support_min: float = -1.0) -> float:
    """Lower bound of the mean at 1 - alpha that belongs to `cluster_bounded_p`."""
    sums, sizes = _with_worst_cluster(d, clusters, support_min)
    level, means = alpha_of(alpha), sums / sizes
    if means.min() == means.max():
        return float(means.min())
    ends = float(means.min()), float(means.max())
    return float(brentq(lambda null: _bounded(sums, sizes, null) - level, *ends, xtol=1e-10))


def _with_worst_cluster(d: Values, clusters: Families, support_min: float) -> tuple[Floats, Floats]:
    sums, sizes = cluster_sums(within("d", d, support_min, np.inf), clusters)
    return np.append(sums, sizes.mean() * support_min), np.append(sizes, sizes.mean())


def _bounded(sums: Floats, sizes: Floats, null: float) -> float:
    weights, shapes = np.unique(np.round(sums - null * sizes, 12), return_counts=True)
    return gamma_sum_below_zero(weights, shapes.astype(np.float64))


def sign_flip(sums: Values, *, seed: int = 0) -> float:
    """P-value of "not better": share of sign assignments of the cluster sums with a total of at least the observed.

    Exact for exchangeable sides (delta = 0 only; it knows no margin): all 2^G for up to 20 clusters, else 99 999 draws
    with `seed` and p = (1 + hits) / (1 + draws).
    """
    values = np.sort(numbers("sums", sums))
    observed = values.sum() - 1e-9 * max(1.0, float(np.abs(values).max()))
    if len(values) <= 20:
        totals = np.zeros(1)
        for each in values:
            totals = np.concatenate([totals + each, totals - each])
        return float((totals >= observed).mean())
    rng = np.random.default_rng(seed)
    # 271 times 369 are 99 999 draws.
    hits = sum(int((rng.choice((-1.0, 1.0), (369, len(values))) @ values >= observed).sum()) for _ in range(271))
    return (1 + hits) / 100_000
