"""A frozen case: which input, what was the right answer, who says so. Never the input itself.

The file `evals/cases/<feature>/<digest>.json` is named by the plain fingerprint of its content (SHA-256 over
RFC 8785): layout and order of keys do not count, every value does.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import Any, Final

from beleg.contract.registry.fields import Fields
from beleg.evals.cases import pointer as pointers
from beleg.trace.fingerprint import fingerprint

FORMAT = 1
CASE_ID = re.compile(r"[0-9a-f]{24}\Z")


class _Unknown(Enum):
    UNKNOWN = "unknown"


UNKNOWN: Final = _Unknown.UNKNOWN
"""In place of a value that is not stored; None is a value."""


@dataclass(frozen=True)
class Expectation:
    """The right value of a field, or its fingerprint where the workflow stores no values."""

    value: Any = UNKNOWN
    hash: str | None = None
    """Fingerprint of the value, under the case's `hash_key_id`; None where the value itself is known."""

    def document(self) -> dict[str, Any]:
        """As it stands in the file."""
        return {"value": self.value} if self.hash is None else {"hash": self.hash}


@dataclass(frozen=True)
class Acceptance:
    """A person's word that something belongs into a case."""

    by: str
    why: str | None
    at: str
    """UTC instant, RFC 3339."""
    review: str | None
    """Event id of the decision; None for a case that was imported."""

    def document(self) -> dict[str, Any]:
        """As it stands in the file."""
        return {"by": self.by, "why": self.why, "at": self.at, "review": self.review}


@dataclass(frozen=True)
class Provenance:
    """Where a case comes from."""

    said: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """JSON pointer → ids of the corrections (or `import:<digest of the file>`) behind what is expected there."""
    runs: tuple[str, ...] = ()
    accepted: tuple[Acceptance, ...] = ()

    @property
    def corrections(self) -> tuple[str, ...]:
        """Ids of all corrections behind the case."""
        return tuple(sorted({each for ids in self.said.values() for each in ids}))

    def document(self) -> dict[str, Any]:
        """As it stands in the file."""
        return {
            "corrections": {name: list(ids) for name, ids in self.said.items()},
            "runs": list(self.runs),
            "accepted": [each.document() for each in self.accepted],
        }


@dataclass(frozen=True)
class Case:
    """One input of one feature with what is right about it."""

    feature: str
    workflow: str
    input_ref: str
    """Key into the owner's system, where the input stays."""
    input_hash: str
    """Fingerprint of the input, checked before the input is used."""
    hash_key_id: str | None
    """Key of `input_hash` and of the hashes in `expected`; None for plain SHA-256."""
    canon_version: str | None
    expected: Mapping[str, Expectation]
    """JSON pointer → what is right there; "" is the whole result."""
    family: str
    """Cases of one family are one cluster for the statistics."""
    slices: Mapping[str, str] = field(default_factory=dict)
    critical: bool = False
    reasons: tuple[str, ...] = ()
    """Why results were wrong, as the corrections say."""
    provenance: Provenance = Provenance()

    @cached_property
    def case_id(self) -> str:
        """Identity of the case: stays when more becomes known about the same input."""
        return case_id_of(self.feature, self.hash_key_id, self.input_hash)

    @cached_property
    def digest(self) -> str:
        """Fingerprint of everything in the file: its name."""
        return fingerprint(self.document())

    def expectation(self, field: str) -> Expectation | None:
        """What is right about a field (pointer, or path with dots); None where the case says nothing on it.

        A field of a larger value that is stored is looked up in it; in one that is hashed nothing can be.
        """
        wanted = pointers.parts(pointers.pointer(field))
        for depth in range(len(wanted), -1, -1):
            known = self.expected.get(_joined(wanted[:depth]))
            if known is None:
                continue
            if depth == len(wanted) or known.hash is not None:
                return known if depth == len(wanted) else None
            try:
                return Expectation(pointers.look_up(known.value, wanted[depth:]))
            except LookupError:
                return None
        return None

    def document(self) -> dict[str, Any]:
        """As it stands in the file."""
        return {
            "case_format": FORMAT,
            "case_id": self.case_id,
            "feature": self.feature,
            "workflow": self.workflow,
            "input_ref": self.input_ref,
            "input_hash": self.input_hash,
            "hash_key_id": self.hash_key_id,
            "canon_version": self.canon_version,
            "expected": {name: known.document() for name, known in self.expected.items()},
            "family": self.family,
            "slices": dict(self.slices),
            "critical": self.critical,
            "reasons": list(self.reasons),
            "provenance": self.provenance.document(),
        }

    @classmethod
    def from_document(cls, document: Any, name: str = "case") -> "Case":
        """From parsed JSON; raises DamagedError that calls it `name` and says what is wrong where."""
        fields = Fields(document, name)
        fields.one_of("case_format", (FORMAT,))
        case = cls(
            feature=fields.text("feature"),
            workflow=fields.text("workflow"),
            input_ref=fields.text("input_ref"),
            input_hash=fields.sha("input_hash"),
            hash_key_id=fields.text_or_none("hash_key_id"),
            canon_version=fields.text_or_none("canon_version"),
            expected=_expected(fields.part("expected")),
            family=fields.text("family"),
            slices=_words(fields.part("slices")),
            critical=fields.one_of("critical", (True, False)),
            reasons=_texts(fields, "reasons"),
            provenance=_provenance(fields.part("provenance")),
        )
        fields.one_of("case_id", (case.case_id,))
        return case


def case_id_of(feature: str, hash_key_id: str | None, input_hash: str) -> str:
    """The id of the case of an input: 24 hex digits."""
    return fingerprint([feature, hash_key_id, input_hash])[:24]


def file_text(document: Mapping[str, Any]) -> str:
    """The text of a case or manifest: JSON that reads well in a review, the same for the same content.

    Raises ValueError for what JSON cannot hold (NaN, infinity, half a character).
    """
    text = json.dumps(document, ensure_ascii=False, indent=1, sort_keys=True, allow_nan=False) + "\n"
    text.encode()
    return text


def _joined(names: list[str]) -> str:
    return "".join("/" + name.replace("~", "~0").replace("/", "~1") for name in names)


def _expected(fields: Fields) -> dict[str, Expectation]:
    found = {}
    for name, known in fields.values.items():
        if not pointers.is_pointer(name) or not isinstance(known, dict) or known.keys() not in ({"value"}, {"hash"}):
            fields.wrong(name, "a JSON pointer with either a value or a hash")
        found[name] = (
            Expectation(known["value"]) if "value" in known else Expectation(hash=fields.part(name).sha("hash"))
        )
    return found


def _words(fields: Fields) -> dict[str, str]:
    return {name: fields.text(name) for name in fields.values}


def _texts(fields: Fields, key: str) -> tuple[str, ...]:
    given = fields.values.get(key)
    if not isinstance(given, list) or not all(isinstance(each, str) for each in given):
        fields.wrong(key, "a list of texts")
    return tuple(given)


def _provenance(fields: Fields) -> Provenance:
    accepted = fields.values.get("accepted")
    if not isinstance(accepted, list):
        fields.wrong("accepted", "a list of decisions")
    each = [Fields(one, f"{fields.name}: accepted") for one in accepted]
    told = tuple(
        Acceptance(one.text("by"), one.text_or_none("why"), one.text("at"), one.text_or_none("review")) for one in each
    )
    said = fields.part("corrections")
    return Provenance({name: _texts(said, name) for name in said.values}, _texts(fields, "runs"), told)
