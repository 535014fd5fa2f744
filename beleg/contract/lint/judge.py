"""Whether a value meets a schema, within bounded time and without the network.

`jsonschema-rs` judges: its regular expressions give up instead of backtracking for ever, and nothing is
fetched. What could still explode (references that double at each step) is counted before.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import islice
from typing import Any

import jsonschema_rs

from beleg.contract.lint.schemas import IN_PLACE, References

MAX_STEPS = 200_000
"""Visits of a subschema at a value; a contract's example takes a few hundred."""
MAX_FAULTS = 10
OPEN = ("additionalProperties", "unevaluatedProperties")
TOO_COMPLEX = "it cannot be checked in reasonable time: references multiply"


def faults(schema: Any, value: Any) -> list[tuple[str, str]]:
    """Up to ten (place in the value, what is wrong); empty where the value is valid."""
    try:
        if Cost(schema).of(schema, value) > MAX_STEPS:
            return [("", TOO_COMPLEX)]
        return _worded(jsonschema_rs.validator_for(schema, retriever=_refuse, validate_formats=True), value)
    except RecursionError:
        return [("", TOO_COMPLEX)]
    except (ValueError, jsonschema_rs.ReferencingError) as error:
        return [("", f"the schema cannot be used: {first_line(error)}")]


def schema_faults(schema: Any) -> list[tuple[str, str]]:
    """Up to ten (place in the schema, what is wrong by the 2020-12 metaschema)."""
    return _worded(_metaschema(), schema)


def _worded(validator: Any, value: Any) -> list[tuple[str, str]]:
    errors = islice(validator.iter_errors(value), MAX_FAULTS)
    return [("/".join(map(str, each.instance_path)), each.message) for each in errors]


@cache
def _metaschema() -> Any:
    return jsonschema_rs.Draft202012Validator(
        {"$ref": "https://json-schema.org/draft/2020-12/schema"}, retriever=_refuse, validate_formats=True
    )


def _refuse(uri: str) -> Any:
    raise ValueError(f"{uri} is not fetched; a contract holds its whole schema")


def first_line(error: BaseException) -> str:
    """The first line of an error's message."""
    return str(error).partition("\n")[0]


class Cost:
    """Upper bound of the visits that validation makes; each pair of schema and value is counted once."""

    def __init__(self, root: Any) -> None:
        self._references = References(root)
        self._known: dict[tuple[int, int], int] = {}

    def of(self, schema: Any, value: Any) -> int:
        """Visits of `value` under `schema`, at most a little above MAX_STEPS."""
        if not isinstance(schema, Mapping):
            return 1
        key = id(schema), id(value)
        if key not in self._known:
            self._known[key] = MAX_STEPS + 1  # met again below itself: a loop that never ends
            total = 1
            for below, part in self._parts(schema, value):
                total += self.of(below, part)
                if total > MAX_STEPS:
                    break
            self._known[key] = total
        return self._known[key]

    def _parts(self, schema: Mapping[str, Any], value: Any) -> list[tuple[Any, Any]]:
        again = [each for key in IN_PLACE for each in _subschemas(schema.get(key))]
        parts = [(each, value) for each in again + _values(schema.get("dependentSchemas"))]
        for key in ("$ref", "$dynamicRef"):
            if isinstance(schema.get(key), str):
                try:
                    parts.append((self._references.target(schema[key]), value))
                except LookupError:
                    continue
        if isinstance(value, Mapping):
            parts += self._members(schema, value)
        elif isinstance(value, Sequence) and not isinstance(value, str):
            rest = [each for key in ("items", "contains", "unevaluatedItems") for each in _subschemas(schema.get(key))]
            parts += [(each, item) for each in rest + _subschemas(schema.get("prefixItems")) for item in value]
        return parts

    def _members(self, schema: Mapping[str, Any], value: Mapping[str, Any]) -> list[tuple[Any, Any]]:
        named = schema.get("properties")
        parts = [(named[name], each) for name, each in value.items() if isinstance(named, Mapping) and name in named]
        others = [schema[key] for key in OPEN if isinstance(schema.get(key), Mapping)]
        others += _values(schema.get("patternProperties"))
        return parts + [(other, each) for other in others for each in value.values()]


def _subschemas(value: Any) -> list[Any]:
    if isinstance(value, Mapping):
        return [value]
    return list(value) if isinstance(value, list | tuple) else []


def _values(value: Any) -> list[Any]:
    return list(value.values()) if isinstance(value, Mapping) else []
