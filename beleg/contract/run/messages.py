"""The wire format of Anthropic's Messages."""

import json
from collections.abc import Mapping
from typing import Any

from beleg.contract.run.exchange import Ask, Malformed, Reply, Said, ToolResults, Turn
from beleg.contract.run.wire import call, instructions, text_of

MAX_TOKENS = 8192
"""Asked for where the contract names no limit: the format demands one."""
ANSWER = "give_answer"
"""Tool by which the model answers where its schema goes as a tool's."""


def request(ask: Ask) -> dict[str, Any]:
    """The body of a question."""
    provider = ask.provider
    body: dict[str, Any] = {
        "model": provider.model,
        "max_tokens": provider.max_output_tokens or MAX_TOKENS,
        "messages": [_message(turn) for turn in ask.turns],
    }
    if system := instructions(ask):
        body["system"] = system
    if provider.temperature is not None:
        body["temperature"] = provider.temperature
    tools = [
        {"name": each.name, "description": each.description, "input_schema": each.input_schema} for each in ask.tools
    ]
    if ask.form.mode == "tool":
        tools.append({"name": ANSWER, "description": "Give the final answer.", "input_schema": ask.form.schema})  # type: ignore[dict-item]
        body["tool_choice"] = {"type": "any"}
    if tools:
        body["tools"] = tools
    if ask.form.mode == "native":
        body["output_config"] = {"format": {"type": "json_schema", "schema": ask.form.schema}}
    return body


def _message(turn: Turn) -> dict[str, Any]:
    if isinstance(turn, Said):
        return {"role": "user", "content": turn.text}
    if isinstance(turn, ToolResults):
        return {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": made.id, "content": text} for made, text in turn.results
            ],
        }
    content: list[dict[str, Any]] = [{"type": "text", "text": turn.text}] if turn.text.strip() else []
    content += [
        {"type": "tool_use", "id": each.id, "name": each.name, "input": _object(each.arguments)} for each in turn.calls
    ]
    return {"role": "assistant", "content": content or [{"type": "text", "text": "(no answer)"}]}


def _object(arguments: Any) -> Any:
    """Arguments as the format has them; what was no object is told as text."""
    return arguments if isinstance(arguments, dict) else {"arguments": arguments}


def reply(answer: Mapping[str, Any]) -> Reply:
    """What the model said; raises Malformed."""
    try:
        content = answer["content"]
        wanted = tuple(call(part["id"], part["name"], part["input"]) for part in content if part["type"] == "tool_use")
        text = "".join(text_of(part["text"]) for part in content if part["type"] == "text")
        stop = answer["stop_reason"]
    except (LookupError, TypeError, AttributeError) as error:
        raise Malformed(f"no message: {type(error).__name__}") from error
    if stop == "refusal":
        return Reply(text, (), "refusal")
    given = next((each for each in wanted if each.name == ANSWER), None)
    if given is not None:
        return Reply(json.dumps(given.arguments, ensure_ascii=False), (), "length" if stop == "max_tokens" else "end")
    return Reply(text, wanted, "length" if stop in {"max_tokens", "model_context_window_exceeded"} else "end")
