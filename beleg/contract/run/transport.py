"""The vendors' own clients, one per run, bounded in what none of them bounds: whole time and size of an answer.

Retries are ours (`converse`): a client that repeats by itself hides attempts from the trace.
"""

import ssl
import time
from collections.abc import AsyncIterator, Iterator
from functools import cache
from typing import Any

import httpx2 as httpx

from beleg.contract.model import Provider
from beleg.contract.run import strictjson
from beleg.contract.run.exchange import Ask
from beleg.contract.run.faults import ProviderBroken
from beleg.contract.run.keys import address_of, key_of
from beleg.contract.run.quiet import quiet
from beleg.contract.run.vendor import WIRES, TooLarge, fault_of, sdk

MAX_BYTES = 8 << 20
"""Most bytes of one answer."""
TIMEOUT_S = 120.0
"""Time limit of one request where the contract names none."""


class _Stream(httpx.SyncByteStream, httpx.AsyncByteStream):
    """The bytes of an answer, up to a deadline and a size."""

    def __init__(self, stream: Any, ends_s: float) -> None:
        self._stream, self._ends_s, self._left = stream, ends_s, MAX_BYTES

    def _pass(self, chunk: bytes) -> bytes:
        self._left -= len(chunk)
        if self._left < 0:
            raise TooLarge
        if time.monotonic() > self._ends_s:
            raise httpx.ReadTimeout("the answer was not whole in time")
        return chunk

    def __iter__(self) -> Iterator[bytes]:
        for chunk in self._stream:
            yield self._pass(chunk)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._stream:
            yield self._pass(chunk)

    def close(self) -> None:
        self._stream.close()

    async def aclose(self) -> None:
        await self._stream.aclose()


def _begin(request: httpx.Request) -> None:
    request.extensions["beleg_begun_s"] = time.monotonic()


def _bound(answer: httpx.Response) -> None:
    extensions = answer.request.extensions
    answer.stream = _Stream(answer.stream, extensions["beleg_begun_s"] + extensions["timeout"]["read"])


async def _abegin(request: httpx.Request) -> None:
    _begin(request)


async def _abound(answer: httpx.Response) -> None:
    _bound(answer)


@cache
def _trust() -> ssl.SSLContext:
    """Loading certificates takes tens of milliseconds; all clients of a process share them."""
    return httpx.create_ssl_context()


class Clients:
    """Asks providers for one run; its connections end with it, so that no fork or loop shares any."""

    def __init__(self) -> None:
        self._http = httpx.Client(verify=_trust(), event_hooks={"request": [_begin], "response": [_bound]})

    def __enter__(self) -> "Clients":
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()

    def ask(self, ask: Ask) -> dict[str, Any]:
        """The provider's answer; raises ProviderFault and SetupError."""
        wire = WIRES[ask.provider.api]
        package = sdk(wire)
        client = getattr(package, wire.client)(**_options(ask.provider), http_client=self._http)
        try:
            # The body as it stands: typed methods know this year's parameters only.
            with quiet():
                answer = client.post(wire.path, cast_to=httpx.Response, body=wire.request(ask))
        except Exception as error:
            raise fault_of(package, error) from error
        return _parsed(answer.content)


class AsyncClients:
    """As `Clients`, for `arun`."""

    def __init__(self) -> None:
        self._http = httpx.AsyncClient(verify=_trust(), event_hooks={"request": [_abegin], "response": [_abound]})

    async def __aenter__(self) -> "AsyncClients":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.aclose()

    async def ask(self, ask: Ask) -> dict[str, Any]:
        """The provider's answer; raises ProviderFault and SetupError."""
        wire = WIRES[ask.provider.api]
        package = sdk(wire)
        client = getattr(package, f"Async{wire.client}")(**_options(ask.provider), http_client=self._http)
        try:
            with quiet():
                answer = await client.post(wire.path, cast_to=httpx.Response, body=wire.request(ask))
        except Exception as error:
            raise fault_of(package, error) from error
        return _parsed(answer.content)


def _options(provider: Provider) -> dict[str, Any]:
    timeout_s = provider.timeout_s or TIMEOUT_S
    options = {"api_key": key_of(provider), "max_retries": 0, "timeout": httpx.Timeout(timeout_s)}
    address = address_of(provider)
    return options if address is None else {**options, "base_url": address}


def _parsed(content: bytes) -> dict[str, Any]:
    try:
        answer = strictjson.loads(content)
    except ValueError:
        raise ProviderBroken from None
    if not isinstance(answer, dict):
        raise ProviderBroken
    return answer
