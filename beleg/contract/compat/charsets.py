"""Sets of characters as sorted ranges of code points."""

import re
import sys
from array import array
from functools import cache
from typing import Final

CharSet = tuple[tuple[int, int], ...]

LAST: Final = sys.maxunicode
ANY: Final[CharSet] = ((0, LAST),)
BEGIN: Final = LAST + 1
"""Stands before the first character of a text."""
END: Final = LAST + 2
"""Stands after the last one."""

_LIKED: Final = tuple(map(ord, "aA0x1 -_.@/"))


def both(one: CharSet, other: CharSet) -> CharSet:
    """Characters in both."""
    found, i, j = [], 0, 0
    while i < len(one) and j < len(other):
        low, high = max(one[i][0], other[j][0]), min(one[i][1], other[j][1])
        if low <= high:
            found.append((low, high))
        if one[i][1] < other[j][1]:
            i += 1
        else:
            j += 1
    return tuple(found)


def others(one: CharSet) -> CharSet:
    """Characters that are not in it."""
    found, low = [], 0
    for start, end in one:
        if low < start:
            found.append((low, start - 1))
        low = end + 1
    return (*found, (low, LAST)) if low <= LAST else tuple(found)


def union(ranges: list[tuple[int, int]]) -> CharSet:
    """Characters of any of the ranges."""
    found: list[tuple[int, int]] = []
    for start, end in sorted(ranges):
        if found and start <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return tuple(found)


def has(one: CharSet, code: int) -> bool:
    """Whether the code point is in it."""
    return any(start <= code <= end for start, end in one)


def example(one: CharSet) -> int:
    """A character of the set, a plain one if there is any."""
    return next((code for code in _LIKED if has(one, code)), _visible(one))


def _visible(one: CharSet) -> int:
    printable = both(one, ((33, 126),))
    return (printable or one)[0][0]


@cache
def of_class(letter: str) -> CharSet:
    r"""What `\d`, `\w` or `\s` matches in Python, the whole of Unicode."""
    return union([(m.start(), m.end() - 1) for m in re.finditer(rf"\{letter}+", _every_character())])


@cache
def _every_character() -> str:
    return array("I", range(LAST + 1)).tobytes().decode(f"utf-32-{sys.byteorder[0]}e", "surrogatepass")
