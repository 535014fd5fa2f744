"""One criterion: its threshold, its margin, what is missing, and the verdict of all that."""

from dataclasses import dataclass, replace

from beleg.contract.model import Criterion
from beleg.core.errors import UsageError
from beleg.evals.gate import gaps
from beleg.evals.gate.attempts import Standing
from beleg.evals.gate.margins import Comparison, against_baseline, tail
from beleg.evals.gate.pairing import Paired, Table
from beleg.evals.gate.plan import Grader, Plan, Verdict
from beleg.evals.gate.policy import Rules
from beleg.evals.gate.reasons import Reason, reason
from beleg.evals.gate.thresholds import AgainstThreshold, against_threshold

_CRITICAL_FROM_TIER = 3
_NOT_WORSE = 1e-9


@dataclass(frozen=True)
class Judged:
    """What one criterion came to."""

    criterion: Criterion
    """As the policy tightened it."""
    stated: Criterion
    """As the contract has it."""
    paired: Paired
    verdict: Verdict
    threshold: AgainstThreshold
    comparison: Comparison | None
    """None without a baseline."""
    tail: Comparison | None
    """Of cost and latency."""
    reasons: tuple[Reason, ...]
    p_inferior_holm: float | None = None
    """Of "worse at all", corrected for all criteria."""
    cases_needed: int | None = None
    """Cases in total that would settle it, were both sides equal: a planning number, which `planned` adds."""


def judge_criterion(plan: Plan, criterion: Criterion, table: Table, rules: Rules, at: Standing) -> Judged:
    """Verdict on one criterion; raises UsageError where no case says anything on it."""
    tightened, unfit = _graded(rules.named(criterion.name), plan.graders.get(criterion.name))
    paired = replace(table.pair(plan, criterion), criterion=tightened)
    if not paired.pairs:
        raise UsageError(f"no case of {plan.dataset} says anything on {criterion.name}: from none nothing follows")
    threshold = against_threshold(paired, rules.tier, at.spent(rules))
    comparison = against_baseline(paired, rules, at) if paired.compared else None
    beyond = tail(paired, rules, at) if paired.compared and paired.at_most else None
    parts = [each for each in (threshold, comparison, beyond) if each is not None]
    reasons = [why for each in parts for why in each.reasons]
    verdict = worst_of([each.verdict for each in parts])
    # Whatever is missing or cannot be compared decides nothing, in either direction.
    digests = [each.digest for each in (plan.candidate, plan.baseline) if each is not None]
    results = [each for digest in digests for each in table.of(digest, [criterion.scorer])]
    if void := [*unfit, *gaps.missing(paired, rules.tier), *gaps.unlike(plan, paired, results, rules.tier)]:
        verdict, reasons = "inconclusive", [*void, *reasons]
    if why := _critically_worse(tightened, plan, comparison):
        verdict, reasons = "fail", [why, *reasons]
    once = tuple(why for number, why in enumerate(reasons) if why not in reasons[:number])
    return Judged(tightened, criterion, paired, verdict, threshold, comparison, beyond, once)


def _graded(criterion: Criterion, grader: Grader | None) -> tuple[Criterion, list[Reason]]:
    """The criterion with the margin that its judge leaves, and why the judge may not gate at all."""
    if grader is None:
        return criterion, []
    if grader.unfit:
        return criterion, [reason("judge_unfit", why="; ".join(grader.unfit))]
    return replace(criterion, margin=(criterion.margin or 0.0) * grader.youden_lower), []


def _critically_worse(criterion: Criterion, plan: Plan, comparison: Comparison | None) -> Reason | None:
    """In tier 3 a critical criterion must not be worse at all, whatever could be chance."""
    if plan.risk_tier < _CRITICAL_FROM_TIER or not criterion.critical or comparison is None:
        return None
    if comparison.assessed is None:
        return None
    estimate = comparison.assessed.estimate
    if comparison.ratio:
        return reason("critical_dearer", ratio=estimate) if estimate > 1 + _NOT_WORSE else None
    return reason("critical_worse", loss_points=-estimate) if estimate < -_NOT_WORSE else None


def worst_of(verdicts: list[Verdict]) -> Verdict:
    """Fail before inconclusive before pass: all must hold (intersection-union, no correction)."""
    order: tuple[Verdict, ...] = ("fail", "inconclusive", "pass")
    return next((each for each in order if each in verdicts), "inconclusive")
