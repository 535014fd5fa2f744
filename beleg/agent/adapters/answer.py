"""What a called tool answers, in a form without a provider. A refusal is an answer that the model can act on."""

import asyncio
import inspect
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from beleg.agent.toolsets.offer import Offer
from beleg.core.errors import BelegError, UsageError

log = logging.getLogger("beleg.agent")


@dataclass(frozen=True)
class Answer:
    """The result of a call, as JSON text and as data."""

    text: str
    data: Any
    is_error: bool


def answer(offer: Offer[Any], name: str, arguments: Mapping[str, Any]) -> Answer:
    """Call an offered tool. Never raises for what the model did; an unforeseen error is logged and not shown."""
    try:
        return _good(_waited_for(name, offer.call(name, arguments)))
    except Exception as error:  # noqa: BLE001 - a tool is anybody's code
        return _failed(name, error)


async def async_answer(offer: Offer[Any], name: str, arguments: Mapping[str, Any]) -> Answer:
    """The same for async tools; others run in a thread, so that one slow tool does not hold up all users."""
    try:
        result = await asyncio.to_thread(offer.call, name, arguments)
        return _good(await result if inspect.isawaitable(result) else result)
    except Exception as error:  # noqa: BLE001
        return _failed(name, error)


def _waited_for(name: str, result: Any) -> Any:
    if inspect.iscoroutine(result):
        result.close()
        raise UsageError(f"`{name}` is async: answer it with `async_answer`")
    return result


def _good(result: Any) -> Answer:
    from pydantic_core import to_jsonable_python  # noqa: PLC0415 - an extra

    data = to_jsonable_python(result)
    return Answer(_text(data), data, is_error=False)


def _failed(name: str, error: Exception) -> Answer:
    if isinstance(error, BelegError):
        return Answer(str(error), {"error": str(error)}, is_error=True)
    log.error("tool %s failed", name, exc_info=error)
    said = f"the tool failed ({type(error).__name__})"
    return Answer(said, {"error": said}, is_error=True)


def _text(data: Any) -> str:
    from pydantic_core import to_json  # noqa: PLC0415

    return data if isinstance(data, str) else to_json(data).decode()
