"""Rows of Helicone's request log; a mark wherever payload may stand."""

import json
from typing import Any

NAME = "requests.jsonl"
IDENTITY = "6f1d2c3b-0a09-4887-9665-544332211000"


def sample(mark: str) -> bytes:
    rows = [row(mark), row(mark, request_id=IDENTITY.replace("6f", "7f"), response_status=500, prompt_tokens=None)]
    return b"".join(json.dumps(one).encode() + b"\n" for one in rows)


def row(mark: str = "text", /, **changed: Any) -> dict[str, Any]:
    """A call of Anthropic that read 10 000 tokens from its cache."""
    made = {
        "request_id": IDENTITY,
        "request_created_at": "2026-03-05 10:00:00.123",
        "response_id": "0a1b2c3d-0000-4000-8000-000000000001",
        "response_created_at": "2026-03-05 10:00:02.623",
        "response_status": 200,
        "request_model": "claude-haiku-4-5",
        "response_model": "claude-haiku-4-5-20251001",
        "model": "claude-haiku-4-5-20251001",
        "model_override": None,
        "provider": "ANTHROPIC",
        "delay_ms": 2500,
        "time_to_first_token": 300,
        "prompt_tokens": 200,
        "completion_tokens": 20,
        "total_tokens": 220,
        "prompt_cache_write_tokens": 300,
        "prompt_cache_read_tokens": 10_000,
        "prompt_audio_tokens": 0,
        "completion_audio_tokens": 0,
        "cost": 1_675_000,
        "costUSD": None,
        "prompt_id": mark,
        "prompt_version": mark,
        "request_user_id": mark,
        "properties": {f"Helicone-Session-{part}": mark for part in ("Id", "Name", "Path")} | {mark: mark},
        "request_properties": {mark: mark},
        "cache_enabled": False,
        "cache_reference_id": "00000000-0000-0000-0000-000000000000",
        "scores": {mark: 1},
        "request_body": {"messages": [{"content": mark}]},
        "response_body": {"content": [{"text": mark}]},
        "signed_body_url": f"https://example.org/{mark}",
        "target_url": mark,
        "country_code": mark,
    }  # fmt: skip
    return {**made, **changed}
