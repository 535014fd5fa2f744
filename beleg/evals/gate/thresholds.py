"""The candidate by itself: does it reach what the contract demands, whatever the baseline does?"""

from dataclasses import dataclass, replace
from math import exp, floor, log

from beleg.evals.gate.pairing import Paired
from beleg.evals.gate.plan import Verdict
from beleg.evals.gate.policy import TierRules
from beleg.evals.gate.reasons import Reason, reason
from beleg.evals.stats import assess_ratio, bounded_lower, clopper_pearson, cluster_bounded_lower, cluster_mean


@dataclass(frozen=True)
class Level:
    """How good the candidate is: a rate, a mean score, or a typical cost."""

    estimate: float
    lower: float | None
    """One-sided bound; None where the cases do not allow one."""
    upper: float | None
    method: str


@dataclass(frozen=True)
class AgainstThreshold:
    """The level against the threshold."""

    level: Level
    verdict: Verdict
    threshold: float
    by: str
    reasons: tuple[Reason, ...] = ()


def against_threshold(paired: Paired, tier: TierRules, alpha: float) -> AgainstThreshold:
    """Verdict on the level, counting gaps against the candidate.

    An estimate that misses the threshold fails. One that meets it passes, where the tier asks for the bound only
    if that meets it too. An interval without width, or none, never passes. Where the complete cases alone would give
    another verdict, the gaps decide, and so nothing does.
    """
    worst, kept = _judged(paired, tier, alpha), paired.complete()
    if len(kept.pairs) == len(paired.pairs) or not kept.pairs:
        return worst
    alone = _judged(kept, tier, alpha)
    if alone.verdict == worst.verdict:
        return worst
    why = reason("missing_decides", worst=worst.verdict, complete=alone.verdict)
    return replace(worst, verdict="inconclusive", reasons=(*worst.reasons, why))


def _judged(paired: Paired, tier: TierRules, alpha: float) -> AgainstThreshold:
    level, threshold = level_of(paired, alpha), paired.criterion.threshold
    bound = level.upper if paired.at_most else level.lower
    sign = -1 if paired.at_most else 1
    told = AgainstThreshold(level, "pass", threshold, tier.threshold_by)
    if sign * (level.estimate - threshold) < 0:
        why = reason("threshold_missed", estimate=level.estimate, threshold=threshold)
        return replace(told, verdict="fail", reasons=(why,))
    if bound is None or level.lower == level.upper:
        return replace(told, verdict="inconclusive", reasons=(reason("degenerate"),))
    if tier.threshold_by == "bound" and sign * (bound - threshold) < 0:
        values = {"estimate": level.estimate, "threshold": threshold, "bound": bound}
        why = reason("threshold_not_shown", **values, families=len(set(paired.families)))
        return replace(told, verdict="inconclusive", reasons=(why,))
    return told


def level_of(paired: Paired, alpha: float) -> Level:
    """The level with its bounds, each holding with probability 1 - alpha."""
    if paired.at_most:
        return _typical(paired, alpha)
    values = paired.candidate
    estimate = sum(values) / len(values)
    if paired.clustered and len(set(paired.families)) < 2:
        return Level(estimate, None, None, "one family: no interval")
    binary = paired.criterion.kind == "binary" and paired.repetitions == 1
    lower = _rate_lower if binary else _mean_lower
    up = lower([1 - each for each in values], paired, alpha)
    return Level(estimate, lower(values, paired, alpha), 1 - up, "Clopper-Pearson" if binary else "bounded mean")


def _rate_lower(values: list[float], paired: Paired, alpha: float) -> float:
    """Clopper-Pearson, on as many cases as the families are worth."""
    effect = cluster_mean(values, paired.families).design_effect if paired.clustered else 1.0
    cases, hits = floor(len(values) / effect + 1e-9), floor(sum(values) / effect + 1e-9)
    return clopper_pearson(min(hits, cases), cases, alpha).lower if cases else 0.0


def _mean_lower(values: list[float], paired: Paired, alpha: float) -> float:
    if paired.clustered:
        return cluster_bounded_lower(values, paired.families, alpha, support_min=0.0)
    return bounded_lower(values, alpha, support_min=0.0)


def _typical(paired: Paired, alpha: float) -> Level:
    """The geometric mean: what a typical case costs or takes."""
    values = paired.candidate
    if len(set(paired.families)) < 2:
        return Level(exp(sum(map(log, values)) / len(values)), None, None, "one family: no interval")
    clusters = paired.families if paired.clustered else None
    found = assess_ratio([1.0] * len(values), values, alpha=alpha, clusters=clusters)
    return Level(found.estimate, found.interval.lower, found.interval.upper, "geometric mean, t on logs")
