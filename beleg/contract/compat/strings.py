"""Strings that obey lengths, patterns and the promises of formats."""

from typing import TYPE_CHECKING

from beleg.contract.compat import formats, patterns
from beleg.contract.compat.answers import EMPTY, Answer, Found, Unknown
from beleg.contract.compat.evaluate import holds
from beleg.contract.compat.formula import Node
from beleg.contract.compat.verdict import Unprovable

if TYPE_CHECKING:
    from beleg.contract.compat.solving import Solver

_PLAIN = ("x", "a", "xx", "")
_MAX_TEXT = 10_000


def find(solver: "Solver", literals: list[Node]) -> Answer:
    """A string that obeys all literals."""
    kept = [literal.args for literal in literals if literal.op in {"format", "content"}]
    broken = [literal.args[0] for literal in literals if literal.op == "not"]
    promised = {args[0] for args in kept if len(args) == 1}
    denied = {node.args[0] for node in broken if node.op == "format"}
    if any(formats.promises(mine, other) for mine in promised for other in denied):
        return EMPTY
    plain = [part for part in literals if not _is_promise(part)]
    found = _plain(solver, plain, [*(formats.EXAMPLES.get(name, "x") for name in promised), *_PLAIN])
    if not isinstance(found, Found) or not any(_is_promise(node) for node in broken):
        return found
    if any(node.op == "content" for node in broken):
        return Unknown("what a text contains is a promise that values do not show", "R25")
    if promised:
        return Unknown("one format took the place of another", "R24")
    return _stranger(solver, plain, denied, found)


def _is_promise(literal: Node) -> bool:
    node = literal.args[0] if literal.op == "not" else literal
    return node.op in {"format", "content"}


def _stranger(solver: "Solver", plain: list[Node], denied: set[str], found: Found) -> Answer:
    """A text that is of none of the formats."""
    node = solver.pool.and_(plain)
    for text in (found.value, *formats.STRANGERS):
        if holds(solver.pool, node, text) and all(formats.keeps(name, text) is False for name in denied):
            return Found(text)
    return Unknown(f"no text was found that is not of the format {', '.join(sorted(denied))}", "R24")


def _plain(solver: "Solver", literals: list[Node], liked: list[str]) -> Answer:
    node = solver.pool.and_(literals)
    try:
        for text in liked:
            if holds(solver.pool, node, text):
                return Found(text)
        return _shortest(solver, literals)
    except Unprovable as error:
        if error.rule != "R23":
            raise
        return Unknown(error.reason, error.rule)


def _shortest(solver: "Solver", literals: list[Node]) -> Answer:
    least = max((literal.args[1] for literal in literals if literal.op == "size_least"), default=0)
    most = min((literal.args[1] for literal in literals if literal.op == "size_most"), default=None)
    if most is not None and least > most:
        return EMPTY
    matching = [literal.args[0] for literal in literals if literal.op == "pattern"]
    denied = [literal.args[0] for literal in literals if literal.op == "not"]
    without = [str(solver.pool.values[key]) for node in denied if node.op == "enum" for key in node.args[0]]
    if not matching and not any(node.op == "pattern" for node in denied):
        return _of_length(least, most, without)
    missing = [node.args[0] for node in denied if node.op == "pattern"]
    text = patterns.shortest(matching, missing, least=least, most=most, without=without, tick=solver.pool.tick)
    return EMPTY if text is None else Found(text)


def _of_length(least: int, most: int | None, without: list[str]) -> Answer:
    """A text of few characters that is not among some."""
    if least > _MAX_TEXT:
        return Unknown(f"a text of {least} characters is too long to build", "R20")
    if most == 0:
        return EMPTY if "" in without else Found("")
    taken = set(without)
    stem = "x" * max(least, 1)
    candidates = (stem[:-1] + chr(0x78 - n if n < 24 else 0x4E00 + n) for n in range(len(taken) + 1))
    return Found(next(text for text in candidates if text not in taken))
