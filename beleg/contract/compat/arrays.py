"""Arrays that obey what is said about their elements, positions and length."""

from itertools import chain, product
from typing import TYPE_CHECKING, Any, NamedTuple

from beleg.contract.compat.answers import EMPTY, Answer, Empty, Found, Unknown
from beleg.contract.compat.evaluate import holds, leaving
from beleg.contract.compat.formula import Node

if TYPE_CHECKING:
    from beleg.contract.compat.solving import Solver

_MAX_LENGTH = 200
_MAX_CONTAINS = 4
_ALIKE = "no two entries were found of which a reader certainly sees the same"

_Demands = dict[int, tuple[Node, ...]]


class _Contains(NamedTuple):
    node: Node
    least: int
    most: int | None


def find(solver: "Solver", literals: list[Node]) -> Answer:
    """An array that obeys all literals."""
    search = _Search(solver, literals)
    left = solver.pool.and_([literal for literal in literals if literal.op == "distinct"])
    unknown: Answer = EMPTY
    for demands, pair in search.ways():
        answer = search.build(demands, pair)
        if isinstance(answer, Found) and holds(solver.pool, left, answer.value) is not True:
            answer = Unknown(_ALIKE, "R31")
        if isinstance(answer, Found):
            return answer
        unknown = answer if isinstance(answer, Unknown) else unknown
    return unknown


class _Search:
    def __init__(self, solver: "Solver", literals: list[Node]) -> None:
        self.solver = solver
        self.pool = solver.pool
        self.items = [literal for literal in literals if literal.op == "items"]
        denied = [literal.args[0] for literal in literals if literal.op == "not"]
        self.broken = [node for node in denied if node.op == "items"]
        self.repeated = any(node.op == "unique" for node in denied)
        self.alike = [node for node in denied if node.op == "distinct"]
        """Of these, only what is left of the entries repeats."""
        self.unique = any(literal.op in {"unique", "distinct"} for literal in literals)
        self.least = max((literal.args[1] for literal in literals if literal.op == "size_least"), default=0)
        self.most = min((literal.args[1] for literal in literals if literal.op == "size_most"), default=None)
        self.prefix = max((len(node.args[0]) for node in self.items + self.broken), default=0)
        self.contains = _contains(literals)

    def at(self, position: int) -> Node:
        """What the element at a position must obey."""
        return self.pool.and_([_position(node, position) for node in self.items])

    def ways(self) -> "chain[tuple[_Demands, tuple[int, int] | None]] | list[tuple[_Demands, None]]":
        """The ways in which an array can break what it must break, by position."""
        last = self.prefix + len(self.broken)
        choices = [[(p, self.pool.not_(_position(node, p))) for p in range(last)] for node in self.broken]
        demands = []
        for chosen in product(*choices):
            found: _Demands = {}
            for position, node in chosen:
                found[position] = (*found.get(position, ()), node)
            demands.append(found)
        if not self.repeated and not self.alike:
            return [(found, None) for found in demands]
        pairs = [(i, j) for j in range(last + 2) for i in range(j)]
        return chain.from_iterable([(found, pair) for pair in pairs] for found in demands)

    def build(self, demands: _Demands, pair: tuple[int, int] | None) -> Answer:
        """An array in which these positions obey more, and those of the pair are equal."""
        if self.repeated and self.unique:
            return EMPTY
        if len(self.contains) > _MAX_CONTAINS:
            return Unknown("too many kinds of elements are counted", "R33")
        shortest = max(self.least, *(p + 1 for p in (*demands, *(pair or ()))), 0)
        longest = max(shortest, self.prefix + len(self.broken)) + sum(c.least for c in self.contains)
        if not self.contains:
            longest = shortest
        if self.most is not None:
            longest = min(longest, self.most)
        if shortest > _MAX_LENGTH or longest > _MAX_LENGTH:
            return Unknown(f"an array of {shortest} elements is too long to build", "R20")
        unknown: Answer = EMPTY
        for length in range(shortest, longest + 1):
            answer = self._fill(length, demands, pair, [], [0] * len(self.contains))
            if isinstance(answer, Found):
                return answer
            unknown = answer if isinstance(answer, Unknown) else unknown
        return unknown

    def _fill(
        self, length: int, demands: _Demands, pair: tuple[int, int] | None, done: list[Any], counts: list[int]
    ) -> Answer:
        self.pool.tick()
        position = len(done)
        if not self._can_still(counts, length - position):
            return EMPTY
        if position == length:
            return Found(done)
        unknown: Answer = EMPTY
        for signs in product((True, False), repeat=len(self.contains)):
            counted = [count + sign for count, sign in zip(counts, signs, strict=True)]
            answer = self._element(position, demands, pair, done, signs)
            if isinstance(answer, Found):
                answer = self._fill(length, demands, pair, [*done, answer.value], counted)
            if isinstance(answer, Found):
                return answer
            unknown = answer if isinstance(answer, Unknown) else unknown
        return unknown

    def _can_still(self, counts: list[int], left: int) -> bool:
        pairs = zip(self.contains, counts, strict=True)
        return all(c.least <= count + left and (c.most is None or count <= c.most) for c, count in pairs)

    def _element(
        self,
        position: int,
        demands: _Demands,
        pair: tuple[int, int] | None,
        done: list[Any],
        signs: tuple[bool, ...],
    ) -> Answer:
        pool = self.pool
        parts = [self.at(position), *demands.get(position, ())]
        parts += [c.node if sign else pool.not_(c.node) for c, sign in zip(self.contains, signs, strict=True)]
        if pair is not None and position == pair[0]:
            parts += [self.at(pair[1]), *demands.get(pair[1], ())]
        if pair is not None and position == pair[1] and not self.alike:
            parts.append(pool.enum([done[pair[0]]]))
        elif pair is not None and position == pair[1]:
            return self._like(done[pair[0]], parts, done)
        if not self.unique or not done:
            return self.solver.find(*parts)
        answer = self.solver.find(*parts, pool.not_(pool.enum(done)))
        if isinstance(answer, Found) or self._exhausts(demands) or isinstance(self.solver.find(*parts), Empty):
            return answer
        return Unknown("no array of different elements was found", "R31")

    def _like(self, other: Any, parts: list[Node], done: list[Any]) -> Answer:
        """An element of which the same is left as of another one."""
        pool = self.pool
        differing = [pool.not_(pool.enum(done))] if self.unique else []
        if isinstance(answer := self.solver.find(*parts, *differing), Empty):
            return answer
        same = (
            [leaving(pool, other, node.args[0]) for node in self.alike] if not self.repeated else [pool.enum([other])]
        )
        answer = self.solver.find(*parts, *differing, *same)
        return answer if isinstance(answer, Found) else Unknown(_ALIKE, "R31")

    def _exhausts(self, demands: _Demands) -> bool:
        """Whether elements that cannot differ here cannot differ at all: where all positions obey the same."""
        return not demands and not self.contains and self.prefix == 0


def _position(node: Node, position: int) -> Node:
    prefix, rest = node.args
    found: Node = prefix[position] if position < len(prefix) else rest
    return found


def _contains(literals: list[Node]) -> list[_Contains]:
    found: dict[Node, _Contains] = {}
    for literal in literals:
        if literal.op in {"contains_least", "contains_most"}:
            node, count = literal.args
            known = found.get(node, _Contains(node, 0, None))
            if literal.op == "contains_least":
                known = known._replace(least=max(known.least, count))
            else:
                known = known._replace(most=count if known.most is None else min(known.most, count))
            found[node] = known
    return list(found.values())
