"""The slow, exact look at one line: duplicate keys, integers and nesting, which no fast parser reports."""

import json
from typing import Any, NoReturn

from beleg.ingest.reasons import Refusal, refuse

_INT64 = 2**63


class _Refused(Exception):
    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.reason)
        self.refusal = refusal


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _Refused(refuse("duplicate_key"))
    return found


def _integer(digits: str) -> int:
    # The length first: Python refuses to convert very long digits, and would take long over long ones.
    if len(digits) > 20 or not -_INT64 <= int(digits) < _INT64:
        raise _Refused(refuse("number_out_of_range"))
    return int(digits)


def _constant(_name: str) -> NoReturn:
    raise _Refused(refuse("not_a_number"))


def look(text: bytes, depth: int) -> Refusal | None:
    """What is wrong with JSON text beyond its syntax, or None.

    `depth` is the deepest nesting allowed. Text that is no JSON at all is not this function's concern:
    it gets None here, and the parser's own verdict elsewhere.
    """
    try:
        value = json.loads(text, object_pairs_hook=_pairs, parse_int=_integer, parse_constant=_constant)
    except _Refused as error:
        return error.refusal
    except RecursionError:
        return refuse("nesting_too_deep", f"nested deeper than {depth}")
    except ValueError:
        return None
    brackets = text.count(b"[") + text.count(b"{")  # no nesting is deeper than the brackets that open
    too_deep = brackets > depth and _deeper(value, depth)
    return refuse("nesting_too_deep", f"nested deeper than {depth}") if too_deep else None


def _deeper(value: Any, depth: int) -> bool:
    if not isinstance(value, dict | list):
        return False
    children = value.values() if isinstance(value, dict) else value
    return depth == 0 or any(_deeper(child, depth - 1) for child in children)
