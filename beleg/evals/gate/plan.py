"""What the gate is to judge: which versions, on which cases, by which criteria. Fixed before any result is read."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

from beleg.contract.model import Criterion, Tier
from beleg.core.errors import UsageError

Verdict = Literal["pass", "fail", "inconclusive"]


@dataclass(frozen=True)
class Version:
    """A contract as one side of the comparison."""

    digest: str
    """Results are selected by it, whichever side they were made for."""
    version: str | None = None
    """None for a draft."""


@dataclass(frozen=True)
class PlannedCase:
    """A case of the dataset, as far as the gate needs it."""

    case_id: str
    family: str
    """Cases of one family are not independent; by default a case is a family of its own."""
    slices: Mapping[str, str] = field(default_factory=dict)
    critical: bool = False
    preference: bool = False
    """Whether every reason behind it is `user_preference`: it is shown and never blocks."""


@dataclass(frozen=True)
class Grader:
    """How far a scorer that judges, by a model or by likeness, agrees with people."""

    youden_lower: float
    """Lower limit of sensitivity + specificity - 1: it shrinks a true loss by as much, and so the margin."""
    unfit: tuple[str, ...] = ()
    """Why it may not gate."""


@dataclass(frozen=True)
class Plan:
    """The question: is the candidate good enough, and no worse than the baseline?"""

    feature: str
    risk_tier: Tier
    candidate: Version
    baseline: Version | None
    """None: nothing is active yet, so the thresholds alone decide."""
    dataset: str
    dataset_digest: str
    criteria: tuple[Criterion, ...]
    cases: tuple[PlannedCase, ...]
    planned: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Criterion → the cases that say something on it; all of them where a criterion is not named."""
    repetitions: int = 1
    """Answers per case and version; what has fewer counts as missing."""
    graders: Mapping[str, Grader] = field(default_factory=dict)
    """Criterion → its judge, where its scorer is one."""
    prices_digest: str = "0" * 64

    def __post_init__(self) -> None:
        if not self.criteria:
            raise UsageError(f"{self.feature} has no criterion: write some into draft/evals.yaml")
        twice = [case for case, count in Counter(each.case_id for each in self.cases).items() if count > 1]
        if twice:
            raise UsageError(f"the dataset {self.dataset} names the case {twice[0]} twice")
        names = {each.name for each in self.criteria}
        if unknown := sorted(set(self.planned) - names):
            raise UsageError(f"the plan names {unknown[0]!r}, which is no criterion of {self.feature}")

    @cached_property
    def by_id(self) -> Mapping[str, PlannedCase]:
        """The cases by their id."""
        return {each.case_id: each for each in self.cases}

    def cases_of(self, criterion: Criterion) -> list[PlannedCase]:
        """Cases that the criterion is judged on, by id; those of mere preference are not among them."""
        wanted = self.planned.get(criterion.name)
        chosen = (each for each in self.cases if wanted is None or each.case_id in wanted)
        return sorted((each for each in chosen if not each.preference), key=lambda each: each.case_id)

    def only(self, case_ids: frozenset[str]) -> "Plan":
        """The same question about some of the cases."""
        return replace(self, cases=tuple(each for each in self.cases if each.case_id in case_ids))

    def preferences(self) -> "Plan":
        """The same question about the cases of mere preference, as if they were cases like others."""
        return replace(self, cases=tuple(replace(each, preference=False) for each in self.cases if each.preference))
