"""Events as lines: one JSON object each, in the form of `contracts/events/<event>/v1.schema.json`."""

import json
from collections.abc import Callable
from typing import Any

from beleg.trace import policy

SOURCE = "beleg"


def _encoder() -> Callable[[Any], bytes]:
    try:
        import orjson  # noqa: PLC0415 - optional
    except ImportError:
        encode = json.JSONEncoder(separators=(",", ":"), allow_nan=False, check_circular=False).encode
        return lambda value: encode(value).encode()
    return orjson.dumps


dumps: Callable[[Any], bytes] = _encoder()


def _opening(event: str) -> bytes:
    fixed = {
        "event": event,
        "schema_version": 1,
        "source": SOURCE,
        "retention_policy": policy.RETENTION_POLICY,
        "payload_policy": policy.PAYLOAD_POLICY,
    }
    return json.dumps(fixed, separators=(",", ":")).encode()[:-1] + b","


_EVENTS = (
    "run_started run_status run_finished step artifact feedback correction outcome toolset layout review eval_result"
)
_OPENINGS = {event: _opening(event) for event in _EVENTS.split()}


def members(fields: dict[str, Any]) -> bytes:
    """Fields that many events of a run share, encoded once; give them to `line` as `shared`."""
    return dumps(fields)[1:-1] + b"," if fields else b""


def line(event: str, shared: bytes, fields: dict[str, Any]) -> bytes:
    """One event with its newline. `fields` holds what is known: an absent field is unknown."""
    return _OPENINGS[event] + shared + dumps(fields)[1:] + b"\n"
