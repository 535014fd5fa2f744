"""Tools for OpenAI's APIs, and the answers to their calls. Plain data: the client is the user's."""

import json
from collections.abc import Mapping
from typing import Any

from beleg.agent.adapters.answer import Answer, answer
from beleg.agent.toolsets.offer import Offer
from beleg.agent.toolsets.tool import AgentTool
from beleg.agent.toolsets.toolset import Toolset
from beleg.core.errors import UsageError

MOST_TOOLS = 128
"""The API refuses a request with more."""


def chat(offer: Offer[Any]) -> dict[str, Any]:
    """`tools` for Chat Completions. Raises UsageError past 128 tools."""
    return {"tools": [{"type": "function", "function": _function(tool)} for tool in _few(offer.tools)]}


def responses(offer: Offer[Any]) -> dict[str, Any]:
    """`tools` for Responses. Raises UsageError past 128 tools."""
    return {"tools": [_response_tool(tool) for tool in _few(offer.tools)]}


def masked(toolset: Toolset[Any], offer: Offer[Any]) -> dict[str, Any]:
    """`tools` and `tool_choice` for Responses: everybody gets one list, and may call what is offered.

    The whole list is one cached prefix for all users; in return every user pays for all of it and the
    definitions of what is not offered can be read. It is no guard: the offer still refuses.
    """
    allowed = [{"type": "function", "name": tool.name} for tool in offer.tools]
    choice = {"type": "allowed_tools", "mode": "auto", "tools": allowed}
    return {"tools": [_response_tool(tool) for tool in _few(tuple(toolset.tools.values()))], "tool_choice": choice}


def chat_answer(offer: Offer[Any], call: Mapping[str, Any]) -> dict[str, Any]:
    """The message that answers one entry of `message.tool_calls`, given as a dict."""
    function = call["function"]
    said = _answered(offer, function["name"], function["arguments"])
    return {"role": "tool", "tool_call_id": call["id"], "content": said.text}


def response_answer(offer: Offer[Any], call: Mapping[str, Any]) -> dict[str, Any]:
    """The input item that answers one `function_call` of a response's output, given as a dict."""
    said = _answered(offer, call["name"], call["arguments"])
    return {"type": "function_call_output", "call_id": call["call_id"], "output": said.text}


def _answered(offer: Offer[Any], name: str, arguments: str) -> Answer:
    try:
        given = json.loads(arguments or "{}")
    except ValueError:
        given = None  # the offer says that this is no object
    return answer(offer, name, given)


def _few(tools: tuple[AgentTool, ...]) -> tuple[AgentTool, ...]:
    if len(tools) > MOST_TOOLS:
        raise UsageError(f"{len(tools)} tools are more than the {MOST_TOOLS} that the API takes: offer fewer groups")
    return tools


def _function(tool: AgentTool) -> dict[str, Any]:
    seen = tool.definition
    return {"name": seen["name"], "description": seen["description"], "parameters": seen["input_schema"]}


def _response_tool(tool: AgentTool) -> dict[str, Any]:
    return {"type": "function", **_function(tool), "strict": False}
