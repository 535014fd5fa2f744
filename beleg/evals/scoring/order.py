"""What is to be run, and what came of it."""

from dataclasses import dataclass, field
from typing import Literal

from beleg.contract.model import Provider
from beleg.evals.cases.dataset import Dataset
from beleg.evals.scoring.contenders import ACTIVE, DRAFT, Contender

State = Literal["complete", "budget", "unpriced", "interrupted"]
"""`complete`, or why answers are still to come; the same call again goes on from there."""


@dataclass(frozen=True)
class Order:
    """What is to be run; None takes what the suite says."""

    feature: str
    candidate: str = DRAFT
    """`draft` or a released version."""
    baseline: str = ACTIVE
    """A released version, `active` or `none`."""
    repetitions: int | None = None
    workers: int | None = None
    max_cost_pico_usd: int | None = None
    cases: tuple[str, ...] = ()
    """Only these cases, by id; all of them by default."""
    again: bool = False
    """Ask again what was answered already; the new results take the place of the old ones."""
    fallbacks: bool = False
    """Have each fallback of the candidate answer too, in the primary's place."""


@dataclass(frozen=True)
class Unusable:
    """A case that could not be asked."""

    case_id: str
    status: Literal["stale", "failed"]
    reason: str


@dataclass
class Substitute:
    """A fallback in the primary's place, and what came of it; its answers count in the whole report too."""

    contender: Contender
    name: str
    """The version with the fallback's name: what people read."""
    planned: int
    before: int
    left_out: str | None = None
    """Why it cannot be asked from here, in words; None where nothing is in the way."""
    answered: int = 0

    @property
    def provider(self) -> Provider:
        """The fallback."""
        return self.contender.contract.providers.primary


@dataclass
class Report:
    """What a run did."""

    dataset: Dataset
    candidate: Contender
    baseline: Contender | None
    planned: int
    """Answers that were asked for."""
    before: int
    """Of these, there before this run."""
    state: State = "complete"
    answered: int = 0
    """Answers of this run, those that failed included."""
    failed: dict[str, int] = field(default_factory=dict)
    """Class of what went wrong → answers of this run that have no value."""
    unusable: dict[str, Unusable] = field(default_factory=dict)
    """Case → why it could not be asked."""
    cost_pico_usd: int = 0
    """Known cost of this run."""
    unpriced: int = 0
    """Answers of this run whose cost is unknown."""
    fallbacks: tuple[Substitute, ...] = ()
    """In the order in which they step in; none unless they were ordered."""

    @property
    def stale(self) -> list[str]:
        """Cases whose input is not the one that they were made of, by id."""
        return sorted(each.case_id for each in self.unusable.values() if each.status == "stale")

    @property
    def left(self) -> int:
        """Answers still to come, those of cases and fallbacks that could not be asked included."""
        return self.planned - self.before - self.answered
