"""Events of a session of GitHub Copilot CLI; a mark wherever payload may stand."""

import json
from typing import Any

NAME = "events.jsonl"
SESSION = "c0b11070-0000-4000-8000-000000000001"


def sample(mark: str) -> bytes:
    begun = {"sessionId": SESSION, "copilotVersion": mark, "context": {"cwd": f"/home/{mark}", "branch": mark}}
    return lines(
        event(0, "session.start", begun),
        event(1, "session.info", {"infoType": mark, "message": mark}),
        event(2, "user.message", {"content": mark, "attachments": [{"path": mark}]}),
        event(3, "assistant.message", {"content": mark, "toolRequests": [{"name": mark, "arguments": {mark: mark}}]}),
        event(4, "tool.execution_start", {"toolCallId": "call-1", "toolName": "bash", "arguments": {"command": mark}}),
        event(6, "tool.execution_complete", {"toolCallId": "call-1", "success": False, "error": {"message": mark}}),
        event(9, "session.shutdown", {"modelMetrics": metrics(), "shutdownType": mark, mark: mark}),
    )


def lines(*values: Any) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def event(seconds: int, kind: str, data: Any) -> dict[str, Any]:
    at = f"2026-03-05T10:{seconds // 60:02}:{seconds % 60:02}.000Z"
    return {"type": kind, "id": f"event-{seconds}", "parentId": None, "timestamp": at, "data": data}


def metrics(read: int = 100, cached: int = 10, written: int = 20, out: int = 50, thought: int = 5) -> dict[str, Any]:
    """Sums of a process: cache reads and writes inside the input, reasoning inside the output."""
    usage = {
        "inputTokens": read, "cacheReadTokens": cached, "cacheWriteTokens": written, "outputTokens": out,
        "reasoningTokens": thought,
    }  # fmt: skip
    return {"claude-opus-4.6-1m": {"usage": usage, "requests": {"count": 1}, "totalNanoAiu": 5_000_000}}
