"""A contract to start from."""

from collections.abc import Mapping
from typing import Any

from beleg.contract import document
from beleg.contract.lint.cases import merged, path
from beleg.contract.model import Contract
from beleg.contract.tools import Tool, pin
from beleg.core import yamlfile

CASES = yamlfile.parse(path().read_text(encoding="utf-8"))


def contract(over: Mapping[str, Any] | None = None) -> Contract:
    """The clean contract of cases.yaml with something laid over it."""
    return document.contract(merged(CASES["base"], over or {}))


def tool(name: str, description: str = "Reads.", /, **members: Any) -> Tool:
    """A tool with these parameters."""
    schema = {"type": "object", "properties": members}
    return Tool(
        name=name,
        version="1",
        description=description,
        input_schema=schema,
        binding=False,
        digest=pin(name, "1", description, schema),
    )
