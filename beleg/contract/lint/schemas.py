"""Walking a JSON Schema: every subschema with its place, without recursion and with a limit."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import unquote

MAX_NODES = 50_000
MAX_DEPTH = 200
"""Levels of nesting of the JSON itself; nobody writes such a schema, and validators fall over it."""
MAPS = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
LISTS = ("allOf", "anyOf", "oneOf", "prefixItems")
SINGLES = (
    "items",
    "additionalProperties",
    "unevaluatedProperties",
    "unevaluatedItems",
    "contains",
    "propertyNames",
    "not",
    "if",
    "then",
    "else",
    "contentSchema",
)
IN_PLACE = ("allOf", "anyOf", "oneOf", "not", "if", "then", "else")
"""Keywords whose subschemas judge the same value again."""
DEFINITIONS = ("$defs", "definitions")
SAME_LEVEL = (*IN_PLACE, *DEFINITIONS, "dependentSchemas")


@dataclass(frozen=True)
class Node:
    """A subschema and where it stands."""

    pointer: str
    """JSON pointer with its `#`."""
    schema: Any
    member: str | None = None
    """Name of the object member that it describes."""
    required: bool = False
    levels: int = 0
    """How many objects and arrays of the value lie around what it describes."""


class TooLarge(Exception):
    """A schema has more nodes or levels than lint looks at."""


def walk(root: Any) -> tuple[Node, ...]:
    """Every subschema, the root first, in document order; raises TooLarge."""
    nodes: list[Node] = []
    waiting = [(Node("#", root), 0)]
    while waiting:
        node, depth = waiting.pop()
        nodes.append(node)
        if len(nodes) > MAX_NODES or depth > MAX_DEPTH:
            raise TooLarge
        waiting.extend((child, depth + 1) for child in reversed(list(children(node))))
    return tuple(nodes)


def children(node: Node) -> Iterator[Node]:
    """The direct subschemas of one."""
    schema = node.schema
    if not isinstance(schema, Mapping):
        return
    required = schema.get("required")
    names = {n for n in required if isinstance(n, str)} if isinstance(required, list | tuple) else set()
    for key, value in schema.items():
        deeper = node.levels + (key not in SAME_LEVEL)
        place = f"{node.pointer}/{escape(key)}"
        if key in MAPS and isinstance(value, Mapping):
            for name, each in value.items():
                member = name if key == "properties" else None
                yield Node(f"{place}/{escape(name)}", each, member, name in names, deeper)
        elif key in LISTS and isinstance(value, list | tuple):
            yield from (Node(f"{place}/{n}", each, levels=deeper) for n, each in enumerate(value))
        elif key in SINGLES and isinstance(value, Mapping | bool):
            yield Node(place, value, levels=deeper)


def escape(name: Any) -> str:
    """A name as a step of a JSON pointer."""
    return str(name).replace("~", "~0").replace("/", "~1")


class References:
    """Looks up the local references of one schema."""

    def __init__(self, root: Any) -> None:
        self._root = root

    @cached_property
    def _anchors(self) -> Mapping[str, Any]:
        named = [each.schema for each in walk(self._root) if isinstance(each.schema, Mapping)]
        return {schema[key]: schema for key in ("$anchor", "$dynamicAnchor") for schema in named if key in schema}

    def target(self, reference: str) -> Any:
        """What a `$ref` points to; raises LookupError for a dangling or external one."""
        if not reference.startswith("#"):
            raise LookupError("external")
        if reference == "#":
            return self._root
        value = self._pointed(reference[2:]) if reference.startswith("#/") else self._anchors.get(reference[1:])
        if isinstance(value, Mapping | bool):
            return value
        raise LookupError("dangling")

    def _pointed(self, path: str) -> Any:
        value = self._root
        for step in path.split("/"):
            name = unquote(step).replace("~1", "/").replace("~0", "~")
            if isinstance(value, list | tuple):
                value = value[int(name)] if name.isdecimal() and int(name) < len(value) else None
            else:
                value = value.get(name) if isinstance(value, Mapping) else None
        return value


def can_hold(root: Any, steps: Sequence[str]) -> bool:
    """Whether a value under a schema may have something at a place; only a closed object is known to have nothing."""
    references, here = References(root), [root]
    for step in steps:
        here = [below for schema in _unfolded(here, references) for below in _at(schema, step)]
    return bool(here)


def _unfolded(schemas: Iterable[Any], references: References) -> Iterator[Any]:
    """Schemas with what they refer to and combine, each once."""
    waiting, seen = list(schemas), set[int]()
    while waiting:
        schema = waiting.pop()
        if id(schema) in seen:
            continue
        seen.add(id(schema))
        yield schema
        if isinstance(schema, Mapping):
            waiting.extend(each for key in ("allOf", "anyOf", "oneOf") for each in schema.get(key) or ())
            waiting.extend(schema[key] for key in ("then", "else") if key in schema)
            with suppress(LookupError):
                waiting.extend([references.target(schema["$ref"])] if "$ref" in schema else ())


def _at(schema: Any, step: str) -> Iterator[Any]:
    """The subschemas for one step into a value, as far as a schema speaks of it."""
    if not isinstance(schema, Mapping):
        yield from [schema] if schema is True else []
        return
    named = schema.get("properties") or {}
    if step in named:
        yield named[step]
    elif declares_object(schema) and not closed(schema):
        yield True
    yield from (schema.get("patternProperties") or {}).values()  # patterns are strangers' and not tried
    if "array" in types(schema) and step.isdecimal():
        prefix = schema.get("prefixItems") or ()
        yield prefix[int(step)] if int(step) < len(prefix) else schema.get("items", True)


def types(schema: Any) -> tuple[str, ...]:
    """The declared types of a schema; empty where it declares none."""
    given = schema.get("type") if isinstance(schema, Mapping) else None
    return (given,) if isinstance(given, str) else tuple(given) if isinstance(given, list | tuple) else ()


def declares_object(schema: Any) -> bool:
    """Whether a schema describes an object."""
    return "object" in types(schema) or (isinstance(schema, Mapping) and "properties" in schema)


def closed(schema: Mapping[str, Any]) -> bool:
    """Whether an object refuses members that it does not name."""
    return schema.get("additionalProperties") is False or schema.get("unevaluatedProperties") is False


def nullable(schema: Any) -> bool:
    """Whether a schema allows null besides something else."""
    if not isinstance(schema, Mapping):
        return False
    if len(types(schema)) > 1 and "null" in types(schema):
        return True
    branches = [each for key in ("anyOf", "oneOf") for each in schema.get(key, ())]
    return len(branches) > 1 and any(types(each) == ("null",) for each in branches)


def union(schema: Any) -> bool:
    """Whether a schema allows values of several kinds."""
    return isinstance(schema, Mapping) and (len(types(schema)) > 1 or "anyOf" in schema or "oneOf" in schema)
