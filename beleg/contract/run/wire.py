"""What the wire formats have in common."""

import json
from typing import Any

from beleg.contract.run import strictjson
from beleg.contract.run.exchange import Ask, Malformed, ToolCall


def instructions(ask: Ask) -> str:
    """The system part, with the schema where only the prompt can tell it."""
    if ask.form.mode != "prompted":
        return ask.system
    schema = json.dumps(ask.form.schema, ensure_ascii=False)
    told = f"Answer with one JSON value and nothing else. It must be valid under this JSON Schema:\n{schema}"
    return f"{ask.system}\n\n{told}" if ask.system else told


def call(identity: Any, name: Any, arguments: Any) -> ToolCall:
    """A tool call whose arguments came as text; text that is no JSON stays text."""
    if not isinstance(identity, str) or not isinstance(name, str):
        raise Malformed("a tool call has no id or no name")
    if isinstance(arguments, str):
        try:
            arguments = strictjson.loads(arguments or "{}")
        except ValueError:
            return ToolCall(identity, name, arguments)
    return ToolCall(identity, name, arguments)


def text_of(value: Any) -> str:
    """A text that may be missing."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise Malformed("a text is no string")
    return value
