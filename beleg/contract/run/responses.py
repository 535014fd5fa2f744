"""The wire format of OpenAI's Responses."""

import json
from collections.abc import Mapping
from typing import Any

from beleg.contract.run.exchange import Ask, Malformed, Reply, Said, Stop, ToolResults, Turn
from beleg.contract.run.wire import call, instructions, text_of


def request(ask: Ask) -> dict[str, Any]:
    """The body of a question; nothing is kept at the provider's."""
    provider = ask.provider
    body: dict[str, Any] = {"model": provider.model, "input": _items(ask.turns), "store": False}
    if system := instructions(ask):
        body["instructions"] = system
    if provider.max_output_tokens is not None:
        body["max_output_tokens"] = provider.max_output_tokens
    if provider.temperature is not None:
        body["temperature"] = provider.temperature
    if ask.tools:
        body["tools"] = [
            {
                "type": "function",
                "name": each.name,
                "description": each.description,
                "parameters": each.input_schema,
                "strict": False,
            }
            for each in ask.tools
        ]
    if ask.form.mode == "native":
        schema = {"type": "json_schema", "name": ask.form.name, "schema": ask.form.schema, "strict": True}
        body["text"] = {"format": schema}
    return body


def _items(turns: tuple[Turn, ...]) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    for turn in turns:
        if isinstance(turn, Said):
            items.append({"role": "user", "content": turn.text})
        elif isinstance(turn, ToolResults):
            items += [
                {"type": "function_call_output", "call_id": made.id, "output": text} for made, text in turn.results
            ]
        else:
            items += _said_by_model(turn)
    return items


def _said_by_model(reply: Reply) -> list[dict[str, Any]]:
    said = [{"role": "assistant", "content": reply.text}] if reply.text else []
    return said + [
        {"type": "function_call", "call_id": each.id, "name": each.name, "arguments": _text(each.arguments)}
        for each in reply.calls
    ]


def _text(arguments: Any) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)


def reply(answer: Mapping[str, Any]) -> Reply:
    """What the model said; raises Malformed."""
    try:
        parts = [part for item in answer["output"] if item["type"] == "message" for part in item["content"]]
        wanted = tuple(
            call(item["call_id"], item["name"], item["arguments"])
            for item in answer["output"]
            if item["type"] == "function_call"
        )
        text = "".join(text_of(part.get("text")) for part in parts if part["type"] == "output_text")
        refused = any(part["type"] == "refusal" for part in parts)
        return Reply(text, wanted, "refusal" if refused else _stop(answer))
    except (LookupError, TypeError, AttributeError) as error:
        raise Malformed(f"no response: {type(error).__name__}") from error


def _stop(answer: Mapping[str, Any]) -> Stop:
    if answer.get("status") == "failed":
        raise Malformed("the response failed")
    if answer.get("status") != "incomplete":
        return "end"
    return "refusal" if (answer.get("incomplete_details") or {}).get("reason") == "content_filter" else "length"
