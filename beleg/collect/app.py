"""The web application: `/v1/traces` for exporters, `/health` for those who watch it."""

import hmac
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from beleg.collect import answer
from beleg.collect.body import JSON, PROTOBUF, BadRequestError, BodyLimits, decode, media_type, read_body
from beleg.collect.receiver import NotWrittenError, Receiver, Taken

LOOPBACK = ("127.0.0.1", "localhost", "::1")
"""Names under which a receiver without a token may be addressed: a web page cannot reach it by another."""
_OTHER_SIGNALS = "beleg takes traces alone: switch the exporters of logs and metrics off, or send them elsewhere"


@dataclass(frozen=True)
class Access:
    """Who may send, and how much at a time."""

    token: str | None = None
    """Bearer token; None where only this machine can reach the receiver."""
    limits: BodyLimits = field(default_factory=BodyLimits)
    requests_at_once: int = 16
    """Requests held in memory at a time; further ones are told to come again."""

    def refusal(self, request: Request) -> tuple[int, str] | None:
        """Why a request may not be looked at; None where it may."""
        if self.token is None:
            allowed = (request.url.hostname or "") in LOOPBACK
            return None if allowed else (403, f"without a token this receiver answers to {', '.join(LOOPBACK)} alone")
        given = request.headers.get("authorization", "")
        scheme, _, token = given.partition(" ")
        same = hmac.compare_digest(token.strip().encode(), self.token.encode())
        if scheme.lower() == "bearer" and same:
            return None
        return 401, "a bearer token is needed: set OTEL_EXPORTER_OTLP_HEADERS=authorization=Bearer%20TOKEN"


def application(receiver: Receiver, access: Access, on_end: Callable[[], object]) -> Starlette:
    """The application around a receiver; `on_end` is called when it shuts down."""
    room = anyio.CapacityLimiter(access.requests_at_once)

    async def traces(request: Request) -> Response:
        kind = _kind(request)
        if (refusal := access.refusal(request)) is not None:
            return answer.failed(*refusal, kind)
        try:
            room.acquire_nowait()
        except anyio.WouldBlock:
            return answer.again("too many requests at once", kind)
        try:
            media_type(request)
            body = await read_body(request, access.limits)
            return answer.taken(await run_in_threadpool(_take, receiver, body, kind), kind)
        except BadRequestError as error:
            return answer.failed(error.status, str(error), kind)
        except NotWrittenError as error:
            return answer.again(f"the spool takes nothing ({error}); nothing of this request was taken", kind)
        finally:
            room.release()

    async def health(request: Request) -> Response:
        if (refusal := access.refusal(request)) is not None:
            return answer.failed(*refusal, JSON)
        totals = receiver.totals
        return JSONResponse(
            {
                "requests": totals.requests,
                "spans": totals.spans,
                "events": totals.events,
                "rejected": dict(totals.rejected),
                "failed_writes": dict(totals.failed_writes),
            }
        )

    async def other(request: Request) -> Response:
        return answer.failed(404, _OTHER_SIGNALS, _kind(request))

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        on_end()

    routes = [
        Route("/v1/traces", traces, methods=["POST"]),
        Route("/v1/{signal:path}", other, methods=["POST"]),
        Route("/health", health, methods=["GET"]),
    ]
    return Starlette(routes=routes, lifespan=lifespan)


def _take(receiver: Receiver, body: bytes, kind: str) -> Taken:
    return receiver.take(decode(body, kind))


def _kind(request: Request) -> str:
    """The encoding of the answer: that of the request, protobuf where it has none."""
    return JSON if request.headers.get("content-type", "").partition(";")[0].strip().lower() == JSON else PROTOBUF
