"""The evidence file: everything the verdict rests on, as canonical JSON. The same inputs give the same bytes.

RFC 8785; figures have eight digits, since those beyond differ between machines.
"""

import hashlib
from collections.abc import Iterable
from typing import Any

from beleg.evals.gate.criterion import Judged
from beleg.evals.gate.critical import CriticalCase
from beleg.evals.gate.judge import Report
from beleg.evals.gate.margins import Comparison
from beleg.evals.gate.pairing import Pair, Paired
from beleg.evals.gate.reasons import Reason
from beleg.evals.gate.slices import Slice
from beleg.evals.results import Result
from beleg.evals.stats import Assessment
from beleg.trace.canon import canonical

NAMED_CASES = 200
"""Most cases that a list of better or worse ones names; their number is always told."""
_DIGITS = 8
_EVEN = 1e-9


def evidence_bytes(report: Report) -> bytes:
    """The bytes of `contracts/features/<feature>/evidence/<candidate's digest>.json`."""
    return canonical(_rounded(evidence(report))).data


def evidence(report: Report) -> dict[str, Any]:
    """The evidence as JSON-ready values, in the form of `beleg/contract/evidence.schema.json`."""
    plan, rules = report.plan, report.rules
    return {
        "evidence_format": 1,
        "feature": plan.feature,
        "risk_tier": plan.risk_tier,
        "candidate_digest": plan.candidate.digest,
        "baseline_digest": None if plan.baseline is None else plan.baseline.digest,
        "baseline_version": None if plan.baseline is None else plan.baseline.version,
        "dataset": plan.dataset,
        "dataset_digest": plan.dataset_digest,
        "scorers": dict(report.table.versions),
        "prices_digest": plan.prices_digest,
        "policy_digest": rules.digest,
        "results_digest": _results_digest(report.table.scores.values()),
        "attempt": report.standing.attempt,
        "look": report.standing.look,
        "looks": rules.looks,
        "alpha": report.alpha,
        "repetitions": plan.repetitions,
        "cases": report.cases,
        "missing": report.missing,
        "verdict": report.verdict,
        "reasons": _reasons(report.reasons),
        "criteria": [_criterion(each, report) for each in report.criteria],
        "critical_cases": [_critical(each) for each in report.critical],
        "slices": [*_fallbacks(report), *(_slice(each, report) for each in report.slices)],
        "preferences": [_moved(each) for each in report.preferences if each.compared],
        "superiority": None if report.superiority is None else vars(report.superiority),
        "hidden": None if report.hidden is None else _hidden(report.hidden),
        "made_at": report.made_at.isoformat().replace("+00:00", "Z"),
    }


def _results_digest(results: Iterable[Result]) -> str:
    """64 hex digits over the results that were judged, whatever order they came in."""
    told = sorted(
        [each.event_id, each.status, each.score, each.expected_hash, each.actual_hash, each.event_time.isoformat()]
        for each in results
    )
    return hashlib.sha256(canonical(told).data).hexdigest()


def _criterion(found: Judged, report: Report) -> dict[str, Any]:
    level, paired = found.threshold.level, found.paired
    return {
        "name": found.criterion.name,
        "kind": found.criterion.kind,
        "verdict": found.verdict,
        "n": len(paired.pairs),
        "estimate": level.estimate,
        "lower": level.lower,
        "upper": level.upper,
        # As the contract has them: publishing compares. What the policy made of them stands with each comparison.
        "threshold": found.stated.threshold,
        "margin": found.stated.margin,
        "critical": found.criterion.critical,
        "scorer": found.criterion.scorer,
        "families": len(set(paired.families)),
        "missing": {
            "candidate": paired.missing("candidate"),
            "baseline": paired.missing("baseline") if paired.compared else None,
            "planned": paired.planned_results,
        },
        "against_threshold": {
            "verdict": found.threshold.verdict,
            "threshold": found.threshold.threshold,
            "by": found.threshold.by,
            "method": level.method,
        },
        "against_baseline": _comparison(found.comparison, found.criterion.margin, report, found.p_inferior_holm),
        "tail": _comparison(found.tail, report.rules.tier.tail_margin, report, None, limit=found.criterion.threshold),
        "cases_needed": found.cases_needed,
        "reasons": _reasons(found.reasons),
        "moved": _moved(paired) if paired.compared else None,
    }


def _comparison(
    found: Comparison | None, margin: float | None, report: Report, holm: float | None, *, limit: float | None = None
) -> dict[str, Any] | None:
    if found is None:
        return None
    told = {
        "verdict": found.verdict,
        "measure": "ratio" if found.ratio else "difference",
        "estimate": None,
        "lower": None,
        "upper": None,
        "margin": margin,
        "alpha": report.alpha,
        "method": "none: too few families",
        "worse": found.worse,
        "better": found.better,
        "p_inferior_holm": holm,
        "regression_shown": holm is not None and holm <= report.alpha,
        "mcnemar_p": None if found.ratio else found.mcnemar_p,
        "log_e": found.log_e,
        "complete": None if found.complete is None else vars(found.complete),
    }
    if found.above is not None:
        told |= {"limit": limit, "candidate_above": found.above[0], "baseline_above": found.above[1]}
    return told if found.assessed is None else told | _assessed(found.assessed)


def _assessed(found: Assessment) -> dict[str, Any]:
    return {
        "estimate": found.estimate,
        "lower": found.interval.lower,
        "upper": found.interval.upper,
        "alpha": found.alpha,
        "method": found.method,
        "p": found.p_non_inferior,
        "p_worse_than_margin": found.p_worse_than_margin,
        "p_superior": found.p_superior,
        "p_inferior": found.p_inferior,
        "notes": list(found.notes),
    }


def _critical(found: CriticalCase) -> dict[str, Any]:
    return {name: value for name, value in vars(found).items() if name != "reason"}


def _slice(found: Slice, report: Report) -> dict[str, Any]:
    compared = found.comparison
    assessed = None if compared is None else compared.assessed
    return {
        "slice": found.name,
        "criterion": found.criterion,
        "required": found.required,
        "verdict": found.verdict,
        "n": found.cases,
        "families": found.families,
        "estimate": found.estimate,
        "worse": None if compared is None else compared.worse,
        "better": None if compared is None else compared.better,
        "difference": None if assessed is None else assessed.estimate,
        "lower": None if assessed is None else assessed.interval.lower,
        "upper": None if assessed is None else assessed.interval.upper,
        "p_inferior_holm": found.p_inferior_holm,
        "regression_shown": found.regression_shown(report.alpha),
    }


def _fallbacks(report: Report) -> list[dict[str, Any]]:
    return [
        {
            "provider": each.provider.provider,
            "model": each.provider.model,
            "verdict": each.verdict,
            "n": each.cases,
            "missing": each.missing,
        }
        for each in report.fallbacks
    ]


def _hidden(found: Report) -> dict[str, Any]:
    return {
        "dataset_digest": found.plan.dataset_digest,
        "cases": found.cases,
        "missing": found.missing,
        "verdict": found.verdict,
    }


def _moved(paired: Paired) -> dict[str, Any]:
    """Cases that got worse or better, the largest changes first; a case that flickers is one of them."""
    sign = -1 if paired.at_most else 1
    changes = [
        (sign * (candidate - baseline), pair)
        for pair, candidate, baseline in zip(paired.pairs, paired.candidate, paired.baseline, strict=True)
    ]
    worse = sorted((each for each in changes if each[0] < -_EVEN), key=_place)
    better = sorted((each for each in changes if each[0] > _EVEN), key=lambda each: (-each[0], each[1].case.case_id))
    return {
        "criterion": paired.criterion.name,
        "worse": len(worse),
        "better": len(better),
        "worse_cases": [_case(pair) for _, pair in worse[:NAMED_CASES]],
        "better_cases": [_case(pair) for _, pair in better[:NAMED_CASES]],
    }


def _place(change: tuple[float, Pair]) -> tuple[float, str]:
    return change[0], change[1].case.case_id


def _case(pair: Pair) -> dict[str, Any]:
    return {
        "case_id": pair.case.case_id,
        "candidate": list(pair.candidate),
        "baseline": list(pair.baseline or ()),
    }


def _reasons(found: Iterable[Reason]) -> list[dict[str, Any]]:
    return [{"code": each.code, "values": dict(each.values), "sentence": each.sentence} for each in found]


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.{_DIGITS}g}")
    if isinstance(value, dict):
        return {key: _rounded(inner) for key, inner in value.items()}
    return [_rounded(inner) for inner in value] if isinstance(value, list) else value
