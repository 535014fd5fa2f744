"""The tool catalogue: `tools/<name>/<version>.json`, one file per version of a tool, never changed.

It is the authority on a tool: a contract's pin must match it, and what it calls binding stays out of every
contract, whatever the contract says.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from beleg.contract import tools
from beleg.contract.encoding import encode
from beleg.contract.registry.fields import Fields, parse
from beleg.contract.registry.shelf import explained, put, read
from beleg.contract.tools import Tool
from beleg.core.errors import DamagedError, UsageError

_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_-]{0,63}\Z")
_VERSION = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9_.+-]{0,49}\Z")
_MEMBERS = ("name", "version", "description", "input_schema", "binding")


def entries(folder: Path) -> dict[tuple[str, str], Mapping[str, Any]]:
    """(name, version) → entry of every tool; raises DamagedError for the first that is damaged."""
    return {(path.parent.name, path.stem): entry(path) for path in paths(folder)}


def paths(folder: Path) -> Iterator[Path]:
    """The files of a catalogue, in order."""
    return iter(sorted(folder.glob("[!.]*/[!.]*.json")))


def entry(path: Path) -> Mapping[str, Any]:
    """One entry; raises DamagedError for a file that holds none, or one of another name or version."""
    name = f"tools/{path.parent.name}/{path.name}"
    data = read(path, name)
    if data is None:
        raise DamagedError(f"{name} is missing")
    return _checked(parse(data, name), path, name)


def _checked(values: dict[str, Any], path: Path, name: str) -> Mapping[str, Any]:
    fields = Fields(values, name)
    fields.one_of("name", (path.parent.name,))
    fields.one_of("version", (path.stem,))
    fields.object("input_schema")
    fields.one_of("binding", (True, False))
    if not isinstance(values.get("description"), str):
        fields.wrong("description", "text")
    return {member: values[member] for member in _MEMBERS}


def write(folder: Path, values: Mapping[str, Any]) -> Path:
    """Add a version of a tool; the same again is no change. Raises UsageError where it stands there otherwise."""
    from beleg.core.lock import folder_writer  # noqa: PLC0415 - readers on Windows have no such lock

    name, version = str(values["name"]), str(values["version"])
    if not _NAME.match(name) or not _VERSION.match(version):
        allowed = "letters, digits, '_' and '-' in a name of at most 64, '.' and '+' too in a version of at most 50"
        raise UsageError(f"tool {name[:70]!r} {version[:60]!r} cannot stand in the catalogue; allowed: {allowed}")
    path, data = folder / name / f"{version}.json", _encoded(values)
    try:
        new = _checked(parse(data, "it"), path, "it")
    except DamagedError as error:
        raise UsageError(f"tool {name} {version} cannot stand in the catalogue: {error}") from error
    with explained(folder), folder_writer(folder):
        if not path.exists():
            put(path, data)
        elif encode(entry(path)) != encode(new):
            raise UsageError(f"tool {name} {version} is in the catalogue and cannot change; give it a new version")
    return path


def _encoded(values: Mapping[str, Any]) -> bytes:
    try:
        return encode({member: values[member] for member in _MEMBERS}) + b"\n"
    except (ValueError, TypeError, RecursionError) as error:
        raise UsageError(f"tool {values['name']} cannot be written as JSON: {error}") from error


def problem(tool: Tool, known: Mapping[tuple[str, str], Mapping[str, Any]]) -> str | None:
    """What keeps a tool out of a contract, in a sentence; None where nothing does."""
    named = f"tool {tool.name} {tool.version}"
    found = known.get((tool.name, tool.version))
    if tool.binding or (found is not None and found["binding"]):
        return f"{named} is binding: what submits, pays or sends can be part of no contract"
    if tool.pin() != tool.digest:
        return f"{named} is pinned to {tool.digest[:12]}, but what stands in the contract has the pin {tool.pin()[:12]}"
    if found is None:
        return f"{named} is not in the tool catalogue"
    if tools.pin(found["name"], found["version"], found["description"], found["input_schema"]) != tool.digest:
        return f"{named} stands in the tool catalogue with another description or input schema"
    return None
