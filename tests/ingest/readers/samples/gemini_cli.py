"""A chat of Gemini CLI; a mark wherever payload may stand."""

import json
from typing import Any

NAME = "session-2026-03-05T10-00-6b1f0000.json"
SESSION = "6b1f0000-0000-4000-8000-00000000ce11"


def sample(mark: str) -> bytes:
    tool = {
        "id": "list_directory-1", "name": "list_directory", "status": "error", "timestamp": "2026-03-05T10:00:04.000Z",
        "args": {mark: mark}, "result": [{"functionResponse": {"response": {"output": mark}}}], "displayName": mark,
    }  # fmt: skip
    thoughts = [{"subject": mark, "description": mark, "timestamp": "2026-03-05T10:00:02.000Z"}]
    asked = {"id": "m-1", "timestamp": "2026-03-05T10:00:00.000Z", "type": "user", "content": [{"text": mark}]}
    said = {"id": "m-3", "timestamp": "2026-03-05T10:00:05.000Z", "type": "info", "content": mark}
    return chat(asked, message(content=mark, thoughts=thoughts, toolCalls=[tool]), said, summary=mark, kind=mark)


def chat(*messages: Any, **more: Any) -> bytes:
    return json.dumps({**begin(), **more, "messages": list(messages)}).encode()


def begin() -> dict[str, Any]:
    return {
        "sessionId": SESSION, "projectHash": "79b6fa86e3c0" + "0" * 52, "startTime": "2026-03-05T10:00:00.000Z",
        "lastUpdated": "2026-03-05T10:00:09.000Z",
    }  # fmt: skip


def message(**changed: Any) -> dict[str, Any]:
    """An answer: 1 000 tokens of which 600 cached, 20 of tool use, 50 out, 30 of thoughts."""
    tokens = {"input": 1000, "output": 50, "cached": 600, "thoughts": 30, "tool": 20, "total": 1100}
    return {
        "id": "m-2", "timestamp": "2026-03-05T10:00:03.000Z", "type": "gemini", "content": "text", "tokens": tokens,
        "model": "gemini-2.5-pro", **changed,
    }  # fmt: skip
