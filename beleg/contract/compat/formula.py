"""Schemas as formulas: and, or, not over single assertions, each formula existing once.

Since equal formulas are one object, equal parts of two schemas are seen to be equal at once, and a
formula is a key under which an answer is remembered.
"""

import time
from collections.abc import Hashable, Iterable
from typing import Any, Final

from beleg.contract.compat import values
from beleg.contract.compat.verdict import Unprovable

ALL_KINDS: Final = frozenset(values.KINDS)

KIND_OF: Final = {
    "least": "number",
    "most": "number",
    "multiple": "number",
    "pattern": "string",
    "format": "string",
    "content": "string",
    "items": "array",
    "unique": "array",
    "distinct": "array",
    "contains_least": "array",
    "contains_most": "array",
    "members": "object",
    "has": "object",
    "names": "object",
}
"""The kind of values that an assertion is about; it holds for values of every other kind."""


class Node:
    """One formula: an operator and its arguments, among them other formulas."""

    __slots__ = ("args", "kind", "named", "number", "op")

    def __init__(self, op: str, args: tuple[Any, ...], number: int) -> None:
        self.op = op
        self.args = args
        self.number = number
        self.kind: str | None = args[0] if op in {"size_least", "size_most"} else KIND_OF.get(op)
        """The kind of values it is about; None for all kinds."""
        self.named: dict[str, Node] = dict(args[0]) if op == "members" else {}
        """For a formula of members: the formula of each name."""

    def __repr__(self) -> str:
        return f"{self.op}{self.args}"


class Pool:
    """All formulas of one comparison, and the moment at which it gives up."""

    def __init__(self, time_limit_s: float) -> None:
        self._nodes: dict[Hashable, Node] = {}
        self._ends = time.monotonic() + time_limit_s
        self._limit_s = time_limit_s
        self.values: dict[Hashable, Any] = {}
        """Key of a value in an enum → that value."""
        self.ranks: dict[Hashable, int] = {}
        """Key of a value in an enum → its place in the order of appearance."""
        self.targets: dict[Hashable, Node] = {}
        """Key of a reference into a recursive schema → what it means."""
        self.compiled: dict[Hashable, Node] = {}
        """Text of a subschema and how it is read → its formula, in either document."""
        self.readable: dict[Node, Node] = {}
        """What a reader can read → the formula of the values it was promised, all of which it can read."""
        self.true = self.make("and")
        self.false = self.make("or")

    def tick(self) -> None:
        """Raises Unprovable when the time is over."""
        if time.monotonic() > self._ends:
            msg = f"not decided within {self._limit_s:g} s"
            raise Unprovable(msg)

    def make(self, op: str, *args: Any) -> Node:
        """The formula of that operator and these arguments."""
        found = self._nodes.get((op, args))
        if found is None:
            if len(self._nodes) % 64 == 0:
                self.tick()
            found = self._nodes[op, args] = Node(op, args, len(self._nodes))
        return found

    def kinds(self, kinds: Iterable[str]) -> Node:
        """Values of these kinds."""
        wanted = frozenset(kinds)
        if not wanted:
            return self.false
        return self.true if wanted == ALL_KINDS else self.make("kinds", wanted)

    def enum(self, members: Iterable[Any]) -> Node:
        """One of these values."""
        keyed = {values.key(member): member for member in members}
        for key, member in keyed.items():
            self.values.setdefault(key, member)
            self.ranks.setdefault(key, len(self.ranks))
        return self.enum_of(keyed)

    def enum_of(self, keys: Iterable[Hashable]) -> Node:
        """One of the values with these keys."""
        wanted = frozenset(keys)
        return self.make("enum", wanted) if wanted else self.false

    def size(self, kind: str, *, least: int = 0, most: int | None = None, scope: Hashable = None) -> Node:
        """Length between two numbers; `scope` restricts the members of an object that count."""
        low = self.make("size_least", kind, least, scope) if least > 0 else self.true
        if most is None:
            return low
        high = self.make("size_most", kind, most, scope) if most >= 0 else self.not_(self.kinds({kind}))
        return self.and_([low, high])

    def members(self, named: dict[str, Node], patterns: dict[str, Node], rest: Node) -> Node:
        """Objects whose members obey their name's formula, those of matching patterns, or else `rest`."""
        if rest is self.true and not patterns and all(node is self.true for node in named.values()) and not named:
            return self.true
        return self.make("members", tuple(sorted(named.items())), tuple(sorted(patterns.items())), rest)

    def items(self, prefix: list[Node], rest: Node) -> Node:
        """Arrays whose elements obey the formula of their position, or else `rest`."""
        while prefix and prefix[-1] is rest:
            prefix = prefix[:-1]
        return self.true if rest is self.true and not prefix else self.make("items", tuple(prefix), rest)

    def not_(self, node: Node) -> Node:
        """Everything else."""
        if node.op == "not":
            return node.args[0]  # type: ignore[no-any-return]
        if node is self.true or node is self.false:
            return self.false if node is self.true else self.true
        if node.op == "kinds":
            return self.kinds(ALL_KINDS - node.args[0])
        return self.make("not", node)

    def and_(self, parts: Iterable[Node]) -> Node:
        """All of them."""
        parts = list(parts)
        if len(parts) == 1:
            return parts[0]
        found: dict[Node, None] = {}
        kinds = ALL_KINDS
        enum: frozenset[Hashable] | None = None
        for part in self._flat("and", parts):
            if part is self.false:
                return part
            if part.op == "kinds":
                kinds &= part.args[0]
            elif part.op == "enum":
                enum = part.args[0] if enum is None else enum & part.args[0]
            else:
                found[part] = None
        if enum is not None:
            found[self.enum_of(k for k in enum if kinds is ALL_KINDS or values.kind(self.values[k]) in kinds)] = None
        elif kinds != ALL_KINDS:
            found = {part: None for part in found if (part.kind or next(iter(kinds), None)) in kinds}
            found[self.kinds(kinds)] = None
        if self.false in found or self._contradictory(found):
            return self.false
        return self._joined("and", found)

    def or_(self, parts: Iterable[Node]) -> Node:
        """Any of them."""
        found: dict[Node, None] = {}
        kinds: frozenset[str] = frozenset()
        enum: frozenset[Hashable] = frozenset()
        for part in self._flat("or", parts):
            if part is self.true:
                return part
            if part.op == "kinds":
                kinds |= part.args[0]
            elif part.op == "enum":
                enum |= part.args[0]
            else:
                found[part] = None
        enum = frozenset(k for k in enum if values.kind(self.values[k]) not in kinds)
        found |= dict.fromkeys(p for p in (self.kinds(kinds), self.enum_of(enum)) if p is not self.false)
        if self.true in found or any(part.op == "not" and part.args[0] in found for part in found):
            return self.true
        return self._joined("or", found)

    def _flat(self, op: str, parts: Iterable[Node]) -> Iterable[Node]:
        for part in parts:
            if part.op == op:
                yield from part.args
            else:
                yield part

    def _contradictory(self, found: dict[Node, None]) -> bool:
        denied = [part.args[0] for part in found if part.op == "not"]
        return any(self._among(node, found) or self._among(self.readable.get(node), found) for node in denied)

    @staticmethod
    def _among(node: Node | None, found: dict[Node, None]) -> bool:
        if node is None:
            return False
        return node in found or (node.op == "and" and all(part in found for part in node.args))

    def _joined(self, op: str, found: dict[Node, None]) -> Node:
        if len(found) == 1:
            return next(iter(found))
        return self.make(op, *sorted(found, key=lambda node: node.number))
