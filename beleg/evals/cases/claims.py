"""What people hold to be right, and where they disagree."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from beleg.evals.cases.case import Acceptance, Expectation, case_id_of


@dataclass(frozen=True)
class Claim:
    """An accepted correction, bound to its input: at `field` of the result, `expectation` is right."""

    correction: str
    feature: str
    workflow: str
    input_ref: str
    input_hash: str
    hash_key_id: str | None
    canon_version: str | None
    field: str
    """JSON pointer."""
    expectation: Expectation
    reason: str
    author: str | None
    """Fingerprint of the person who said so; None where unknown."""
    said_at: str
    """When the correction was made: UTC instant, RFC 3339 in microseconds, so that text sorts as time."""
    runs: tuple[str, ...]
    acceptance: Acceptance
    family: str | None = None
    """None: the case is a cluster of its own."""
    slices: Mapping[str, str] = dataclasses.field(default_factory=dict)
    critical: bool = False
    settles: bool = False
    """Whether it was accepted to settle a conflict: it then holds against all that was accepted before."""

    @property
    def case_id(self) -> str:
        """The case it belongs to."""
        return case_id_of(self.feature, self.hash_key_id, self.input_hash)


class Word(NamedTuple):
    """What one person holds to be right at a field."""

    correction: str | None
    """None for what an earlier frozen or imported case says."""
    field: str
    hash: str
    """Fingerprint of the value."""
    author: str | None
    said_at: str
    accepted_by: str
    accepted_at: str
    settles: bool

    def beats(self, other: "Word") -> bool:
        """Whether it takes the other's place: its author changed their mind, or a person settled the conflict."""
        decided_later = (self.accepted_at, self.said_at) > (other.accepted_at, other.said_at)
        if self.settles and decided_later:
            return True
        same_author = self.author is not None and self.author == other.author
        later = (self.said_at, self.correction or "") > (other.said_at, other.correction or "")
        return same_author and later and (decided_later or not other.settles)


@dataclass(frozen=True)
class Conflict:
    """People disagree on a field of a case; the case is in no dataset until one of them settles it."""

    case_id: str
    feature: str
    input_ref: str
    field: str
    words: tuple[Word, ...]
