"""JSON values compared as JSON compares them: true is not 1, 1 is 1.0, and integers have no limit."""

import json
import math
from collections.abc import Hashable
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

from beleg.contract.compat.verdict import SchemaError

KINDS: Final = ("null", "boolean", "number", "string", "array", "object")
_KIND_OF: Final = {type(None): "null", bool: "boolean", int: "number", float: "number", str: "string"}

_MAX_BITS: Final = 8_192


def kind(value: Any) -> str:
    """Which of the six kinds a JSON value is; raises SchemaError for what is no JSON value."""
    found = _KIND_OF.get(type(value))
    if found is not None:
        return found
    if isinstance(value, dict):
        return "object"
    if isinstance(value, list | tuple):
        return "array"
    msg = f"{value!r} is no JSON value: it is a {type(value).__name__}; parse the schema with json.loads"
    raise SchemaError(msg)


def exact(number: float) -> Fraction:
    """The number as its JSON text says it: 0.1 is a tenth. Raises SchemaError for what JSON cannot write."""
    if isinstance(number, int):
        return Fraction(_written(number))
    if not math.isfinite(number):
        msg = f"{number!r} is no JSON number: only finite numbers are"
        raise SchemaError(msg)
    return Fraction(Decimal(repr(number)))


def _written(number: int) -> int:
    if number.bit_length() > _MAX_BITS:
        msg = f"a number of {number.bit_length()} bits is too large; numbers have at most {_MAX_BITS} bits"
        raise SchemaError(msg)
    return number


def json_number(number: Fraction) -> int | float | None:
    """The JSON number of exactly this value; None where no float is written so."""
    if number.denominator == 1:
        return number.numerator
    try:
        written = float(number)
    except OverflowError:
        return None
    return written if math.isfinite(written) and exact(written) == number else None


def key(value: Any) -> Hashable:
    """Equal for equal JSON values, and only for those."""
    found = kind(value)
    if isinstance(value, str):
        return value
    if found == "number":
        return ("number", _written(value) if isinstance(value, int) else exact(value))
    if found == "array":
        return ("array", tuple(map(key, value)))
    if found == "object":
        return ("object", frozenset((_name(name), key(member)) for name, member in value.items()))
    return (found, value)


def _name(name: object) -> str:
    if isinstance(name, str):
        return name
    msg = f"{name!r} is no name of a JSON object: names are strings"
    raise SchemaError(msg)


def size(value: Any) -> int:
    """How many values there are in it when it is written out, the same one counted each time."""
    return _size(value, {})


def _size(value: Any, known: dict[int, int]) -> int:
    if not isinstance(value, dict | list):
        return 1
    if id(value) not in known:
        inner = value.values() if isinstance(value, dict) else value
        known[id(value)] = 1 + sum(_size(each, known) for each in inner)
    return known[id(value)]


def text(schema: Any) -> str:
    """The same for the same JSON in another order of names; raises SchemaError for what JSON cannot write."""
    try:
        return json.dumps(schema, sort_keys=True, allow_nan=False)
    except (TypeError, ValueError) as error:
        msg = f"the schema is no JSON: {error}"
        raise SchemaError(msg) from error


def canonical(value: Any) -> str:
    """One text for equal JSON values: names sorted, numbers as exact fractions."""
    found = kind(value)
    if found == "array":
        return f"[{','.join(map(canonical, value))}]"
    if found == "object":
        return "{" + ",".join(f"{json.dumps(name)}:{canonical(value[name])}" for name in sorted(value)) + "}"
    return str(exact(value)) if found == "number" else json.dumps(value)
