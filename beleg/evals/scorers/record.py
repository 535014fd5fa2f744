"""Records: several fields of one answer, each by its own scorer and weight."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, ClassVar, NamedTuple, Self
from urllib.parse import quote

from beleg.core.errors import UsageError
from beleg.evals.scorers.model import CannotJudge, Score, Scorer, Shelf, wrong
from beleg.evals.scorers.options import refuse


class Part(NamedTuple):
    """A field's scorer (its `field` is relative to the record) and its weight."""

    scorer: Scorer
    weight: Decimal


@dataclass(frozen=True, kw_only=True)
class Record(Scorer):
    """The weighted mean of the scores of its parts.

    In a spec each option is a field: `record?gross=2&invoice_date=1*date` weighs `gross` twice, by `exact_match`
    unless a scorer is named. Where one part cannot be judged, the record cannot.
    """

    name: ClassVar[str] = "record"
    version: ClassVar[str] = "1.0.0"

    parts: tuple[Part, ...]

    def __post_init__(self) -> None:
        if not self.parts:
            raise UsageError(f"scorer {self.name}: no field is named; write for example record?gross=2&date=1")
        for part in self.parts:
            if not part.weight.is_finite() or part.weight <= 0:
                raise refuse(self, part.scorer.field, part.weight, "a weight above 0")
            if part.scorer.kind == "measure":
                raise refuse(self, part.scorer.field, part.scorer.name, "a scorer; a measure has no place in a mean")

    @classmethod
    def made(cls, field: str, options: Mapping[str, str], shelf: Shelf) -> Self:
        """One part for each option."""
        return cls(field=field, parts=tuple(cls._part(name, text, shelf) for name, text in options.items()))

    @classmethod
    def _part(cls, field: str, text: str, shelf: Shelf) -> Part:
        weight, _, spec = text.partition("*")
        try:
            number = Decimal(weight)
        except InvalidOperation:
            raise refuse(cls, field, text, "WEIGHT or WEIGHT*SCORER, such as 2 or 1*date") from None
        name, question, query = (spec or "exact_match").partition("?")
        return Part(shelf.resolve(f"{name}:{quote(field)}{question}{query}"), number)

    def compare(self, expected: Any, actual: Any) -> Score:
        """Score each part and weigh the scores."""
        if not isinstance(expected, Mapping):
            raise CannotJudge("expected_is_no_record")
        if not isinstance(actual, Mapping):
            return wrong("wrong_type")
        total = sum(float(part.weight) for part in self.parts)
        reached = sum(float(part.weight) * self._value(part.scorer, expected, actual) for part in self.parts)
        value = min(1.0, reached / total)
        return Score(value, "scored", None if value == 1 else "fields_differ")

    def _value(self, scorer: Scorer, expected: Any, actual: Any) -> float:
        value = scorer.score(expected, actual).value
        if value is None:
            raise CannotJudge("a_field_cannot_be_judged")
        return value

    def options(self) -> Mapping[str, str]:
        """The fields with weight and scorer."""
        return {part.scorer.field: self._said(part) for part in self.parts}

    def _said(self, part: Part) -> str:
        name, _, rest = part.scorer.spec.partition(":")
        query = rest.partition("?")[2]
        return f"{part.weight}*{name}{'?' if query else ''}{query}"

    def basis(self) -> Any:
        """The digests of the parts' scorers."""
        return [part.scorer.digest for part in self.parts]
