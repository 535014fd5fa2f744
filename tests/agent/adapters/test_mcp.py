"""A real client over real HTTP sees its own principal's list, and can call nothing else."""

import asyncio
import socket
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest

from beleg.agent.toolsets import Group, Toolset
from tests.agent.offered import ADVISER, COMPANY, FREELANCER, Person, groups, numbered

pytest.importorskip("mcp", reason="needs beleg[mcp]")
import mcp_types as types
import uvicorn
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.server import ServerRequestContext
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from mcp.shared.exceptions import MCPError
from pydantic import AnyHttpUrl

from beleg.agent.adapters.mcp import LIST_TTL_MS, server

PEOPLE = {"ada": FREELANCER, "bob": COMPANY, "eve": ADVISER}


class Tokens:
    """Who holds which token."""

    async def verify_token(self, token: str) -> AccessToken | None:
        return AccessToken(token=token, client_id=token, scopes=[]) if token in PEOPLE else None


def principal(context: ServerRequestContext[Any]) -> Person:
    request: Any = context.request
    return PEOPLE[request.user.access_token.client_id]


def failing() -> Group:
    group = Group("failing", rank=8)

    @group.tool(binding=False, effect="read")
    def break_down(text: str) -> str:
        """Fails."""
        raise ValueError(text)

    @group.tool(binding=False, effect="read")
    async def wait_and_tell(context: Person) -> str:
        """Answers later."""
        await asyncio.sleep(0)
        return context.name

    return group


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A server of the toolset with bearer tokens."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        own = AnyHttpUrl(url)
        auth = AuthSettings(issuer_url=own, resource_server_url=own, validate_token_resource=False)
        toolset = Toolset([*groups(), failing()])
        app = server(toolset, principal, name="books").streamable_http_app(auth=auth, token_verifier=Tokens())
        running = uvicorn.Server(uvicorn.Config(app, log_level="error", ws="none"))
        thread = threading.Thread(target=running.run, kwargs={"sockets": [listening]})
        thread.start()
        while not running.started:
            time.sleep(0.01)
        yield f"{url}/mcp"
        running.should_exit = True
        thread.join()


@asynccontextmanager
async def connected(address: str, token: str) -> AsyncIterator[Client]:
    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}) as http,
        Client(streamable_http_client(address, http_client=http), cache=None) as client,
    ):
        yield client


def listed(address: str, token: str) -> types.ListToolsResult:
    async def ask() -> types.ListToolsResult:
        async with connected(address, token) as client:
            return await client.list_tools()

    return asyncio.run(ask())


def test_each_principal_sees_its_own_list_in_the_order_of_the_offer(address: str) -> None:
    toolset = Toolset([*groups(), failing()])
    for token, person in PEOPLE.items():
        assert [tool.name for tool in listed(address, token).tools] == [
            tool.name for tool in toolset.for_context(person).tools
        ]


def test_the_list_is_private_has_a_lifetime_and_the_same_bytes_for_every_connection(address: str) -> None:
    first, second = listed(address, "eve"), listed(address, "eve")
    assert (first.ttl_ms, first.cache_scope) == (LIST_TTL_MS, "private")
    assert first.model_dump_json() == second.model_dump_json()


def test_no_call_changes_the_list_and_no_change_is_announced(address: str) -> None:
    async def ask() -> None:
        async with connected(address, "bob") as client:
            before = await client.list_tools()
            for tool in before.tools:
                await client.call_tool(tool.name, {"text": "a"} if tool.name != "whoami" else {})
            after = await client.list_tools()
            assert after.model_dump() == before.model_dump()
            capabilities = client.server_capabilities
            assert capabilities.tools is not None
            assert not capabilities.tools.list_changed

    asyncio.run(ask())


@pytest.mark.parametrize("name", ["get_balance", "list_clients", "submit", "no_such_tool"])
def test_what_is_not_listed_cannot_be_called(address: str, name: str) -> None:
    async def ask() -> None:
        async with connected(address, "ada") as client:
            with pytest.raises(MCPError, match=f"there is no tool '{name}'") as refused:
                await client.call_tool(name, {})
            assert refused.value.error.code == types.INVALID_PARAMS

    asyncio.run(ask())


def test_the_principal_of_the_token_reaches_the_tool(address: str) -> None:
    async def ask(token: str) -> Any:
        async with connected(address, token) as client:
            both = (
                (await client.call_tool("whoami", {})).structured_content,
                await client.call_tool("wait_and_tell", {}),
            )
            return both[0], both[1].content[0]

    for token, person in PEOPLE.items():
        structured, later = asyncio.run(ask(token))
        assert structured == {"name": person.name}
        assert isinstance(later, types.TextContent)
        assert later.text == person.name


def test_a_refused_argument_and_a_failed_tool_are_answers_without_what_they_hold(address: str) -> None:
    async def ask() -> None:
        async with connected(address, "ada") as client:
            for name, arguments, said in (
                ("draft_note", {"text": "a", "times": "geheim"}, "times: int_parsing"),
                ("draft_note", {"text": "a", "context": {}}, "context: unexpected_keyword_argument"),
                ("break_down", {"text": "geheim"}, "the tool failed (ValueError)"),
            ):
                result = await client.call_tool(name, arguments)
                assert result.is_error
                text = result.content[0]
                assert isinstance(text, types.TextContent)
                assert said in text.text
                assert "geheim" not in text.text

    asyncio.run(ask())


def test_without_a_token_there_is_no_list(address: str) -> None:
    reply = httpx2.post(address, json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    assert reply.status_code == 401


def test_case_37_all_tools_are_one_page_and_a_cursor_is_refused() -> None:
    toolset = Toolset([numbered(Group("core", rank=1), *(f"t{n:03}" for n in range(500)))])

    async def ask() -> None:
        async with Client(server(toolset, lambda _: None, name="many"), cache=None) as client:
            result = await client.list_tools()
            assert len(result.tools) == 500
            assert result.next_cursor is None
            with pytest.raises(MCPError, match="one page"):
                await client.list_tools(cursor="8")

    asyncio.run(ask())


def test_a_tools_effect_is_its_hint() -> None:
    async def ask() -> dict[str, tuple[bool | None, bool | None]]:
        async with Client(server(Toolset(groups()), lambda _: FREELANCER, name="books"), cache=None) as client:
            tools = (await client.list_tools()).tools
            return {
                t.name: (t.annotations.read_only_hint, t.annotations.destructive_hint) for t in tools if t.annotations
            }

    assert asyncio.run(ask()) == {"draft_note": (False, False), "whoami": (True, False)}
