"""The entries of arrays, by position and all the others."""

from typing import TYPE_CHECKING, Any

from beleg.contract.compat.places import Step
from beleg.contract.compat.sites import At, Site

if TYPE_CHECKING:
    from beleg.contract.compat.walk import Walk

_Layout = tuple[list[list[Any]], list[Any]]
_OPEN: _Layout = ([], [True])


def visit(walk: "Walk", site: Site) -> None:
    """Compare the entries at a place."""
    before, now = _layout(site.old), _layout(site.new)
    if before is _OPEN and now is _OPEN:
        return
    length = max(len(before[0]), len(now[0]))
    for position in range(length):
        inside = site.place.below(Step("entry", position=position), rule="R32")
        _entry(walk, site._replace(place=inside), _at(before, position), _at(now, position))
    inside = site.place.below(Step("entries", position=length), rule="R32" if length else "R30")
    _entry(walk, site._replace(place=inside), before[1], now[1])


def is_shorter(site: Site) -> bool:
    """Whether fewer positions have schemas of their own."""
    return len(_layout(site.old)[0]) > len(_layout(site.new)[0])


def _layout(side: At) -> _Layout:
    """The subschemas of each position, and of all entries after them."""
    found = [words for _, words in side.having("prefixItems", "items", "unevaluatedItems")]
    if not found:
        return _OPEN
    length = max(len(words.get("prefixItems", ())) for words in found)
    prefix = [[_of(words, position) for words in found] for position in range(length)]
    return prefix, [_of(words, length) for words in found]


def _of(words: dict[str, Any], position: int) -> Any:
    prefix = words.get("prefixItems", ())
    if position < len(prefix):
        return prefix[position]
    return words.get("items", words.get("unevaluatedItems", True))


def _at(layout: _Layout, position: int) -> list[Any]:
    prefix, rest = layout
    return prefix[position] if position < len(prefix) else rest


def _entry(walk: "Walk", inside: Site, before: list[Any], now: list[Any]) -> None:
    inquiry, place, new = walk.inquiry, inside.place, inside.new
    rule = place.rule or "R30"
    if False in before and False not in now:
        text = f"There may now be more: {place.label} could not exist before."
        pointer = new.pointer("prefixItems") if new.having("prefixItems") else new.pointer("items")
        inquiry.report_break(rule, pointer, text, inquiry.breaks(place, walk.pool.false))
    elif False in now and False not in before:
        text = f"There can no longer be so many: {place.label} is gone."
        inquiry.report_loss(rule, new.pointer("items"), text, inquiry.loses(place, walk.pool.false))
    elif False not in before:
        walk.visit(place, before, now)
