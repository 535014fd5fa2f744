"""Both schemas at one place of the results."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from beleg.contract.compat.documents import escaped
from beleg.contract.compat.formula import Node
from beleg.contract.compat.inquiry import Version
from beleg.contract.compat.places import Place
from beleg.contract.compat.scope import always


class At:
    """One schema at one place: all subschemas that always apply there."""

    def __init__(self, version: Version, raws: Iterable[Any]) -> None:
        self.version = version
        self.document = version.document
        self.raws = [raw for raw in raws if raw is not True]
        found = {id(part): part for raw in self.raws for part in always(self.document, raw)}
        self.parts = list(found.values())
        self.words = [(part, self.document.keywords(part)) for part in self.parts]

    @property
    def formula(self) -> Node:
        """What the subschemas say together."""
        return self.version.formula(self.raws)

    @property
    def key(self) -> tuple[int, ...]:
        """The same for the same subschemas."""
        return tuple(sorted(map(id, self.parts)))

    @property
    def recurs(self) -> bool:
        """Whether one of them contains itself."""
        return any(id(part) in self.version.compiler.recursive for part in self.parts)

    def having(self, *keywords: str) -> list[tuple[dict[str, Any], Any]]:
        """Subschemas with any of the keywords, and all their keywords."""
        return [(part, words) for part, words in self.words if any(word in words for word in keywords)]

    def pointer(self, *tokens: str) -> str:
        """JSON pointer of a keyword where it stands, or else of the first subschema."""
        part = next((part for part, words in self.words if tokens and tokens[0] in words), None)
        if part is None:
            return self.document.pointer(self.parts[0]) if self.parts else ""
        return "/".join([self.document.pointer(part), *map(escaped, tokens)])


class Site(NamedTuple):
    """A place, and what OLD and NEW say about it."""

    place: Place
    old: At
    new: At
