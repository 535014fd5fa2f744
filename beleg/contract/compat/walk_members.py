"""The fields of objects: required, optional, reserved, new and gone."""

from typing import TYPE_CHECKING, Any

from beleg.contract.compat.answers import Empty
from beleg.contract.compat.patterns import found_in
from beleg.contract.compat.places import Step
from beleg.contract.compat.readings import LENIENT
from beleg.contract.compat.scope import everywhere
from beleg.contract.compat.sites import At, Site
from beleg.contract.compat.walk_maps import REST, by_pattern, declared

if TYPE_CHECKING:
    from beleg.contract.compat.walk import Walk

_ABOUT = ("properties", "patternProperties", "required", "anyOf", "oneOf", *REST)
_ANYTHING: tuple[Any, ...] = (True, False, {})


def visit(walk: "Walk", site: Site) -> None:
    """Compare the fields at a place."""
    if not any(side.having(*_ABOUT) for side in (site.old, site.new)):
        return
    was, now = _always_there(walk, site.old), _always_there(walk, site.new)
    _no_longer(walk, site, [name for name in was if name not in now])
    _newly(walk, site, [name for name in now if name not in was])
    for name in {**declared(site.new), **declared(site.old)}:
        _member(walk, site, name, was, now)


def _no_longer(walk: "Walk", site: Site, names: list[str]) -> None:
    place, old, new = site
    for name in names:
        inside = place.below(Step("member", name))
        text, pointer = f"{inside.title} is no longer required; a reader may find it missing.", new.pointer("required")
        if name not in declared(new):
            text = f"Required {inside.label} is gone; every reader could rely on it."
            pointer = old.pointer("properties", name)
        answer = walk.inquiry.breaks(place, walk.pool.make("has", name))
        walk.inquiry.report_break(walk.rule("R03", site), pointer, text, answer)


def _newly(walk: "Walk", site: Site, names: list[str]) -> None:
    if not names or not all(_may_be_object(walk, side) for side in (site.old, site.new)):
        return
    for name in names:
        text = f"{site.place.below(Step('member', name)).title} is now required; older results may not have it."
        answer = walk.inquiry.loses(site.place, walk.pool.make("has", name))
        walk.inquiry.report_policy("R02", site.new.pointer("required"), text, answer)


def _may_be_object(walk: "Walk", side: At) -> bool:
    return not isinstance(walk.inquiry.solver.find(side.formula, walk.pool.kinds({"object"})), Empty)


def _always_there(walk: "Walk", side: At) -> list[str]:
    """Names that every object here has, by `required` or because all alternatives require them."""
    pool, find = walk.pool, walk.inquiry.solver.find
    always = {name for _, words in side.words for name in words.get("required", ())}
    parts = [part for raw in side.raws for part in everywhere(side.document, raw)]
    perhaps = {name for part in parts for name in side.document.keywords(part).get("required", ())} - always
    for name in sorted(perhaps):
        without = pool.and_([pool.kinds({"object"}), pool.not_(pool.make("has", name))])
        if isinstance(find(side.formula, without), Empty):
            always.add(name)
    return sorted(always)


def _member(walk: "Walk", site: Site, name: str, was: list[str], now: list[str]) -> None:
    olds, news = (_schemas(side, name) for side in (site.old, site.new))
    inside = site.place.below(Step("member", name), required=name in was)
    if olds and news and False in olds + news:
        _reserved(walk, site._replace(place=inside), name, olds, news)
    elif olds and news:
        walk.visit(inside, [*olds, *by_pattern(site.old, name)], [*news, *by_pattern(site.new, name)])
    elif news:
        _added(walk, site._replace(place=inside), name, required=name in was or name in now)
    elif name not in was:
        _removed(walk, site._replace(place=inside), name)


def _schemas(side: At, name: str) -> list[Any]:
    return [words["properties"][name] for _, words in side.words if name in words.get("properties", ())]


def _covering(side: At, name: str) -> list[Any]:
    """The schemas, if they say anything, of patterns or of the rest, that a name without its own falls under."""
    found = []
    for _, words in side.words:
        matching = [s for text, s in words.get("patternProperties", {}).items() if found_in(text, name)]
        found += matching or [words[word] for word in REST if word in words]
    return [schema for schema in found if schema not in _ANYTHING]


def _reserved(walk: "Walk", inside: Site, name: str, olds: list[Any], news: list[Any]) -> None:
    inquiry, place = walk.inquiry, inside.place
    pointer = inside.new.pointer("properties", name)
    if False in olds and False not in news:
        text = f"{place.title} was reserved for no use and may now appear."
        inquiry.report_break("R04", pointer, text, inquiry.breaks(place, walk.pool.false))
    elif False in news and False not in olds:
        text = f"{place.title} may no longer appear."
        inquiry.report_loss("R04", pointer, text, inquiry.loses(place, walk.pool.false))


def _added(walk: "Walk", inside: Site, name: str, *, required: bool) -> None:
    inquiry, place = walk.inquiry, inside.place
    covering = _covering(inside.old, name)
    pointer = inside.new.pointer("properties", name)
    if covering:
        text = f"New {place.label} does not follow what readers expect of all members like it."
        if inquiry.report_break("R08", pointer, text, inquiry.breaks(place, _promise(walk, inside.old, covering))):
            return
    if not required:
        rule = walk.rule("R08" if covering else "R01", inside)
        inquiry.note(rule, "minor", pointer, f"Optional {place.label} is new.")


def _removed(walk: "Walk", inside: Site, name: str) -> None:
    inquiry, place = walk.inquiry, inside.place
    rule = walk.rule("R08" if _covering(inside.new, name) else "R04", inside)
    pointer = inside.old.pointer("properties", name)
    text = f"{place.title} is no longer declared, so that it may now come with any value: "
    text += "close the object, or declare the field as false."
    answer = inquiry.breaks(place, _promise(walk, inside.old, _schemas(inside.old, name)))
    if not inquiry.report_break(rule, pointer, text, answer):
        inquiry.note(rule, "minor", pointer, f"Optional {place.label} is gone.")


def _promise(walk: "Walk", side: At, schemas: list[Any]) -> Any:
    return walk.pool.and_([side.version.compiler.node(schema, LENIENT) for schema in schemas])
