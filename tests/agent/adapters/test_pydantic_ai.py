"""An agent of pydantic-ai gets its user's tools, in order, and cannot reach another's."""

import asyncio
from typing import Any

import pytest

from tests.agent.offered import COMPANY, FREELANCER, Person, toolset

pytest.importorskip("pydantic_ai", reason="needs beleg[pydantic-ai]")
from pydantic_ai import Agent
from pydantic_ai.exceptions import UnexpectedModelBehavior
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from beleg.agent.adapters.pydantic_ai import OfferedToolset


def run(person: Person, *calls: tuple[str, dict[str, Any]]) -> tuple[list[list[str]], list[Any]]:
    """The names that the model was shown at each step, and the parts of all messages."""
    shown: list[list[str]] = []
    waiting = list(calls)

    def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        shown.append([tool.name for tool in info.function_tools])
        if waiting:
            name, arguments = waiting.pop(0)
            return ModelResponse(parts=[ToolCallPart(tool_name=name, args=arguments)])
        return ModelResponse(parts=[TextPart("done")])

    agent = Agent(FunctionModel(model), deps_type=Person, toolsets=[OfferedToolset(toolset())])
    result = asyncio.run(agent.run("go", deps=person))
    return shown, [part for message in result.all_messages() for part in message.parts]


def test_the_model_is_shown_the_offer_in_its_order_at_every_step() -> None:
    shown, _ = run(COMPANY, ("whoami", {}))
    names = [tool.name for tool in toolset().for_context(COMPANY).tools]
    assert shown == [names, names]


def test_a_tool_is_called_with_the_users_context() -> None:
    _, parts = run(COMPANY, ("whoami", {}))
    assert {"name": "Bob"} in [getattr(part, "content", None) for part in parts]


def test_a_refused_argument_goes_back_to_the_model() -> None:
    _, parts = run(FREELANCER, ("draft_note", {"text": "a", "times": "x"}), ("draft_note", {"text": "a"}))
    (refused, done) = [part for part in parts if isinstance(part, ToolReturnPart)]
    assert (refused.outcome, refused.content) == ("retried", "arguments do not meet the schema: times: int_parsing")
    assert done.content == {"by": "Ada", "text": "a"}


def test_another_users_tool_cannot_be_called() -> None:
    with pytest.raises(UnexpectedModelBehavior):
        run(FREELANCER, ("get_balance", {}), ("get_balance", {}), ("get_balance", {}))
