"""From what people said about inputs to one case each: who replaces whom, who agrees, who does not.

Everything here is a pure function of its arguments, whatever their order.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

from beleg.evals.cases import pointer as pointers
from beleg.evals.cases.case import Case, Expectation, Provenance
from beleg.evals.cases.claims import Claim, Conflict, Word

Fingerprint = Callable[[Any, str | None], str | None]
"""Fingerprint of a value under the key of that id; None where the key is not there."""


@dataclass(frozen=True)
class Assembled:
    """What claims come to."""

    cases: Mapping[str, Case]
    """case_id → case."""
    conflicts: tuple[Conflict, ...]


def assemble(claims: Iterable[Claim], frozen: Mapping[str, Case], fingerprint: Fingerprint) -> Assembled:
    """Make one case of all claims about one input.

    `frozen` are cases that hold more than the claims tell (imported, or of events pruned since), by case_id:
    what they say counts as accepted before.
    """
    grouped: dict[str, list[Claim]] = {}
    for claim in sorted(claims, key=lambda each: (each.acceptance.at, each.said_at, each.correction, each.field)):
        grouped.setdefault(claim.case_id, []).append(claim)
    cases, conflicts = {}, []
    for case_id in sorted(grouped.keys() | frozen.keys()):
        bundle = _Bundle(grouped.get(case_id, []), frozen.get(case_id), fingerprint)
        if disagreements := bundle.conflicts():
            conflicts += disagreements
        else:
            cases[case_id] = bundle.case()
    return Assembled(cases, tuple(conflicts))


class _Said(NamedTuple):
    """A word, the value it stands for, and the claim it comes from; None for a frozen case."""

    word: Word
    known: Expectation
    claim: Claim | None


class _Bundle:
    """All that is said about one input."""

    def __init__(self, claims: list[Claim], frozen: Case | None, fingerprint: Fingerprint) -> None:
        self.fingerprint = fingerprint
        self.key = claims[0].hash_key_id if claims else None
        self.frozen = frozen
        said = [*self._frozen_words(), *map(self._said, claims)]
        held = [each for each in said if not any(_replaces(other.word, each.word) for other in said)] or said
        self.claims = [each.claim for each in held if each.claim is not None]
        self.known: dict[str, list[_Said]] = {}
        for each in held:
            self.known.setdefault(each.word.field, []).append(each)

    def _frozen_words(self) -> Iterable[_Said]:
        if self.frozen is None:
            return
        told = self.frozen.provenance.accepted
        by, at = (told[-1].by, told[-1].at) if told else ("unknown", "")
        for name, known in self.frozen.expected.items():
            yield _Said(Word(None, name, self._hash(known), None, "", by, at, settles=False), known, None)

    def _said(self, claim: Claim) -> _Said:
        word = Word(
            claim.correction,
            claim.field,
            self._hash(claim.expectation),
            claim.author,
            claim.said_at,
            claim.acceptance.by,
            claim.acceptance.at,
            claim.settles,
        )
        return _Said(word, claim.expectation, claim)

    def _hash(self, known: Expectation) -> str:
        if known.hash is not None:
            return known.hash
        # Without the key a value can be compared with other values at least, by its plain fingerprint.
        return self.fingerprint(known.value, self.key) or self.fingerprint(known.value, None) or ""

    def conflicts(self) -> list[Conflict]:
        """Fields on which more than one value is held; only where there are none, fields inside of others."""
        same = [said for said in self.known.values() if len({each.word.hash for each in said}) > 1]
        if same:
            return [self._conflict(said) for said in sorted(same, key=lambda said: said[0].word.field)]
        pairs = combinations((self.known[name][0] for name in sorted(self.known)), 2)
        return [self._conflict([outer, inner]) for outer, inner in pairs if self._differ(outer, inner)]

    def _differ(self, outer: _Said, inner: _Said) -> bool:
        """Whether a whole and a part of it that are both held say otherwise, as far as that can be seen."""
        inside = inner.word.field.startswith(f"{outer.word.field}/")
        is_settled = inner.word.beats(outer.word) or outer.claim is inner.claim is None  # one frozen case holds both
        if not inside or outer.known.hash is not None or is_settled:
            return False
        path = pointers.parts(inner.word.field[len(outer.word.field) :])
        try:
            return self._hash(Expectation(pointers.look_up(outer.known.value, path))) != inner.word.hash
        except LookupError:
            return True

    def _conflict(self, said: list[_Said]) -> Conflict:
        case = self.case()
        return Conflict(
            case.case_id, case.feature, case.input_ref, said[-1].word.field, tuple(each.word for each in said)
        )

    def case(self) -> Case:
        """The case; of what was decided several times, the last holds."""
        before = self.frozen
        if before is not None and not self.claims:
            return before
        last = self.claims[-1]
        families = [claim.family for claim in self.claims if claim.family] or ([before.family] if before else [])
        slices: dict[str, str] = dict(before.slices) if before else {}
        for claim in self.claims:
            slices |= claim.slices
        return Case(
            feature=last.feature,
            workflow=last.workflow,
            input_ref=last.input_ref,
            input_hash=last.input_hash,
            hash_key_id=last.hash_key_id,
            canon_version=last.canon_version,
            expected={name: _best(said) for name, said in sorted(self.known.items())},
            family=families[-1] if families else last.case_id,
            slices=slices,
            critical=any(claim.critical for claim in self.claims) or (before is not None and before.critical),
            reasons=_union(before.reasons if before else (), (claim.reason for claim in self.claims)),
            provenance=self._provenance(),
        )

    def _provenance(self) -> Provenance:
        before = self.frozen.provenance if self.frozen is not None else Provenance()
        accepted = dict.fromkeys((*before.accepted, *(claim.acceptance for claim in self.claims)))
        return Provenance(
            {
                name: _union((), (id_ for each in said for id_ in self._behind(each)))
                for name, said in sorted(self.known.items())
            },
            _union(before.runs, (run for claim in self.claims for run in claim.runs)),
            tuple(sorted(accepted, key=lambda each: (each.at, each.review or "", each.by))),
        )

    def _behind(self, said: _Said) -> Iterable[str]:
        """Ids of the corrections behind a word."""
        if said.claim is not None:
            return (said.claim.correction,)
        return self.frozen.provenance.said.get(said.word.field, ()) if self.frozen is not None else ()


def _replaces(word: Word, other: Word) -> bool:
    """Whether a word about the same field, or about a larger part of the result, takes the other's place."""
    about_it = other.field == word.field or other.field.startswith(f"{word.field}/")
    return about_it and word.beats(other)


def _best(said: list[_Said]) -> Expectation:
    """Where all say the same, the one that shows the value."""
    return next((each.known for each in said if each.known.hash is None), said[0].known)


def _union(first: Iterable[str], second: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted({*first, *second}))
