"""Base classes of scorers that judge, by a model or by likeness.

They may gate only once people have checked them (`beleg.evals.scorers.calibration`).
"""

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, ClassVar

from beleg.evals.scorers.model import RIGHT, CannotJudge, Kind, Score, Scorer, wrong
from beleg.evals.scorers.options import refuse


@dataclass(frozen=True, kw_only=True)
class Judge(Scorer):
    """A scorer whose word is an opinion; a subclass implements `agrees`, called once for each answer, side unknown."""

    kind: ClassVar[Kind] = "binary"

    @abstractmethod
    def agrees(self, expected: Any, actual: Any) -> bool:
        """Whether the answer is good; what it raises makes the score a failure."""

    def compare(self, expected: Any, actual: Any) -> Score:
        """The verdict as a score."""
        verdict = self.agrees(expected, actual)
        if not isinstance(verdict, bool):
            raise CannotJudge("judge_gave_no_verdict")
        return RIGHT if verdict else wrong("judged_wrong")


@dataclass(frozen=True, kw_only=True)
class Likeness(Judge):
    """A judge that goes by the cosine of two embeddings; a subclass implements `embed`."""

    least: Decimal = Decimal("0.8")
    """The cosine from which on two texts mean the same."""

    def __post_init__(self) -> None:
        if not 0 < self.least <= 1:
            raise refuse(self, "least", self.least, "a number above 0 and up to 1")

    @abstractmethod
    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """One vector for each text, all of one length."""

    def agrees(self, expected: Any, actual: Any) -> bool:
        """Whether the texts are alike; raises CannotJudge for what has no direction."""
        if not isinstance(expected, str):
            raise CannotJudge("expected_is_no_text")
        return isinstance(actual, str) and cosine(*self.embed([expected, actual])) >= self.least


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    """Cosine of the angle between two vectors; raises CannotJudge for lengths that differ, zero and non-finite ones."""
    length = math.hypot(*one) * math.hypot(*other)
    if len(one) != len(other) or not length or not math.isfinite(length):
        raise CannotJudge("embedding_has_no_direction")
    return math.fsum(a * b for a, b in zip(one, other, strict=True)) / length
