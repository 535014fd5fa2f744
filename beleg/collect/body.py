"""The body of a request: read, unpacked and decoded within limits."""

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import anyio
import orjson
from google.protobuf.message import DecodeError
from starlette.requests import Request

from beleg.ingest.readers.otlp import from_protobuf

MIB = 1024 * 1024
PROTOBUF, JSON = "application/x-protobuf", "application/json"
_GZIP = zlib.MAX_WBITS | 16


@dataclass(frozen=True)
class BodyLimits:
    """Bounds of one request; the OTLP specification recommends 20 MiB."""

    received_bytes: int = 20 * MIB
    unpacked_bytes: int = 20 * MIB
    seconds: float = 30.0
    """Within which a body must have arrived."""


class BadRequestError(Exception):
    """A request that cannot be taken: `status` is that of HTTP, the text holds nothing of the body."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


def media_type(request: Request) -> str:
    """How the body is written, and therefore the answer. Raises BadRequestError for anything else."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in (PROTOBUF, JSON):
        raise BadRequestError(415, f"content-type must be {PROTOBUF} or {JSON}")
    return kind


async def read_body(request: Request, limits: BodyLimits) -> bytes:
    """The body, unpacked. Raises BadRequestError for one that is too large, too slow or damaged."""
    encoding = request.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in ("identity", "gzip"):
        raise BadRequestError(415, "content-encoding must be gzip or identity")
    announced = request.headers.get("content-length", "")
    if announced.isdecimal() and int(announced) > limits.received_bytes:
        raise _too_large(limits.received_bytes)
    try:
        with anyio.fail_after(limits.seconds):
            data = await _received(request, limits.received_bytes)
    except TimeoutError:
        raise BadRequestError(408, f"the body did not arrive within {limits.seconds:g} seconds") from None
    return data if encoding == "identity" else unpack(data, limits.unpacked_bytes)


async def _received(request: Request, limit: int) -> bytes:
    pieces: list[bytes] = []
    size = 0
    async for piece in request.stream():
        size += len(piece)
        if size > limit:
            raise _too_large(limit)
        pieces.append(piece)
    return b"".join(pieces)


def unpack(data: bytes, limit: int) -> bytes:
    """A gzip body, every member of it, up to `limit` bytes. Raises BadRequestError past it and for damage."""
    pieces: list[bytes] = []
    left = limit
    try:
        while data:
            inflater = zlib.decompressobj(_GZIP)
            piece = inflater.decompress(data, left + 1)
            left -= len(piece)
            if left < 0:
                raise _too_large(limit)
            if not inflater.eof:
                raise BadRequestError(400, "the gzip body is cut short")
            pieces.append(piece)
            data = inflater.unused_data
    except zlib.error:
        raise BadRequestError(400, "the body is no gzip") from None
    return b"".join(pieces)


def decode(data: bytes, kind: str) -> Mapping[str, Any]:
    """The export request in a body, in the form of OTLP/JSON. Raises BadRequestError for what is none.

    The decoders bound the nesting: 100 levels of protobuf messages, 1024 of JSON.
    """
    try:
        if kind == PROTOBUF:
            return from_protobuf(data)
        request: Any = orjson.loads(data) if data else {}
    except (DecodeError, orjson.JSONDecodeError, RecursionError):
        raise BadRequestError(400, f"the body is no {kind} export request") from None
    if not isinstance(request, dict) or not isinstance(request.get("resourceSpans", []), list):
        raise BadRequestError(400, "the body is no export request: expected an object with a list resourceSpans")
    return dict(request)


def _too_large(limit: int) -> BadRequestError:
    return BadRequestError(413, f"the body is larger than {limit} bytes; send smaller batches")
