"""Answers as OTLP/HTTP defines them: in the encoding of the request, errors as a `google.rpc.Status`."""

from collections.abc import Mapping
from typing import Any

import orjson
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTracePartialSuccess,
    ExportTraceServiceResponse,
)
from starlette.responses import Response

from beleg.collect.body import JSON
from beleg.collect.receiver import Taken
from beleg.ingest.reasons import REASONS

RETRY_AFTER_S = 2
"""What a sender is asked to wait where it should try again."""
_CODES = {400: 3, 401: 16, 403: 7, 404: 5, 405: 12, 408: 4, 413: 11, 415: 3, 429: 8, 500: 13, 503: 14}
"""HTTP status → code of google.rpc.Code."""


def taken(result: Taken, kind: str) -> Response:
    """200: everything that can be taken was written; what was refused is partial success, not to be sent again."""
    count = sum(result.rejected.values())
    message = "; ".join(f"{n} {reason}: {REASONS[reason]}" for reason, n in sorted(result.rejected.items()))
    if kind == JSON:
        # 64-bit integers are text in OTLP/JSON.
        partial = {"rejectedSpans": str(count), "errorMessage": message} if count else {}
        return _answer(200, {"partialSuccess": partial} if partial else {}, kind)
    answer = ExportTraceServiceResponse()
    if count:
        answer.partial_success.CopyFrom(ExportTracePartialSuccess(rejected_spans=count, error_message=message))
    return Response(answer.SerializeToString(), 200, media_type=kind)


def failed(status: int, text: str, kind: str, headers: Mapping[str, str] | None = None) -> Response:
    """An error; a sender may try again after 429 and 503 alone."""
    code = _CODES.get(status, 2)
    if kind == JSON:
        return _answer(status, {"code": code, "message": text}, kind, headers)
    body = Status(code=code, message=text).SerializeToString()
    return Response(body, status, media_type=kind, headers=dict(headers or {}))


def again(text: str, kind: str) -> Response:
    """503: nothing was taken; the sender is to try again."""
    return failed(503, text, kind, {"retry-after": str(RETRY_AFTER_S)})


def _answer(status: int, body: Mapping[str, Any], kind: str, headers: Mapping[str, str] | None = None) -> Response:
    return Response(orjson.dumps(body), status, media_type=kind, headers=dict(headers or {}))
