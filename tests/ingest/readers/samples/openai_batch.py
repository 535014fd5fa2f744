"""Output of an OpenAI batch, an error among it; a mark wherever payload may stand."""

import json
from typing import Any

NAME = "batch_output.jsonl"


def sample(mark: str) -> bytes:
    error = {"message": mark, "type": mark, "code": mark}
    failed = {"status_code": 400, "request_id": "req_2", "body": {"error": error}}
    lines = [
        answer(mark),
        {"id": "batch_req_failed", "custom_id": mark, "response": failed, "error": None},
        {"id": "batch_req_expired", "custom_id": mark, "response": None, "error": {"code": mark, "message": mark}},
        {"custom_id": mark, "method": "POST", "url": "/v1/chat/completions", "body": {"messages": [{"content": mark}]}},
    ]
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def answer(
    mark: str = "text", *, created: int = 1_795_000_000, identity: str = "batch_req_1", **usage: Any
) -> dict[str, Any]:
    """An answer that cost 1000 tokens in and 100 out."""
    counts = {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100, mark: 1, **usage}
    body = {
        "id": f"chatcmpl-of-{identity}-abcdef",
        "object": "chat.completion",
        "created": created,
        "model": "gpt-4o-mini-2024-07-18",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": mark}, "finish_reason": "stop"}],
        "usage": counts,
        mark: mark,
    }
    return {
        "id": identity,
        "custom_id": f"document-{identity}",
        "response": {"status_code": 200, "request_id": "req_1", "body": body},
        "error": None,
    }
