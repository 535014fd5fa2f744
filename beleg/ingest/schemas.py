"""The rules of each event version, compiled for the judge.

JSON Schema is the only contract of an event (DESIGN, decision 5). Two things are derived from it: a
compiled validator, and which fields hold nested keys, so that duplicate keys can be counted.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jsonschema_rs import Draft202012Validator, RegexOptions

from beleg.core.errors import UsageError
from beleg.core.paths import shipped

SHAPES = ("contracts", "events", "artifact", "shapes")
EXACT_DOUBLE = 2**53
"""Up to here a DOUBLE column holds every integer exactly (IEEE 754)."""

Version = tuple[str, float]
"""Event and schema version; 1.0 is 1, as JSON Schema has it."""
Schema = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Rule:
    """One event version: its schema as validated, and what the fast path may rely on."""

    schema: Schema
    validator: Draft202012Validator
    maps: tuple[str, ...]
    """Fields that hold a flat object."""
    flat: bool
    """True where every key of a line stands at the top or in one of `maps`."""
    words: dict[Any, str] = field(default_factory=dict)
    """Faults seen and how they were worded, see `explain`."""


def compile_schema(schema: Schema) -> Draft202012Validator:
    """The validator for a schema: date-time is checked, patterns match in linear time."""
    return Draft202012Validator(schema, validate_formats=True, pattern_options=RegexOptions())


def bounded(schema: Any) -> Any:
    """The schema with every `number` kept to what its DOUBLE column holds exactly.

    An unbounded number would be accepted and then stored rounded.
    """
    if isinstance(schema, list):
        return [bounded(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    inner = {key: bounded(value) for key, value in schema.items()}
    if "number" in _types(schema) and "maximum" not in schema:
        inner |= {"minimum": -EXACT_DOUBLE, "maximum": EXACT_DOUBLE}
    return inner


def _types(schema: Schema) -> tuple[str, ...]:
    named = schema.get("type", ())
    return (named,) if isinstance(named, str) else tuple(named)


def _holds_keys(schema: Schema) -> bool:
    types = _types(schema)
    if "array" in types:
        return _holds_keys(schema.get("items", {}))
    return "object" in types or not (types or "const" in schema or "enum" in schema)


def _flat_map(schema: Schema) -> bool:
    values = [*schema.get("properties", {}).values(), schema.get("additionalProperties", {})]
    return "object" in _types(schema) and not any(v is not False and _holds_keys(v) for v in values)


def _rule(schema: Schema) -> Rule:
    nested = {name: s for name, s in schema["properties"].items() if _holds_keys(s)}
    maps = tuple(name for name, s in nested.items() if _flat_map(s))
    return Rule(schema, compile_schema(schema), maps, flat=len(maps) == len(nested))


def event_rules() -> dict[Version, Rule]:
    """(event, schema_version) → its rule, for every event that ships with Beleg."""
    rules: dict[Version, Rule] = {}
    for path in sorted(shipped("contracts", "events").glob("*/v*.schema.json")):
        schema = bounded(json.loads(path.read_bytes()))
        version = int(path.name.removesuffix(".schema.json").removeprefix("v"))
        rules[path.parent.name, version] = _rule(schema)
    return rules


def shape_folders(project: Path | None) -> tuple[Path, ...]:
    """Folders with artifact shapes: Beleg's own, then the project's, which wins."""
    own = () if project is None else (project.joinpath(*SHAPES),)
    return (shipped(*SHAPES), *own)


def shape_rules(folders: Iterable[Path]) -> dict[str, Rule]:
    """Kind of artifact → its shape. Raises UsageError for a file that is no JSON Schema."""
    rules: dict[str, Rule] = {}
    for path in (p for folder in folders for p in sorted(folder.glob("*.schema.json"))):
        try:
            schema = json.loads(path.read_bytes())
            rules[path.name.removesuffix(".schema.json")] = Rule(schema, compile_schema(schema), (), flat=False)
        except ValueError as error:
            msg = f"{path} is no JSON Schema: {error}; compare extracted_fields.schema.json of Beleg's own shapes"
            raise UsageError(msg) from error
    return rules
