"""`unevaluatedProperties` and `unevaluatedItems`, written out as formulas over what the neighbours evaluate."""

from typing import TYPE_CHECKING, Any, NamedTuple

from beleg.contract.compat.formula import Node
from beleg.contract.compat.keywords import Keywords
from beleg.contract.compat.readings import Reading
from beleg.contract.compat.verdict import Unprovable

if TYPE_CHECKING:
    from beleg.contract.compat.compiling import Compiler

_MAX_WAYS = 64


class _Way(NamedTuple):
    """One way in which the neighbours can apply, and what they evaluate then."""

    when: Node
    names: frozenset[str] = frozenset()
    patterns: frozenset[str] = frozenset()
    all_members: bool = False
    prefix: int = 0
    all_items: bool = False
    contained: tuple[Node, ...] = ()


def unevaluated(compiler: "Compiler", raw: dict[str, Any], words: Keywords, reading: Reading) -> Node:
    """The formula of both keywords of a subschema; raises Unprovable where its neighbours are too many."""
    pool = compiler.pool
    inner = reading._replace(scope=None)
    members, items = (compiler.node(words.get(word, True), inner) for word in _KEYWORDS)
    if reading.scope is not None and members is pool.false:
        members = pool.true
    if members is pool.true and items is pool.true:
        return pool.true
    parts = []
    for way in _ways(compiler, raw, reading, own=True):
        demands = [way.when]
        if not way.all_members:
            known = dict.fromkeys(way.names, pool.true)
            demands.append(pool.members(known, dict.fromkeys(way.patterns, pool.true), members))
        if not way.all_items:
            demands.append(pool.items([pool.true] * way.prefix, pool.or_([items, *way.contained])))
        parts.append(pool.and_(demands))
    return pool.or_(parts)


_KEYWORDS = ("unevaluatedProperties", "unevaluatedItems")


def _ways(compiler: "Compiler", raw: Any, reading: Reading, *, own: bool = False, depth: int = 0) -> list[_Way]:
    pool = compiler.pool
    if not isinstance(raw, dict):
        return [_Way(pool.true)]
    if depth > 50:
        msg = "unevaluated members lie behind references without end"
        raise Unprovable(msg)
    words = compiler.document.keywords(raw)
    ways = [_own(compiler, words, own=own)]
    always = list(words.get("allOf", ()))
    if "$ref" in words:
        always.append(compiler.document.target(raw, words["$ref"]))
    for child in always:
        ways = _product(pool, ways, _ways(compiler, child, reading, depth=depth + 1))
    for test, child in _conditional(compiler, words, reading):
        taken = [
            way._replace(when=pool.and_([way.when, test])) for way in _ways(compiler, child, reading, depth=depth + 1)
        ]
        if any(way != _Way(way.when) for way in taken):
            ways = _product(pool, ways, [*taken, _Way(pool.not_(test))])
    return ways


def _conditional(compiler: "Compiler", words: Keywords, reading: Reading) -> list[tuple[Node, Any]]:
    exactly = Reading(scope=reading.scope)
    found = [(compiler.node(child, exactly), child) for word in ("anyOf", "oneOf") for child in words.get(word, ())]
    if "if" in words:
        test = compiler.node(words["if"], exactly)
        found += [(test, words["if"]), (test, words.get("then", True))]
        found.append((compiler.pool.not_(test), words.get("else", True)))
    for name, child in words.get("dependentSchemas", {}).items():
        pool = compiler.pool
        found.append((pool.and_([pool.kinds({"object"}), pool.make("has", name)]), child))
    return found


def _own(compiler: "Compiler", words: Keywords, *, own: bool) -> _Way:
    contained = (compiler.node(words["contains"]),) if "contains" in words and compiler.document.dialect == 2020 else ()
    return _Way(
        compiler.pool.true,
        frozenset(words.get("properties", ())),
        frozenset(words.get("patternProperties", ())),
        "additionalProperties" in words or (not own and "unevaluatedProperties" in words),
        len(words.get("prefixItems", ())),
        "items" in words or (not own and "unevaluatedItems" in words),
        contained,
    )


def _product(pool: Any, ones: list[_Way], others: list[_Way]) -> list[_Way]:
    if len(ones) * len(others) > _MAX_WAYS:
        msg = "too many alternatives decide which members are unevaluated"
        raise Unprovable(msg)
    found = []
    for one in ones:
        for other in others:
            when = pool.and_([one.when, other.when])
            if when is not pool.false:
                found.append(_both(when, one, other))
    return found


def _both(when: Node, one: _Way, other: _Way) -> _Way:
    return _Way(
        when,
        one.names | other.names,
        one.patterns | other.patterns,
        one.all_members or other.all_members,
        max(one.prefix, other.prefix),
        one.all_items or other.all_items,
        one.contained + other.contained,
    )
