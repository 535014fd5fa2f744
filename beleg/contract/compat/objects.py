"""Objects that obey what is said about their members, names and number."""

from collections.abc import Iterable, Iterator
from itertools import chain, combinations
from typing import TYPE_CHECKING, Any, NamedTuple

from beleg.contract.compat.answers import EMPTY, Answer, Empty, Found, Unknown, together
from beleg.contract.compat.evaluate import holds, members_for
from beleg.contract.compat.formula import Node, Pool

if TYPE_CHECKING:
    from beleg.contract.compat.solving import Solver

_MAX_PATTERNS = 6
_MAX_MEMBERS = 1_000


class Facts:
    """What is known of an object by its literals, before anything is searched."""

    def __init__(self, pool: Pool, literals: list[Node]) -> None:
        self.pool = pool
        self.literals = set(literals)
        self.members = [literal for literal in literals if literal.op == "members"]
        self.required = [literal.args[0] for literal in literals if literal.op == "has"]
        self.names = [literal.args[0] for literal in literals if literal.op == "names"]
        self._members: dict[str, Node] = {}
        self.absent = {literal.args[0].args[0] for literal in literals if _denies(literal, "has")}

    def member(self, name: str) -> Node:
        """What a member of that name must obey."""
        found = self._members.get(name)
        if found is None:
            found = self._members[name] = self._member(name)
        return found

    def _member(self, name: str) -> Node:
        if name in self.absent or any(holds(self.pool, node, name) is False for node in self.names):
            return self.pool.false
        return self.pool.and_(chain.from_iterable(members_for(node, name) for node in self.members))

    def tells(self, literal: Node) -> bool | None:
        """Whether the literal is true or false by what is known; None where that is open."""
        if literal in self.literals:
            return True
        if self.pool.not_(literal) in self.literals:
            return False
        denied = literal.op == "not"
        node = literal.args[0] if denied else literal
        verdict = None
        if node.op == "has" and (self.members or self.absent) and self.member(node.args[0]) is self.pool.false:
            verdict = False
        if node.op == "members" and self._clashes(node):
            verdict = False
        return verdict if verdict is None or not denied else not verdict

    def _clashes(self, node: Node) -> bool:
        """Whether some required member can never obey it, as far as one sees at once."""
        demanded = ((name, members_for(node, name)) for name in self.required)
        return any(self.pool.and_([self.member(name), *parts]) is self.pool.false for name, parts in demanded)


def _denies(literal: Node, op: str) -> bool:
    return literal.op == "not" and bool(literal.args[0].op == op)


class _Demand(NamedTuple):
    """A member that must exist, and what it must obey besides."""

    name: str
    parts: tuple[Node, ...]


def find(solver: "Solver", literals: list[Node]) -> Answer:
    """An object that obeys all literals."""
    search = _Search(solver, literals)
    return search.among([search.violations(literal.args[0]) for literal in literals if _is_search(literal)], {})


def _is_search(literal: Node) -> bool:
    return _denies(literal, "members") or _denies(literal, "names")


class _Search:
    def __init__(self, solver: "Solver", literals: list[Node]) -> None:
        self.solver = solver
        self.pool = solver.pool
        self.facts = Facts(solver.pool, literals)
        self.sizes = [literal for literal in literals if literal.op in {"size_least", "size_most"}]
        denied = [literal.args[0] for literal in literals if literal.op == "not"]
        about = self.facts.members + [node for node in denied if node.op == "members"]
        self.known = dict.fromkeys(self.facts.required)
        self.known |= dict.fromkeys(name for node in about for name, _ in node.args[0])
        self.patterns = list(dict.fromkeys(text for node in about for text, _ in node.args[1]))
        self._fresh: list[str] = []
        """Names of which nothing is said, that a violation before may have taken."""

    def violations(self, node: Node) -> "list[_Demand | Unknown]":
        """The ways in which an object can break a formula of members or names."""
        found: list[_Demand | Unknown] = []
        earlier = [*self._fresh]
        of_named = node.op == "members" and not node.args[1] and node.args[2] is self.pool.true
        for name in node.named if of_named else (*self.known, *self.fresh_names(found, node), *earlier):
            if node.op == "names":
                verdict = holds(self.pool, node.args[0], name)
                found += [_Demand(name, ())] if verdict is False else []
            else:
                broken = self.pool.not_(self.pool.and_(members_for(node, name)))
                found += [_Demand(name, (broken,))] if broken is not self.pool.false else []
        return found

    def among(self, choices: "list[list[_Demand | Unknown]]", taken: dict[str, tuple[Node, ...]]) -> Answer:
        """An object that takes one way of each choice."""
        if not choices:
            return self.build(taken)
        unknown: Answer = EMPTY
        for way in choices[0]:
            answer = way if isinstance(way, Unknown) else self._take(way, choices[1:], taken)
            if isinstance(answer, Found):
                return answer
            unknown = answer if isinstance(answer, Unknown) else unknown
        return unknown

    def _take(self, way: _Demand, rest: "list[list[_Demand | Unknown]]", taken: dict[str, tuple[Node, ...]]) -> Answer:
        parts = taken.get(way.name, ()) + way.parts
        alone = self.solver.find(self.facts.member(way.name), *parts)
        return alone if isinstance(alone, Empty) else self.among(rest, {**taken, way.name: parts})

    def build(self, taken: dict[str, tuple[Node, ...]]) -> Answer:
        """The object of the required and the taken members, and as many more as are needed."""
        if self._contradictory_sizes():
            return EMPTY
        names = list(dict.fromkeys((*self.facts.required, *taken)))
        answers = (self.solver.find(self.facts.member(name), *taken.get(name, ())) for name in names)
        answer = together(answers)
        if not isinstance(answer, Found):
            return answer
        return self._sized(dict(zip(names, answer.value, strict=True)))

    def _contradictory_sizes(self) -> bool:
        """Whether more members are demanded than are allowed."""
        lows = [size.args for size in self.sizes if size.op == "size_least"]
        highs = [size.args for size in self.sizes if size.op == "size_most"]
        return any(low[1] > high[1] and high[2] in {None, low[2]} for low in lows for high in highs)

    def _sized(self, value: dict[str, Any]) -> Answer:
        whole = True
        for size in self.sizes:
            count = size.args[1]
            if size.op == "size_least" and holds(self.pool, size, value) is False:
                if count > _MAX_MEMBERS:
                    return Unknown(f"an object of {count} members is too large to build", "R20")
                whole = self._fill(value, size) and whole
        if all(holds(self.pool, size, value) for size in self.sizes):
            return Found(value)
        scoped = any(size.args[2] is not None for size in self.sizes)
        return Unknown("no object of the right size was found", "R20") if scoped or not whole else EMPTY

    def _fill(self, value: dict[str, Any], size: Node) -> bool:
        """Add members until there are enough; False where one might have been added but is not known."""
        whole = True
        for name in self.known:
            answer = self._add(value, size, name)
            whole = whole and not isinstance(answer, Unknown)
        for matching in self._pattern_sets():
            answer = self._fresh_name(matching, [], [*value])
            # Names that match the same patterns must obey the same: where one cannot be, none can.
            while isinstance(answer, Found) and isinstance(self._add(value, size, answer.value), Found):
                answer = self._fresh_name(matching, [], [*value])
            whole = whole and not isinstance(answer, Unknown)
        return whole and len(self.patterns) <= _MAX_PATTERNS

    def _add(self, value: dict[str, Any], size: Node, name: str) -> Answer:
        """Add a member, if it counts, can be, and more are needed."""
        scope = size.args[2]
        if name in value or (scope is not None and not scope.counts(name)) or holds(self.pool, size, value):
            return EMPTY
        answer = self.solver.find(self.facts.member(name))
        if isinstance(answer, Found):
            value[name] = answer.value
        return answer

    def fresh_names(self, unknowns: "list[_Demand | Unknown]", node: Node) -> Iterator[str]:
        """Names of which nothing is said, one for every set of patterns they can match.

        Each violation has some of its own: what breaks one formula need not be the member that breaks another.
        """
        if len(self.patterns) > _MAX_PATTERNS:
            unknowns.append(Unknown("too many patterns of names", "R09"))
        broken = [self.pool.not_(node.args[0])] if node.op == "names" else []
        for matching in self._pattern_sets():
            answer = self._fresh_name(matching, broken, self._fresh)
            if isinstance(answer, Found):
                self._fresh.append(answer.value)
                yield answer.value
            elif isinstance(answer, Unknown):
                unknowns.append(answer)

    def _pattern_sets(self) -> Iterable[tuple[str, ...]]:
        texts = self.patterns if len(self.patterns) <= _MAX_PATTERNS else []
        return chain.from_iterable(combinations(texts, size) for size in range(len(texts) + 1))

    def _fresh_name(self, matching: tuple[str, ...], broken: list[Node], taken: list[str]) -> Answer:
        pool = self.pool
        parts = [pool.kinds({"string"}), *broken, *self.facts.names]
        for text in self.patterns:
            pattern = pool.make("pattern", text)
            parts.append(pattern if text in matching else pool.not_(pattern))
        parts.append(pool.not_(pool.enum([*self.known, *self.facts.absent, *taken])))
        return self.solver.find(*parts)
