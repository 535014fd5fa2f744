"""A trace of Langfuse as its page downloads it: two calls, a tool, a score; a mark wherever payload may stand."""

import json
from typing import Any

NAME = "trace.json"


def sample(mark: str) -> bytes:
    return json.dumps({"trace": trace(mark), "observations": observations(mark)}).encode()


def trace(mark: str) -> dict[str, Any]:
    return {
        "id": "7c1f0a9be2d34f5a8b6c7d8e9f001122",
        "projectId": "project-1",
        "name": mark,
        "timestamp": "2026-03-05T10:00:00.000Z",
        "environment": "default",
        "tags": [mark],
        "bookmarked": False,
        "release": mark,
        "version": mark,
        "userId": mark,
        "sessionId": mark,
        "public": False,
        "input": json.dumps({"question": mark}),
        "output": mark,
        "createdAt": "2026-03-05T10:00:05.000Z",
        "updatedAt": "2026-03-05T10:00:06.000Z",
        "metadata": json.dumps({"note": mark, "attributes": {"input.value": mark}, mark: 1}),
        "latency": 4.0,
        "scores": [
            {
                "id": "score-1",
                "name": "user-feedback",
                "value": 1,
                "source": "API",
                "dataType": "BOOLEAN",
                "stringValue": mark,
                "comment": mark,
                "metadata": {"why": mark},
                "authorUserId": mark,
                "traceId": "7c1f0a9be2d34f5a8b6c7d8e9f001122",
                "timestamp": "2026-03-05T10:01:00.000Z",
            },
            {
                "id": "score-2",
                "name": mark,
                "value": 0.5,
                "source": "EVAL",
                "dataType": "NUMERIC",
                "comment": mark,
                "traceId": "7c1f0a9be2d34f5a8b6c7d8e9f001122",
                "timestamp": "2026-03-05T10:01:00.000Z",
            },
        ],
    }


def observations(mark: str) -> list[dict[str, Any]]:
    root = observation("a000000000000001", "AGENT", mark, parent=None, end="10:00:04.000Z")
    call = observation("a000000000000002", "GENERATION", mark, end="10:00:02.500Z") | {
        "model": "claude-sonnet-4-5-20250929",
        "modelParameters": {"temperature": 0.2, "stop": mark},
        "usageDetails": {"input": 200, "input_cache_read": 1000, "output": 50, "total": 1250, mark: 7},
        "costDetails": {"input": 0.0006, "output": 0.00075, "total": 0.00165, mark: 1.0},
        "promptName": mark,
        "promptVersion": 3,
        "toolDefinitions": {mark: mark},
        "toolCalls": [mark],
        "toolCallNames": [mark],
    }
    tool = observation("a000000000000003", "TOOL", mark, end="10:00:03.000Z") | {"level": "ERROR"}
    event = observation("a000000000000004", "EVENT", mark, end=None)
    return [root, call, tool, event]


def observation(
    identity: str, kind: str, mark: str, *, parent: str | None = "a000000000000001", end: str | None
) -> dict[str, Any]:
    return {
        "id": identity,
        "traceId": "7c1f0a9be2d34f5a8b6c7d8e9f001122",
        "projectId": "project-1",
        "parentObservationId": parent,
        "type": kind,
        "name": mark,
        "startTime": "2026-03-05T10:00:00.500Z",
        "endTime": None if end is None else f"2026-03-05T{end}",
        "environment": "default",
        "level": "DEFAULT",
        "statusMessage": mark,
        "version": mark,
        "input": json.dumps([{"role": "user", "content": mark}]),
        "output": {"role": "assistant", "content": mark},
        "metadata": {
            "note": mark,
            "attributes": {"gen_ai.prompt": mark, "exception.message": mark, "tool.parameters": mark},
            "resourceAttributes": {"service.name": mark},
            "scope": {"name": mark, "version": mark},
        },
        "usageDetails": {},
        "costDetails": {},
    }
