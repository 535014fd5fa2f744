"""What is left of the entries of a list once a reader has dropped the members that it does not know.

Whether no entry repeats, and how many are of a kind, is asked of what is left: two entries that differ in what the
reader drops are the same to it.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from beleg.contract.compat.documents import Document, children
from beleg.contract.compat.keywords import MANY, MAPS, ONE, Keywords
from beleg.contract.compat.scope import Scope, always, everywhere, in_place, scope_of

_COUNTING = ("uniqueItems", "contains")
_OF_LISTS = frozenset({"items", "prefixItems", "unevaluatedItems", *_COUNTING})
_WITH_PARTS = (MANY | ONE | MAPS | {"$ref", "$dynamicRef", "$recursiveRef"}) - {"$defs", "definitions"}
_ABOUT_PARTS = _WITH_PARTS | {
    *("uniqueItems", "required", "dependentRequired", "minProperties", "maxProperties"),
}


class Entries(NamedTuple):
    """How a reader reads the entries of a list."""

    scope: Scope | None
    """The members that are left of every entry; None for all, as far as is known."""
    exact: bool
    """Whether nothing else is dropped."""
    known: bool
    """Whether no other members of the entries themselves are dropped; those of their members may be."""


def entries_of(document: Document, raw: dict[str, Any]) -> Entries | None:
    """How the entries are read where lists are counted or tested; None where they are not, or nothing is dropped."""
    about = list(_about(document, raw))
    words = [document.keywords(part) for part in about]
    tested = any(_speaks(document, said[word]) for said in words for word in ("not", "if") if word in said)
    if not tested and not any(said.get("uniqueItems") or "contains" in said for said in words):
        return None
    top = [document.keywords(part) for part in always(document, raw)]
    items = [said["items"] for said in top if "items" in said]
    others = [schema for said in words for schema in _schemas(said) if not any(schema is each for each in items)]
    if any(_closes(document, schema, deep=False) or _closes(document, schema, deep=True) for schema in others):
        return Entries(None, exact=False, known=False)
    scope = None
    for schema in items:
        scope = scope_of(document, schema, scope) if isinstance(schema, dict) else scope
    exact = not any(_closes(document, schema, deep=True) for schema in items)
    known = not any(_closes_perhaps(document, schema) for schema in items)
    return None if scope is None and exact else Entries(scope, exact, known)


def begins(document: Document, raw: dict[str, Any], words: Keywords) -> bool:
    """Whether what is said about lists stands here, or in several places that belong together."""
    if not words.keys().isdisjoint(_OF_LISTS):
        return True
    speaking = [group for group in in_place(document, raw) if any(_speaks(document, child) for child in group)]
    return len(speaking) > 1 or ("not" in words and _speaks(document, words["not"]))


def is_shallow(document: Document, raw: Any) -> bool:
    """Whether a schema looks at an entry and its members, but never into a member."""
    if not isinstance(raw, dict):
        return True
    words = document.keywords(raw)
    if words.keys() & (_WITH_PARTS - {"properties", "additionalProperties"}):
        return False
    inner = [*words.get("properties", {}).values(), words.get("additionalProperties", True)]
    return not _lists_parts(words, depth=1) and all(_is_flat(document, each) for each in inner)


def _is_flat(document: Document, raw: Any) -> bool:
    if not isinstance(raw, dict):
        return True
    words = document.keywords(raw)
    return _ABOUT_PARTS.isdisjoint(words) and not _lists_parts(words, depth=0)


def _lists_parts(words: Keywords, depth: int) -> bool:
    """Whether a listed value has parts below that depth."""
    return any(_depth(value) > depth for value in (*words.get("enum", ()), words.get("const")))


def _depth(value: Any) -> int:
    if not isinstance(value, dict | list):
        return 0
    return 1 + max(map(_depth, value.values() if isinstance(value, dict) else value), default=0)


def _about(document: Document, raw: Any) -> Iterator[dict[str, Any]]:
    """All subschemas that speak about the same value, be it under a condition or to exclude it."""
    for part in everywhere(document, raw):
        yield part
        if "not" in document.keywords(part):
            yield from _about(document, document.keywords(part)["not"])


def _speaks(document: Document, raw: Any) -> bool:
    return any(not document.keywords(part).keys().isdisjoint(_OF_LISTS) for part in _about(document, raw))


def _schemas(words: Keywords) -> list[Any]:
    """The schemas of entries; those that are only counted are closed to themselves, unless entries must not repeat."""
    found = [*words.get("prefixItems", ()), *(words[w] for w in ("items", "unevaluatedItems") if w in words)]
    return [*found, words["contains"]] if words.get("uniqueItems") and "contains" in words else found


def _closes(document: Document, raw: Any, *, deep: bool) -> bool:
    """Whether something is dropped: of the value itself, or deeper in it or under a condition."""
    here = {id(part) for part in always(document, raw)}
    if not deep:
        return any(_is_closed(document.keywords(part)) for part in always(document, raw))
    return any(_is_closed(document.keywords(part)) for part in _below(document, raw) if id(part) not in here)


def _closes_perhaps(document: Document, raw: Any) -> bool:
    """Whether members of the value itself are dropped under a condition."""
    here = {id(part) for part in always(document, raw)}
    return any(_is_closed(document.keywords(part)) for part in _about(document, raw) if id(part) not in here)


def _below(document: Document, raw: Any) -> Iterator[dict[str, Any]]:
    seen: set[int] = set()
    waiting = [raw]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict) and id(part) not in seen:
            seen.add(id(part))
            yield part
            waiting += [child for where, child in children(part) if not where.startswith(("/$defs", "/definitions"))]
            if isinstance(part.get("$ref"), str):
                waiting.append(document.target(part, part["$ref"]))


def _is_closed(words: Keywords) -> bool:
    return words.get("additionalProperties") is False or words.get("unevaluatedProperties") is False
