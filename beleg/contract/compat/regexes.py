"""Patterns as terms over marked texts: BEGIN, the characters, END. So anchors are characters like any other."""

import importlib
import re
from functools import lru_cache
from typing import Any, Final

import jsonschema_rs

from beleg.contract.compat.charsets import BEGIN, END, CharSet, of_class, others, union
from beleg.contract.compat.spelling import spelled
from beleg.contract.compat.terms import ANYTHING, EMPTY, Term, all_of, any_of, cat, first_sets, none_of, repeat

_ENDING: Final[Term] = ("chars", ((END, END),))
_BEGINNING: Final[Term] = ("chars", ((BEGIN, BEGIN),))
_REST: Final = cat(ANYTHING, _ENDING)

_MAX_REPEAT: Final = 2_000
_MAX_LENGTH: Final = 1_000


class Unsupported(Exception):
    """The expression uses what has no derivative here: back references, look-behind, word boundaries, flags."""


@lru_cache(maxsize=1_000)
def searching(pattern: str) -> Term:
    """The marked texts in which `re.search` finds the pattern; raises Unsupported."""
    if len(pattern) > _MAX_LENGTH:
        raise Unsupported("length")
    try:
        tree = importlib.import_module("re._parser").parse(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise Unsupported(str(error)) from error
    if tree.state.flags & ~re.UNICODE:
        raise Unsupported(pattern)
    return cat(any_of([EMPTY, cat(_BEGINNING, ANYTHING)]), _sequence(list(tree), _REST))


@lru_cache(maxsize=1_000)
def is_pattern(pattern: str) -> bool:
    """Whether Python or the validator in Rust takes it for a regular expression; True for what is too long to try."""
    if len(pattern) > _MAX_LENGTH:
        return True
    try:
        importlib.import_module("re._parser").parse(spelled(pattern, "python"))
    except re.error:
        return _is_known_elsewhere(pattern)
    except (OverflowError, RecursionError):
        pass
    return True


def _is_known_elsewhere(pattern: str) -> bool:
    try:
        jsonschema_rs.validator_for({"pattern": pattern})
    except (ValueError, jsonschema_rs.ValidationError):
        return False
    return True


def _sequence(items: list[Any], rest: Term) -> Term:
    for op, argument in reversed(items):
        rest = _item(str(op), argument, rest)
    return rest


def _item(op: str, argument: Any, rest: Term) -> Term:
    if op == "AT":
        return _anchor(str(argument), rest)
    if op == "BRANCH":
        return any_of([_sequence(list(branch), rest) for branch in argument[1]])
    if op == "SUBPATTERN":
        if argument[1] or argument[2]:
            raise Unsupported("flags")
        return _sequence(list(argument[3]), rest)
    if op in {"ASSERT", "ASSERT_NOT"}:
        if argument[0] < 0:
            raise Unsupported("look-behind")
        if "AT_BEGINNING" in repr(argument):
            raise Unsupported("beginning in look-ahead")
        ahead = _sequence(list(argument[1]), _REST)
        return all_of([ahead if op == "ASSERT" else none_of(ahead), rest])
    if op in {"MAX_REPEAT", "MIN_REPEAT"}:
        return cat(_repeated(argument), rest)
    return cat(("chars", _characters(op, argument)), rest)


def _anchor(where: str, rest: Term) -> Term:
    if where in {"AT_BEGINNING", "AT_BEGINNING_STRING"}:
        if ((BEGIN, BEGIN),) in first_sets(rest):
            raise Unsupported("two beginnings")
        return cat(_BEGINNING, rest)
    if where == "AT_END_STRING":
        return all_of([_ENDING, rest])
    if where == "AT_END":
        return all_of([any_of([_ENDING, cat(("chars", ((10, 10),)), _ENDING)]), rest])
    raise Unsupported(where)


def _repeated(argument: Any) -> Term:
    least, most, body = argument
    limit = None if str(most) == "MAXREPEAT" else int(most)
    if max(least, limit or 0) > _MAX_REPEAT or _anchored(list(body)):
        raise Unsupported("repetition")
    return repeat(_sequence(list(body), EMPTY), least, limit)


def _anchored(items: list[Any]) -> bool:
    return any(name in repr(items) for name in ("AT_", "ASSERT", "GROUPREF"))


def _characters(op: str, argument: Any) -> CharSet:
    if op == "LITERAL":
        return ((argument, argument),)
    if op == "NOT_LITERAL":
        return others(((argument, argument),))
    if op == "ANY":
        return others(((10, 10),))
    if op == "RANGE":
        return (tuple(argument),)
    if op == "CATEGORY":
        return _category(str(argument))
    if op == "IN":
        negated = str(argument[0][0]) == "NEGATE"
        found = union([r for item, value in argument[negated:] for r in _characters(str(item), value)])
        return others(found) if negated else found
    raise Unsupported(op)


def _category(name: str) -> CharSet:
    letter = {"DIGIT": "d", "WORD": "w", "SPACE": "s"}[name.rsplit("_", 1)[1]]
    return others(of_class(letter)) if "_NOT_" in name else of_class(letter)
