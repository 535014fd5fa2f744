"""Finds a value that obeys a formula, or proves that there is none.

Whether NEW breaks a reader of OLD is the question whether a value obeys `NEW and not OLD`. A formula that
comes up again while it is being answered is taken to have no value: a smallest value never contains itself.
"""

import math
from typing import Any, Final, NamedTuple, Protocol

from beleg.contract.compat import arrays, numbers, objects, strings
from beleg.contract.compat.answers import EMPTY, Answer, Empty, Found, Unknown
from beleg.contract.compat.evaluate import holds
from beleg.contract.compat.formula import Node, Pool
from beleg.contract.compat.normal import Normal
from beleg.contract.compat.verdict import Unprovable

_ORDER: Final = ("string", "number", "boolean", "null", "object", "array")


class _Leaf(Protocol):
    def __call__(self, solver: "Solver", literals: list[Node]) -> Answer: ...


_LEAVES: Final[dict[str, _Leaf]] = {
    "number": numbers.find,
    "string": strings.find,
    "array": arrays.find,
    "object": objects.find,
}


class _Frame(NamedTuple):
    depth: int
    begun: int
    """How many provisional answers there were before."""


class Solver:
    """Answers for the formulas of one pool, each found once."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self.normal = Normal(pool, self.disjoint)
        self._answers: dict[Node, Answer] = {}
        self._provisional: dict[Node, float] = {}
        """Formula without a value, if that of a smaller depth has none."""
        self._stack: dict[Node, int] = {}
        self._lowest: float = math.inf
        """Smallest depth whose emptiness was assumed."""
        self._pairs: dict[frozenset[Node], bool] = {}

    def find(self, *parts: Node) -> Answer:
        """A value that obeys all formulas."""
        node = self.pool.and_(parts)
        if node is self.pool.false:
            return EMPTY
        known = self._answers.get(node)
        if known is not None:
            return known
        if node in self._stack or node in self._provisional:
            assumed = self._stack[node] if node in self._stack else self._provisional[node]
            self._lowest = min(self._lowest, assumed)
            return EMPTY
        return self._find_once(node)

    def _find_once(self, node: Node) -> Answer:
        self.pool.tick()
        frame = _Frame(len(self._stack), len(self._provisional))
        outside, self._lowest = self._lowest, math.inf
        self._stack[node] = frame.depth
        try:
            answer = self._of_any_kind(node)
        finally:
            del self._stack[node]
        assumed, self._lowest = self._lowest, outside
        self._keep(node, answer, assumed, frame)
        return answer

    def _keep(self, node: Node, answer: Answer, assumed: float, frame: _Frame) -> None:
        inner = list(self._provisional)[frame.begun :] if len(self._provisional) > frame.begun else []
        if isinstance(answer, Empty) and assumed < frame.depth:
            self._provisional[node] = assumed
            self._lowest = min(self._lowest, assumed)
            return
        self._answers[node] = answer
        for other in inner:
            del self._provisional[other]
            if isinstance(answer, Empty):
                self._answers[other] = EMPTY

    def _of_any_kind(self, node: Node) -> Answer:
        unknown: Answer = EMPTY
        limits = [part.args[0] for part in parts_of(node) if part.op == "kinds"]
        for kind in (kind for kind in _ORDER if all(kind in limit for limit in limits)):
            answer = self._of_kind(kind, self.normal.restricted(node, kind))
            if isinstance(answer, Found):
                return answer
            unknown = answer if isinstance(answer, Unknown) else unknown
        return unknown

    def _of_kind(self, kind: str, node: Node) -> Answer:
        if node is self.pool.false:
            return EMPTY
        if kind == "null":
            return self._among(node, [None])
        if kind == "boolean":
            return self._among(node, [True, False])
        return self._branch(kind, node)

    def _among(self, node: Node, candidates: list[Any]) -> Answer:
        answer: Answer = EMPTY
        for value in candidates:
            verdict = holds(self.pool, node, value)
            if verdict:
                return Found(value)
            if verdict is None:
                answer = self._exactly(node, value)
                if isinstance(answer, Found):
                    return answer
        return answer

    def _exactly(self, node: Node, value: Any) -> Answer:
        """A value that evaluation could not judge: judged as a formula where it has parts."""
        if isinstance(value, dict | list):
            rest = self.pool.and_([part for part in parts_of(node) if part.op != "enum"])
            return self.find(rest, self.normal.constant(value))
        return Unknown("it depends on a promise that values do not show", _rule(node))

    def _branch(self, kind: str, node: Node) -> Answer:
        self.pool.tick()
        node, choices = self._simplified(node)
        if node is self.pool.false:
            return EMPTY
        literals = [part for part in parts_of(node) if part.op != "or"]
        for literal in literals:
            if literal.op == "enum":
                keys = sorted(literal.args[0], key=self.pool.ranks.__getitem__)
                return self._among(node, [self.pool.values[key] for key in keys])
        if choices:
            return self._choose(kind, node, min(choices, key=lambda choice: len(choice.args)))
        if any("opaque" in {literal.op, literal.args[0].op if literal.op == "not" else ""} for literal in literals):
            return Unknown("it depends on a reference that leads out of the schema", "R62")
        return _LEAVES[kind](self, literals)

    def _choose(self, kind: str, node: Node, choice: Node) -> Answer:
        others = [part for part in parts_of(node) if part is not choice]
        unknown: Answer = EMPTY
        for alternative in choice.args:
            answer = self._branch(kind, self.pool.and_([*others, alternative]))
            if isinstance(answer, Found):
                return answer
            unknown = answer if isinstance(answer, Unknown) else unknown
        return unknown

    def _simplified(self, node: Node) -> tuple[Node, list[Node]]:
        """The formula without choices that are decided, and the choices that are left."""
        while node is not self.pool.false:
            parts = parts_of(node)
            facts = objects.Facts(self.pool, [part for part in parts if part.op != "or"])
            kept = [part if part.op != "or" else self._decided(part, facts) for part in parts]
            simpler = self.pool.and_(kept)
            if simpler is node:
                return node, [part for part in parts if part.op == "or"]
            node = simpler
        return node, []

    def _decided(self, choice: Node, facts: objects.Facts) -> Node:
        left = []
        for alternative in choice.args:
            verdicts = [facts.tells(part) for part in parts_of(alternative)]
            if False in verdicts:
                continue
            if None not in verdicts:
                return self.pool.true
            left.append(alternative)
        return self.pool.or_(left)

    def disjoint(self, one: Node, other: Node) -> bool:
        """Whether it is proved that no value obeys both; without any assumption of the question under way."""
        self.pool.tick()
        pair = frozenset({one, other})
        if pair not in self._pairs:
            self._pairs[pair] = False
            aside = self._stack, self._provisional, self._lowest
            self._stack, self._provisional, self._lowest = {}, {}, math.inf
            try:
                self._pairs[pair] = isinstance(self.find(one, other), Empty)
            except Unprovable:
                self._pairs[pair] = False
            finally:
                self._stack, self._provisional, self._lowest = aside
        return self._pairs[pair]


def parts_of(node: Node) -> tuple[Node, ...]:
    """The formulas of a conjunction; the formula itself for any other."""
    return node.args if node.op == "and" else (node,)


def _rule(node: Node) -> str:
    inner = {part.args[0].op if part.op == "not" else part.op for part in parts_of(node)}
    return "R24" if "format" in inner else "R25" if "content" in inner else "R62"
