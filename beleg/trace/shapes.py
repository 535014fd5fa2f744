"""Registered shapes: the declared form that an artifact or a stored value must have.

A shape is a small subset of JSON Schema, strict on purpose: objects name all their properties, and a
string says how long it may be, what it may be, or what it looks like. So no shape can let a document through.
"""

import json
import re
from collections.abc import Callable, Mapping
from math import isnan
from typing import Any

from beleg.trace.policy import PolicyError, word

MAX_BYTES = 16 * 1024
"""Largest artifact or stored value, as JSON."""
MAX_STRING = 1000
_ANNOTATIONS = frozenset({"description", "title", "additionalProperties"})
_KEYWORDS = _ANNOTATIONS | {"type", "properties", "required", "items", "enum", "pattern"}
_KEYWORDS |= {"maxLength", "maxItems", "minimum", "maximum"}
_TYPES: dict[str, Callable[[Any], bool]] = {
    "object": lambda v: isinstance(v, Mapping),
    "array": lambda v: isinstance(v, list | tuple),
    "string": lambda v: isinstance(v, str),
    "integer": lambda v: isinstance(v, int) and not isinstance(v, bool),
    "number": lambda v: isinstance(v, int | float) and not isinstance(v, bool),
    "boolean": lambda v: isinstance(v, bool),
    "null": lambda v: v is None,
}

_registered: dict[str, Mapping[str, Any]] = {}


def register_shape(kind: str, shape: Mapping[str, Any]) -> None:
    """Declare the form of artifacts of a kind; raises PolicyError for a shape that is too open."""
    word("kind", kind, 100)
    check_shape(shape)
    if _types(shape) != ["object"]:
        raise PolicyError(f"shape {kind!r} is no object; an artifact is an object with named properties")
    _registered[kind] = shape


def shape_of(kind: str) -> Mapping[str, Any]:
    """The registered shape; raises PolicyError naming the kinds there are."""
    try:
        return _registered[kind]
    except (KeyError, TypeError):
        known = ", ".join(sorted(_registered)) or "none"
        raise PolicyError(f"an artifact's kind is not registered; registered are: {known}") from None


def check_shape(shape: Mapping[str, Any], where: str = "") -> None:
    """Raise PolicyError unless the shape bounds every string and names every property."""
    unknown = sorted(set(shape) - _KEYWORDS)
    if unknown:
        raise PolicyError(f"shape{where}: {unknown[0]!r} is not supported; use {', '.join(sorted(_KEYWORDS))}")
    types = _types(shape)
    bad = [t for t in types if t not in _TYPES]
    if bad or not (types or "enum" in shape):
        raise PolicyError(f"shape{where}: type {bad or None!r} is none of {', '.join(_TYPES)}")
    if "string" in types and "enum" not in shape and not 0 < shape.get("maxLength", 0) <= MAX_STRING:
        raise PolicyError(f"shape{where}: a string needs an enum or a maxLength of 1 to {MAX_STRING}")
    if "array" in types:
        check_shape(shape.get("items", {}), f"{where}/items")
    for name, part in shape.get("properties", {}).items():
        check_shape(part, f"{where}/{name}")


def check_value(value: Any, shape: Mapping[str, Any]) -> None:
    """Raise PolicyError unless the value has the shape and is small; the message never shows a value."""
    _check(value, shape, "")
    if len(json.dumps(value, default=str)) > MAX_BYTES:
        raise PolicyError(f"the value is larger than {MAX_BYTES} bytes as JSON; keep a reference instead")


def _types(shape: Mapping[str, Any]) -> list[str]:
    given = shape.get("type", [])
    return [given] if isinstance(given, str) else list(given)


def _check(value: Any, shape: Mapping[str, Any], where: str) -> None:
    types = _types(shape)
    if types and not any(_TYPES[t](value) for t in types):
        raise PolicyError(f"{where or 'the value'} is a {type(value).__name__}; allowed: {', '.join(types)}")
    if "enum" in shape and value not in shape["enum"]:
        raise PolicyError(f"{where or 'the value'} is none of the words its shape lists")
    if isinstance(value, Mapping):
        _check_members(value, shape, where)
    elif isinstance(value, list | tuple):
        if len(value) > shape.get("maxItems", 1000):
            raise PolicyError(f"{where or 'the value'} has {len(value)} items, more than its shape allows")
        for index, item in enumerate(value):
            _check(item, shape.get("items", {}), f"{where}/{index}")
    elif isinstance(value, str):
        _check_text(value, shape, where)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        _check_number(value, shape, where)


def _check_members(value: Mapping[Any, Any], shape: Mapping[str, Any], where: str) -> None:
    properties = shape.get("properties", {})
    if any(name not in properties for name in value):
        raise PolicyError(f"{where or 'the value'} has a property that its shape does not name")
    for name in shape.get("required", ()):
        if name not in value:
            raise PolicyError(f"{where or 'the value'} lacks {name!r}, which its shape requires")
    for name, item in value.items():
        _check(item, properties[name], f"{where}/{name}")


def _check_text(value: str, shape: Mapping[str, Any], where: str) -> None:
    if "maxLength" in shape and len(value) > shape["maxLength"]:
        raise PolicyError(f"{where or 'the value'} has {len(value)} characters, allowed {shape['maxLength']}")
    if "pattern" in shape and re.search(shape["pattern"], value) is None:
        raise PolicyError(f"{where or 'the value'} does not match its pattern")


def _check_number(value: float, shape: Mapping[str, Any], where: str) -> None:
    low, high = shape.get("minimum"), shape.get("maximum")
    if isnan(value) or (low is not None and value < low) or (high is not None and value > high):
        raise PolicyError(f"{where or 'the value'} is out of range; allowed: {low} to {high}")
