"""An Inspect log of one sample with its calls; a mark wherever payload may stand."""

import io
import json
import zipfile
from typing import Any

NAME = "log.json"
AT = "2026-03-05T10:00:0"


def sample(mark: str) -> bytes:
    return json.dumps(log(mark)).encode()


def log(mark: str = "text", *samples: dict[str, Any], **told: Any) -> dict[str, Any]:
    """A whole log."""
    header = {
        "eval_id": "VnKtvCqGnnegLQ7qSBFDzx",
        "run_id": "7KyCuAQSqp76qKQZEKmG6M",
        "created": f"{AT}0-04:00",
        "task": "popularity",
        "task_id": "RtTeKV9GPJi8gTfN3Garu5",
        "task_args": {mark: mark},
        "dataset": {"name": mark, "location": mark, "sample_ids": [1]},
        "model": "anthropic/claude-haiku-4-5",
        "tags": [mark],
        "metadata": {"note": mark},
        **told,
    }
    return {
        "version": 2,
        "status": "success",
        "eval": header,
        "plan": {"steps": [{"params": {"template": mark}}]},
        "samples": list(samples) or [one(mark)],
    }


def archive(mark: str = "text", *samples: dict[str, Any]) -> bytes:
    """The same log as an `.eval` file."""
    made, data = log(mark, *samples), io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as zipped:
        for number, content in enumerate(made.pop("samples")):
            zipped.writestr(f"samples/{number}_epoch_1.json", json.dumps(content))
        zipped.writestr("header.json", json.dumps(made))
    return data.getvalue()


def one(mark: str = "text", *events: dict[str, Any], **told: Any) -> dict[str, Any]:
    """A sample; by default a call of a model, and a tool within which another call was made."""
    inner = call(uuid="call-within-tool", at=2)
    tool = {
        "event": "tool", "uuid": "tool-1", "timestamp": f"{AT}1-04:00", "completed": f"{AT}4-04:00",
        "function": "search", "arguments": {"q": mark}, "result": mark,
        "error": {"type": "timeout", "message": mark}, "events": [inner],
    }  # fmt: skip
    return {
        "id": mark,
        "epoch": 1,
        "uuid": "G7qmTyE6WB9wLq6GAv5w9K",
        "input": mark,
        "target": mark,
        "messages": [{"role": "user", "content": mark}],
        "output": {"choices": [{"message": {"content": mark}}], "completion": mark},
        "scores": {"match": {"value": "C", "answer": mark, "explanation": mark}},
        "metadata": {mark: mark},
        "store": {mark: mark},
        "events": list(events) or [call(mark, uuid="call-1"), tool],
        "attachments": {mark: mark},
        **told,
    }


def call(mark: str = "text", *, uuid: str | None = None, at: int = 0, usage: Any = None, **more: Any) -> dict[str, Any]:
    """A call of 200 uncached, 10 000 cached and 300 written input tokens, exclusive as Inspect counts today."""
    counts = {
        "input_tokens": 200, "output_tokens": 20, "total_tokens": 10_520, "input_tokens_cache_read": 10_000,
        "input_tokens_cache_write": 300, "reasoning_tokens": 0, mark: 1,
    } if usage is None else usage  # fmt: skip
    made = {
        "event": "model",
        "timestamp": f"{AT}{at}-04:00",
        "completed": f"{AT}{at}.500000-04:00",
        "model": "anthropic/claude-haiku-4-5",
        "input": [{"role": "user", "content": mark}],
        "tools": [{"name": mark, "description": mark}],
        "output": {
            "model": "claude-haiku-4-5-20251001",
            "choices": [{"message": {"content": mark}}],
            "usage": counts,
            "time": 0.25,
            "error": mark,
        },
        "call": {"request": {"messages": mark}, "response": {"id": f"msg_01-{uuid}-abcdefgh", "content": mark}},
        **more,
    }
    return made if uuid is None else {**made, "uuid": uuid}
