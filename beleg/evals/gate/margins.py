"""Candidate against baseline: no worse than the margin allows, with gaps counted against the candidate."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from beleg.evals.gate.attempts import Standing
from beleg.evals.gate.pairing import Paired
from beleg.evals.gate.plan import Verdict
from beleg.evals.gate.policy import Rules
from beleg.evals.gate.reasons import Reason, reason
from beleg.evals.stats import (
    Assessment,
    always_valid_p,
    assess_binary,
    assess_clustered_binary,
    assess_clustered_scores,
    assess_looks,
    assess_ratio,
    assess_scores,
    log_e_clusters,
    log_e_scores,
    mcnemar,
    pass_floor,
)

_EVEN = 1e-9
"""A smaller difference is none."""


@dataclass(frozen=True)
class Complete:
    """The cases that are complete on both sides, and between what the gaps could move the difference."""

    cases: int
    estimate: float
    lowest: float
    highest: float


@dataclass(frozen=True)
class Comparison:
    """Candidate against baseline on one criterion."""

    verdict: Verdict
    assessed: Assessment | None
    """None where the cases allow no test."""
    worse: int
    better: int
    ratio: bool
    """Whether the estimate is a ratio: cost and latency."""
    reasons: tuple[Reason, ...] = ()
    complete: Complete | None = None
    """None where nothing is missing."""
    log_e: float | None = None
    above: tuple[int, int] | None = None
    """Candidate's and baseline's cases above the limit, for the tail of cost and latency."""

    @property
    def mcnemar_p(self) -> float:
        """Exact, two-sided, of no difference at all: shown because reviewers know it."""
        return mcnemar(self.worse, self.better).p_two_sided


def against_baseline(paired: Paired, rules: Rules, at: Standing) -> Comparison:
    """Verdict on the difference; on the ratio for cost and latency."""
    if paired.at_most:
        return _despite_gaps(paired, lambda these: _ratio(these, rules, at))
    binary, margin = paired.criterion.kind == "binary" and paired.repetitions == 1, paired.criterion.margin or 0.0
    return _despite_gaps(
        paired,
        lambda these: _compare(differences(these.candidate, these.baseline), these, margin, rules, at, binary=binary),
    )


def tail(paired: Paired, rules: Rules, at: Standing) -> Comparison:
    """Verdict on the share of cases above the limit of cost or latency."""
    return _despite_gaps(paired, lambda these: _tail(these, rules, at))


def _despite_gaps(paired: Paired, judge: Callable[[Paired], Comparison]) -> Comparison:
    """The verdict with gaps at their worst; inconclusive where the complete cases alone would give another."""
    worst, kept = judge(paired), paired.complete()
    if len(kept.pairs) == len(paired.pairs) or not kept.pairs:
        return worst
    alone = judge(kept)
    gaps = worst if worst.ratio or worst.above else replace(worst, complete=_complete(paired, kept))
    if alone.verdict == worst.verdict:
        return gaps
    why = reason("missing_decides", worst=worst.verdict, complete=alone.verdict)
    return replace(gaps, verdict="inconclusive", reasons=(*worst.reasons, why))


def _tail(paired: Paired, rules: Rules, at: Standing) -> Comparison:
    limit = paired.criterion.threshold
    candidate, baseline = ([float(value <= limit) for value in side] for side in (paired.candidate, paired.baseline))
    found = _compare(differences(candidate, baseline), paired, rules.tier.tail_margin, rules, at, binary=True)
    above = candidate.count(0.0), baseline.count(0.0)
    if found.verdict == "pass":
        return replace(found, above=above)
    code = "tail_worse" if found.verdict == "fail" else "tail_not_shown"
    why = reason(code, limit=limit, candidate=above[0], baseline=above[1], cases=len(paired.pairs))
    # The counts say that the margin was missed; what else stands against it stays.
    others = tuple(each for each in found.reasons if each.code not in {"margin_not_shown", "worse_than_margin"})
    return replace(found, above=above, reasons=(why, *others))


def _complete(paired: Paired, kept: Paired) -> Complete:
    candidate, baseline = paired.filled(gap_candidate=1.0, gap_baseline=0.0)
    return Complete(
        len(kept.pairs),
        _mean_difference(kept.candidate, kept.baseline),
        _mean_difference(paired.candidate, paired.baseline),
        _mean_difference(candidate, baseline),
    )


def _mean_difference(candidate: Sequence[float], baseline: Sequence[float]) -> float:
    return sum(sorted(c - b for c, b in zip(candidate, baseline, strict=True))) / len(candidate)


def differences(candidate: Sequence[float], baseline: Sequence[float]) -> list[float]:
    """Candidate minus baseline, case by case, free of the noise of floating point."""
    return [round(c - b, 12) for c, b in zip(candidate, baseline, strict=True)]


def _compare(
    d: Sequence[float], paired: Paired, margin: float, rules: Rules, at: Standing, *, binary: bool
) -> Comparison:
    worse, better = sum(each < -_EVEN for each in d), sum(each > _EVEN for each in d)
    families = paired.families if paired.clustered else None
    if few := too_few_families(paired, rules):
        return Comparison("inconclusive", None, worse, better, ratio=False, reasons=few)
    alpha, log_e = at.alpha(rules), None
    assessed = _assess(d, families, margin, alpha, binary=binary)
    if rules.looks == "sequential":
        assessed, log_e = _sequential(d, families, margin, assessed, binary=binary)
    told = Comparison(assessed.verdict, assessed, worse, better, ratio=False, log_e=log_e)
    return _explained(told, len(d), margin, alpha)


def _assess(d: Sequence[float], families: list[str] | None, margin: float, alpha: float, *, binary: bool) -> Assessment:
    # How many families are enough is the policy's word, and was asked before.
    if families is not None:
        clustered = assess_clustered_binary if binary else assess_clustered_scores
        return clustered(d, families, margin, alpha, min_families=2)
    if not binary:
        return assess_scores(d, margin, alpha)
    return assess_binary(d.count(-1.0), d.count(1.0), len(d), margin, alpha)


def _sequential(
    d: Sequence[float], families: list[str] | None, margin: float, fixed: Assessment, *, binary: bool
) -> tuple[Assessment, float]:
    """The same with a p-value that holds at every look."""
    log_e = log_e_scores(d, margin) if families is None else log_e_clusters(d, families, margin)
    if binary and families is None:
        return assess_looks(d.count(-1.0), d.count(1.0), len(d), margin, fixed.alpha), log_e
    return replace(fixed, p_non_inferior=always_valid_p(log_e), method=f"e-value; bounds: {fixed.method}"), log_e


def _explained(told: Comparison, cases: int, margin: float, alpha: float) -> Comparison:
    found = told.assessed
    if found is None or told.verdict == "pass":
        return told
    counts = {"worse": told.worse, "better": told.better}
    if told.verdict == "fail":
        why = reason("worse_than_margin", margin_points=margin, difference_points=found.estimate, **counts)
        return replace(told, reasons=(why,))
    loss = max(-found.interval.lower, 0.0)
    first = reason("margin_not_shown", cases=cases, loss_points=loss, margin_points=margin, **counts)
    if found.interval.width <= 0:
        return replace(told, reasons=(first, reason("degenerate")))
    least = pass_floor(margin, alpha)
    floored = (reason("too_few_cases", margin_points=margin, needed=least, cases=cases),) if cases < least else ()
    return replace(told, reasons=(first, *floored))


def _ratio(paired: Paired, rules: Rules, at: Standing) -> Comparison:
    x, y, margin = paired.baseline, paired.candidate, paired.criterion.margin or 0.0
    worse = sum(b > a * (1 + _EVEN) for a, b in zip(x, y, strict=True))
    better = sum(b < a * (1 - _EVEN) for a, b in zip(x, y, strict=True))
    few = too_few_families(paired, rules)
    if few or len(x) < 2:
        return Comparison("inconclusive", None, worse, better, ratio=True, reasons=few or (reason("degenerate"),))
    families = paired.families if paired.clustered else None
    # Logs have no bounds, hence no e-value.
    found = assess_ratio(x, y, margin, at.spent(rules), clusters=families, min_families=2)
    told = Comparison(found.verdict, found, worse, better, ratio=True)
    if told.verdict == "pass":
        return told
    if found.interval.width <= 0:
        return replace(told, reasons=(reason("degenerate"),))
    code = "ratio_above_margin" if told.verdict == "fail" else "ratio_not_shown"
    why = reason(code, ratio=found.estimate, upper=found.interval.upper, margin_share=margin)
    return replace(told, reasons=(why,))


def too_few_families(paired: Paired, rules: Rules) -> tuple[Reason, ...]:
    """Why there are too few independent families for any verdict but inconclusive; empty where there are enough."""
    found = len(set(paired.families))
    needed = max(rules.tier.min_families, 2 if paired.clustered else 1)
    if found >= needed:
        return ()
    return (reason("too_few_families", families=found, needed=needed),)
