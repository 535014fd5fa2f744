"""Which answers an evaluation takes, and which of them are there already."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from beleg.core.errors import UsageError
from beleg.evals.cases.case import Case
from beleg.evals.cases.dataset import Dataset
from beleg.evals.results import Answered, Result
from beleg.evals.scoring.contenders import Contender
from beleg.evals.scoring.journal import Journal
from beleg.evals.scoring.judging import Question
from beleg.evals.scoring.jury import Jury
from beleg.evals.scoring.order import Order

Unit = tuple[Question, ...]
"""Open questions on one case, one for each version: asked right after one another, on the same input."""


class Agenda:
    """What is planned and what is open; raises UsageError for a case that is not in the dataset.

    The versions of a round answer a case right after one another; a round is open when the one before is through.
    """

    def __init__(
        self,
        order: Order,
        dataset: Dataset,
        rounds: Sequence[Sequence[Contender]],
        juries: Mapping[str, Jury],
        journal: Journal,
        *,
        repetitions: int,
    ) -> None:
        self._again, self._rounds, self._juries, self._journal = order.again, rounds, juries, journal
        self._digest, self._repetitions = dataset.digest, repetitions
        self._cases = _chosen(dataset, order.cases)
        self.ingested = journal.in_lake([each.digest for sides in rounds for each in sides])
        """What the lake knew at the start."""
        self._in_lake: dict[Answered, list[Result]] = defaultdict(list)
        for each in self.ingested:
            self._in_lake[each.answered].append(each)
        self.planned_each = len(self._cases) * repetitions
        """Answers of one version."""
        self.planned = self.planned_each * sum(map(len, rounds))

    def units(self) -> Iterator[Unit]:
        """The open questions, in the order in which they are asked."""
        for sides in self._rounds:
            yield from self._round(sides)

    def _round(self, sides: Sequence[Contender]) -> Iterator[Unit]:
        for repetition in range(1, self._repetitions + 1):
            for place, case in enumerate(self._cases):
                # Versions take turns at being first: the second one may profit from what the first one warmed.
                turn = sides if (place + repetition) % 2 else tuple(reversed(sides))
                open_ones = tuple(question for side in turn if (question := self._open(case, side, repetition)))
                if open_ones:
                    yield open_ones

    def _open(self, case: Case, side: Contender, repetition: int) -> Question | None:
        key = Answered(self._digest, case.case_id, side.digest, repetition)
        if not self._again and self._is_there(key, case):
            return None
        attempt = self._attempts(key)
        attempt = attempt + 1 if self._again else attempt or self._joined(side.digest)
        return Question(self._digest, case, side.side, side.digest, repetition, attempt)

    def _is_there(self, key: Answered, case: Case) -> bool:
        """Whether every scorer has its word on an answer; a scorer that came new needs a new answer."""
        wanted = {(name, scorer.version) for name, scorer in self._juries[key.digest].of_case(case).items()}
        return wanted <= self._known(key)

    def _known(self, key: Answered) -> set[tuple[str, str]]:
        own, results = self._journal.entries.get(key), self._in_lake[key]
        # What failed before anybody was asked is in the lake too, but the journal knows that it is still open.
        answered = any(each.status == "scored" or (each.status == "failed" and own is None) for each in results)
        known = list(results) if answered else []
        if own is not None and own.called:
            known += own.results
        return {(each.scorer, each.scorer_version) for each in known}

    @cache  # noqa: B019 - lives as long as one evaluation
    def _joined(self, digest: str) -> int:
        """Which answers a case that came new joins: where all others were asked afresh, it is no selection."""
        known = {key for key in (*self._journal.entries, *self._in_lake) if key.digest == digest}
        return min((each for key in known if (each := self._attempts(key))), default=1)

    def _attempts(self, key: Answered) -> int:
        own = self._journal.entries.get(key)
        made = [*self._in_lake[key], *(own.results if own is not None else ())]
        return max((each.attempt or 1 for each in made), default=0)


def _chosen(dataset: Dataset, wanted: Sequence[str]) -> list[Case]:
    if unknown := sorted(set(wanted) - dataset.members.keys()):
        raise UsageError(f"{', '.join(unknown)[:200]} is no case of {dataset.name} version {dataset.version}")
    cases = [dataset.case(case_id) for case_id in sorted(set(wanted) or dataset.members)]
    if not cases:
        raise UsageError(f"the dataset {dataset.name} holds no case; accept some: beleg cases accept")
    return cases
