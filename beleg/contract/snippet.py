"""The code that publishing hands out: it loads the released version and runs it."""

import keyword
import pprint
from collections.abc import Mapping
from typing import Any

from beleg.contract.model import Contract
from beleg.contract.registry.names import Version
from beleg.contract.registry.releases import Release
from beleg.contract.run.keys import key_name
from beleg.contract.tools import Tool

_WIDTH = 100
_BLANK: Mapping[str, Any] = {"string": "…", "integer": 1, "number": 1.0, "boolean": True, "array": [], "object": {}}


def snippet(release: Release) -> str:
    """Ready to paste Python for a released version; nothing of the contract can become code in it."""
    contract = release.contract
    given = contract.prompt.samples[0] if contract.prompt.samples else _blanks(contract)
    keys = dict.fromkeys(map(key_name, (contract.providers.primary, *contract.providers.fallbacks)))
    functions = {tool.name: _function_name(tool, number) for number, tool in enumerate(contract.tools)}
    lines = [
        f"# {release.feature} {release.version}; needs BELEG_REGISTRY and {', '.join(keys)} in the environment",
        "import beleg",
        *(line for tool in contract.tools for line in _stub(tool, functions[tool.name])),
        "",
        f"feature = beleg.load({release.feature!r}, major={Version.parse(release.version).major})",
        f"variables = {pprint.pformat(dict(given), width=_WIDTH, sort_dicts=False)}",
        f"result = feature.run(variables{_tools(functions)})",
        "print(result.version, result.value)",
    ]
    return "\n".join(lines) + "\n"


def _blanks(contract: Contract) -> dict[str, Any]:
    return {each.name: _blank(each.schema) for each in contract.prompt.variables if each.required}


def _blank(schema: Any) -> Any:
    """A value to be replaced: one that the schema names, else one of its type."""
    part: Mapping[str, Any] = schema if isinstance(schema, Mapping) else {}
    for name in ("examples", "enum"):
        if part.get(name):
            return part[name][0]
    for name in ("const", "default"):
        if name in part:
            return part[name]
    kind = part.get("type", "string")
    return _BLANK.get(kind[0] if isinstance(kind, list) else kind)


def _function_name(tool: Tool, number: int) -> str:
    return tool.name if _is_name(tool.name) and tool.name != "beleg" else f"tool_{number + 1}"


def _stub(tool: Tool, function: str) -> list[str]:
    properties = tool.input_schema.get("properties", {})
    required = [name for name in tool.input_schema.get("required", ()) if name in properties]
    optional = [f"{name}=None" for name in properties if name not in required]
    plain = all(map(_is_name, properties))
    signature = ", ".join([*required, *optional]) if plain else "**arguments"
    todo = f"call your {tool.name} here: {tool.description}"
    return ["", "", f"def {function}({signature}):", f"    raise NotImplementedError({todo!r})", ""]


def _tools(functions: Mapping[str, str]) -> str:
    named = ", ".join(f"{name!r}: {function}" for name, function in functions.items())
    return f", tools={{{named}}}" if named else ""


def _is_name(text: str) -> bool:
    return text.isascii() and text.isidentifier() and not keyword.iskeyword(text)
