"""Unions: alternatives are paired where exactly one of each side can mean the same results."""

from typing import TYPE_CHECKING, Any, NamedTuple

from beleg.contract.compat import facets
from beleg.contract.compat.formula import Node
from beleg.contract.compat.places import Step
from beleg.contract.compat.sites import At, Site

if TYPE_CHECKING:
    from beleg.contract.compat.walk import Walk

_MAX_PAIRS = 400
_LISTING = frozenset({"const", "enum", "title", "description"})


class _Union(NamedTuple):
    """The alternatives of one side."""

    word: str
    branches: list[Any]
    nodes: list[Node]


def visit(walk: "Walk", site: Site) -> None:
    """Compare the alternatives at a place."""
    before, now = _unions(site.old), _unions(site.new)
    if len(before) == len(now) == 1:
        pairs = _pairs(walk, before[0], now[0])
        if pairs is not None:
            _paired(walk, site, before[0], now[0], pairs)
            return
    for facet in (facets.ANY_OF, facets.ONE_OF):
        branches = [b for union in before + now if union.word == facet.words[0] for b in union.branches]
        listed = facet._replace(wider="R13", narrower="R14", label="list of allowed values")
        walk.facet(listed if branches and _lists(branches) else facet, site)


def _unions(side: At) -> list[_Union]:
    node = side.version.compiler.node
    found = [(word, words[word]) for _, words in side.words for word in ("anyOf", "oneOf") if word in words]
    return [_Union(word, branches, [node(branch) for branch in branches]) for word, branches in found]


def _lists(branches: list[Any]) -> bool:
    """Whether the alternatives are single values: a list of allowed values by another name."""
    return all(isinstance(b, dict) and {"const", "enum"} & set(b) and set(b) <= _LISTING for b in branches)


def _pairs(walk: "Walk", old: _Union, new: _Union) -> list[tuple[int, int]] | None:
    """(old, new) alternatives that can mean the same results; None where one could be paired twice."""
    if _lists(old.branches + new.branches) or len(old.branches) * len(new.branches) > _MAX_PAIRS:
        return None
    disjoint = walk.inquiry.solver.disjoint
    found = [(i, j) for i, a in enumerate(old.nodes) for j, b in enumerate(new.nodes) if not disjoint(a, b)]
    unique = all(len({pair[side] for pair in found}) == len(found) for side in (0, 1))
    return found if unique else None


def _paired(walk: "Walk", site: Site, old: _Union, new: _Union, pairs: list[tuple[int, int]]) -> None:
    inquiry, not_, place = walk.inquiry, walk.pool.not_, site.place
    own = "R34" if old.word == new.word == "anyOf" else "R35"
    rule = walk.rule(own, site._replace(place=place._replace(steps=())))
    for i, j in pairs:
        step = Step("alternative", old=old.nodes[i], new=new.nodes[j])
        walk.visit(place.below(step, required=place.required, rule=rule), [old.branches[i]], [new.branches[j]])
    for j in sorted(set(range(len(new.nodes))) - {j for _, j in pairs}):
        text = f"There is a new alternative for {place.label} that readers do not know."
        answer = inquiry.breaks(place, not_(new.nodes[j]))
        inquiry.report_break(rule, _pointer(site.new, new.branches[j]), text, answer)
    for i in sorted(set(range(len(old.nodes))) - {i for i, _ in pairs}):
        text = f"An alternative for {place.label} is gone."
        inquiry.report_loss(rule, _pointer(site.old, old.branches[i]), text, inquiry.loses(place, not_(old.nodes[i])))


def _pointer(side: At, branch: Any) -> str:
    return side.document.pointer(branch) if isinstance(branch, dict) else side.pointer("anyOf")
