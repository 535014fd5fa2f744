"""A file of tools as people write it: YAML with `tools`, one entry per version of a tool."""

from pathlib import Path
from typing import Any

from beleg.core import yamlfile
from beleg.core.errors import UsageError

MEMBERS = {"name": str, "version": str, "description": str, "input_schema": dict, "binding": bool}


def read(path: Path) -> list[dict[str, Any]]:
    """The tools of a file; raises UsageError that names the entry and what is missing. `binding` has no default."""
    values = yamlfile.load(path)
    tools = values.get("tools") if isinstance(values, dict) else None
    if not isinstance(tools, list) or not tools:
        raise UsageError(f"{path.name} must hold `tools`, a list of {', '.join(MEMBERS)}")
    return [_tool(path.name, number, each) for number, each in enumerate(tools)]


def _tool(file: str, number: int, values: Any) -> dict[str, Any]:
    if not isinstance(values, dict):
        raise UsageError(f"{file}: tools[{number}] must have {', '.join(MEMBERS)}")
    for name, kind in MEMBERS.items():
        if type(values.get(name)) is not kind:
            given = "missing" if name not in values else repr(values[name])
            raise UsageError(f"{file}: tools[{number}].{name} is {given}; it must be {_KINDS[kind]}")
    return {name: values[name] for name in MEMBERS}


_KINDS = {str: "text (in quotes where it looks like a number)", dict: "a JSON Schema", bool: "true or false"}
