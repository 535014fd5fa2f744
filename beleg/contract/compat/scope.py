"""Which members a closed object names: the only ones its readers look at."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from beleg.contract.compat.documents import Document
from beleg.contract.compat.patterns import found_in

ABOUT_MEMBERS = frozenset(
    {"properties", "patternProperties", "additionalProperties", "propertyNames", "required", "dependentRequired"}
    | {"dependentSchemas", "minProperties", "maxProperties", "unevaluatedProperties", "not", "if", "const", "enum"},
)
"""Keywords that can tell one object from another by its members."""


class Scope(NamedTuple):
    """The members that count: those of some names and those whose name matches a pattern."""

    names: frozenset[str]
    patterns: frozenset[str] = frozenset()

    def counts(self, name: str) -> bool:
        """Whether a member of that name counts."""
        return name in self.names or any(found_in(text, name) for text in self.patterns)

    def both(self, other: "Scope | None") -> "Scope":
        """The members that count in both."""
        if other is None:
            return self
        names = {name for name in self.names | other.names if self.counts(name) and other.counts(name)}
        return Scope(frozenset(names), self.patterns & other.patterns)

    def holds_at_most(self, count: float) -> bool:
        """Whether there can never be more members than that."""
        return not self.patterns and len(self.names) <= count


def scope_of(document: Document, raw: dict[str, Any], outer: Scope | None) -> Scope | None:
    """The members that count in a subschema, narrowed by every object that closes it; None for all."""
    scope = outer
    for part in always(document, raw):
        words = document.keywords(part)
        own = Scope(frozenset(words.get("properties", ())), frozenset(words.get("patternProperties", ())))
        if words.get("additionalProperties") is False:
            scope = own.both(scope)
        if words.get("unevaluatedProperties") is False and (reached := _reached(document, part)) is not None:
            scope = reached.both(scope)
    return scope


def always(document: Document, raw: Any) -> list[dict[str, Any]]:
    """The subschema and all that apply to the same value without condition: references and allOf."""
    found: dict[int, dict[str, Any]] = {}
    waiting = [raw]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict) and id(part) not in found:
            found[id(part)] = part
            words = document.keywords(part)
            waiting += reversed(words.get("allOf", []))
            if "$ref" in words:
                waiting.append(document.target(part, words["$ref"]))
    return list(found.values())


def sometimes(document: Document, part: dict[str, Any]) -> Iterator[Any]:
    """Subschemas that apply to the same value under a condition."""
    words = document.keywords(part)
    for word in ("anyOf", "oneOf"):
        yield from words.get(word, ())
    if "if" in words:
        yield from (words[word] for word in ("if", "then", "else") if word in words)
    yield from words.get("dependentSchemas", {}).values()


def in_place(document: Document, raw: dict[str, Any]) -> list[list[Any]]:
    """The subschemas that apply to the same value; alternatives of one union are one group."""
    words = document.keywords(raw)
    groups = [[child] for child in words.get("allOf", ())]
    groups += [words[word] for word in ("anyOf", "oneOf") if word in words]
    groups += [[words[word] for word in ("if", "then", "else") if word in words]] if "if" in words else []
    return [*groups, [document.target(raw, words["$ref"])]] if "$ref" in words else groups


def speaks(document: Document, raws: list[Any]) -> bool:
    """Whether one of the subschemas says something about members."""
    parts = (part for raw in raws for part in everywhere(document, raw))
    return any(not document.keywords(part).keys().isdisjoint(ABOUT_MEMBERS) for part in parts)


def everywhere(document: Document, raw: Any) -> list[dict[str, Any]]:
    """The subschema and all that apply to the same value, be it under a condition."""
    found: dict[int, dict[str, Any]] = {}
    waiting = [raw]
    while waiting:
        for part in always(document, waiting.pop()):
            if id(part) not in found:
                found[id(part)] = part
                waiting += sometimes(document, part)
    return list(found.values())


def _reached(document: Document, raw: dict[str, Any]) -> Scope | None:
    """The members that a subschema with `unevaluatedProperties: false` names; None for all."""
    scope = Scope(frozenset())
    for part in everywhere(document, raw):
        words = document.keywords(part)
        if words.get("additionalProperties", False) is not False or (
            part is not raw and words.get("unevaluatedProperties", False) is not False
        ):
            return None
        scope = Scope(
            scope.names | frozenset(words.get("properties", ())),
            scope.patterns | frozenset(words.get("patternProperties", ())),
        )
    return scope
