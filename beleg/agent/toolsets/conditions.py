"""Conditions on the context of a user: named predicates, so that an account can say why a tool is missing."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from beleg.core.errors import UsageError


@dataclass(frozen=True)
class Condition:
    """A pure predicate over the context; its name is the reason that accounts give."""

    name: str
    holds: Callable[[Any], bool]

    def check(self, context: object) -> bool:
        """Whether it holds.

        Raises UsageError where the predicate fails or answers with anything but True or False: a tool list
        that depends on a broken fact must not look like one that was decided.
        """
        try:
            answer = self.holds(context)
        except Exception as error:
            raise UsageError(f"condition `{self.name}` cannot be decided: {type(error).__name__}") from error
        if answer is not True and answer is not False:
            raise UsageError(f"condition `{self.name}` gives a {type(answer).__name__}; it must give True or False")
        return answer


def fact(path: str, equals: object = True) -> Condition:
    """The condition that a fact of the context, for example `company.is_incorporated`, has a value.

    The same object each time, so that groups share it. Raises UsageError for a value that can change.
    """
    try:
        return _fact(path, equals)
    except TypeError as error:
        raise UsageError(f"the fact {path!r} is compared with {equals!r}, which can change: use a tuple") from error


@functools.lru_cache(maxsize=None, typed=True)  # 1 and True are not the same fact
def _fact(path: str, equals: object) -> Condition:
    name = path if equals is True else f"{path} == {equals!r}"
    if equals is True:
        return Condition(name, lambda context: _read(context, path))
    return Condition(name, lambda context: bool(_read(context, path) == equals))


def _read(context: object, path: str) -> Any:
    return functools.reduce(getattr, path.split("."), context)
