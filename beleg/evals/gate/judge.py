"""The gate's verdict as a pure function: a plan, results, rules and earlier attempts in, a report out."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime

from beleg.contract.model import Provider
from beleg.evals.gate.attempts import Attempt, Standing, standing
from beleg.evals.gate.criterion import Judged, judge_criterion, worst_of
from beleg.evals.gate.critical import CriticalCase, critical_cases, unjudged
from beleg.evals.gate.gaps import VOID
from beleg.evals.gate.pairing import Paired, Table, tabulate
from beleg.evals.gate.plan import Plan, Verdict
from beleg.evals.gate.policy import Rules
from beleg.evals.gate.reasons import Reason, reason
from beleg.evals.gate.slices import Slice, slices
from beleg.evals.results import Result
from beleg.evals.stats import holm


@dataclass(frozen=True)
class Superiority:
    """A better result that the policy asks for on one criterion."""

    criterion: str
    p: float | None
    verdict: Verdict


@dataclass(frozen=True)
class Fallback:
    """How the candidate does when a fallback of it answers."""

    provider: Provider
    verdict: Verdict
    cases: int
    missing: int


@dataclass(frozen=True)
class Report:
    """What the gate found."""

    plan: Plan
    rules: Rules
    standing: Standing
    alpha: float
    """Level of each test in this run."""
    verdict: Verdict
    reasons: tuple[Reason, ...]
    """Of the whole; those of a criterion stand with it."""
    criteria: tuple[Judged, ...]
    critical: tuple[CriticalCase, ...]
    slices: tuple[Slice, ...]
    preferences: tuple[Paired, ...]
    superiority: Superiority | None
    table: Table
    hidden: "Report | None" = None
    fallbacks: tuple[Fallback, ...] = ()

    @property
    def cases(self) -> int:
        """Cases that count."""
        return sum(not each.preference for each in self.plan.cases)

    @property
    def missing(self) -> int:
        """Cases for which a planned result of the candidate has no score."""
        pairs = (pair for each in self.criteria for pair in each.paired.pairs)
        return len({pair.case.case_id for pair in pairs if None in pair.candidate})

    @property
    def answers(self) -> int:
        """How often the candidate was asked afresh."""
        return self.table.answers(self.plan.candidate.digest)

    @property
    def void(self) -> bool:
        """Whether some criterion has too much missing, or sides too unlike, for any verdict."""
        return any(why.code in VOID for each in self.criteria for why in each.reasons)

    @property
    def made_at(self) -> datetime:
        """When the newest result was made: the same results make the same report."""
        times = [each.table.newest for each in (self, self.hidden) if each is not None]
        return max((at for at in times if at is not None), default=datetime(1970, 1, 1, tzinfo=UTC))


def judge(
    plan: Plan,
    results: Iterable[Result],
    rules: Rules,
    earlier: Sequence[Attempt] = (),
    *,
    scorer_versions: Mapping[str, str] | None = None,
    hidden: Report | None = None,
) -> Report:
    """The verdict on a plan.

    `earlier` are the attempts of the ledger in order; `hidden` is the report on a hidden set (`judge_hidden`).
    All must hold, each tested at the same level: criteria with threshold and margin, critical cases, required
    slices, superiority and the hidden set where the policy asks for them. Raises Stopped, DamagedError and UsageError
    where there can be no verdict.
    """
    table = tabulate(plan, results, scorer_versions)
    at = standing(earlier, plan, rules, table.answers(plan.candidate.digest))
    return _judged(plan, table, rules, at, hidden)


def judge_hidden(
    plan: Plan,
    results: Iterable[Result],
    rules: Rules,
    *,
    attempt: int = 1,
    scorer_versions: Mapping[str, str] | None = None,
) -> Report:
    """The verdict on a set that its owner keeps elsewhere: the same criteria; slices and exceptions are not its.

    `attempt` is that at the visible cases (`standing`): its level is spent with theirs.
    """
    plain = replace(rules, required_slices=(), superiority=None, hidden=False, known_failing=())
    return _judged(plan, tabulate(plan, results, scorer_versions), plain, Standing(attempt), None)


def _judged(plan: Plan, table: Table, rules: Rules, at: Standing, hidden: Report | None) -> Report:
    criteria = _regressions([judge_criterion(plan, each, table, rules, at) for each in plan.criteria])
    critical = tuple(critical_cases(plan, table, rules, _today(table)))
    parts = tuple(slices(plan, table, rules, at))
    better = _superiority(criteria, rules, at.spent(rules))
    blocking = [
        *(each.reason for each in critical if each.verdict == "fail" and each.reason),
        *(reason("critical_unjudged", case=case_id) for case_id in unjudged(plan, critical)),
        *(_slice_reason(each) for each in parts if each.required and each.verdict != "pass"),
        *_about_superiority(better),
        *_about_hidden(rules, hidden),
        *_about_attempts(rules, at),
    ]
    verdicts: list[Verdict] = [each.verdict for each in criteria]
    verdicts += ["fail" for each in critical if each.verdict == "fail"]
    verdicts += [each.verdict for each in parts if each.required]
    verdicts += [each.verdict for each in (better, hidden) if each is not None]
    verdicts += ["inconclusive" for _ in blocking]
    excepted = (each.reason for each in critical if each.verdict == "excepted" and each.reason)
    return Report(
        plan,
        rules,
        at,
        at.alpha(rules),
        worst_of(verdicts),
        (*blocking, *excepted),
        criteria,
        critical,
        parts,
        _preferences(plan, table),
        better,
        table,
        hidden,
    )


def _today(table: Table) -> date:
    newest = table.newest
    return date.min if newest is None else newest.date()


def _regressions(found: Sequence[Judged]) -> tuple[Judged, ...]:
    """With Holm's p-values of "worse at all": that any criterion is worse is an at-least-one claim."""
    tested = [each for each in found if each.comparison is not None and each.comparison.assessed is not None]
    raw = [each.comparison.assessed.p_inferior for each in tested if each.comparison and each.comparison.assessed]
    adjusted = dict(zip((each.criterion.name for each in tested), holm(raw) if raw else (), strict=True))
    return tuple(replace(each, p_inferior_holm=adjusted.get(each.criterion.name)) for each in found)


def _superiority(criteria: Sequence[Judged], rules: Rules, alpha: float) -> Superiority | None:
    """Named in advance, so at the full level."""
    judged = next((each for each in criteria if each.criterion.name == rules.superiority), None)
    if judged is None or not judged.paired.compared:
        return None
    found = judged.comparison.assessed if judged.comparison is not None else None
    shown = found is not None and found.p_superior <= alpha and found.interval.width > 0
    return Superiority(
        judged.criterion.name, None if found is None else found.p_superior, "pass" if shown else "inconclusive"
    )


def _about_superiority(found: Superiority | None) -> list[Reason]:
    if found is None or found.verdict == "pass":
        return []
    return [reason("superiority_not_shown", criterion=found.criterion, p="—" if found.p is None else found.p)]


def _about_hidden(rules: Rules, hidden: Report | None) -> list[Reason]:
    if hidden is None:
        return [reason("hidden_missing")] if rules.hidden else []
    return [] if hidden.verdict == "pass" else [reason("hidden_not_passed", verdict=hidden.verdict)]


def _about_attempts(rules: Rules, at: Standing) -> list[Reason]:
    found = []
    if at.attempt > rules.tier.attempts_ceiling:
        found.append(reason("attempts_used_up", attempt=at.attempt, ceiling=rules.tier.attempts_ceiling))
    if isinstance(rules.looks, int) and at.look > rules.looks and at.looked_in_vain:
        one = rules.looks == 1
        found.append(reason("repeated_look") if one else reason("looks_used_up", look=at.look, looks=rules.looks))
    return found


def _slice_reason(found: Slice) -> Reason:
    return reason("slice_not_passed", slice=found.name, verdict=found.verdict, criterion=found.criterion)


def _preferences(plan: Plan, table: Table) -> tuple[Paired, ...]:
    wished = plan.preferences()
    return tuple(table.pair(wished, each) for each in plan.criteria) if wished.cases else ()
