"""The wire format of OpenAI's chat completions, which most servers speak."""

import json
from collections.abc import Mapping
from typing import Any

from beleg.contract.run.exchange import Ask, Malformed, Reply, Said, Stop, ToolResults, Turn
from beleg.contract.run.wire import call, instructions, text_of


def request(ask: Ask) -> dict[str, Any]:
    """The body of a question."""
    provider = ask.provider
    system = instructions(ask)
    messages = [{"role": "system", "content": system}] if system else []
    body: dict[str, Any] = {"model": provider.model, "messages": [*messages, *_messages(ask.turns)]}
    if provider.max_output_tokens is not None:
        # OpenAI's newer models know only the new name, other servers often only the old one.
        body["max_completion_tokens" if provider.base_url is None else "max_tokens"] = provider.max_output_tokens
    if provider.temperature is not None:
        body["temperature"] = provider.temperature
    if ask.tools:
        body["tools"] = [
            {
                "type": "function",
                "function": {"name": each.name, "description": each.description, "parameters": each.input_schema},
            }
            for each in ask.tools
        ]
    if ask.form.mode == "native":
        schema = {"name": ask.form.name, "schema": ask.form.schema, "strict": True}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    return body


def _messages(turns: tuple[Turn, ...]) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = []
    for turn in turns:
        if isinstance(turn, Said):
            messages.append({"role": "user", "content": turn.text})
        elif isinstance(turn, ToolResults):
            messages += [{"role": "tool", "tool_call_id": made.id, "content": text} for made, text in turn.results]
        else:
            messages.append(_assistant(turn))
    return messages


def _assistant(reply: Reply) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": reply.text or None}
    if reply.calls:
        message["tool_calls"] = [
            {"id": each.id, "type": "function", "function": {"name": each.name, "arguments": _text(each.arguments)}}
            for each in reply.calls
        ]
    return message


def _text(arguments: Any) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)


def reply(answer: Mapping[str, Any]) -> Reply:
    """What the model said; raises Malformed."""
    try:
        choice = answer["choices"][0]
        message = choice["message"]
        wanted = tuple(
            call(each["id"], each["function"]["name"], each["function"]["arguments"])
            for each in message.get("tool_calls") or ()
        )
        stop: Stop = "length" if choice.get("finish_reason") == "length" else "end"
        if message.get("refusal") or choice.get("finish_reason") == "content_filter":
            stop = "refusal"
        return Reply(text_of(message.get("content")), wanted, stop)
    except (LookupError, TypeError, AttributeError) as error:
        raise Malformed(f"no chat completion: {type(error).__name__}") from error
