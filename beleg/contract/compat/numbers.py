"""Numbers that obey bounds and multiples, in exact arithmetic."""

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from beleg.contract.compat.answers import EMPTY, Answer, Found, Unknown
from beleg.contract.compat.evaluate import holds
from beleg.contract.compat.formula import Node
from beleg.contract.compat.values import json_number

if TYPE_CHECKING:
    from beleg.contract.compat.solving import Solver

_MAX_TRIES = 5_000
_MAX_DIGITS = 16
_EXACT_FLOATS = 2**53


class _Range(NamedTuple):
    low: Fraction | None = None
    low_open: bool = False
    high: Fraction | None = None
    high_open: bool = False

    def holds(self, number: Fraction) -> bool:
        above = self.low is None or number > self.low or (number == self.low and not self.low_open)
        below = self.high is None or number < self.high or (number == self.high and not self.high_open)
        return above and below

    def as_floats(self) -> "_Range":
        """The range as validators take it that read limits as floats."""
        return self._replace(low=_as_float(self.low), high=_as_float(self.high))

    def is_empty(self) -> bool:
        if self.low is None or self.high is None:
            return False
        return self.low > self.high or (self.low == self.high and (self.low_open or self.high_open))


def _as_float(bound: Fraction | None) -> Fraction | None:
    if bound is None or (bound.denominator == 1 and abs(bound) <= _EXACT_FLOATS):
        return bound
    try:
        return Fraction(float(bound))
    except OverflowError:
        return bound


def find(solver: "Solver", literals: list[Node]) -> Answer:
    """A number that obeys all literals."""
    within = _range(literals)
    if within.is_empty():
        return EMPTY
    step = _common([literal.args[0] for literal in literals if literal.op == "multiple"])
    node = solver.pool.and_(literals)
    if step is None:
        exhausted = within.low is not None and within.low == within.high
        candidates = _anywhere(within)
    else:
        first, last = _multiples(within, step)
        avoided = [d.args[0].args[0] for d in literals if d.op == "not" and d.args[0].op == "multiple"]
        if any((step / other).denominator == 1 for other in avoided):
            return EMPTY
        exhausted = first is not None and last is not None and last - first < _MAX_TRIES
        candidates = (step * factor for factor in _factors(first, last))
    doubtful: Answer | None = None
    for number in candidates:
        written = json_number(number)
        if written is not None and holds(solver.pool, node, written):
            if within.as_floats().holds(number):
                return Found(written)
            doubtful = doubtful or Found(written)
        exhausted = exhausted and (written is not None or step is None)
    if doubtful is not None:
        return doubtful
    return EMPTY if exhausted else Unknown("no number was found in reasonable time", "R20")


def _range(literals: list[Node]) -> _Range:
    found = _Range()
    for literal in literals:
        if literal.op == "least":
            bound, strict = literal.args
            if found.low is None or (bound, strict) > (found.low, found.low_open):
                found = found._replace(low=bound, low_open=strict)
        elif literal.op == "most":
            bound, strict = literal.args
            if found.high is None or (bound, not strict) < (found.high, not found.high_open):
                found = found._replace(high=bound, high_open=strict)
    return found


def _common(steps: list[Fraction]) -> Fraction | None:
    """The smallest number that all of them divide; None for none."""
    if not steps:
        return None
    over = math.lcm(*(step.denominator for step in steps))
    return Fraction(math.lcm(*(int(step * over) for step in steps)), over)


def _multiples(within: _Range, step: Fraction) -> tuple[int | None, int | None]:
    first = last = None
    if within.low is not None:
        first = math.ceil(within.low / step)
        first += within.low_open and step * first == within.low
    if within.high is not None:
        last = math.floor(within.high / step)
        last -= within.high_open and step * last == within.high
    return first, last


def _factors(first: int | None, last: int | None) -> Iterator[int]:
    """Whole numbers from the one nearest to 1 outwards, so many as are worth trying."""
    start = max(1, first) if first is not None else 1
    start = min(start, last) if last is not None else start
    for away in range(_MAX_TRIES):
        for factor in (start + away, start - away):
            if (first is None or factor >= first) and (last is None or factor <= last):
                yield factor


def _anywhere(within: _Range) -> Iterator[Fraction]:
    """Short decimals of the range."""
    if within.low is not None and within.low == within.high:
        yield within.low
        return
    for bound in (within.low, within.high):
        if bound is not None and abs(bound) > _EXACT_FLOATS:
            yield from (near for share in (Fraction(3, 2), Fraction(1, 2)) if within.holds(near := bound * share))
    for digits in range(_MAX_DIGITS):
        unit = Fraction(1, 10**digits)
        first, last = _multiples(within, unit)
        for factor, _ in zip(_factors(first, last), range(60), strict=False):
            yield unit * factor
    yield from (bound for bound in (within.low, within.high) if bound is not None and within.holds(bound))
