"""Does what a conversation asks for, waiting (`run`) or not (`arun`)."""

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from beleg.contract.client.errors import ToolsInvalid
from beleg.contract.client.snapshot import Snapshot
from beleg.contract.run.converse import Conversation, Effect, Pause
from beleg.contract.run.exchange import Ask
from beleg.contract.run.result import Result
from beleg.contract.run.toolbox import Toolbox, ToolStopped, Use
from beleg.contract.run.transport import AsyncClients, Clients

Tools = Mapping[str, Callable[..., Any]]


def run(
    snapshot: Snapshot,
    variables: Mapping[str, Any],
    tools: Tools,
    options: Mapping[str, Any],
    *,
    sleep: Callable[[float], object] = time.sleep,
) -> Result:
    """Run a feature; what goes wrong goes through the conversation, so that its trace ends."""
    course = Conversation(snapshot, variables, Toolbox(snapshot.prepared, tools), options).course()
    with Clients() as clients:
        try:
            effect = next(course)
            while True:
                try:
                    done = _do(effect, clients, sleep)
                except BaseException as error:  # noqa: BLE001 - the conversation decides what becomes of it
                    effect = course.throw(error)
                else:
                    effect = course.send(done)
        except StopIteration as end:
            return _result(end)
        except ToolStopped as stopped:
            raise stopped.error from None


def _do(effect: Effect, clients: Clients, sleep: Callable[[float], object]) -> Any:
    if isinstance(effect, Ask):
        return clients.ask(effect)
    if isinstance(effect, Pause):
        return sleep(effect.seconds)
    result = _called(effect)
    if inspect.iscoroutine(result):
        result.close()
        raise ToolsInvalid(f"the tool {effect.name!r} is a coroutine function; use it with arun")
    return result


async def arun(
    snapshot: Snapshot,
    variables: Mapping[str, Any],
    tools: Tools,
    options: Mapping[str, Any],
    *,
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
) -> Result:
    """As `run`, without blocking the loop."""
    course = Conversation(snapshot, variables, Toolbox(snapshot.prepared, tools), options).course()
    async with AsyncClients() as clients:
        try:
            effect = next(course)
            while True:
                try:
                    done = await _ado(effect, clients, sleep)
                except BaseException as error:  # noqa: BLE001 - as above; a cancelled task included
                    effect = course.throw(error)
                else:
                    effect = course.send(done)
        except StopIteration as end:
            return _result(end)
        except ToolStopped as stopped:
            raise stopped.error from None


async def _ado(effect: Effect, clients: AsyncClients, sleep: Callable[[float], Awaitable[object]]) -> Any:
    if isinstance(effect, Ask):
        return await clients.ask(effect)
    if isinstance(effect, Pause):
        return await sleep(effect.seconds)
    if inspect.iscoroutinefunction(effect.function):
        return await effect.function(**effect.arguments)
    result = await asyncio.to_thread(_called, effect)
    return await result if inspect.isawaitable(result) else result


def _called(use: Use) -> Any:
    try:
        return use.function(**use.arguments)
    except StopIteration as error:
        raise ToolStopped(error) from error


def _result(end: StopIteration) -> Result:
    found: Result = end.value
    return found
