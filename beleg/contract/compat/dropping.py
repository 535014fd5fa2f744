"""Whether a reader could read a value after all, by dropping members: the definition, applied to one value.

The formulas of what is readable decide in general. A witness is held against the definition itself, in which
any closed object, be it an alternative that may not apply, lets go the members that it does not name.
"""

import itertools
import math
from collections.abc import Iterator
from typing import Any

from beleg.contract.compat.documents import Document
from beleg.contract.compat.keywords import Keywords
from beleg.contract.compat.patterns import found_in
from beleg.contract.compat.scope import everywhere

_MAX_LOOSE = 6
_MAX_WAYS = 256
_NAMING = ("required", "dependentRequired", "dependentSchemas", "propertyNames", "const", "enum")


class TooMany(Exception):
    """Too many members could be dropped to try all ways."""


class Dropping:
    """The ways to drop members of results of one schema."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._known: dict[tuple[int, ...], list[Keywords]] = {}

    def reductions(self, value: Any) -> Iterator[Any]:
        """The value, and the value without members that a closed object does not name; raises TooMany."""
        return iter(self._reduced([self._document.root], value))

    def _reduced(self, raws: list[Any], value: Any) -> list[Any]:
        if not isinstance(value, dict | list) or not value:
            return [value]
        words = self._words(raws)
        if isinstance(value, list):
            inner = _entries(words)
            return [list(each) for each in _product([self._reduced(inner, item) for item in value])]
        return self._of_object(words, value)

    def _of_object(self, words: list[Keywords], value: dict[str, Any]) -> list[Any]:
        closed = [said for said in words if _closes(said)]
        loose = [name for name in value if any(not _names(said, name) for said in closed)]
        known = [name for name in loose if any(_speaks(said, name) for said in words)]
        if len(known) > _MAX_LOOSE:
            raise TooMany
        kept = [name for name in value if name not in loose or name in known]
        inner = {name: self._reduced(_below(words, name), value[name]) for name in kept}
        found = []
        for dropped in itertools.chain.from_iterable(itertools.combinations(known, n) for n in range(len(known) + 1)):
            names = [name for name in kept if name not in dropped]
            found += [dict(zip(names, each, strict=True)) for each in _product([inner[name] for name in names])]
        return found

    def _words(self, raws: list[Any]) -> list[Keywords]:
        at = tuple(map(id, raws))
        if at not in self._known:
            parts = {id(part): part for raw in raws for part in self._everywhere(raw)}
            self._known[at] = [self._document.keywords(part) for part in parts.values()]
        return self._known[at]

    def _everywhere(self, raw: Any) -> Iterator[dict[str, Any]]:
        for part in everywhere(self._document, raw):
            yield part
            if "not" in self._document.keywords(part):
                yield from self._everywhere(self._document.keywords(part)["not"])


def _product(ways: list[list[Any]]) -> Iterator[tuple[Any, ...]]:
    if math.prod(map(len, ways)) > _MAX_WAYS:
        raise TooMany
    return itertools.product(*ways)


def _closes(words: Any) -> bool:
    return words.get("additionalProperties") is False or words.get("unevaluatedProperties") is False


def _names(words: Any, name: str) -> bool:
    return name in words.get("properties", ()) or any(
        found_in(text, name) for text in words.get("patternProperties", ())
    )


def _speaks(words: Any, name: str) -> bool:
    return _names(words, name) or any(name in repr(words[word]) for word in _NAMING if word in words)


def _below(words: list[Any], name: str) -> list[Any]:
    found = [said["properties"][name] for said in words if name in said.get("properties", ())]
    found += [s for said in words for text, s in said.get("patternProperties", {}).items() if found_in(text, name)]
    return found + [said[w] for said in words for w in ("additionalProperties", "unevaluatedProperties") if w in said]


def _entries(words: list[Any]) -> list[Any]:
    found = [schema for said in words for schema in said.get("prefixItems", ())]
    return found + [said[w] for said in words for w in ("items", "contains", "unevaluatedItems") if w in said]
