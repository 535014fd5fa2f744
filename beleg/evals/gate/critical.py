"""Critical cases: each must pass in every repetition, whatever averages say. No test is applied to a failure."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from typing import Literal

from beleg.contract.model import Criterion
from beleg.evals.gate.pairing import Pair, Scores, Table
from beleg.evals.gate.plan import Plan
from beleg.evals.gate.policy import AT_MOST, KnownFailing, Rules
from beleg.evals.gate.reasons import Reason, reason


@dataclass(frozen=True)
class CriticalCase:
    """One critical case on one criterion."""

    case_id: str
    criterion: str
    passed: int
    """Repetitions that passed; a gap did not."""
    baseline_passed: int | None
    """A gap of the baseline did; None without a baseline."""
    repetitions: int
    verdict: Literal["pass", "fail", "excepted"]
    reason: Reason | None = None


def critical_cases(plan: Plan, table: Table, rules: Rules, today: date) -> Iterator[CriticalCase]:
    """Every critical case on every criterion that it must pass: the critical ones, or all where none is critical.

    One that the baseline fails too is known failing; it blocks unless the policy excepts it by name until a day
    that has not passed on `today`.
    """
    judging = [each for each in rules.criteria if each.kind not in AT_MOST]
    demanded = [each for each in judging if each.critical] or judging
    for criterion in demanded:
        for pair in table.pair(plan, criterion).pairs:
            if pair.case.critical:
                yield _judged(pair, criterion, rules, today)


def unjudged(plan: Plan, found: Iterable[CriticalCase]) -> list[str]:
    """Critical cases that no criterion judges: of them nothing is known, which is no pass."""
    judged = {each.case_id for each in found}
    return sorted(
        each.case_id for each in plan.cases if each.critical and not each.preference and each.case_id not in judged
    )


def _judged(pair: Pair, criterion: Criterion, rules: Rules, today: date) -> CriticalCase:
    enough = 1.0 if criterion.kind == "binary" else criterion.threshold
    passed = _passes(pair.candidate, enough, gap=False)
    before = None if pair.baseline is None else _passes(pair.baseline, enough, gap=True)
    told = (pair.case.case_id, criterion.name, passed, before, len(pair.candidate))
    if passed == len(pair.candidate):
        return CriticalCase(*told, "pass")
    known = _exception(pair, criterion, rules)
    if known is None or before is None or before == len(pair.candidate):
        return CriticalCase(*told, "fail", _failed(*told))
    by_whom = {"case": known.case, "criterion": known.criterion, "by": known.by, "until": known.until.isoformat()}
    if today > known.until:
        return CriticalCase(*told, "fail", reason("exception_expired", **by_whom))
    return CriticalCase(*told, "excepted", reason("known_failing", **by_whom, why=known.why))


def _failed(case: str, criterion: str, passed: int, before: int | None, repetitions: int) -> Reason:
    told = "—" if before is None else before
    return reason(
        "critical_case", case=case, criterion=criterion, passed=passed, baseline=told, repetitions=repetitions
    )


def _passes(scores: Scores, enough: float, *, gap: bool) -> int:
    return sum(gap if score is None else score >= enough for score in scores)


def _exception(pair: Pair, criterion: Criterion, rules: Rules) -> KnownFailing | None:
    wanted = (pair.case.case_id, criterion.name)
    return next((each for each in rules.known_failing if (each.case, each.criterion) == wanted), None)
