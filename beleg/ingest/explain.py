"""Words for the few lines that fail: which rule, where, what was expected.

The words are a function of the schema and of the *place* of the fault. They never hold a value of the
line, nor a key that the schema does not know: both may be payload.
"""

from collections.abc import Iterator
from difflib import get_close_matches
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

import orjson

from beleg.ingest.schemas import Rule

if TYPE_CHECKING:
    from jsonschema import ValidationError

_LONGEST = 300
_REMEMBER = 1000
"""Different faults of a rule whose words are kept."""


def explain(rule: Rule, value: Any) -> str:
    """Why `value` does not meet the rule; takes 0.1 ms, far less for a fault seen before.

    `jsonschema` words it. Equal faults (the compiled validator reports the same schema and instance
    paths) are worded once.
    """
    faults = tuple(sorted(_signature(error) for error in rule.validator.iter_errors(value)))
    known = rule.words.get(faults)
    if known is None:
        known = _words(rule, value)[:_LONGEST]
        if len(rule.words) < _REMEMBER:
            rule.words[faults] = known
    return known


def _signature(error: Any) -> tuple[str, ...]:
    path = "/".join(map(str, error.schema_path))
    # The words for an unknown field depend on which it is, so its fault is equal only for equal keys.
    keys = sorted(error.instance) if path.endswith("additionalProperties") else ()
    return (path, "/".join(map(str, error.instance_path)), type(error.instance).__name__, *keys)


def _words(rule: Rule, value: Any) -> str:
    from beleg.ingest.reference import first_fault  # noqa: PLC0415  # costs 0.1 s, needed by bad lines only

    error = first_fault(rule.schema, value)
    if error is None:
        return ": refused by the compiled validator alone; please report this as a fault of Beleg"
    return f"{_pointer(error, rule)}: {_expected(error)}"


def _pointer(error: "ValidationError", rule: Rule) -> str:
    known = _names(rule)
    return "".join(f"/{p}" if isinstance(p, int) or p in known else "/*" for p in error.absolute_path)


def _expected(error: "ValidationError") -> str:
    keyword, expected = str(error.validator), cast("Any", error.validator_value)
    match keyword:
        case "type":
            kinds = [expected] if isinstance(expected, str) else expected
            return f"expected {' or '.join(kinds)}, found {_kind(error.instance)}"
        case "required":
            return f"missing {', '.join(name for name in expected if name not in cast('Any', error.instance))}"
        case "additionalProperties":
            return _unknown_field(error)
        case "enum":
            return f"expected one of {', '.join(map(_json, expected))}"
        case "anyOf" | "oneOf" | "not" | "allOf":
            return f"breaks the rule {keyword}, see the schema"
        case _:
            return f"breaks {keyword} {_json(expected)}"


def _json(value: Any) -> str:
    return orjson.dumps(value).decode()


def _unknown_field(error: "ValidationError") -> str:
    known = list(error.schema.get("properties", {})) if isinstance(error.schema, dict) else []
    extra = [name for name in cast("Any", error.instance) if name not in known]
    near = {match for name in extra for match in get_close_matches(name, known, 1, 0.8)}
    hint = f"; near to {', '.join(sorted(near))}" if near else ""
    return f"{len(extra)} unknown field{'s' if len(extra) > 1 else ''} (names not shown){hint}"


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    names = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}
    return names[type(value)]


@lru_cache(maxsize=64)
def _names(rule: Rule) -> frozenset[str]:
    return frozenset(_property_names(rule.schema))


def _property_names(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        yield from schema.get("properties", {})
    children = schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ()
    for child in children:
        yield from _property_names(child)
