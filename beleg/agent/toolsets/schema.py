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
MOST_LEVELS = 100
"""Of nesting in a schema: nobody writes more, and no model reads it."""
_MAPS = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
_VALUES = frozenset({"enum", "const", "default", "examples"})
_IN_PLACE = frozenset({"allOf", "anyOf", "oneOf", "not", "if", "then", "else"})
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
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(given)  # type: ignore[arg-type]
        schema = normal(adapter.json_schema(), titles=False)
    except Exception as error:  # pydantic, and whatever an annotation is
        said = str(error).partition("\n")[0][:200]
        raise UsageError(f"no schema can be made of {signature}: {type(error).__name__}: {said}") from error

    def check(arguments: Mapping[str, Any]) -> dict[str, Any]:
        try:
            return dict(adapter.validate_python(ArgsKwargs((), dict(arguments))))
        except ValidationError as error:
            seen = error.errors(include_url=False, include_input=False, include_context=False)
            raise ArgumentsRefused(_told((".".join(map(str, e["loc"])), e["type"]) for e in seen)) from None

    return schema, check


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
    """A JSON Schema (2020-12) as given, its objects closed, and the check of arguments against it.

    Raises UsageError for what is no such schema, or refers to something outside of itself, to nothing, or to
    itself alone.
    """
    from jsonschema import Draft202012Validator, SchemaError  # noqa: PLC0415

    _check_plain(schema)
    closed = _closed(normal({"properties": {}, "type": "object", **schema}))
    try:
        Draft202012Validator.check_schema(closed)
    except SchemaError as error:
        raise UsageError(f"the input schema is no JSON Schema: {error.json_path}: {error.message[:200]}") from error
    _check_references(closed)
    validator = Draft202012Validator(closed)

    def check(arguments: Mapping[str, Any]) -> dict[str, Any]:
        try:
            errors = [(error.json_path, str(error.validator)) for error in validator.iter_errors(arguments)]
        except RecursionError:  # a schema that refers to itself takes any depth, and a model writes it
            raise ArgumentsRefused(_told([("", "nested too deep")])) from None
        if errors:
            raise ArgumentsRefused(_told(errors))
        return dict(arguments)

    return closed, check


def _check_plain(schema: object) -> None:
    """Raise UsageError for what is not JSON, nested beyond sense or in itself, or refers elsewhere."""
    if not isinstance(schema, Mapping):
        raise UsageError(f"an input schema is an object, not a {type(schema).__name__}")
    waiting: list[tuple[Any, int]] = [(schema, 0)]
    while waiting:
        value, depth = waiting.pop()
        if depth > MOST_LEVELS:
            raise UsageError(f"the input schema has more than {MOST_LEVELS} levels, or contains itself: use $ref")
        if isinstance(value, Mapping):
            if odd := [key for key in value if not isinstance(key, str)]:
                raise UsageError(f"the input schema has the key {odd[0]!r}; keys of JSON are texts")
            if elsewhere := [each for each in _references(value) if not each.startswith("#")]:
                raise UsageError(f"the input schema refers to {elsewhere[0][:200]!r}: write it below $defs instead")
            waiting += [(inner, depth + 1) for inner in value.values()]
        elif isinstance(value, list | tuple):
            waiting += [(inner, depth + 1) for inner in value]


def _check_references(schema: Mapping[str, Any]) -> None:
    """Raise UsageError for a reference to nothing, and for one that leads back to itself without a value between."""
    from referencing import Registry  # noqa: PLC0415 - comes with jsonschema
    from referencing.exceptions import Unresolvable  # noqa: PLC0415
    from referencing.jsonschema import DRAFT202012  # noqa: PLC0415

    resolver = Registry().resolver_with_root(DRAFT202012.create_resource(schema))
    sound: set[str] = set()

    def follow(part: Mapping[str, Any], way: tuple[str, ...]) -> None:
        """Everything that is checked against the same value as this part."""
        for reference in _references(part):
            if reference in way or len(way) > MOST_LEVELS:
                raise UsageError(f"in the input schema {reference[:200]!r} refers to itself alone: say what it is")
            if reference in sound:
                continue
            try:
                target = resolver.lookup(reference).contents
            except Unresolvable as error:
                raise UsageError(f"the input schema refers to {reference[:200]!r}, which is not in it") from error
            if isinstance(target, Mapping):
                follow(target, (*way, reference))
            sound.add(reference)
        for each in _beside(part):
            follow(each, way)

    for each in _parts(schema):
        follow(each, ())


def _references(schema: Mapping[str, Any]) -> list[str]:
    """What a schema refers to."""
    return [schema[key] for key in ("$ref", "$dynamicRef") if isinstance(schema.get(key), str)]


def _parts(schema: Any) -> Iterator[Mapping[str, Any]]:
    """Every object in a schema that may be a schema of its own."""
    if isinstance(schema, list):
        for each in schema:
            yield from _parts(each)
    elif isinstance(schema, Mapping):
        yield schema
        for key, value in schema.items():
            if key not in _VALUES:
                yield from _parts(value)


def _beside(schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The schemas that a value must meet, or not, together with this one."""
    for key in _IN_PLACE & schema.keys():
        inside = schema[key]
        yield from (each for each in (inside if isinstance(inside, list) else [inside]) if isinstance(each, Mapping))


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
