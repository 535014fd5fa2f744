"""Parts of the cases: required ones must pass by themselves, the others are watched."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from beleg.core.errors import UsageError
from beleg.evals.gate.attempts import Standing
from beleg.evals.gate.margins import Comparison, against_baseline
from beleg.evals.gate.pairing import Paired, Table
from beleg.evals.gate.plan import Plan, Verdict
from beleg.evals.gate.policy import AT_MOST, Rules
from beleg.evals.gate.thresholds import against_threshold, level_of
from beleg.evals.stats import holm


@dataclass(frozen=True)
class Slice:
    """One criterion on the cases of one slice."""

    name: str
    """NAME=VALUE."""
    criterion: str
    required: bool
    verdict: Verdict
    """Of a slice that is only watched it is a description and blocks nothing."""
    cases: int
    families: int
    estimate: float
    """Level of the candidate."""
    comparison: Comparison | None
    p_inferior_holm: float | None = None
    """Of "worse at all", corrected for all slices that are watched."""

    def regression_shown(self, alpha: float) -> bool:
        """Whether it is worse than the baseline at all, correction included."""
        return self.p_inferior_holm is not None and self.p_inferior_holm <= alpha


def slices(plan: Plan, table: Table, rules: Rules, at: Standing) -> list[Slice]:
    """Every slice on every criterion that is no cost and no latency, required ones first.

    Raises UsageError for a required slice without a case.
    """
    members: dict[str, set[str]] = {}
    for case in plan.cases:
        if not case.preference:
            for name, value in case.slices.items():
                members.setdefault(f"{name}={value}", set()).add(case.case_id)
    if missing := [name for name in rules.required_slices if name not in members]:
        known = ", ".join(sorted(members)) or "none"
        raise UsageError(f"no case is in the required slice {missing[0]}; slices are {known}")
    watched = sorted(members.keys() - set(rules.required_slices))
    # How few families are enough is no question where slices are only watched: they are small by nature.
    watching = replace(rules, tier=replace(rules.tier, min_families=1))

    def judged(name: str, by: Rules) -> Iterator[Slice]:
        return _judged(plan.only(frozenset(members[name])), table, by, at, name)

    needed = [each for name in rules.required_slices for each in judged(name, rules)]
    return [*needed, *corrected([each for name in watched for each in judged(name, watching)])]


def _judged(part: Plan, table: Table, rules: Rules, at: Standing, name: str) -> Iterator[Slice]:
    for criterion in rules.criteria:
        paired = table.pair(part, criterion)
        if criterion.kind in AT_MOST or not paired.pairs:
            continue
        comparison = against_baseline(paired, rules, at) if paired.compared else None
        level = level_of(paired, at.alpha(rules))
        yield Slice(
            name,
            criterion.name,
            name in rules.required_slices,
            _verdict(paired, rules, at, comparison),
            len(paired.pairs),
            len(set(paired.families)),
            level.estimate,
            comparison,
        )


def _verdict(paired: Paired, rules: Rules, at: Standing, comparison: Comparison | None) -> Verdict:
    """A slice must not regress; without a baseline it must reach the threshold."""
    if comparison is not None:
        return comparison.verdict
    return against_threshold(paired, rules.tier, at.alpha(rules)).verdict


def corrected(found: Sequence[Slice]) -> list[Slice]:
    """The same with Holm's p-values of "worse at all": that any slice is worse is an at-least-one claim."""
    tested = [each for each in found if each.comparison is not None and each.comparison.assessed is not None]
    raw = [each.comparison.assessed.p_inferior for each in tested if each.comparison and each.comparison.assessed]
    adjusted = dict(zip(map(id, tested), holm(raw) if raw else (), strict=True))
    return [replace(each, p_inferior_holm=adjusted.get(id(each))) for each in found]
