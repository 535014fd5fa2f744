"""A toolset for pydantic-ai: the agent's `deps` are the context. Needs `beleg[pydantic-ai]`."""

from typing import Any, TypeVar

from pydantic_ai import ModelRetry, RunContext, ToolDefinition
from pydantic_ai.toolsets import AbstractToolset, ToolsetTool
from pydantic_core import SchemaValidator, core_schema

from beleg.agent.adapters.answer import async_answer
from beleg.agent.toolsets.tool import AgentTool
from beleg.agent.toolsets.toolset import Toolset

C = TypeVar("C")
_ANY_OBJECT = SchemaValidator(core_schema.dict_schema(core_schema.str_schema(), core_schema.any_schema()))
"""The offer checks arguments, for every adapter alike."""


class OfferedToolset(AbstractToolset[C]):
    """Lists and calls what `deps` is offered. A refused call goes back to the model as something to retry."""

    def __init__(self, toolset: Toolset[C], *, id: str = "beleg", max_retries: int = 1) -> None:  # noqa: A002
        self._toolset = toolset
        self._id = id
        self._max_retries = max_retries

    @property
    def id(self) -> str:
        """Unique among the toolsets of one agent."""
        return self._id

    async def get_tools(self, ctx: RunContext[C]) -> dict[str, ToolsetTool[C]]:
        """The offered tools, in the order of the prompt."""
        return {tool.name: self._tool(tool) for tool in self._toolset.for_context(ctx.deps).tools}

    async def call_tool(self, name: str, tool_args: dict[str, Any], ctx: RunContext[C], tool: ToolsetTool[C]) -> Any:  # noqa: ARG002
        """Call through the offer of who asks now, whatever was listed before."""
        said = await async_answer(self._toolset.for_context(ctx.deps), name, tool_args)
        if said.is_error:
            raise ModelRetry(said.text)
        return said.data

    def _tool(self, tool: AgentTool) -> ToolsetTool[C]:
        seen = tool.definition
        shown = ToolDefinition(
            name=seen["name"], description=seen["description"], parameters_json_schema=seen["input_schema"]
        )
        return ToolsetTool(toolset=self, tool_def=shown, max_retries=self._max_retries, args_validator=_ANY_OBJECT)
