"""What the audit of tools reads from an input schema: every named part with its choices and its words."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

_MAPS = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"})
"""Keywords whose members are names of the author's, each with a schema."""
_CHOICES = ("enum", "const", "default", "examples", "pattern")
_WORDS = ("title", "description", "$comment")
_TYPED = frozenset({"type", "enum", "const", "anyOf", "oneOf", "allOf", "$ref", "pattern", "format", "items"})
"""Keywords of which one at least says what a value looks like."""


@dataclass(frozen=True)
class Member:
    """One schema within the input schema."""

    name: str
    """The parameter it belongs to; empty for the schema as a whole."""
    choices: tuple[str, ...]
    """Texts that a caller may choose between: of enum, const, default, examples, patterns."""
    words: tuple[str, ...]
    """What explains it."""
    is_flag: bool
    """Whether it may be a yes-or-no: boolean, 0 or 1, or of no type at all."""

    @property
    def texts(self) -> tuple[str, ...]:
        """All that is looked through."""
        return (self.name, *self.choices, *self.words)


def members(schema: Any, at_most: int) -> list[Member]:
    """Every schema within a schema, however deep, under the name of the parameter it belongs to."""
    found: list[Member] = []
    wanted: dict[str, None] = {}
    waiting: list[tuple[str, Any]] = [("", schema)]
    followed: set[tuple[str, str]] = set()
    while waiting and len(found) < at_most:
        name, value = waiting.pop()
        if isinstance(value, list | tuple):
            waiting += ((name, each) for each in value if isinstance(each, Mapping | list | tuple))
        elif isinstance(value, Mapping):
            found.append(_member(name, value))
            waiting += _inside(name, value)
            wanted |= dict.fromkeys(_required(value))
            reference = value.get("$ref")
            if isinstance(reference, str) and (name, reference) not in followed:
                followed.add((name, reference))
                waiting.append((name, _target(schema, reference)))
        elif value is True:
            found.append(_member(name, {}))
    declared = {each.name for each in found}
    return found + [_member(name, {}) for name in wanted if name not in declared]


def _inside(name: str, schema: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for keyword, value in schema.items():
        if keyword in _MAPS and isinstance(value, Mapping):
            yield from ((str(each), part) for each, part in value.items())
        elif keyword not in {*_CHOICES, *_WORDS} and isinstance(value, Mapping | list | tuple):
            yield name, value


def _required(schema: Mapping[str, Any]) -> list[str]:
    """Names that must be there; one that is declared nowhere may hold anything."""
    names = schema.get("required")
    return [each for each in names if isinstance(each, str)] if isinstance(names, list | tuple) else []


def _target(schema: Any, reference: str) -> Any:
    """What a reference within the schema points to; None for any other."""
    if not reference.startswith("#/"):
        return None
    for step in reference[2:].split("/"):
        key = step.replace("~1", "/").replace("~0", "~")
        if not isinstance(schema, Mapping):
            return None
        schema = schema.get(key)
    return schema


def _member(name: str, schema: Mapping[str, Any]) -> Member:
    patterns = schema.get("patternProperties")
    names = list(patterns) if isinstance(patterns, Mapping) else []
    choices = tuple(_texts([names, *(schema.get(each) for each in _CHOICES)]))
    words = tuple(value for each in _WORDS if isinstance(value := schema.get(each), str))
    return Member(name, choices, words, bool(name) and _is_flag(schema))


def _texts(value: Any) -> Iterator[str]:
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, str):
            yield each
        elif isinstance(each, Mapping):
            waiting += [*each.keys(), *each.values()]
        elif isinstance(each, list | tuple):
            waiting += each


def _is_flag(schema: Mapping[str, Any]) -> bool:
    kinds = schema.get("type")
    if "boolean" in (kinds if isinstance(kinds, list | tuple) else [kinds]):
        return True
    values = schema.get("enum", [schema["const"]] if "const" in schema else None)
    if isinstance(values, list | tuple):
        return any(isinstance(each, int) and each in (0, 1) for each in values)
    return _TYPED.isdisjoint(schema) or (kinds == "integer" and schema.get("maximum") == 1)
