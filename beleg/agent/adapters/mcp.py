"""A toolset as an MCP server (specification 2026-07-28). Needs `beleg[mcp]`.

`tools/list` is a function of who asks and of nothing else: no call, connection or notification changes it. It is one
page in one order, private to the principal, with a lifetime; `tools/call` goes through the same offer.
"""

import inspect
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import mcp_types as types
from mcp.server import Server, ServerRequestContext
from mcp.shared.exceptions import MCPError

from beleg.agent.adapters.answer import async_answer
from beleg.agent.toolsets.offer import Offer
from beleg.agent.toolsets.tool import AgentTool
from beleg.agent.toolsets.toolset import Toolset

C = TypeVar("C")
Principal = Callable[[ServerRequestContext[Any]], C | Awaitable[C]]
"""Who asks, from the authorization of the request alone."""
LIST_TTL_MS = 300_000
"""How long a client may keep the list: facts about a company seldom change within minutes."""


def server(toolset: Toolset[C], principal: Principal[C], *, name: str, ttl_ms: int = LIST_TTL_MS) -> Server[Any]:
    """An MCP server; run it over any transport of the SDK, for example `.streamable_http_app()`.

    `principal` raises to refuse a request. All tools are one page, since clients are known that ignore a second.
    """

    async def offer(context: ServerRequestContext[Any]) -> Offer[C]:
        found = principal(context)
        return toolset.for_context(await found if inspect.isawaitable(found) else found)

    async def list_tools(
        context: ServerRequestContext[Any], params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        if params is not None and params.cursor is not None:
            raise MCPError(types.INVALID_PARAMS, "the list is one page: ask without a cursor")
        tools = [_tool(tool) for tool in (await offer(context)).tools]
        return types.ListToolsResult(tools=tools, ttl_ms=ttl_ms, cache_scope="private")

    async def call_tool(
        context: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        offered = await offer(context)
        if params.name not in offered.cohort.by_name:
            raise MCPError(types.INVALID_PARAMS, f"there is no tool {params.name[:80]!r}")
        said = await async_answer(offered, params.name, params.arguments or {})
        content = types.TextContent(type="text", text=said.text)
        data = said.data if isinstance(said.data, dict) else None
        return types.CallToolResult(content=[content], structured_content=data, is_error=said.is_error)

    return Server(name, on_list_tools=list_tools, on_call_tool=call_tool)


def _tool(tool: AgentTool) -> types.Tool:
    hints = types.ToolAnnotations(read_only_hint=tool.effect == "read", destructive_hint=False)
    return types.Tool(**tool.definition, annotations=hints)
