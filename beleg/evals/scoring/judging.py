"""From an answer to results: one entry of the journal, whoever the answer comes from."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from beleg.evals.cases.case import Case
from beleg.evals.results import Answered, Result, Side, Status
from beleg.evals.scoring.journal import Entry
from beleg.evals.scoring.jury import Jury, Ruling
from beleg.evals.scoring.receipt import NOTHING, Receipt
from beleg.trace.runtime import runtime


@dataclass(frozen=True)
class Question:
    """One case put to one version for the nth time."""

    dataset_digest: str
    case: Case
    side: Side
    digest: str
    """Of the contract that is asked."""
    repetition: int
    attempt: int = 1

    @property
    def key(self) -> Answered:
        """What an answer to it is an answer to."""
        return Answered(self.dataset_digest, self.case.case_id, self.digest, self.repetition)


@dataclass(frozen=True)
class Answer:
    """What came back."""

    receipt: Receipt
    value: Any = None
    reason: str | None = None
    """Class of what went wrong; None where `value` meets the contract."""


def tracers_now() -> datetime:
    """The instant by the tracer's clock: a result is of the same time as the run that made it."""
    found = runtime()
    wall_ns = time.time_ns() if found is None else found.clock.wall_ns()
    return datetime.fromtimestamp(wall_ns // 1_000_000_000, UTC) + timedelta(microseconds=wall_ns // 1000 % 1_000_000)


class Bench:
    """The juries in session."""

    def __init__(self, juries: Mapping[str, Jury], *, now: Callable[[], datetime] = tracers_now) -> None:
        """`juries` by the digest of the contract whose answers they judge."""
        self._juries, self._now = juries, now

    def entry(self, question: Question, answer: Answer, at: datetime | None = None) -> Entry:
        """An answer, judged; one that failed is a failure for every scorer. `at` is when it was given."""
        if answer.reason is not None:
            return self.without(question, "failed", answer.reason, answer.receipt, called=True, at=at)
        jury = self._juries[question.digest]
        rulings = tuple(jury.rule(question.case, answer.value, answer.receipt.measures))
        return self._entry(question, rulings, answer.receipt, None, called=True, at=at)

    def without(
        self,
        question: Question,
        status: Status,
        reason: str,
        took: Receipt = NOTHING,
        *,
        called: bool = False,
        at: datetime | None = None,
    ) -> Entry:
        """There is no answer: the same for every scorer, no zero, and nothing left out."""
        rulings = self._juries[question.digest].without_answer(question.case, status)
        return self._entry(question, rulings, took, reason, called=called, at=at)

    def _entry(
        self,
        question: Question,
        rulings: tuple[Ruling, ...],
        took: Receipt,
        reason: str | None,
        *,
        called: bool,
        at: datetime | None,
    ) -> Entry:
        when = at or self._now()
        results = tuple(_result(question, each, took.run_id, when) for each in rulings)
        notes = {each.scorer: each.note for each in rulings if each.note is not None}
        return Entry(results, called, reason, notes, took.cost_pico_usd)


def _result(question: Question, ruling: Ruling, run_id: str | None, at: datetime) -> Result:
    return Result(
        feature=question.case.feature,
        case_id=question.case.case_id,
        dataset_digest=question.dataset_digest,
        side=question.side,
        digest=question.digest,
        repetition=question.repetition,
        scorer=ruling.scorer,
        scorer_version=ruling.version,
        status=ruling.status,
        score=ruling.score,
        event_time=at,
        expected_hash=ruling.expected_hash,
        actual_hash=ruling.actual_hash,
        attempt=question.attempt,
        run_id=run_id,
    )
