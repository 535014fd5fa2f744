"""The members of objects that have no name of their own in the schema: by pattern, and all the others."""

from typing import TYPE_CHECKING, Any

from beleg.contract.compat.answers import EMPTY, Found
from beleg.contract.compat.formula import Node, Pool
from beleg.contract.compat.patterns import found_in
from beleg.contract.compat.places import Step
from beleg.contract.compat.readings import LENIENT
from beleg.contract.compat.sites import At, Site

if TYPE_CHECKING:
    from beleg.contract.compat.walk import Walk

REST = ("additionalProperties", "unevaluatedProperties")


def visit(walk: "Walk", site: Site) -> None:
    """Compare what is said about members by pattern, and about all others."""
    before, now = _patterns(site.old), _patterns(site.new)
    for text in {**now, **before}:
        if text in before and text in now:
            inside = site.place.below(Step("pattern", text), rule="R09")
            walk.visit(inside, [before[text]], [now[text]])
        elif text in before:
            _gone(walk, site, text, before[text])
        else:
            _came(walk, site, text, now[text])
    _rest(walk, site)


def declared(side: At) -> dict[str, None]:
    """The names that have a schema of their own, in their order."""
    return {name: None for _, words in side.words for name in words.get("properties", ())}


def by_pattern(side: At, name: str) -> list[Any]:
    """The schemas of the patterns that a name matches."""
    return [schema for text, schema in _patterns(side).items() if found_in(text, name)]


def _patterns(side: At) -> dict[str, Any]:
    return {text: schema for _, words in side.words for text, schema in words.get("patternProperties", {}).items()}


def _gone(walk: "Walk", site: Site, text: str, schema: Any) -> None:
    inquiry, pool = walk.inquiry, walk.pool
    place, old, new = site
    sentence = f"The rule for {place.below(Step('pattern', text)).label} is gone"
    pointer = old.pointer("patternProperties", text)
    # Of names that are declared now, R08 tells.
    named = sorted(name for name in declared(new) if found_in(text, name))
    promise = _like(pool, text, old.version.compiler.node(schema, LENIENT))
    says = pool.or_([*(pool.make("has", name) for name in named), promise])
    if not inquiry.report_break("R09", pointer, f"{sentence}.", inquiry.breaks(place, says)):
        lost = EMPTY if named else inquiry.loses(place, _like(pool, text, pool.false))
        inquiry.report_loss("R09", pointer, f"{sentence}: none can appear.", lost)


def _came(walk: "Walk", site: Site, text: str, schema: Any) -> None:
    inquiry = walk.inquiry
    inside = site.place.below(Step("pattern", text))
    sentence = f"There is a new rule for {inside.label}."
    pointer = site.new.pointer("patternProperties", text)
    answer = inquiry.loses(inside, site.new.version.compiler.node(schema))
    if not inquiry.report_loss("R09", pointer, sentence, answer):
        closed = any(words.get(word) is False for _, words in site.old.words for word in REST)
        inquiry.note("R06" if closed else "R09", "minor", pointer, sentence)


def _like(pool: Pool, text: str, node: Node) -> Node:
    return pool.members({}, {text: node}, pool.true)


def _rest(walk: "Walk", site: Site) -> None:
    inquiry = walk.inquiry
    place, old, new = site
    before, now = ([w[word] for _, w in side.words for word in REST if word in w] for side in (old, new))
    if not before and not now:
        return
    names = tuple(sorted({**declared(old), **declared(new)}))
    texts = tuple(sorted({**_patterns(old), **_patterns(new)}))
    rule = "R07" if any(schema is not True for schema in before) else "R05"
    inside = place.below(Step("map", known=(names, texts)), rule=rule)
    pointer = new.pointer(next((word for word in REST if new.having(word)), REST[0]))
    if False in before:
        if False not in now and isinstance(inquiry.gained, Found):
            text = f"{place.title} may now have members that are not declared; readers ignore them."
            inquiry.note("R06", "minor", pointer, text)
    elif False in now:
        text = f"{place.title} can no longer have members that are not declared."
        inquiry.report_loss(rule, pointer, text, inquiry.loses(inside, walk.pool.false))
    else:
        walk.visit(inside, before, now)
