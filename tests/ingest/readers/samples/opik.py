"""A trace of Opik with a call and a tool; a mark wherever payload may stand."""

import json
from typing import Any

NAME = "spans.json"
TRACE = "0195f3a0-0000-7000-8000-000000000001"
CALL = "0195f3a0-0000-7000-8000-000000000003"


def sample(mark: str) -> bytes:
    root = span(mark, id="0195f3a0-0000-7000-8000-000000000002", type="general", parent_span_id=None, usage=None)
    tool = span(mark, id="0195f3a0-0000-7000-8000-000000000004", type="tool", usage=None, error_info=error(mark))
    return json.dumps({"data": [trace(mark), root, span(mark), tool]}).encode()


def error(mark: str) -> dict[str, str]:
    return {"exception_type": mark, "message": mark, "traceback": mark}


def trace(mark: str = "text", /, **changed: Any) -> dict[str, Any]:
    """The trace itself."""
    made = {
        "id": TRACE, "name": mark, "start_time": "2026-03-05T10:00:00Z", "end_time": "2026-03-05T10:00:04Z",
        "thread_id": mark, "span_count": 3, "last_updated_at": "2026-03-05T10:00:09Z", **payload(mark),
    }  # fmt: skip
    return {**made, **changed}


def span(mark: str = "text", /, **changed: Any) -> dict[str, Any]:
    """A call of OpenAI's responses API: 1149 tokens in, of which 1024 from the cache."""
    made = {
        "id": CALL,
        "trace_id": TRACE,
        "parent_span_id": "0195f3a0-0000-7000-8000-000000000002",
        "name": mark,
        "type": "llm",
        "start_time": "2026-03-05T10:00:01.000000Z",
        "end_time": "2026-03-05T10:00:03.500000Z",
        "model": "gpt-4o-2024-08-06",
        "provider": "openai",
        "usage": {
            "prompt_tokens": 1149,
            "completion_tokens": 100,
            "total_tokens": 1249,
            "original_usage.input_tokens": 1149,
            "original_usage.input_tokens_details.cached_tokens": 1024,
            "original_usage.output_tokens": 100,
            "original_usage.output_tokens_details.reasoning_tokens": 0,
            "original_usage.total_tokens": 1249,
            mark: 1,
        },
        "total_estimated_cost": 0.0038725,
        "total_estimated_cost_version": "1.0",
        "duration": 2500.0,
        "last_updated_at": "2026-03-05T10:00:09Z",
        **payload(mark),
    }
    return {**made, **changed}


def payload(mark: str) -> dict[str, Any]:
    return {
        "project_name": mark,
        "input": {"messages": [{"content": mark}]},
        "output": {"answer": mark},
        "metadata": {"cost": {"total_tokens": 150_000}, mark: mark},
        "tags": [mark],
        "created_by": mark,
    }
