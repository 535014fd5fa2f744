"""The scorers that judge an answer: those of both contracts, and the measures."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from beleg.contract.model import Contract, Schema
from beleg.core.errors import UsageError
from beleg.evals.cases.case import Case, Expectation
from beleg.evals.cases.pointer import look_up, parts, pointer
from beleg.evals.results import MEASURES, Status
from beleg.evals.scorers import Score, Scorer, library
from beleg.trace.canon_types import NotCanonicalError
from beleg.trace.fingerprint import Fingerprint, full_fingerprint
from beleg.trace.keys import Key, KeyRingError, key_ring


@dataclass(frozen=True)
class Ruling:
    """What one scorer says about an answer."""

    scorer: str
    version: str
    status: Status
    score: float | None = None
    note: str | None = None
    expected_hash: str | None = None
    actual_hash: str | None = None


@dataclass(frozen=True)
class Jury:
    """Scorers by the name that contracts call them."""

    scorers: Mapping[str, Scorer]

    @classmethod
    def of(cls, project: Path | None, contracts: Iterable[Contract], schema: Schema | None) -> "Jury":
        """The scorers of all criteria of some contracts, and the measures; raises UsageError for an unknown one.

        `schema` is the output schema of the version that answers, for the scorer `schema_valid`.
        """
        known = library(project, output_schema=schema)
        named = {criterion.scorer for contract in contracts for criterion in contract.evals.criteria}
        return cls({name: known.resolve(name) for name in sorted(named | set(MEASURES))})

    def of_case(self, case: Case) -> dict[str, Scorer]:
        """Those that can judge answers to a case: it says what is right there, or the scorer need not know."""
        return {
            name: scorer
            for name, scorer in self.scorers.items()
            if not scorer.needs_expected or case.expectation(scorer.field) is not None
        }

    def without_answer(self, case: Case, status: Status) -> tuple[Ruling, ...]:
        """The same for every scorer where there is no answer: no zero, and nothing left out."""
        return tuple(Ruling(name, scorer.version, status) for name, scorer in self.of_case(case).items())

    def rule(self, case: Case, answer: Any, measures: Mapping[str, Any]) -> Iterator[Ruling]:
        """Every scorer's word on an answer; `measures` by the names that measuring scorers read.

        Raises UsageError where the key of the case is not at hand.
        """
        key = _key_of(case)
        for name, scorer in self.of_case(case).items():
            if scorer.kind == "measure":
                yield _ruling(name, scorer, scorer.score(None, measures))
            else:
                yield _judged(name, scorer, case, answer, key)


def _key_of(case: Case) -> Key | None:
    try:
        return None if case.hash_key_id is None else key_ring().key(case.hash_key_id)
    except (KeyError, KeyRingError) as error:
        raise UsageError(f"case {case.case_id}: {error.args[0]}") from error


def _judged(name: str, scorer: Scorer, case: Case, answer: Any, key: Key | None) -> Ruling:
    actual = _hash_at(answer, scorer.field, key)
    known = case.expectation(scorer.field) if scorer.needs_expected else None
    if known is None:
        return _ruling(name, scorer, scorer.score(None, answer), None, actual)
    if known.hash is None:
        score = scorer.score(_whole(scorer.field, known), answer)
        return _ruling(name, scorer, score, _hash(known.value, key), actual)
    expected = Fingerprint(known.hash, case.canon_version or "", case.hash_key_id)
    score = scorer.score(None, answer, expected_hash=expected)
    return _ruling(name, scorer, score, known.hash, actual)


def _ruling(name: str, scorer: Scorer, score: Score, expected: str | None = None, actual: str | None = None) -> Ruling:
    return Ruling(name, scorer.version, score.status, score.value, score.note, expected, actual)


def _whole(field: str, known: Expectation) -> Any:
    """A result in which nothing stands but what is known of one field."""
    value = known.value
    for step in reversed(parts(pointer(field))):
        value = {step: value}
    return value


def _hash_at(answer: Any, field: str, key: Key | None) -> str | None:
    try:
        return _hash(look_up(answer, parts(pointer(field))), key)
    except LookupError:
        return None


def _hash(value: Any, key: Key | None) -> str | None:
    try:
        return full_fingerprint(value, key).digest
    except (NotCanonicalError, RecursionError):
        return None
