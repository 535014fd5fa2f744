"""What is missing, and when so much is that nothing follows from the rest."""

from collections.abc import Iterable
from datetime import timedelta
from math import ceil

from beleg.evals.gate.pairing import Paired
from beleg.evals.gate.plan import Plan
from beleg.evals.gate.policy import TierRules
from beleg.evals.gate.reasons import Reason, reason
from beleg.evals.results import Result
from beleg.evals.stats import mcnemar

_UNEVEN = 0.05
"""Level of the test whether one side misses more than the other."""
_DAY = timedelta(days=1)
VOID = frozenset({"missing_too_many", "missing_differs", "baseline_old", "selected_again"})
"""Codes of the reasons this module gives: with any of them a verdict says nothing about the candidate."""


def missing(paired: Paired, tier: TierRules) -> list[Reason]:
    """Why too much, or too unevenly much, is missing; a result that failed is missing too."""
    found = []
    sides = ("candidate", "baseline") if paired.compared else ("candidate",)
    for side in sides:
        share = paired.missing(side) / paired.planned_results
        if share > tier.missing_max:
            counts = {"missing": paired.missing(side), "planned": paired.planned_results}
            found.append(
                reason("missing_too_many", side=side, missing_share=share, allowed_share=tier.missing_max, **counts)
            )
    if paired.compared and (why := _uneven(paired)):
        found.append(why)
    return found


def _uneven(paired: Paired) -> Reason | None:
    gaps = [(None in each.candidate, None in (each.baseline or ())) for each in paired.pairs]
    here, there = gaps.count((True, False)), gaps.count((False, True))
    told = mcnemar(here, there)
    if min(told.p_inferior, told.p_superior) > _UNEVEN:
        return None
    return reason("missing_differs", candidate=paired.missing("candidate"), baseline=paired.missing("baseline"))


def unlike(plan: Plan, paired: Paired, results: Iterable[Result], tier: TierRules) -> list[Reason]:
    """Why the two sides cannot be laid side by side: measured too far apart, or answered again by choice."""
    by_side: dict[str, list[Result]] = {}
    for each in results:
        by_side.setdefault(each.digest, []).append(each)
    found = [_selected(name, by_side.get(digest, [])) for name, digest in _sides(plan)]
    if plan.baseline is not None:
        latency = paired.criterion.kind == "latency"
        allowed = tier.latency_max_age_days if latency else tier.baseline_max_age_days
        found.append(_aged(by_side.get(plan.candidate.digest), by_side.get(plan.baseline.digest), allowed))
    return [each for each in found if each is not None]


def _sides(plan: Plan) -> list[tuple[str, str]]:
    sides = [("candidate", plan.candidate.digest)]
    return sides if plan.baseline is None else [*sides, ("baseline", plan.baseline.digest)]


def _selected(side: str, results: list[Result]) -> Reason | None:
    mixed = len({each.attempt or 1 for each in results}) > 1
    return reason("selected_again", side=side) if mixed else None


def _aged(candidate: list[Result] | None, baseline: list[Result] | None, allowed: int) -> Reason | None:
    if not candidate or not baseline:
        return None
    times, others = ([each.event_time for each in side] for side in (candidate, baseline))
    apart = max(max(times) - min(others), max(others) - min(times))
    if apart <= allowed * _DAY:
        return None
    return reason("baseline_old", days=ceil(apart / _DAY), allowed=allowed)
