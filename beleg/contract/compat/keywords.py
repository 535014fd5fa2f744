"""The keywords of JSON Schema 2020-12, the shape each must have, and older spellings rewritten to it."""

from collections.abc import Callable
from typing import Any, Final

from beleg.contract.compat.regexes import is_pattern
from beleg.contract.compat.values import KINDS
from beleg.contract.compat.verdict import SchemaError

Keywords = dict[str, Any]

MAPS: Final = frozenset(
    {"$defs", "definitions", "properties", "patternProperties", "dependentSchemas", "dependencies"},
)
"""Keywords whose value maps names to schemas."""
MANY: Final = frozenset({"allOf", "anyOf", "oneOf", "prefixItems", "items"})
"""Keywords whose value is a list of schemas (`items` in the older dialects)."""
ONE: Final = frozenset(
    {"additionalItems", "additionalProperties", "contains", "contentSchema", "else", "if", "items", "not"}
    | {"propertyNames", "then", "unevaluatedItems", "unevaluatedProperties"},
)
"""Keywords whose value is a schema."""
TYPES: Final = frozenset({*KINDS, "integer"})

_Check = tuple[str, Callable[[Any], bool]]


def _schema(value: Any) -> bool:
    return isinstance(value, dict | bool)


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


def _types(value: Any) -> bool:
    named = value if isinstance(value, list) else [value]
    return all(isinstance(name, str) and name in TYPES for name in named)


def _count(value: Any) -> bool:
    return _number(value) and value >= 0 and value % 1 == 0


def _named_schemas(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(n, str) and _schema(s) for n, s in value.items())


def _dependencies(value: Any) -> bool:
    return isinstance(value, dict) and all(_names(v) or _schema(v) for v in value.values())


_SCHEMA: Final[_Check] = ("a schema: an object, true or false", _schema)
_SCHEMAS: Final[_Check] = (
    "a list of at least one schema",
    lambda value: isinstance(value, list) and bool(value) and all(map(_schema, value)),
)
_SCHEMA_OR_SCHEMAS: Final[_Check] = (
    "a schema or a list of schemas",
    lambda value: _schema(value) or (isinstance(value, list) and all(map(_schema, value))),
)
_NAMED: Final[_Check] = ("an object of schemas", _named_schemas)
_NUMBER: Final[_Check] = ("a number", _number)
_COUNT: Final[_Check] = ("a whole number from 0", _count)
_TEXT: Final[_Check] = ("a string", lambda value: isinstance(value, str))
_FLAG: Final[_Check] = ("true or false", lambda value: isinstance(value, bool))

SHAPES: Final[dict[str, _Check]] = {
    **dict.fromkeys(ONE, _SCHEMA),
    **dict.fromkeys(("allOf", "anyOf", "oneOf", "prefixItems"), _SCHEMAS),
    **dict.fromkeys(("properties", "patternProperties", "dependentSchemas"), _NAMED),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _NUMBER),
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"), _COUNT),
    **dict.fromkeys(("minContains", "maxContains"), _COUNT),
    **dict.fromkeys(("$ref", "format", "pattern", "contentEncoding", "contentMediaType"), _TEXT),
    "uniqueItems": _FLAG,
    "items": _SCHEMA_OR_SCHEMAS,
    "multipleOf": ("a number above 0", lambda value: _number(value) and value > 0),
    "type": (f"one of {', '.join(sorted(TYPES))}, or a list of them", _types),
    "enum": ("a list of values", lambda value: isinstance(value, list)),
    "required": ("a list of names", _names),
    "dependencies": ("an object of schemas or lists of names", _dependencies),
    "dependentRequired": (
        "an object of lists of names",
        lambda value: isinstance(value, dict) and all(map(_names, value.values())),
    ),
}


_SHAPES_OF_2020: Final = {**SHAPES, "items": ("a schema; schemas by position are prefixItems", _schema)}


def checked(raw: dict[str, Any], pointer: str, dialect: int) -> dict[str, Any]:
    """The same schema; raises SchemaError naming the place of a keyword that has the wrong shape."""
    shapes = _SHAPES_OF_2020 if dialect == 2020 else SHAPES
    for keyword, value in raw.items():
        shape = shapes.get(keyword)
        if shape is not None and not shape[1](value):
            msg = f"{pointer}/{keyword} is {_shown(value)}; it must be {shape[0]}"
            raise SchemaError(msg)
        for pattern in [value] if keyword == "pattern" else value if keyword == "patternProperties" else ():
            if not is_pattern(pattern):
                msg = f"{pointer}/{keyword} has {_shown(pattern)}; it must be a regular expression"
                raise SchemaError(msg)
    return raw


def _shown(value: Any) -> str:
    try:
        return repr(value)[:60]
    except (ValueError, RecursionError):  # an integer of thousands of digits, or a list in a list in …
        return f"a large {type(value).__name__}"


_LATER_THAN_7: Final = frozenset(
    {"dependentRequired", "dependentSchemas", "minContains", "maxContains", "prefixItems"}
    | {"unevaluatedItems", "unevaluatedProperties", "contentSchema"},
)
_ASSERTING: Final = frozenset(SHAPES) | {"const"}


def translated(raw: dict[str, Any], dialect: int) -> Keywords:
    """The keywords in the spelling of 2020-12, without those that the dialect does not know."""
    if dialect == 2020:
        return raw
    if dialect == 7 and "$ref" in raw:
        return {k: v for k, v in raw.items() if k == "$ref" or k not in _ASSERTING}
    unknown = _LATER_THAN_7 if dialect == 7 else {"prefixItems"}
    found = {k: v for k, v in raw.items() if k not in unknown}
    _tuples(found)
    for name, needed in found.pop("dependencies", {}).items():
        target = "dependentRequired" if isinstance(needed, list) else "dependentSchemas"
        found[target] = {**found.get(target, {}), name: needed}
    return found


def _tuples(found: Keywords) -> None:
    additional = found.pop("additionalItems", True)
    if isinstance(found.get("items"), list):
        prefix = found.pop("items")
        found["items"] = additional
        if prefix:
            found["prefixItems"] = prefix
