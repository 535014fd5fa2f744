"""Places inside a result: how to speak about a value there, and how people call it."""

from typing import Any, Literal, NamedTuple

from beleg.contract.compat.formula import Node, Pool

Side = Literal["old", "new"]


class Step(NamedTuple):
    """One step downwards, or a restriction to one alternative of a union."""

    how: Literal["member", "map", "pattern", "entry", "entries", "alternative"]
    name: str = ""
    position: int = 0
    known: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    """For a map: the names and patterns that have schemas of their own."""
    old: Node | None = None
    new: Node | None = None
    """For an alternative: its formula on either side."""


class Place(NamedTuple):
    """Where something stands in a result."""

    steps: tuple[Step, ...] = ()
    required: bool = False
    """True for a member that every old result has."""
    rule: str | None = None
    """Rule under which a changed type is reported here, such as R30 for elements."""
    old_recurs: bool = False
    new_recurs: bool = False

    def below(self, step: Step, *, required: bool = False, rule: str | None = None) -> "Place":
        """The place one step further."""
        return self._replace(steps=(*self.steps, step), required=required, rule=rule)

    def says(self, pool: Pool, node: Node, side: Side) -> Node:
        """The formula over whole results: what stands here obeys `node`."""
        for step in reversed(self.steps):
            node = _up(pool, step, node, side)
        return node

    @property
    def label(self) -> str:
        """As a person would call it, such as: field “total”."""
        names = ".".join(step.name for step in self.steps if step.how == "member")
        field = f"field “{names}”" if names else "the result"
        last = next((step for step in reversed(self.steps) if step.how != "alternative"), None)
        if last is None or last.how == "member":
            return field
        if last.how == "entry":
            return f"entry {last.position + 1} of {field}"
        if last.how == "entries":
            return f"each entry of {field}"
        return f"each value of {field}" if last.how == "map" else f"each member like {last.name!r} of {field}"

    @property
    def title(self) -> str:
        """The label at the beginning of a sentence."""
        return self.label[0].upper() + self.label[1:]


def _up(pool: Pool, step: Step, node: Node, side: Side) -> Node:
    if step.how == "member":
        return pool.members({step.name: node}, {}, pool.true)
    if step.how == "pattern":
        return pool.members({}, {step.name: node}, pool.true)
    if step.how == "map":
        names, patterns = step.known
        return pool.members(dict.fromkeys(names, pool.true), dict.fromkeys(patterns, pool.true), node)
    if step.how == "alternative":
        guard: Any = step.old if side == "old" else step.new
        return pool.or_([pool.not_(guard), node])
    prefix = [pool.true] * step.position
    return pool.items([*prefix, node], pool.true) if step.how == "entry" else pool.items(prefix, node)
