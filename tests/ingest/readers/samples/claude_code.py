"""A session log of Claude Code; a mark wherever payload may stand."""

import json
from typing import Any

NAME = "f3b1c1de-0000-4000-8000-00000000c0de.jsonl"
SESSION = "f3b1c1de-0000-4000-8000-00000000c0de"
USAGE = {
    "input_tokens": 4,
    "cache_creation_input_tokens": 3000,
    "cache_read_input_tokens": 20_000,
    "cache_creation": {"ephemeral_5m_input_tokens": 1000, "ephemeral_1h_input_tokens": 2000},
    "output_tokens": 250,
    "server_tool_use": {"web_search_requests": 2},
    "service_tier": "standard",
}


def sample(mark: str) -> bytes:
    asked = {"role": "user", "content": [{"type": "text", "text": mark}, {"type": "image", "source": {"data": mark}}]}
    called = {"type": "tool_use", "id": "toolu_01", "name": "Bash", "input": {"command": mark, mark: mark}}
    unknown: Any = {mark: mark}
    result = {"type": "tool_result", "tool_use_id": "toolu_01", "content": [{"text": mark}], "is_error": True}
    return lines(
        {"type": "summary", "summary": mark, "leafUuid": mark},
        {"type": "file-history-snapshot", "snapshot": {"trackedFileBackups": {mark: mark}}, "timestamp": time(0)},
        line("user", asked, seconds=0, cwd=f"/home/{mark}/{mark}", gitBranch=mark, version=mark, slug=mark),
        answer([{"type": "thinking", "thinking": mark, "signature": mark}], seconds=4, **unknown),
        answer([{"type": "text", "text": mark}, called], seconds=5),
        line("user", {"role": "user", "content": [result]}, seconds=9, toolUseResult={"stdout": mark, mark: mark}),
        line("system", {"content": mark}, seconds=10, content=mark, error={"message": mark}),
        line(
            "assistant", {"model": "<synthetic>", "content": mark, "usage": USAGE}, seconds=11, isApiErrorMessage=True
        ),
        {"type": "queue-operation", "content": mark, "timestamp": time(12), "sessionId": SESSION},
    )


def lines(*values: Any) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def time(seconds: int) -> str:
    return f"2026-03-05T10:{seconds // 60:02}:{seconds % 60:02}.000Z"


def line(kind: str, message: Any, *, seconds: int = 0, **more: Any) -> dict[str, Any]:
    """A line of the log, so many seconds after ten o'clock."""
    return {
        "type": kind, "sessionId": SESSION, "timestamp": time(seconds), "cwd": "/home/me/shop", "version": "2.1.0",
        "isSidechain": False, "uuid": f"line-{kind}-{seconds}", "message": message, **more,
    }  # fmt: skip


def answer(
    content: Any = (), *, identity: str = "msg_01ABCDEFGHIJKLMNOP", request: str | None = "req_01", seconds: int = 0,
    model: str = "claude-sonnet-4-5-20250929", usage: dict[str, Any] | None = None, **more: Any,
) -> dict[str, Any]:  # fmt: skip
    """A line of an answer; `usage` changes counts of USAGE."""
    used = {**USAGE, **(usage or {})}
    message = {
        "id": identity,
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": list(content),
        "usage": used,
    }
    asked_by = {} if request is None else {"requestId": request}
    return line("assistant", message, seconds=seconds, **asked_by, **more)
