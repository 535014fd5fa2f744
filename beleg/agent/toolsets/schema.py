"""Input schemas from type hints or as given, always in the same bytes, each with the check of arguments."""

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from beleg.agent.errors import ArgumentsRefused
from beleg.core.errors import UsageError

Check = Callable[[Mapping[str, Any]], dict[str, Any]]
"""Arguments as a function takes them; raises ArgumentsRefused."""
CONTEXT = "context"
"""The parameter that the dispatch fills and no model sees."""
_MAPS = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
_VALUES = frozenset({"enum", "const", "default", "examples"})
_JOINS = frozenset({"allOf", "anyOf", "oneOf", "$ref", "patternProperties", "additionalProperties", "if"})


def from_hints(function: Callable[..., Any]) -> tuple[dict[str, Any], Check]:
    """The schema of a function's parameters by pydantic, without `context`, and the check of its arguments."""
    from pydantic import TypeAdapter, ValidationError  # noqa: PLC0415 - an extra
    from pydantic_core import ArgsKwargs  # noqa: PLC0415

    @functools.wraps(function)
    def given(**arguments: Any) -> dict[str, Any]:
        return arguments

    signature = _signature(function)
    shown = [each.replace(kind=each.KEYWORD_ONLY) for each in signature.parameters.values() if each.name != CONTEXT]
    given.__signature__ = signature.replace(parameters=shown)  # type: ignore[attr-defined]
    adapter: TypeAdapter[Any] = TypeAdapter(given)  # type: ignore[arg-type]

    def check(arguments: Mapping[str, Any]) -> dict[str, Any]:
        try:
            return dict(adapter.validate_python(ArgsKwargs((), dict(arguments))))
        except ValidationError as error:
            seen = error.errors(include_url=False, include_input=False, include_context=False)
            raise ArgumentsRefused(_told((".".join(map(str, e["loc"])), e["type"]) for e in seen)) from None

    return normal(adapter.json_schema(), titles=False), check


def _signature(function: Callable[..., Any]) -> inspect.Signature:
    """The signature; raises UsageError for one that takes what no schema can name."""
    signature = inspect.signature(function)
    for each in signature.parameters.values():
        if each.kind not in {each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY}:
            raise UsageError(
                f"`{each}` of {signature} cannot be given by name: a tool's parameters are named one by one"
            )
    return signature


def from_schema(schema: Mapping[str, Any]) -> tuple[dict[str, Any], Check]:
    """A JSON Schema (2020-12) as given, its objects closed, and the check of arguments against it."""
    from jsonschema import Draft202012Validator  # noqa: PLC0415

    closed = _closed(normal({"properties": {}, "type": "object", **schema}))
    Draft202012Validator.check_schema(closed)
    validator = Draft202012Validator(closed)

    def check(arguments: Mapping[str, Any]) -> dict[str, Any]:
        errors = [(error.json_path, str(error.validator)) for error in validator.iter_errors(arguments)]
        if errors:
            raise ArgumentsRefused(_told(errors))
        return dict(arguments)

    return closed, check


def normal(schema: Any, *, titles: bool = True) -> Any:
    """The schema with members and required names sorted: the order in which a map was filled never shows."""
    if isinstance(schema, list | tuple):
        return [normal(each, titles=titles) for each in schema]
    if not isinstance(schema, Mapping):
        return schema
    return {key: _member(key, schema[key], titles) for key in sorted(schema) if titles or key != "title"}


def _member(key: str, value: Any, titles: bool) -> Any:
    if key in _MAPS and isinstance(value, Mapping):
        return {name: normal(value[name], titles=titles) for name in sorted(value)}
    if key == "required" and isinstance(value, list):
        return sorted(value)
    return value if key in _VALUES else normal(value, titles=titles)


def _closed(schema: Any) -> Any:
    """Objects that list their properties take no others: what a schema does not name cannot be written."""
    if isinstance(schema, list):
        return [_closed(each) for each in schema]
    if not isinstance(schema, Mapping):
        return schema
    inside = {key: value if key in _VALUES else _closed(value) for key, value in schema.items()}
    if isinstance(inside.get("properties"), dict) and _JOINS.isdisjoint(inside):
        inside["additionalProperties"] = False
    return dict(sorted(inside.items()))


def open_objects(schema: Mapping[str, Any]) -> Iterator[str]:
    """Names of parameters in which somewhere any member may be written; `arguments` where that is so of all."""
    definitions = schema.get("$defs", {})
    if schema.get("additionalProperties") is not False:
        yield "arguments"
    for name, each in schema.get("properties", {}).items():
        if _is_open(each, definitions, frozenset()):
            yield name


def _is_open(schema: Any, definitions: Mapping[str, Any], followed: frozenset[str]) -> bool:
    if not isinstance(schema, Mapping):
        return schema is not False
    if "enum" in schema or "const" in schema:
        return False
    if "$ref" in schema:
        target = str(schema["$ref"]).removeprefix("#/$defs/")
        return target not in followed and _is_open(definitions.get(target, True), definitions, followed | {target})
    choices = [each for key in ("anyOf", "oneOf", "allOf") for each in schema.get(key, ())]
    if "type" not in schema:
        return not choices or any(_is_open(each, definitions, followed) for each in choices)
    kinds = {schema["type"]} if isinstance(schema["type"], str) else set(schema["type"])
    inside = [*schema.get("properties", {}).values(), *schema.get("prefixItems", ())]
    if "array" in kinds:
        inside.append(schema.get("items", "prefixItems" not in schema))
    takes_any = "object" in kinds and _takes_any_member(schema)
    return takes_any or any(_is_open(each, definitions, followed) for each in inside)


def _takes_any_member(schema: Mapping[str, Any]) -> bool:
    if "additionalProperties" in schema:
        return schema["additionalProperties"] is not False or "patternProperties" in schema
    return "properties" not in schema or not _JOINS.isdisjoint(schema)


def _told(errors: Any) -> str:
    """Places and rules, never values: what a model wrote may be anybody's data."""
    return "arguments do not meet the schema: " + "; ".join(f"{place or 'all'}: {rule}" for place, rule in errors)
