"""Looking more than once: e-values that may be read after every case, and levels for declared looks and attempts.

Cases must be new and in an order that results did not choose; a re-run of a case is no new case.
"""

from math import exp, log, pi

import numpy as np
from scipy.special import betainc, betaln, logsumexp

from beleg.evals.stats.binary import BinaryAssessment
from beleg.evals.stats.clusters import MIN_FAMILIES, cluster_sums, too_few
from beleg.evals.stats.guard import (
    Families,
    Floats,
    Values,
    alpha_of,
    counts,
    distinct,
    margin_of,
    share,
    whole,
    within,
)
from beleg.evals.stats.mcnemar import mcnemar
from beleg.evals.stats.scores import ScoreAssessment, effective_losses
from beleg.evals.stats.tango import descent
from beleg.evals.stats.verdict import Interval

BETS = (np.arange(64) + 0.5) / 64
_OUTCOMES = np.array([-1.0, 0.0, 1.0])


def log_e_ni(b: int, c: int, n: int, margin: float) -> float:
    """Log e-value against H0: delta <= -margin, on counts of independent cases.

    E = mean over j of (1 - l_j (1 - m))^b (1 + l_j m)^(n - b - c) (1 + l_j (1 + m))^c, l_j = (j + 1/2) / 64 / (1 - m).
    A nonnegative supermartingale under H0 that starts at 1: P(ever >= 1/alpha) <= alpha. Pass at log E >= log(1/alpha).
    Source: Waudby-Smith and Ramdas 2024 (betting); Ville 1939.
    """
    b, c, n = counts(b, c, n)
    return _log_e(_OUTCOMES, np.array([b, n - b - c, c], dtype=np.float64), -margin_of(margin))


def log_e_scores(d: Values, margin: float) -> float:
    """The same for differences in [-1, 1]: mean over j of prod (1 + l_j (d + m))."""
    return _log_e(*distinct(within("d", d, -1, 1)), -margin_of(margin))


def log_e_clusters(d: Values, clusters: Families, margin: float) -> float:
    """The same with one factor for each cluster: its mean difference, every cluster of equal weight."""
    sums, sizes = cluster_sums(within("d", d, -1, 1), clusters)
    return log_e_scores(sums / sizes, margin)


def log_e_superior(b: int, c: int) -> float:
    """Log e-value against "not better", on discordant pairs: 2^(N + 1) B(c + 1, b + 1) (1 - I_1/2(c + 1, b + 1)).

    A uniform mixture of the share of improvements over [1/2, 1]; N = b + c. Source: Robbins 1970.
    """
    b, c = whole("b (regressions)", b), whole("c (improvements)", c)
    upper = float(betainc(b + 1, c + 1, 0.5))
    return float((b + c + 1) * log(2) + betaln(c + 1, b + 1) + (log(upper) if upper else -np.inf))


def always_valid_p(log_e: float) -> float:
    """min(1, 1 / E): a p-value that holds at every look."""
    return exp(-share("log_e", log_e, above=-np.inf, below=np.inf)) if log_e > 0 else 1.0


def confidence_sequence(b: int, c: int, n: int, alpha: float = 0.05) -> Interval:
    """Interval of delta that holds at all looks at once: {d0: E(d0) < 1/alpha}, for each end with alpha one-sided."""
    b, c, n = counts(b, c, n)
    return _sequence(_OUTCOMES, np.array([b, n - b - c, c], dtype=np.float64), alpha)


def _sequence(values: Floats, times: Floats, alpha: float) -> Interval:
    threshold = -log(alpha_of(alpha))
    lower, upper = _lower(values, times, threshold), -_lower(-values, times, threshold)
    return Interval(lower, upper, alpha, "confidence sequence")


def _lower(values: Floats, times: Floats, threshold: float) -> float:
    # E falls as the null rises: every factor does, with l_j = f_j / (1 + null).
    mean = float(values @ times / times.sum())
    return descent(lambda null: _log_e(values, times, null) - threshold, mean)


def _log_e(values: Floats, times: Floats, null: float) -> float:
    factors = np.log1p(BETS[:, None] / (1 + null) * (values - null))
    return float(logsumexp(factors @ times) - log(len(BETS)))


def assess_looks(b: int, c: int, n: int, margin: float, alpha: float = 0.05) -> BinaryAssessment:
    """Verdict on counts that holds however often one looks; the p-values are `always_valid_p`."""
    b, c, n = counts(b, c, n)
    beyond = _log_e(_OUTCOMES, np.array([c, n - b - c, b], dtype=np.float64), margin_of(margin))
    return BinaryAssessment(
        method="e-value",
        cases=n,
        estimate=(c - b) / n,
        interval=confidence_sequence(b, c, n, alpha),
        margin=margin,
        alpha=alpha,
        p_non_inferior=always_valid_p(log_e_ni(b, c, n, margin)),
        p_worse_than_margin=always_valid_p(beyond),
        p_superior=always_valid_p(log_e_superior(b, c)),
        p_inferior=always_valid_p(log_e_superior(c, b)),
        worse=b,
        better=c,
        mcnemar_p_two_sided=mcnemar(b, c).p_two_sided,
    )


def assess_looks_scores(
    d: Values,
    margin: float,
    alpha: float = 0.05,
    *,
    clusters: Families | None = None,
    min_families: int = MIN_FAMILIES,
) -> ScoreAssessment:
    """Verdict on differences in [-1, 1] that holds however often one looks; of clusters it takes the mean of means."""
    x = within("d", d, -1, 1)
    sums, sizes = (x, np.ones(len(x))) if clusters is None else cluster_sums(x, clusters)
    values, times = distinct(sums / sizes)
    return ScoreAssessment(
        method="e-value",
        cases=len(x),
        estimate=float(values @ times / times.sum()),
        interval=_sequence(values, times, alpha),
        margin=margin,
        alpha=alpha,
        p_non_inferior=always_valid_p(_log_e(values, times, -margin_of(margin))),
        p_worse_than_margin=always_valid_p(_log_e(-values, times, margin_of(margin))),
        p_superior=always_valid_p(_log_e(values, times, 0.0)),
        p_inferior=always_valid_p(_log_e(-values, times, 0.0)),
        blocks=() if clusters is None else too_few(len(sums), min_families),
        effective_losses=effective_losses(sums),
        clusters=None if clusters is None else len(sums),
    )


def look_alpha(looks: int, alpha: float = 0.05) -> float:
    """Level of each of a number of looks declared beforehand: alpha / K (Bonferroni)."""
    return alpha_of(alpha) / whole("looks", looks, least=1)


def attempt_alpha(attempt: int, alpha: float = 0.05) -> float:
    """Level of the k-th attempt on one frozen set: alpha 6 / (pi^2 k^2), which sums to alpha over all attempts."""
    return alpha_of(alpha) * 6 / (pi * whole("attempt", attempt, least=1)) ** 2
