"""Formulas about values of one kind, with negation only in front of single assertions."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from beleg.contract.compat import values
from beleg.contract.compat.formula import Node, Pool
from beleg.contract.compat.verdict import Unprovable


class Normal:
    """Normal forms of the formulas of one pool, each made once."""

    def __init__(self, pool: Pool, disjoint: Callable[[Node, Node], bool]) -> None:
        self.pool = pool
        self._disjoint = disjoint
        self._done: dict[tuple[Node, str, bool], Node] = {}
        self._under_way: set[tuple[Node, str, bool]] = set()

    def restricted(self, node: Node, kind: str, *, wanted: bool = True) -> Node:
        """The formula, or its negation, over values of that kind. Raises Unprovable for endless references."""
        at = (node, kind, wanted)
        found = self._done.get(at)
        if found is not None:
            return found
        if at in self._under_way:
            msg = "a reference leads back to itself without end"
            raise Unprovable(msg)
        self._under_way.add(at)
        try:
            self._done[at] = found = self._make(node, kind, wanted)
        finally:
            self._under_way.discard(at)
        return found

    def _make(self, node: Node, kind: str, wanted: bool) -> Node:
        pool, op = self.pool, node.op
        if op in {"and", "or"}:
            parts = [self.restricted(part, kind, wanted=wanted) for part in node.args]
            return pool.and_(parts) if (op == "and") == wanted else pool.or_(parts)
        if op in {"not", "ref", "one_of"}:
            return self.restricted(self._meant(node), kind, wanted=wanted != (op == "not"))
        if op == "enum":
            return self._enum(node, kind, wanted)
        holds = kind in node.args[0] if op == "kinds" else None if node.kind in {kind, None} else True
        if holds is not None:
            return pool.true if holds == wanted else pool.false
        return node if wanted else self._denied(node)

    def _meant(self, node: Node) -> Node:
        if node.op == "one_of":
            return self._one_of(node)
        inner: Node = node.args[0] if node.op == "not" else self.pool.targets[node.args[0]]
        return inner

    def _enum(self, node: Node, kind: str, wanted: bool) -> Node:
        pool = self.pool
        inner = [key for key in node.args[0] if values.kind(pool.values[key]) == kind]
        if wanted:
            return pool.enum_of(inner)
        if kind in {"array", "object"}:
            constants = [self.constant(pool.values[key]) for key in inner]
            return pool.and_([self.restricted(constant, kind, wanted=False) for constant in constants])
        return pool.not_(pool.enum_of(inner))

    def constant(self, value: Any) -> Node:
        """The formula of exactly this value, over the values of its parts."""
        pool = self.pool
        if isinstance(value, dict):
            named = {name: pool.enum([member]) for name, member in value.items()}
            parts = [pool.kinds({"object"}), pool.members(named, {}, pool.false)]
            return pool.and_(parts + [pool.make("has", name) for name in value])
        if isinstance(value, list):
            prefix = [pool.enum([item]) for item in value]
            return pool.and_(
                [pool.kinds({"array"}), pool.items(prefix, pool.false), pool.size("array", least=len(value))]
            )
        return pool.enum([value])

    def _one_of(self, node: Node) -> Node:
        pool = self.pool
        exactly, wanted = node.args
        if all(self._disjoint(a, b) for i, a in enumerate(exactly) for b in exactly[:i]):
            return pool.or_(wanted)
        ways = []
        for i, chosen in enumerate(exactly):
            others = [pool.not_(other) for j, other in enumerate(exactly) if j != i]
            ways.append(pool.and_([chosen, *others]))
        return pool.or_(ways)

    def _denied(self, node: Node) -> Node:
        pool, op, args = self.pool, node.op, node.args
        if op in {"least", "most"}:
            bound: Fraction = args[0]
            return pool.make("most" if op == "least" else "least", bound, not args[1])
        if op in {"size_least", "contains_least"}:
            return pool.make(op.replace("least", "most"), *_with(args, args[1] - 1))
        if op in {"size_most", "contains_most"}:
            return pool.make(op.replace("most", "least"), *_with(args, args[1] + 1))
        return pool.not_(node)


def _with(args: tuple[Any, ...], count: int) -> tuple[Any, ...]:
    return (args[0], count, *args[2:])
