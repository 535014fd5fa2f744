"""Whether a tool looks as if calling it binds somebody: submits, pays, sends, or opens a way to do so.

A heuristic over names, descriptions, parameters, enum values and switches, in German and English. It proves
nothing: the declaration `binding` and the catalogue carry the proof. It makes a person look twice.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from beleg.contract.binding_words import ACTS, CLASSES, OBJECTS, READING
from beleg.contract.tools import Tool

MAX_CHARS = 20_000
MAX_PLACES = 2_000


@dataclass(frozen=True)
class Sign:
    """One thing that makes a tool look binding."""

    kind: str
    """`act` for a verb that binds, `size` for what is too large to look through, else the kind of universal verb."""
    place: str
    """`name`, `description`, or a parameter's name."""
    word: str


_BY_NAME = tuple((kind, re.compile(rf"(?:^|[\W_])(?:{words})(?=$|[\W_])")) for kind, words, _ in CLASSES)
_BY_PARAMETER = tuple((kind, re.compile(rf"(?:{names})")) for kind, _, names in CLASSES)
SWITCHES = re.compile(
    r"(?:submit|send|confirm|publish|execute|force|commit|dry_?run|auto_?\w+|final|approve|pay)(?:_\w+)?|\w+_now"
)
"""Names of yes-or-no parameters that turn a harmless call into one that binds."""
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)*")


def signs(tool: Tool) -> tuple[Sign, ...]:
    """Everything that makes a tool look binding, each once; empty where nothing does."""
    name, description = _plain(tool.name), _plain(tool.description)
    found = [
        *_acts("name", name),
        *_objects(name),
        *(Sign(kind, "name", seen[0].strip("_ -")) for kind, words in _BY_NAME if (seen := words.search(name))),
        *_acts("description", description),  # no kinds: a description speaks of scripts without being one
        *_parameters(tool),
    ]
    if len(tool.description) > MAX_CHARS:
        found.append(Sign("size", "description", "too long to look through"))
    return tuple(dict.fromkeys(found))


def _plain(words: str) -> str:
    """Lower case in one spelling, `sendNow` as `send_now`."""
    return _CAMEL.sub("_", unicodedata.normalize("NFKC", words[:MAX_CHARS])).lower()


def _acts(place: str, plain: str) -> Iterator[Sign]:
    return (Sign("act", place, word) for word in _WORD.findall(plain) if word in ACTS)


def _objects(name: str) -> Iterator[Sign]:
    words = _WORD.findall(name)
    if READING.isdisjoint(words):
        yield from (Sign("act", "name", word) for word in words if word in OBJECTS)


def _parameters(tool: Tool) -> Iterator[Sign]:
    places = list(islice(_members(tool.input_schema), MAX_PLACES + 1))
    if len(places) > MAX_PLACES:
        yield Sign("size", "input_schema", "too large to look through")
    for name, schema in places:
        plain = _plain(name)
        yield from (Sign(kind, name, plain) for kind, words in _BY_PARAMETER if words.fullmatch(plain))
        if schema.get("type") == "boolean" and SWITCHES.fullmatch(plain):
            yield Sign("multiplexed", name, plain)
        for value in _choices(schema):
            yield from _acts(name, _plain(value))


def _choices(schema: Mapping[str, Any]) -> list[str]:
    values = schema.get("enum", [])
    given = [*values, schema.get("const")] if isinstance(values, list | tuple) else []
    return [each for each in given if isinstance(each, str)]


def _members(schema: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every named member of a schema, however deep; the schema itself as one without a name."""
    waiting = [schema]
    if isinstance(schema, Mapping):
        yield "", schema
    while waiting:
        value = waiting.pop()
        if isinstance(value, list | tuple):
            waiting += value
        elif isinstance(value, Mapping):
            named = value.get("properties")
            if isinstance(named, Mapping):
                yield from ((str(name), each) for name, each in named.items() if isinstance(each, Mapping))
            waiting += value.values()
