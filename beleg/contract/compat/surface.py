"""What changes no result and is still seen: annotations, deprecation, and which members are declared."""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from beleg.contract.compat.documents import Document, escaped
from beleg.contract.compat.inquiry import Inquiry
from beleg.contract.compat.keywords import SHAPES
from beleg.contract.compat.places import Place, Step
from beleg.contract.compat.scope import everywhere
from beleg.contract.compat.values import key

_NO_ANNOTATION: Final = (frozenset(SHAPES) - {"additionalItems", "dependencies"}) | {
    *("const", "$defs", "definitions", "$anchor", "$dynamicAnchor", "$dynamicRef", "$recursiveRef", "$recursiveAnchor"),
    *("$schema", "deprecated"),
}

Pair = tuple[Place, list[Any], list[Any]]


def compare(inquiry: Inquiry, *, same_results: bool) -> None:
    """Note annotations that changed; where the results are the same, members that are declared or no longer so."""
    old, new = inquiry.old.document, inquiry.new.document
    waiting: list[Pair] = [(Place(), [old.root], [new.root])]
    seen = set()
    while waiting:
        place, olds, news = waiting.pop()
        if _same_text(olds, news):
            continue
        before, now = _parts(old, olds), _parts(new, news)
        at = (tuple(map(id, before)), tuple(map(id, now)))
        inquiry.pool.tick()
        if at in seen:
            continue
        seen.add(at)
        _annotations(inquiry, place, before, now)
        _deprecation(inquiry, place, before, now)
        if same_results and inquiry.old.formula(olds) is not inquiry.new.formula(news):
            _declared(inquiry, place, before, now)
        waiting += _below(inquiry, place, before, now)


def _same_text(olds: list[Any], news: list[Any]) -> bool:
    """Whether nothing can differ: the same text, without references that could mean different things."""
    text = repr(olds)
    return "$ref" not in text and text == repr(news)


def _parts(document: Document, raws: Iterable[Any]) -> list[dict[str, Any]]:
    return list({id(part): part for raw in raws for part in everywhere(document, raw)}.values())


def _annotations(inquiry: Inquiry, place: Place, before: list[dict[str, Any]], now: list[dict[str, Any]]) -> None:
    old, new = (_notes(document, parts) for document, parts in _both(inquiry, before, now))
    for word in sorted(set(old) | set(new)):
        if old.get(word) != new.get(word):
            document, parts = _both(inquiry, before, now)[word in new]
            pointer = _pointer(document, parts, word)
            inquiry.note("R40", "patch", pointer, f"The note {word!r} of {place.label} changed.")


def _both(
    inquiry: Inquiry, before: list[dict[str, Any]], now: list[dict[str, Any]]
) -> tuple[tuple[Document, list[dict[str, Any]]], tuple[Document, list[dict[str, Any]]]]:
    return (inquiry.old.document, before), (inquiry.new.document, now)


def _notes(document: Document, parts: list[dict[str, Any]]) -> dict[str, set[Any]]:
    found: dict[str, set[Any]] = {}
    for part in parts:
        for word, value in document.keywords(part).items():
            unknown = document.dialect == 2020 and word in {"additionalItems", "dependencies"}
            if word not in _NO_ANNOTATION or unknown:
                found.setdefault(word, set()).add(key(value))
    return found


def _pointer(document: Document, parts: list[dict[str, Any]], word: str) -> str:
    part = next((part for part in parts if word in part), None)
    return "" if part is None else f"{document.pointer(part)}/{escaped(word)}"


def _deprecation(inquiry: Inquiry, place: Place, before: list[dict[str, Any]], now: list[dict[str, Any]]) -> None:
    was, is_now = (any(part.get("deprecated") is True for part in parts) for parts in (before, now))
    if is_now and not was:
        pointer = _pointer(inquiry.new.document, now, "deprecated")
        inquiry.note("R41", "minor", pointer, f"{place.title} is marked as deprecated.")
    if was and not is_now:
        pointer = _pointer(inquiry.old.document, before, "deprecated")
        inquiry.note("R40", "patch", pointer, f"{place.title} is no longer marked as deprecated.")


def _declared(inquiry: Inquiry, place: Place, before: list[dict[str, Any]], now: list[dict[str, Any]]) -> None:
    old, new = (_members(document, parts) for document, parts in _both(inquiry, before, now))
    for name in sorted(set(old) ^ set(new)):
        added = name in new
        document, parts = _both(inquiry, before, now)[added]
        label = place.below(Step("member", name)).title
        text = f"{label} is {'now' if added else 'no longer'} declared; the possible results are the same."
        pointer = f"{_pointer(document, parts, 'properties')}/{escaped(name)}"
        inquiry.note("R08", "minor", pointer, text)


def _members(document: Document, parts: list[dict[str, Any]]) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for part in parts:
        for name, schema in document.keywords(part).get("properties", {}).items():
            if schema is not False:
                found.setdefault(name, []).append(schema)
    return found


def _below(inquiry: Inquiry, place: Place, before: list[dict[str, Any]], now: list[dict[str, Any]]) -> Iterator[Pair]:
    olds, news = (_inside(document, parts) for document, parts in _both(inquiry, before, now))
    for step in sorted(set(olds) & set(news), reverse=True):
        yield place.below(step), olds[step], news[step]


def _inside(document: Document, parts: list[dict[str, Any]]) -> dict[Step, list[Any]]:
    found: dict[Step, list[Any]] = {}
    for name, schemas in _members(document, parts).items():
        found[Step("member", name)] = schemas
    for part in parts:
        words = document.keywords(part)
        for text, schema in words.get("patternProperties", {}).items():
            found.setdefault(Step("pattern", text), []).append(schema)
        for position, schema in enumerate(words.get("prefixItems", ())):
            found.setdefault(Step("entry", position=position), []).append(schema)
        for word, how in (("items", "entries"), ("contains", "entries"), ("additionalProperties", "map")):
            if word in words:
                found.setdefault(Step(how), []).append(words[word])  # type: ignore[arg-type]
    return found
