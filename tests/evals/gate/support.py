"""Plans and results as values: the gate's verdict needs no file, no lake and no clock."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from beleg.contract.model import Contract, Criterion, Evals, Prompt, Provider, Providers, Tier
from beleg.evals.gate.attempts import Attempt
from beleg.evals.gate.judge import Report, judge
from beleg.evals.gate.plan import Plan, PlannedCase, Version
from beleg.evals.gate.policy import Rules
from beleg.evals.gate.policy import rules as read_rules
from beleg.evals.results import Result

FEATURE, DATASET = "receipts", "receipts-2030"
CANDIDATE, BASELINE, DATASET_DIGEST = "c" * 64, "b" * 64, "d" * 64
NOW = datetime(2030, 3, 1, 12, tzinfo=UTC)
EXACT = Criterion("total_exact", "exact_match:total", "binary", 0.5, 0.05)
LINES = Criterion("lines", "rows_f1:lines", "score", 0.5, 0.05)
COST = Criterion("cost", "cost_usd", "cost", 0.10, 0.15)
LATENCY = Criterion("in_time", "latency_ms", "latency", 8000, 0.2)

Scored = float | Sequence[float | None] | None
"""One score, one for each repetition, or none."""
Side = Sequence[Scored]


def contract(*criteria: Criterion, tier: Tier = 1) -> Contract:
    provider = Provider("acme", "acme-1", "chat")
    return Contract(FEATURE, tier, Prompt("", ""), {}, Providers(provider), Evals(DATASET, criteria))


def rules(*criteria: Criterion, tier: Tier = 1, **over: Any) -> Rules:
    """Beleg's own policy; `over` replaces what a tier or a feature may say."""
    found = read_rules(contract(*criteria, tier=tier))
    of_tier = {name: value for name, value in over.items() if hasattr(found.tier, name)}
    others = {name: value for name, value in over.items() if name not in of_tier}
    return replace(found, tier=replace(found.tier, **of_tier), **others)


def case(number: int, **facts: Any) -> PlannedCase:
    return PlannedCase(f"{number:024x}", facts.pop("family", f"{number:024x}"), **facts)


def cases(count: int, **facts: Any) -> tuple[PlannedCase, ...]:
    return tuple(case(number, **facts) for number in range(count))


def plan(*criteria: Criterion, cases: Iterable[PlannedCase], tier: Tier = 1, first: bool = False, **over: Any) -> Plan:
    baseline = None if first else Version(BASELINE, "1.0.0")
    parts: dict[str, Any] = {
        "feature": FEATURE,
        "risk_tier": tier,
        "candidate": Version(CANDIDATE),
        "baseline": baseline,
    }
    parts |= {"dataset": DATASET, "dataset_digest": DATASET_DIGEST, "criteria": criteria, "cases": tuple(cases)}
    return Plan(**parts | over)


def result(
    case_id: str, score: float | None, *, digest: str = CANDIDATE, criterion: Criterion = EXACT, **over: Any
) -> Result:
    """One result; no score means that it failed."""
    values: dict[str, Any] = {
        "feature": FEATURE,
        "case_id": case_id,
        "dataset_digest": DATASET_DIGEST,
        "side": "candidate" if digest == CANDIDATE else "baseline",
        "digest": digest,
        "repetition": 1,
        "scorer": criterion.scorer,
        "scorer_version": "1",
        "score": score,
        "status": "failed" if score is None else "scored",
        "event_time": NOW,
    }
    return Result(**values | over)


def results(
    of: Plan, candidate: Sequence[Scored], baseline: Sequence[Scored] | None = None, *, criterion: Criterion = EXACT
) -> list[Result]:
    """Scores of the plan's cases, in its order."""
    made = [*_side(of, candidate, CANDIDATE, criterion)]
    return made if baseline is None else [*made, *_side(of, baseline, BASELINE, criterion)]


def _side(of: Plan, scores: Sequence[Scored], digest: str, criterion: Criterion) -> Iterable[Result]:
    for each, scored in zip(of.cases, scores, strict=True):
        answers = scored if isinstance(scored, Sequence) else [scored]
        for number, score in enumerate(answers, 1):
            yield result(each.case_id, score, digest=digest, criterion=criterion, repetition=number)


def counts(worse: int, better: int, both: int, neither: int) -> tuple[list[float], list[float]]:
    """Scores of candidate and baseline with these counts."""
    candidate = [0.0] * worse + [1.0] * better + [1.0] * both + [0.0] * neither
    baseline = [1.0] * worse + [0.0] * better + [1.0] * both + [0.0] * neither
    return candidate, baseline


def judged(
    candidate: Sequence[Scored],
    baseline: Sequence[Scored] | None,
    *,
    criterion: Criterion = EXACT,
    tier: Tier = 1,
    facts: Mapping[int, Mapping[str, Any]] | None = None,
    earlier: Sequence[Attempt] = (),
    repetitions: int = 1,
    **over: Any,
) -> Report:
    """The report on one criterion; `facts` are those of some cases, by number."""
    chosen = [case(number, **(facts or {}).get(number, {})) for number in range(len(candidate))]
    asked = plan(criterion, cases=chosen, tier=tier, first=baseline is None, repetitions=repetitions)
    found = results(asked, candidate, baseline, criterion=criterion)
    return judge(asked, found, rules(criterion, tier=tier, **over), earlier)


def codes(report: Report) -> list[str]:
    """Codes of all reasons, of the whole and of its criteria."""
    return [why.code for why in (*report.reasons, *(why for each in report.criteria for why in each.reasons))]
