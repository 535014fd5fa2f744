"""Whether a single value obeys a formula: yes, no, or not to be told."""

from collections.abc import Callable, Hashable, Iterable
from typing import Any, Final

from beleg.contract.compat import formats, patterns, values
from beleg.contract.compat.formula import Node, Pool
from beleg.contract.compat.scope import Scope
from beleg.contract.compat.verdict import Unprovable

Verdict = bool | None
_Memo = dict[Hashable, Verdict]


def holds(pool: Pool, node: Node, value: Any) -> Verdict:
    """Whether the value obeys the formula; None where that cannot be told. Raises Unprovable for endless references."""
    return Evaluation(pool).of(node, value)


def all_hold(verdicts: Iterable[Verdict]) -> Verdict:
    """Conjunction over three values."""
    unknown = False
    for verdict in verdicts:
        if verdict is False:
            return False
        unknown = unknown or verdict is None
    return None if unknown else True


def negated(verdict: Verdict) -> Verdict:
    """Negation over three values."""
    return None if verdict is None else not verdict


def members_for(node: Node, name: str) -> list[Node]:
    """What the members formula demands of the member of that name."""
    _, by_pattern, rest = node.args
    found = [node.named[name]] if name in node.named else []
    if by_pattern:
        found += [schema for text, schema in by_pattern if patterns.found_in(text, name)]
    return found or [rest]


def counted(value: dict[str, Any], scope: Scope | None) -> int:
    """How many members count."""
    return len(value) if scope is None else sum(map(scope.counts, value))


class Evaluation:
    """Verdicts over values, each found once; the values must not change meanwhile."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self._memo: _Memo = {}
        self._kept: list[Any] = []
        """The values of the memo, so that no other one gets their identity."""
        self._under_way: set[Hashable] = set()

    def of(self, node: Node, value: Any) -> Verdict:
        """As `holds`."""
        if node.kind is not None and node.kind != values.kind(value):
            return True
        at = (node, id(value))
        if at in self._memo:
            return self._memo[at]
        if at in self._under_way:
            msg = "a reference leads back to itself without end"
            raise Unprovable(msg)
        self.pool.tick()
        self._under_way.add(at)
        self._memo[at] = verdict = _OPERATORS[node.op](self, node.args, value)
        self._kept.append(value)
        self._under_way.discard(at)
        return verdict

    def any(self, nodes: Iterable[Node], value: Any) -> Verdict:
        """Disjunction over three values."""
        return negated(all_hold(negated(self.of(node, value)) for node in nodes))

    def one_of(self, args: tuple[Any, ...], value: Any) -> Verdict:
        """Exactly one of the formulas."""
        exactly, wanted = args
        verdicts = [self.of(node, value) for node in exactly]
        if None in verdicts:
            return False if verdicts.count(True) > 1 else None
        if verdicts.count(True) == 1:
            return True
        # Where branches exclude each other, one that a reader can read is enough.
        readable = exactly != wanted and not any(verdicts) and self.any(wanted, value) is not False
        return None if readable else False

    def items(self, args: tuple[Any, ...], value: list[Any]) -> Verdict:
        """Every element obeys the formula of its position."""
        prefix, rest = args
        return all_hold(self.of(prefix[i] if i < len(prefix) else rest, item) for i, item in enumerate(value))

    def contained(self, node: Node, value: list[Any]) -> tuple[int, int]:
        """How many elements surely obey a formula, and how many perhaps do."""
        verdicts = [self.of(node, item) for item in value]
        return verdicts.count(True), verdicts.count(True) + verdicts.count(None)

    def contains_least(self, args: tuple[Any, ...], value: list[Any]) -> Verdict:
        """Enough elements obey a formula."""
        surely, perhaps = self.contained(args[0], value)
        return True if surely >= args[1] else None if perhaps >= args[1] else False

    def contains_most(self, args: tuple[Any, ...], value: list[Any]) -> Verdict:
        """Not too many elements obey a formula."""
        surely, perhaps = self.contained(args[0], value)
        return False if surely > args[1] else None if perhaps > args[1] else True

    def members(self, args: tuple[Any, ...], value: dict[str, Any]) -> Verdict:
        """Every member obeys the formulas of its name."""
        node = self.pool.make("members", *args)
        demands = ((part, member) for name, member in value.items() for part in members_for(node, name))
        return all_hold(self.of(part, member) for part, member in demands if part is not self.pool.true)

    def ref(self, args: tuple[Any, ...], value: Any) -> Verdict:
        """What a reference means."""
        target = self.pool.targets.get(args[0])
        if target is None:
            msg = "the names of members depend on the schema itself"
            raise Unprovable(msg)
        return self.of(target, value)


def left_of(value: Any, scope: Scope | None) -> Any:
    """What is left of a value of which only some members count."""
    if scope is None or not isinstance(value, dict):
        return value
    return {name: member for name, member in value.items() if scope.counts(name)}


def leaving(pool: Pool, value: Any, scope: Scope | None) -> Node:
    """The values of which, where only some members count, the same is left as of this one.

    Only some of them, where names count by their pattern.
    """
    if scope is None or not isinstance(value, dict):
        return pool.enum([value])
    kept = {name: pool.enum([member]) for name, member in value.items() if scope.counts(name)}
    absent = [pool.not_(pool.make("has", name)) for name in sorted(scope.names - kept.keys())]
    present = [pool.make("has", name) for name in kept]
    rest = pool.false if scope.patterns else pool.true
    return pool.and_([pool.kinds({"object"}), pool.members(kept, {}, rest), *present, *absent])


def _distinct(args: tuple[Any, ...], value: list[Any]) -> Verdict:
    """No entry repeats in what is left of them."""
    scope, exact = args
    if len({values.key(left_of(item, scope)) for item in value}) < len(value):
        return False
    return True if exact or len(value) < 2 else None


def _size(args: tuple[Any, ...], value: Any) -> int:
    return counted(value, args[2]) if isinstance(value, dict) else len(value)


_OPERATORS: Final[dict[str, Callable[[Evaluation, tuple[Any, ...], Any], Verdict]]] = {
    "and": lambda e, a, v: all_hold(e.of(node, v) for node in a),
    "or": lambda e, a, v: e.any(a, v),
    "not": lambda e, a, v: negated(e.of(a[0], v)),
    "one_of": Evaluation.one_of,
    "ref": Evaluation.ref,
    "opaque": lambda _e, _a, _v: None,
    "kinds": lambda _, a, v: values.kind(v) in a[0],
    "enum": lambda _, a, v: values.key(v) in a[0],
    "least": lambda _, a, v: values.exact(v) > a[0] or (not a[1] and values.exact(v) == a[0]),
    "most": lambda _, a, v: values.exact(v) < a[0] or (not a[1] and values.exact(v) == a[0]),
    "multiple": lambda _, a, v: (values.exact(v) / a[0]).denominator == 1,
    "size_least": lambda _, a, v: _size(a, v) >= a[1],
    "size_most": lambda _, a, v: _size(a, v) <= a[1],
    "pattern": lambda _, a, v: patterns.found_in(a[0], v),
    "format": lambda _, a, v: formats.keeps(a[0], v),
    "content": lambda _e, _a, _v: None,
    "items": Evaluation.items,
    "unique": lambda _, _a, v: len(set(map(values.key, v))) == len(v),
    "distinct": lambda _, a, v: _distinct(a, v),
    "contains_least": Evaluation.contains_least,
    "contains_most": Evaluation.contains_most,
    "members": Evaluation.members,
    "has": lambda _, a, v: a[0] in v,
    "names": lambda e, a, v: all_hold(e.of(a[0], name) for name in v),
}
