"""A session log of Codex; a mark wherever payload may stand."""

import json
from typing import Any

SESSION = "019b0000-0000-7000-8000-0000000c0dec"
NAME = f"rollout-2026-03-05T10-00-00-{SESSION}.jsonl"


def sample(mark: str) -> bytes:
    called = {"type": "function_call", "name": "shell", "arguments": json.dumps({mark: mark}), "call_id": "call_0001"}
    return lines(
        meta(cwd=f"/home/{mark}", instructions=mark, git={"branch": mark, "repository_url": mark}, originator=mark),
        context(0, cwd=f"/home/{mark}", summary=mark),
        event(1, "task_started", turn_id=TURNS[0]),
        event(1, "user_message", message=mark, images=[mark]),
        line(2, "response_item", {"type": "message", "role": "user", "content": [{"text": mark}]}),
        line(3, "response_item", {"type": "reasoning", "summary": [mark], "encrypted_content": mark}),
        event(4, "token_count", info=None, rate_limits={"plan_type": mark}),
        line(4, "response_item", called),
        line(5, "response_item", {"type": "function_call_output", "call_id": "call_0001", "output": mark}),
        counted(6, total=usage(1000, 400, 100, 60), last=usage(1000, 400, 100, 60)),
        event(7, "agent_message", message=mark),
        line(8, "compacted", {"message": mark}),
    )


TURNS = ("019b0000-0000-7000-8000-00000000aaa1", "019b0000-0000-7000-8000-00000000aaa2")


def lines(*values: Any) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def line(seconds: int, kind: str, payload: Any) -> dict[str, Any]:
    return {"timestamp": f"2026-03-05T10:{seconds // 60:02}:{seconds % 60:02}.000Z", "type": kind, "payload": payload}


def meta(identity: str = SESSION, *, seconds: int = 0, **more: Any) -> dict[str, Any]:
    told = {"id": identity, "cwd": "/home/me/shop", "cli_version": "0.120.0", "model_provider": "openai"}
    return line(seconds, "session_meta", {**told, **more})


def context(seconds: int = 0, *, model: str = "gpt-5-codex", **more: Any) -> dict[str, Any]:
    return line(seconds, "turn_context", {"cwd": "/home/me/shop", "model": model, **more})


def event(seconds: int, kind: str, **payload: Any) -> dict[str, Any]:
    return line(seconds, "event_msg", {"type": kind, **payload})


def counted(seconds: int, *, total: Any, last: Any) -> dict[str, Any]:
    info = {"total_token_usage": total, "last_token_usage": last, "model_context_window": 272_000}
    return event(seconds, "token_count", info={name: value for name, value in info.items() if value is not None})


def usage(read: int, cached: int, written: int, thought: int = 0) -> dict[str, int]:
    """Counts as Codex writes them: cached inside the input, reasoning inside the output."""
    return {
        "input_tokens": read, "cached_input_tokens": cached, "output_tokens": written,
        "reasoning_output_tokens": thought, "total_tokens": read + written,
    }  # fmt: skip
