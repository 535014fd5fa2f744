"""Tools for Gemini's API, and the answers to its calls. Plain data in the names of the REST API."""

from collections.abc import Mapping
from typing import Any

from beleg.agent.adapters.answer import answer
from beleg.agent.toolsets.offer import Offer
from beleg.agent.toolsets.tool import AgentTool
from beleg.agent.toolsets.toolset import Toolset


def tools(offer: Offer[Any]) -> dict[str, Any]:
    """`tools` of a request. Schemas go as JSON Schema: nothing is lost in a translation of types."""
    return {"tools": [{"functionDeclarations": [_declaration(tool) for tool in offer.tools]}]}


def masked(toolset: Toolset[Any], offer: Offer[Any]) -> dict[str, Any]:
    """`tools` and `toolConfig`: everybody gets one list, and may call what is offered; text stays possible.

    Keeps one cached prefix for all users; every user pays for the whole list. It is no guard: the offer still refuses.
    """
    names = [tool.name for tool in offer.tools]
    config = {"functionCallingConfig": {"mode": "VALIDATED", "allowedFunctionNames": names}}
    declarations = [_declaration(tool) for tool in toolset.tools.values()]
    return {"tools": [{"functionDeclarations": declarations}], "toolConfig": config}


def function_response(offer: Offer[Any], call: Mapping[str, Any]) -> dict[str, Any]:
    """The part that answers one `functionCall`, given as a dict."""
    said = answer(offer, call["name"], call.get("args") or {})
    data = said.data if isinstance(said.data, dict) else {"result": said.data}
    identity = {"id": call["id"]} if call.get("id") else {}
    return {"functionResponse": {**identity, "name": call["name"], "response": data}}


def _declaration(tool: AgentTool) -> dict[str, Any]:
    seen = tool.definition
    return {"name": seen["name"], "description": seen["description"], "parametersJsonSchema": seen["input_schema"]}
