"""What a scorer of one's own may do, and what becomes of it."""

from dataclasses import dataclass
from typing import Any, ClassVar

import pytest

from beleg.evals.scorers import CannotJudge, Score, Scorer


@dataclass(frozen=True, kw_only=True)
class Says(Scorer):
    name: ClassVar[str] = "says"
    version: ClassVar[str] = "1.0.0"

    what: Any = None

    def compare(self, expected: Any, actual: Any) -> Score:
        if isinstance(self.what, BaseException):
            raise self.what
        said: Score = self.what
        return said


SECRET = "IBAN DE89 3704 0044"


@pytest.mark.parametrize(
    ("what", "score"),
    [
        (Score(0.5, "scored", "half"), Score(0.5, "scored", "half")),
        (Score(1, "scored"), Score(1.0, "scored")),
        (Score(0.5, "scored", SECRET), Score(0.5, "scored", "note_withheld")),
        (Score(0.5, "failed", "gave_up"), Score(None, "failed", "gave_up")),
        (Score(1.5), Score(None, "failed", "out_of_range")),
        (Score(-0.1), Score(None, "failed", "out_of_range")),
        (Score(float("nan")), Score(None, "failed", "no_number")),
        (Score(float("inf")), Score(None, "failed", "no_number")),
        (Score(None), Score(None, "failed", "no_number")),
        (Score(value=True), Score(None, "failed", "no_number")),
        (Score(1.0, "fine"), Score(None, "failed", "no_score")),  # type: ignore[arg-type]
        (1.0, Score(None, "failed", "raised_AttributeError")),
        (None, Score(None, "failed", "raised_AttributeError")),
        (ValueError(SECRET), Score(None, "failed", "raised_ValueError")),
        (RecursionError(SECRET), Score(None, "failed", "raised_RecursionError")),
        (CannotJudge("no_reading"), Score(None, "failed", "no_reading")),
        (CannotJudge(SECRET), Score(None, "failed", "cannot_judge")),
    ],
)
def test_whatever_it_says_or_raises_becomes_a_score_without_payload(what: Any, score: Score) -> None:
    assert Says(what=what).score(SECRET, SECRET) == score


def test_a_binary_scorer_says_zero_or_one() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Binary(Says):
        kind = "binary"

    assert Binary(what=Score(0.5)).score(1, 1) == Score(None, "failed", "out_of_range")


def test_an_interruption_is_no_score() -> None:
    with pytest.raises(KeyboardInterrupt):
        Says(what=KeyboardInterrupt()).score(1, 1)
