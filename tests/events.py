"""Events as the tracer writes them, for tests of everything behind it: give only what matters."""

import json
from typing import Any

BASE = {
    "schema_version": 1,
    "source": "test",
    "retention_policy": "metadata_and_hashes_only",
    "payload_policy": "hashed_not_stored",
}


def event(type_: str, event_id: str, event_time: str = "2030-01-01T12:00:00Z", **fields: Any) -> dict[str, Any]:
    """An event with what its schema demands besides the fields given."""
    required: dict[str, dict[str, Any]] = {
        "run_started": {"run_id": "run", "workflow": "ocr", "purpose": "production"},
        "run_status": {"run_id": "run", "status": "running"},
        "run_finished": {"run_id": "run", "status": "succeeded"},
        "step": {"run_id": "run", "step_id": event_id, "kind": "model", "status": "succeeded"},
        "feedback": {"rating": "dislike"},
        "correction": {"correction_id": event_id, "reason": "extraction_error", "field": ""},
        "review": {"subject": "c", "decision": "accept", "by": "lead"},
        "outcome": {
            "outcome_id": event_id,
            "workflow": "ocr",
            "kind": "document",
            "count": 1,
            "occurred_at": event_time,
        },
    }
    return {"event": type_, "event_id": event_id, "event_time": event_time, **BASE, **required.get(type_, {}), **fields}


def lines(*events: dict[str, Any]) -> bytes:
    """The events as newline-delimited JSON."""
    return b"".join(json.dumps(e, separators=(",", ":"), ensure_ascii=False).encode() + b"\n" for e in events)
