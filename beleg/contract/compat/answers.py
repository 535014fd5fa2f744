"""What can be found out about a formula: a value that obeys it, that none does, or neither."""

from collections.abc import Iterable
from typing import Any, Final, NamedTuple


class Found(NamedTuple):
    """A value obeys the formula."""

    value: Any


class Empty(NamedTuple):
    """It is proved that no value does."""


class Unknown(NamedTuple):
    """Neither is proved."""

    reason: str
    rule: str = "R62"


Answer = Found | Empty | Unknown
EMPTY: Final = Empty()


def together(answers: Iterable[Answer]) -> Answer:
    """One answer for parts that are all needed: the values in a list, if all parts have one."""
    found, unknown = [], None
    for answer in answers:
        if isinstance(answer, Empty):
            return answer
        if isinstance(answer, Unknown):
            unknown = unknown or answer
        else:
            found.append(answer.value)
    return unknown or Found(found)
