"""Equality: of whole values by their canonical form, of texts in a normal form."""

import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from beleg.evals.scorers.model import RIGHT, CannotJudge, Kind, Score, Scorer, wrong
from beleg.trace.canon import canonical
from beleg.trace.fingerprint import Fingerprint, full_fingerprint
from beleg.trace.keys import key_ring


def without(value: Any, names: Iterable[str]) -> Any:
    """The value without the members of those names, in a record or in each record of a list."""
    if isinstance(value, Mapping):
        return {name: item for name, item in value.items() if name not in names}
    return [without(item, names) for item in value] if isinstance(value, (list, tuple)) and names else value


@dataclass(frozen=True, kw_only=True)
class ExactMatch(Scorer):
    """Equal canonical JSON (RFC 8785), so equal fingerprints: 1.0 is 1, but "1" and true are not; order counts.

    `ignore` names members that do not count, in a record or in the records of a list.
    """

    name: ClassVar[str] = "exact_match"
    version: ClassVar[str] = "1.0.0"
    kind: ClassVar[Kind] = "binary"

    ignore: tuple[str, ...] = ()

    def compare(self, expected: Any, actual: Any) -> Score:
        """Compare the bytes that fingerprints are taken over."""
        same = canonical(without(expected, self.ignore)).data == canonical(without(actual, self.ignore)).data
        return RIGHT if same else wrong()

    def compare_hash(self, expected: Fingerprint, actual: Any) -> Score:
        """Compare under the key of the expected value's fingerprint."""
        if self.ignore:
            raise CannotJudge("needs_the_expected_value")
        try:
            key = None if expected.key_id is None else key_ring().key(expected.key_id)
        except KeyError:
            raise CannotJudge("unknown_hash_key") from None
        if full_fingerprint(actual, key).digest == expected.digest:
            return RIGHT
        return wrong("missing" if actual is None else "different")


def plain(text: str, *, keep_case: bool = False) -> str:
    """The normal form of a text: NFKC, white space as single spaces, and without case unless it is kept."""
    composed = unicodedata.normalize("NFKC", text)
    if not keep_case:
        # Folding can undo the composition, and only a second round is stable (Unicode, D145).
        composed = unicodedata.normalize("NFKC", composed.casefold())
    return " ".join(composed.split())


@dataclass(frozen=True, kw_only=True)
class Text(Scorer):
    """Equal texts in normal form: Unicode NFKC, white space as single spaces, without case unless `keep_case`."""

    name: ClassVar[str] = "text"
    version: ClassVar[str] = "1.0.0"
    kind: ClassVar[Kind] = "binary"

    keep_case: bool = False

    def compare(self, expected: Any, actual: Any) -> Score:
        """Compare two texts; anything else is of the wrong type."""
        if not isinstance(expected, str):
            raise CannotJudge("expected_is_no_text")
        if not isinstance(actual, str):
            return wrong("wrong_type")
        same = plain(expected, keep_case=self.keep_case) == plain(actual, keep_case=self.keep_case)
        return RIGHT if same else wrong()
