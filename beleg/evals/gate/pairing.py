"""Results put side by side: for each criterion and case what candidate and baseline scored, planned ones only.

Nothing is dropped: what has no score is a gap, and what a gap counts as is said here, against the candidate.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from math import inf, isfinite, nextafter

from beleg.contract.model import Criterion
from beleg.core.errors import CheckFailed, DamagedError
from beleg.evals.gate.plan import Plan, PlannedCase
from beleg.evals.gate.policy import AT_MOST
from beleg.evals.results import Result

_NAMED = 5
"""How many cases a message names."""


class Stopped(CheckFailed):
    """There can be no verdict: cases are stale or doubled, or the two sides were scored by different rulers."""


Scores = tuple[float | None, ...]
"""One per planned repetition; None where there is no score."""


@dataclass(frozen=True)
class Pair:
    """One case on one criterion."""

    case: PlannedCase
    candidate: Scores
    baseline: Scores | None
    """None where there is no baseline."""

    @property
    def complete(self) -> bool:
        """Whether nothing is missing on either side."""
        return None not in self.candidate and (self.baseline is None or None not in self.baseline)


@dataclass(frozen=True)
class Paired:
    """Every planned case of one criterion, by case_id."""

    criterion: Criterion
    pairs: tuple[Pair, ...]
    repetitions: int
    compared: bool
    """Whether there is a baseline."""

    @property
    def at_most(self) -> bool:
        """Whether less is better: cost and latency."""
        return self.criterion.kind in AT_MOST

    @cached_property
    def candidate(self) -> list[float]:
        """Case means of the candidate: a gap is a failure, or costs as much as the dearest case and over the limit."""
        known = [*self._known("candidate"), *self._known("baseline"), nextafter(self.criterion.threshold, inf)]
        gap = max(known) if self.at_most else 0.0
        return [_mean(each.candidate, gap) for each in self.pairs]

    @cached_property
    def baseline(self) -> list[float]:
        """Case means of the baseline: a gap is a success, or costs as little as the cheapest case and the limit."""
        gap = min([*self._known("candidate"), *self._known("baseline"), self.criterion.threshold])
        gap = gap if self.at_most else 1.0
        return [_mean(each.baseline or (), gap) for each in self.pairs]

    def filled(self, *, gap_candidate: float, gap_baseline: float) -> tuple[list[float], list[float]]:
        """Case means of both sides with other values for the gaps."""
        return (
            [_mean(each.candidate, gap_candidate) for each in self.pairs],
            [_mean(each.baseline or (), gap_baseline) for each in self.pairs],
        )

    @property
    def families(self) -> list[str]:
        """Family of each case."""
        return [each.case.family for each in self.pairs]

    @property
    def clustered(self) -> bool:
        """Whether some cases are not independent of each other."""
        return len(set(self.families)) < len(self.pairs)

    def missing(self, side: str) -> int:
        """Planned results of a side without a score."""
        return sum(scores.count(None) for scores in self._scores(side))

    @property
    def planned_results(self) -> int:
        """Planned results of one side."""
        return len(self.pairs) * self.repetitions

    def complete(self) -> "Paired":
        """The cases that are complete on both sides."""
        kept = tuple(each for each in self.pairs if each.complete)
        return Paired(self.criterion, kept, self.repetitions, self.compared)

    def _scores(self, side: str) -> list[Scores]:
        return [scores for each in self.pairs if (scores := getattr(each, side)) is not None]

    def _known(self, side: str) -> list[float]:
        return [score for scores in self._scores(side) for score in scores if score is not None]


def _mean(scores: Scores, gap: float) -> float:
    return sum(gap if score is None else score for score in scores) / len(scores)


@dataclass(frozen=True)
class Table:
    """Results that were checked, by who made them for what."""

    scores: Mapping[tuple[str, str, str, int], Result]
    """(digest, scorer, case_id, repetition) → result."""
    versions: Mapping[str, str]
    """Scorer → its version."""

    def pair(self, plan: Plan, criterion: Criterion) -> Paired:
        """The planned cases of a criterion."""
        pairs = tuple(
            Pair(
                case,
                self._scores(plan, plan.candidate.digest, criterion, case),
                None if plan.baseline is None else self._scores(plan, plan.baseline.digest, criterion, case),
            )
            for case in plan.cases_of(criterion)
        )
        return Paired(criterion, pairs, plan.repetitions, plan.baseline is not None)

    def _scores(self, plan: Plan, digest: str, criterion: Criterion, case: PlannedCase) -> Scores:
        keys = ((digest, criterion.scorer, case.case_id, number) for number in range(1, plan.repetitions + 1))
        return tuple(None if (found := self.scores.get(key)) is None else found.score for key in keys)

    def of(self, digest: str, scorers: Iterable[str]) -> list[Result]:
        """Results of one version by some scorers."""
        wanted = set(scorers)
        return [each for key, each in self.scores.items() if key[0] == digest and key[1] in wanted]

    def answers(self, digest: str) -> int:
        """How often a version was asked afresh: 1 for the first time."""
        return max((each.attempt or 1 for key, each in self.scores.items() if key[0] == digest), default=1)

    @property
    def newest(self) -> datetime | None:
        """When the last of the results was made."""
        return max((each.event_time for each in self.scores.values()), default=None)


def tabulate(plan: Plan, results: Iterable[Result], scorer_versions: Mapping[str, str] | None = None) -> Table:
    """Check the results that the plan asks for; others are passed over.

    `scorer_versions` says which version of a scorer counts; without it there must be only one.
    Raises Stopped for stale or doubled results and for two versions of a scorer, DamagedError for a score that
    is no number or lies out of range, and for a case that the dataset does not hold.
    """
    kinds = {each.scorer: each.kind for each in plan.criteria}
    digests = {plan.candidate.digest} | ({plan.baseline.digest} if plan.baseline else set())
    asked = [
        each
        for each in results
        if each.feature == plan.feature
        and each.dataset_digest == plan.dataset_digest
        and each.digest in digests
        and each.scorer in kinds
        and each.repetition <= plan.repetitions
        and (scorer_versions or {}).get(each.scorer, each.scorer_version) == each.scorer_version
    ]
    _no_strangers(plan, asked)
    _none_stale(asked)
    versions = _one_version(asked)
    found: dict[tuple[str, str, str, int], Result] = {}
    for each in asked:
        key = (each.digest, each.scorer, each.case_id, each.repetition)
        if key in found:
            raise Stopped(
                f"the case {each.case_id} has two results of {each.scorer} for {each.digest[:12]}, answer "
                f"{each.repetition}: a case counts once; see who reported it twice with: beleg sql"
            )
        _in_range(each, kinds[each.scorer])
        found[key] = each
    return Table(found, versions)


def _no_strangers(plan: Plan, results: Sequence[Result]) -> None:
    if strange := sorted({each.case_id for each in results} - set(plan.by_id)):
        raise DamagedError(f"results name {_named(strange)}, which the dataset {plan.dataset} does not hold")


def _none_stale(results: Sequence[Result]) -> None:
    if stale := sorted({each.case_id for each in results if each.status == "stale"}):
        raise Stopped(
            f"{len(stale)} cases are stale, for their input has changed: {_named(stale)}. Retire them with beleg "
            "cases retire, or bring the input back"
        )


def _one_version(results: Sequence[Result]) -> dict[str, str]:
    versions: defaultdict[str, set[str]] = defaultdict(set)
    for each in results:
        versions[each.scorer].add(each.scorer_version)
    for scorer, found in versions.items():
        if len(found) > 1:
            told = " and ".join(sorted(found))
            raise Stopped(f"{scorer} scored in the versions {told}: score both sides with one of them")
    return {scorer: next(iter(found)) for scorer, found in sorted(versions.items())}


def _in_range(result: Result, kind: str) -> None:
    if result.status != "scored":
        if result.score is not None:
            raise DamagedError(f"{result.scorer} on {result.case_id} is {result.status} and has a score")
        return
    score = result.score
    if score is None or not isfinite(score):
        raise DamagedError(f"{result.scorer} on {result.case_id} is scored {score}, which is no number")
    allowed, good = {
        "binary": ("0 or 1", score in {0, 1}),
        "score": ("0 to 1", 0 <= score <= 1),
    }.get(kind, ("above 0", score > 0))
    if not good:
        raise DamagedError(f"{result.scorer} on {result.case_id} is scored {score:g}; allowed is {allowed}")


def _named(cases: Sequence[str]) -> str:
    more = len(cases) - _NAMED
    return ", ".join(cases[:_NAMED]) + (f" and {more} more" if more > 0 else "")
