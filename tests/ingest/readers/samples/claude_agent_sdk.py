"""The message stream of a query of the Claude Agent SDK; a mark wherever payload may stand."""

import json
from typing import Any

NAME = "conversation.json"
SESSION = "0d5a1f00-0000-4000-8000-0000000005dc"
USAGE = {
    "input_tokens": 3, "cache_creation_input_tokens": 2000, "cache_read_input_tokens": 7000, "output_tokens": 50,
    "cache_creation": {"ephemeral_5m_input_tokens": 2000, "ephemeral_1h_input_tokens": 0}, "service_tier": "standard",
}  # fmt: skip


def sample(mark: str) -> bytes:
    sent = {"type": "user", "message": {"role": "user", "content": mark}, "session_id": "default"}
    messages = [*stream(mark), result(mark)]
    wrapped = [{"direction": "send", "message": sent}, *({"direction": "recv", "message": m} for m in messages)]
    return json.dumps({"metadata": {"cli_version": mark, mark: mark}, "messages": wrapped}).encode()


def stream(mark: str = "text") -> list[dict[str, Any]]:
    """The messages before the result: two blocks of one answer, whose usage is that of the stream's beginning."""
    block: dict[str, Any] = {
        "type": "assistant", "session_id": SESSION, "parent_tool_use_id": None, "uuid": "u-1",
        "message": {
            "id": "msg_01BCDEFGHIJKLMNOPQ", "model": "claude-sonnet-4-5-20250929", "role": "assistant",
            "content": [{"type": "tool_use", "id": "toolu_1", "name": mark, "input": {mark: mark}}, {"text": mark}],
            "usage": {**USAGE, "output_tokens": 1},
        },
    }  # fmt: skip
    begun = {"type": "system", "subtype": "init", "session_id": SESSION, "cwd": f"/home/{mark}", "apiKeySource": "none"}
    replied = {
        "type": "user",
        "session_id": SESSION,
        "message": {"content": [{"type": "tool_result", "content": mark}]},
    }
    return [{**begun, "tools": [mark], "mcp_servers": [{"name": mark}]}, block, block, replied]


def result(mark: str = "text", **changed: Any) -> dict[str, Any]:
    """The result of a query with one model."""
    return {
        "type": "result", "subtype": "success", "is_error": False, "duration_api_ms": 2000, "num_turns": 1,
        "result": mark, "session_id": SESSION, "uuid": "2e5b4c65-0000-4474-a425-000000000001", "usage": USAGE,
        "total_cost_usd": 0.01, "permission_denials": [{"tool_name": mark}],
        "modelUsage": {"claude-sonnet-4-5-20250929": {"inputTokens": 3, "outputTokens": 50, "costUSD": 0.01}},
        **changed,
    }  # fmt: skip
