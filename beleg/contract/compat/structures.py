"""The formulas of what schemas say about arrays and objects."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from beleg.contract.compat.entries import Entries, is_shallow
from beleg.contract.compat.evaluate import holds
from beleg.contract.compat.formula import Node, Pool
from beleg.contract.compat.keywords import Keywords
from beleg.contract.compat.patterns import found_in
from beleg.contract.compat.readings import Reading
from beleg.contract.compat.scope import Scope

if TYPE_CHECKING:
    from beleg.contract.compat.compiling import Compiler

_SIZES = {
    "string": ("minLength", "maxLength"),
    "array": ("minItems", "maxItems"),
    "object": ("minProperties", "maxProperties"),
}
SIZED = frozenset(word for pair in _SIZES.values() for word in pair)
OF_ARRAYS = frozenset({"items", "prefixItems", "uniqueItems", "contains"})
OF_OBJECTS = frozenset(
    {"properties", "patternProperties", "additionalProperties", "propertyNames", "required"}
    | {"dependentRequired", "dependentSchemas"},
)


def sizes(pool: Pool, words: Keywords, scope: Scope | None) -> list[Node]:
    """Lengths of strings and arrays, and numbers of members."""
    parts = []
    for of, (low, high) in _SIZES.items():
        counted = scope if of == "object" else None
        if low in words:
            parts.append(pool.size(of, least=int(words[low]), scope=counted))
        if high in words and not (counted and counted.holds_at_most(words[high])):
            parts.append(pool.size(of, most=int(words[high]), scope=counted))
    return parts


def arrays(compiler: "Compiler", words: Keywords, reading: Reading) -> list[Node]:
    """Entries, their repetition, and those that must be among them."""
    if reading.entries is not None:
        return _left(compiler, words, reading.lenient, reading.entries)
    pool, inner, parts = compiler.pool, Reading(lenient=reading.lenient), []
    if "prefixItems" in words or "items" in words:
        prefix = [compiler.node(child, inner) for child in words.get("prefixItems", ())]
        parts.append(pool.items(prefix, compiler.node(words.get("items", True), inner)))
    if words.get("uniqueItems"):
        parts.append(pool.make("unique"))
    if "contains" in words:
        least = int(words.get("minContains", 1))
        if least:
            parts.append(pool.make("contains_least", compiler.node(words["contains"], inner), least))
        if "maxContains" in words:
            parts.append(pool.make("contains_most", compiler.node(words["contains"]), int(words["maxContains"])))
    return parts


def _left(compiler: "Compiler", words: Keywords, lenient: bool, entries: Entries) -> list[Node]:
    """The same, of what is left of the entries."""
    pool, parts = compiler.pool, []
    exactly = Reading(scope=entries.scope)

    def counted(child: Any) -> Node:
        if entries.exact or (entries.known and is_shallow(compiler.document, child)):
            return compiler.node(child, exactly)
        return pool.make("opaque", "entries", id(child))

    if "prefixItems" in words or "items" in words:
        read: Callable[[Any], Node] = partial(compiler.node, reading=Reading(lenient=True, scope=entries.scope))
        inner = read if lenient else counted
        prefix = [inner(child) for child in words.get("prefixItems", ())]
        parts.append(pool.items(prefix, inner(words.get("items", True))))
    if words.get("uniqueItems"):
        parts.append(pool.make("distinct", entries.scope, entries.exact))
    if "contains" in words:
        node, least = counted(words["contains"]), int(words.get("minContains", 1))
        if least:
            parts.append(pool.make("contains_least", node, least))
        if "maxContains" in words:
            parts.append(pool.make("contains_most", node, int(words["maxContains"])))
    return parts


def objects(compiler: "Compiler", words: Keywords, reading: Reading) -> list[Node]:
    """Members, their names, and which must come together."""
    pool, scope, inner = compiler.pool, reading.scope, Reading(lenient=reading.lenient)
    parts = [_has(pool, name, scope) for name in words.get("required", ())]
    for name, needed in words.get("dependentRequired", {}).items():
        then = pool.and_([_has(pool, other, scope) for other in needed])
        parts.append(pool.or_([pool.not_(_has(pool, name, scope)), then]))
    for name, schema in words.get("dependentSchemas", {}).items():
        having = pool.and_([pool.kinds({"object"}), _has(pool, name, scope)])
        parts.append(
            pool.or_([pool.not_(having), compiler.alternative(schema, reading._replace(guarded=reading.lenient))])
        )
    named = {name: compiler.node(child, inner) for name, child in words.get("properties", {}).items()}
    patterns = {text: compiler.node(child, inner) for text, child in words.get("patternProperties", {}).items()}
    rest = compiler.node(words.get("additionalProperties", True), inner)
    parts.append(pool.members(named, patterns, rest) if scope is None else _scoped(pool, named, patterns, rest, scope))
    if "propertyNames" in words:
        parts.append(_names(pool, compiler.node(words["propertyNames"]), scope))
    return parts


def _has(pool: Pool, name: str, scope: Scope | None) -> Node:
    """A member; one that does not count is never there."""
    if scope is not None and not scope.counts(name):
        return pool.not_(pool.kinds({"object"}))
    return pool.make("has", name)


def _scoped(pool: Pool, named: dict[str, Node], patterns: dict[str, Node], rest: Node, scope: Scope) -> Node:
    """The members that count, and nothing about all others."""
    if scope.patterns:
        kept = {name: node for name, node in named.items() if scope.counts(name)}
        return pool.members(kept, patterns, pool.true if rest is pool.false else rest)
    counted = {}
    for name in scope.names:
        own = [node for text, node in patterns.items() if found_in(text, name)]
        own += [named[name]] if name in named else []
        counted[name] = pool.and_(own) if own else rest
    return pool.members({name: node for name, node in counted.items() if node is not pool.true}, {}, pool.true)


def _names(pool: Pool, node: Node, scope: Scope | None) -> Node:
    if scope is None or scope.patterns:
        return pool.make("names", node)
    unfit = {name: pool.false for name in scope.names if holds(pool, node, name) is not True}
    return pool.members(unfit, {}, pool.true)
