"""Runs of LangSmith: a chain with a call, a tool and a retriever nested in it; a mark wherever payload may stand."""

import json
from typing import Any

NAME = "runs.json"
ROOT = "11111111-1111-4111-8111-111111111111"


def sample(mark: str) -> bytes:
    return json.dumps([tree(mark)]).encode()


def tree(mark: str) -> dict[str, Any]:
    message = {
        "content": mark,
        "id": "run--22222222-2222-4222-8222-222222222222-0",
        "tool_calls": [{"name": mark, "args": {"q": mark}}],
        "response_metadata": {
            "id": "msg_01ABCDEFGHIJKLMNOPQRST",
            "model_name": "claude-haiku-4-5-20251001",
            "note": mark,
        },
        "usage_metadata": {
            "input_tokens": 10_500,
            "output_tokens": 20,
            "total_tokens": 10_520,
            "input_token_details": {"cache_read": 10_000, "cache_creation": 300, mark: 1},
        },
    }
    call = run("22222222-2222-4222-8222-222222222222", "llm", mark, parent=ROOT) | {
        "outputs": {"generations": [[{"text": mark, "message": {"kwargs": message}}]], "llm_output": {"note": mark}},
        "total_cost": "0.001675",
    }
    tool = run("33333333-3333-4333-8333-333333333333", "tool", mark, parent=ROOT) | {
        "error": f"ValueError({mark!r})\n\nTraceback: {mark}",
        "status": "error",
    }
    retriever = run("44444444-4444-4444-8444-444444444444", "retriever", mark, parent=ROOT)
    root = run(ROOT, "chain", mark, parent=None)
    return root | {"total_tokens": 10_520, "prompt_tokens": 10_500, "child_runs": [call, tool, retriever]}


def run(identity: str, kind: str, mark: str, *, parent: str | None) -> dict[str, Any]:
    return {
        "id": identity,
        "trace_id": ROOT,
        "parent_run_id": parent,
        "name": mark,
        "run_type": kind,
        "start_time": "2026-03-05T10:00:00.123456",
        "end_time": "2026-03-05T10:00:02.123456",
        "status": "success",
        "session_name": mark,
        "inputs": {"messages": [{"content": mark}], mark: mark},
        "outputs": {"answer": mark},
        "events": [{"name": "new_token", "kwargs": {"token": mark}}],
        "serialized": {"doc": mark},
        "extra": {
            "metadata": {
                "ls_provider": "anthropic",
                "thread_id": mark,
                "user_id": mark,
                "revision_id": mark,
                mark: mark,
            },
            "runtime": {"platform": mark},
            "invocation_params": {"stop": mark},
        },
        "tags": [mark],
        "child_runs": [],
    }
