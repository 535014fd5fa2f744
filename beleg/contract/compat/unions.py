"""Alternatives that exclude each other, as far as one sees at once: other kinds, other values, other tags."""

from beleg.contract.compat.formula import Node, Pool

_MAX_PAIRS = 200


def exclude_each_other(pool: Pool, nodes: list[Node]) -> bool:
    """Whether it is plain that no value obeys two of the formulas."""
    if any(_tags_differ(nodes, name) for name in _tags(nodes[0])):
        return True
    pairs = [(a, b) for i, a in enumerate(nodes) for b in nodes[:i]] if len(nodes) <= _MAX_PAIRS else []
    return bool(pairs or len(nodes) == 1) and all(pool.and_([a, b]) is pool.false for a, b in pairs)


def _tags(node: Node) -> set[str]:
    """Names of members that every value of the formula has, with a value from a list."""
    parts = node.args if node.op == "and" else ()
    if not any(part.op == "kinds" and part.args[0] == {"object"} for part in parts):
        return set()
    required = {part.args[0] for part in parts if part.op == "has"}
    return {name for name in required if _values(node, name)}


def _values(node: Node, name: str) -> frozenset[object]:
    members = [part for part in node.args if part.op == "members" and name in part.named]
    return next((part.named[name].args[0] for part in members if part.named[name].op == "enum"), frozenset())


def _tags_differ(nodes: list[Node], name: str) -> bool:
    if not all(name in _tags(node) for node in nodes):
        return False
    listed = [_values(node, name) for node in nodes]
    return len(frozenset().union(*listed)) == sum(map(len, listed))
