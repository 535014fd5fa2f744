"""The formats of OpenAI, Anthropic and Gemini: what the vendors' own types accept, called through one offer."""

import asyncio
import json
from typing import Any

import pytest
from anthropic.types import ToolParam, ToolResultBlockParam
from openai.types.chat import ChatCompletionToolMessageParam, ChatCompletionToolParam
from openai.types.responses import FunctionToolParam, ToolChoiceAllowedParam
from pydantic import TypeAdapter

from beleg.agent.adapters import anthropic, gemini, openai
from beleg.agent.adapters.answer import answer, async_answer
from beleg.agent.toolsets import Group, Toolset
from beleg.core.errors import UsageError
from tests.agent.offered import ADVISER, COMPANY, FREELANCER, numbered, toolset


def accepts(kind: Any, value: Any) -> None:
    TypeAdapter(kind).validate_python(value, strict=True)


def test_openai_takes_the_tools() -> None:
    offer = toolset().for_context(COMPANY)
    for tool in openai.chat(offer)["tools"]:
        accepts(ChatCompletionToolParam, tool)
    for tool in openai.responses(offer)["tools"]:
        accepts(FunctionToolParam, tool)


def test_openai_masks_instead_of_removing() -> None:
    made = toolset()
    masked = [openai.masked(made, made.for_context(person)) for person in (FREELANCER, COMPANY, ADVISER)]
    assert len({json.dumps(each["tools"]) for each in masked}) == 1
    accepts(ToolChoiceAllowedParam, masked[0]["tool_choice"])
    assert [each["name"] for each in masked[0]["tool_choice"]["tools"]] == ["draft_note", "whoami"]


def test_a_masked_tool_is_refused_all_the_same() -> None:
    made = toolset()
    call = {"type": "function_call", "call_id": "c1", "name": "get_balance", "arguments": "{}"}
    assert "there is no tool" in openai.response_answer(made.for_context(FREELANCER), call)["output"]


def test_openai_gets_no_more_than_it_takes() -> None:
    offer = Toolset([numbered(Group("core", rank=1), *(f"t{n}" for n in range(129)))]).for_context(None)
    for give in (openai.chat, openai.responses):
        with pytest.raises(UsageError, match="129 tools are more than the 128"):
            give(offer)


def test_openai_calls_are_answered() -> None:
    offer = toolset().for_context(COMPANY)
    call = {
        "id": "c1",
        "type": "function",
        "function": {"name": "draft_note", "arguments": '{"text": "ä", "times": 2}'},
    }
    message = openai.chat_answer(offer, call)
    accepts(ChatCompletionToolMessageParam, message)
    assert message == {"role": "tool", "tool_call_id": "c1", "content": '{"by":"Bob","text":"ää"}'}


@pytest.mark.parametrize("arguments", ["{", "[]", '"text"', "null"])
def test_arguments_that_are_no_json_object_are_an_answer(arguments: str) -> None:
    call = {"type": "function_call", "call_id": "c1", "name": "whoami", "arguments": arguments}
    assert "no object" in openai.response_answer(toolset().for_context(COMPANY), call)["output"]


def test_a_call_without_arguments_is_one_with_none() -> None:
    call = {"type": "function_call", "call_id": "c1", "name": "whoami", "arguments": ""}
    assert openai.response_answer(toolset().for_context(COMPANY), call)["output"] == '{"name":"Bob"}'


def test_anthropic_takes_the_tools_and_caches_the_core() -> None:
    offer = toolset().for_context(COMPANY)
    tools = anthropic.tools(offer)
    for tool in tools:
        accepts(ToolParam, tool)
    assert [tool["name"] for tool in tools if "cache_control" in tool] == ["whoami", "get_balance"]
    core = [tool["name"] for tool in anthropic.tools(toolset().for_context(FREELANCER)) if "cache_control" in tool]
    assert core == ["whoami"]


def test_anthropic_defers_what_is_not_core_and_all_users_share_what_is_left() -> None:
    lists = [anthropic.deferred(toolset().for_context(person)) for person in (COMPANY, ADVISER)]
    shown = [json.dumps([tool for tool in each if not tool.get("defer_loading")]) for each in lists]
    assert shown[0] == shown[1]
    assert [tool["name"] for tool in lists[0] if tool.get("defer_loading")] == ["aaa_list_accounts", "get_balance"]
    assert not [tool for tool in lists[1] if tool.get("defer_loading") and "cache_control" in tool]
    assert anthropic.deferred(toolset().for_context(FREELANCER))[-1]["name"] == "whoami"


def test_anthropic_calls_are_answered() -> None:
    offer = toolset().for_context(FREELANCER)
    good = anthropic.tool_result(offer, {"type": "tool_use", "id": "u1", "name": "whoami", "input": {}})
    accepts(ToolResultBlockParam, good)
    assert (good["content"], good["is_error"]) == ('{"name":"Ada"}', False)
    bad = anthropic.tool_result(offer, {"type": "tool_use", "id": "u2", "name": "get_balance", "input": {}})
    assert bad["is_error"]


def test_no_two_lists_share_an_object_that_one_could_change() -> None:
    offer = toolset().for_context(COMPANY)
    anthropic.tools(offer)[0]["input_schema"]["properties"]["text"]["type"] = "integer"
    anthropic.tools(offer)[0]["cache_control"] = {}
    assert anthropic.tools(offer)[0]["input_schema"]["properties"]["text"]["type"] == "string"
    assert offer.cohort.data == toolset().for_context(COMPANY).cohort.data


def test_gemini_gets_json_schema_and_a_mask() -> None:
    made = toolset()
    offer = made.for_context(FREELANCER)
    (declared,) = gemini.tools(offer)["tools"]
    assert [each["name"] for each in declared["functionDeclarations"]] == ["draft_note", "whoami"]
    masked = gemini.masked(made, offer)
    assert masked["toolConfig"]["functionCallingConfig"]["allowedFunctionNames"] == ["draft_note", "whoami"]
    assert masked["tools"] == gemini.masked(made, made.for_context(ADVISER))["tools"]


def test_gemini_calls_are_answered() -> None:
    offer = toolset().for_context(FREELANCER)
    good = gemini.function_response(offer, {"id": "f1", "name": "whoami"})
    assert good == {"functionResponse": {"id": "f1", "name": "whoami", "response": {"name": "Ada"}}}
    bad = gemini.function_response(offer, {"name": "get_balance", "args": {}})
    assert "there is no tool" in bad["functionResponse"]["response"]["error"]


def test_an_async_tool_is_awaited_or_said_to_be_one() -> None:
    group = Group("core", rank=1)

    @group.tool(binding=False, effect="read")
    async def later(text: str) -> str:
        """Answers later."""
        return text

    offer = Toolset([group]).for_context(None)
    assert asyncio.run(async_answer(offer, "later", {"text": "a"})).text == "a"
    said = answer(offer, "later", {"text": "a"})
    assert said.is_error
    assert "is async" in said.text


def test_a_failure_is_logged_and_not_shown(caplog: pytest.LogCaptureFixture) -> None:
    group = Group("core", rank=1)

    @group.tool(binding=False, effect="read")
    def look() -> object:
        """Gives what is no JSON."""
        return object()

    said = answer(Toolset([group]).for_context(None), "look", {})
    assert said.text == "the tool failed (PydanticSerializationError)"
    assert "tool look failed" in caplog.text
