"""Goes through two schemas place by place and asks of each statement what its change does to readers."""

from collections.abc import Iterable
from typing import Any

from beleg.contract.compat import facets, walk_arrays, walk_maps, walk_members, walk_unions
from beleg.contract.compat.answers import EMPTY, Empty, Found
from beleg.contract.compat.facets import Facet
from beleg.contract.compat.formula import Node
from beleg.contract.compat.inquiry import Inquiry
from beleg.contract.compat.keywords import Keywords
from beleg.contract.compat.places import Place
from beleg.contract.compat.readings import LENIENT, STRICT
from beleg.contract.compat.sites import At, Site
from beleg.contract.compat.types import kinds_of

_TYPED = frozenset({"R10", "R11"})

_Said = list[tuple[dict[str, Any], Keywords]]


class Walk:
    """The walk through OLD and NEW; what it finds is noted in the inquiry."""

    def __init__(self, inquiry: Inquiry) -> None:
        self.inquiry = inquiry
        self.pool = inquiry.pool
        self._seen: set[tuple[tuple[int, ...], tuple[int, ...], bool]] = set()

    def start(self) -> None:
        """Walk from the root."""
        self.visit(Place(), [self.inquiry.old.document.root], [self.inquiry.new.document.root])

    def visit(self, place: Place, olds: Iterable[Any], news: Iterable[Any]) -> None:
        """Compare what two sets of subschemas say about one place, and about all below."""
        old, new = At(self.inquiry.old, olds), At(self.inquiry.new, news)
        at = (old.key, new.key, place.required)
        if at in self._seen or old.formula is new.formula:
            return
        self._seen.add(at)
        place = place._replace(old_recurs=place.old_recurs or old.recurs, new_recurs=place.new_recurs or new.recurs)
        site = Site(place, old, new)
        retyped = self._required_type(site)
        said = {word for side in (old, new) for _, words in side.words for word in words}
        for facet in (facet for facet in facets.FACETS if not said.isdisjoint(facet.words)):
            self.facet(facet, site, quiet=retyped and facet.words[0] == "type")
        self._references(site)
        walk_unions.visit(self, site)
        walk_members.visit(self, site)
        walk_maps.visit(self, site)
        walk_arrays.visit(self, site)

    def facet(self, facet: Facet, site: Site, *, quiet: bool = False) -> None:
        """Compare one statement; `quiet` where its narrowing is already told."""
        olds, news = (
            [(part, found) for part, words in side.words if (found := facet.of(words))] for side in (site.old, site.new)
        )
        self._wider(facet, site, olds, news)
        if not quiet:
            self._narrower(facet, site, olds, news)

    def _wider(self, facet: Facet, site: Site, olds: _Said, news: _Said) -> None:
        _, old, new = site
        now = news[0][1] if news else {}
        kept = {new.version.compiler.fragment(part, words, STRICT) for part, words in news}
        for part, words in olds:
            promise = old.version.compiler.fragment(part, words, LENIENT)
            if promise in kept:
                continue
            answer = self.inquiry.breaks(site.place, promise) if self._may_break(new, promise) else EMPTY
            rule = self.rule(_rule(facet, words, now, site), site, gone=None if news else part)
            pointer = (new if news else old).pointer(next(iter(now or words)))
            text = facets.sentence(facet, site.place.label, words, now, wider=True)
            if not self.inquiry.report_break(rule, pointer, text, answer):
                self._open_list(words, site, pointer)

    def _narrower(self, facet: Facet, site: Site, olds: _Said, news: _Said) -> None:
        _, old, new = site
        before = olds[0][1] if olds else {}
        known = {old.version.compiler.fragment(part, words, STRICT) for part, words in olds}
        for part, words in news:
            compiler = new.version.compiler
            promise = compiler.fragment(part, words, LENIENT)
            if known.isdisjoint({promise, compiler.fragment(part, words, STRICT)}) and self._may_break(old, promise):
                rule = self.rule(facet.narrower, site, came=part)
                text = facets.sentence(facet, site.place.label, before, words, wider=False)
                pointer = f"{new.document.pointer(part)}/{next(iter(words))}"
                self.inquiry.report_loss(rule, pointer, text, self.inquiry.loses(site.place, promise))

    def _may_break(self, side: At, promise: Node) -> bool:
        """Whether what is said at the place alone leaves it open; quicker to tell than for whole results."""
        return not isinstance(self.inquiry.solver.find(side.formula, self.pool.not_(promise)), Empty)

    def _open_list(self, words: Keywords, site: Site, pointer: str) -> None:
        """R13 where the old list of values told readers to expect more."""
        if words.get("x-open-enum") is True:
            listed = site.old.version.compiler.fragment({}, words, STRICT)
            if isinstance(self.inquiry.solver.find(site.new.formula, self.pool.not_(listed)), Found):
                text = f"Values were added to the list of {site.place.label}, which readers know to be open."
                self.inquiry.note("R13", "minor", pointer, text)

    def _references(self, site: Site) -> None:
        """References that lead out of the schema."""
        for part, words in site.old.having("$ref"):
            promise = site.old.version.compiler.reference(part, words["$ref"], LENIENT)
            if promise.op == "opaque":
                text = f"The reference {words['$ref']!r} of {site.place.label} leads out of the schema."
                pointer = f"{site.old.document.pointer(part)}/$ref"
                self.inquiry.report_break("R62", pointer, text, self.inquiry.breaks(site.place, promise))

    def rule(
        self, rule: str, site: Site, *, gone: dict[str, Any] | None = None, came: dict[str, Any] | None = None
    ) -> str:
        """The rule that says most about a change: that of the statement, or of the place where it stands."""
        place = site.place
        if place.old_recurs != place.new_recurs or (rule in _TYPED and place.old_recurs):
            return "R53"
        if rule in _TYPED:
            return place.rule or _by_union(rule, site)
        if place.steps and place.steps[-1].how == "alternative":
            return place.rule or rule
        return _by_part(rule, site.new if came is not None else site.old, came if came is not None else gone)

    def _required_type(self, site: Site) -> bool:
        """R11: fewer types are left for a field that every result has."""
        place, old, new = site
        before, now = kinds_of(old.document, old.parts), kinds_of(new.document, new.parts)
        gone = before - now
        unions = all(side.having("anyOf", "oneOf") for side in (old, new))
        if not place.required or not gone or (unions and "null" not in gone):
            return False
        find, kinds = self.inquiry.solver.find, self.pool.kinds(gone)
        if not isinstance(find(old.formula, kinds), Found) or not isinstance(find(new.formula, kinds), Empty):
            return False
        text = f"The required {place.label} can no longer be {' or '.join(sorted(gone))}: its type changed."
        answer = self.inquiry.loses(place, self.pool.kinds(now))
        self.inquiry.report_policy("R11", new.pointer("type"), text, answer)
        return True


def _rule(facet: Facet, before: Keywords, now: Keywords, site: Site) -> str:
    if facet.wider == "R13" and facets.confusable(before, now):
        return "R51"
    if facet.words == ("minItems",) and walk_arrays.is_shorter(site):
        return "R32"
    return facet.wider


def _by_union(rule: str, site: Site) -> str:
    """A type that became a union, or a union that became a type."""
    mine, other = (site.old, site.new) if rule == "R10" else (site.new, site.old)
    if not other.having("anyOf", "oneOf") or mine.having("anyOf", "oneOf"):
        return _by_part(rule, mine, None)
    return "R34" if other.having("anyOf") else "R35"


def _by_part(rule: str, side: At, part: dict[str, Any] | None) -> str:
    if part is not None and "/allOf/" in side.document.pointer(part):
        return "R36"
    return "R52" if part is not None and "$ref" in side.document.keywords(part) else rule
