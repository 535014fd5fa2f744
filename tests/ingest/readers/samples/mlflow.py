"""A trace of MLflow with an agent, a model call and a failed tool; a mark wherever payload may stand."""

import json
from typing import Any

NAME = "traces.json"
TRACE = "tr-0123456789abcdef0123456789abcdef"


def sample(mark: str) -> bytes:
    return json.dumps([trace(mark)]).encode()


def trace(mark: str) -> dict[str, Any]:
    return {"info": info(mark), "data": {"spans": spans(mark)}}


def info(mark: str) -> dict[str, Any]:
    return {
        "trace_id": TRACE,
        "client_request_id": mark,
        "trace_location": {"type": "MLFLOW_EXPERIMENT", "mlflow_experiment": {"experiment_id": "17"}},
        "request_time": "2026-03-05T10:00:00.000Z",
        "execution_duration": "1.500s",
        "state": "OK",
        "request_preview": mark,
        "response_preview": mark,
        "trace_metadata": {
            "mlflow.traceInputs": mark,
            "mlflow.traceOutputs": mark,
            "mlflow.source.name": mark,
            "mlflow.trace.session": mark,
            "mlflow.trace.user": mark,
            "mlflow.trace.tokenUsage": json.dumps(
                {"input_tokens": 21_000, "output_tokens": 40, "total_tokens": 21_040}
            ),
            "mlflow.trace_schema.version": "3",
            mark: mark,
        },
        "tags": {"mlflow.traceName": mark, "note": mark},
        "assessments": [{"assessment_name": mark, "feedback": {"value": mark}, "rationale": mark}],
    }


def spans(mark: str) -> list[dict[str, Any]]:
    usage = {
        "input_tokens": 10_500,
        "output_tokens": 20,
        "total_tokens": 10_520,
        "cache_read_input_tokens": 10_000,
        "cache_creation_input_tokens": 300,
        mark: 3,
    }
    agent = span("00000000000000a1", None, mark, "AGENT", {"mlflow.chat.tokenUsage": usage})
    call = span(
        "00000000000000a2",
        "00000000000000a1",
        mark,
        "CHAT_MODEL",
        {
            "mlflow.chat.tokenUsage": usage,
            "mlflow.llm.model": "claude-haiku-4-5-20251001",
            "mlflow.llm.provider": "anthropic",
            "mlflow.llm.cost": {"input_cost": 0.001575, "output_cost": 0.0001, "total_cost": 0.001675},
        },
    )
    tool = span("00000000000000a3", "00000000000000a1", mark, "TOOL", {}) | {
        "status": {"code": "STATUS_CODE_ERROR", "message": mark},
        "events": [
            {
                "name": "exception",
                "timestamp": 1_772_704_801_000_000_000,
                "attributes": {"exception.type": "ValueError", "exception.message": mark, "exception.stacktrace": mark},
            }
        ],
    }
    return [agent, call, tool]


def span(identity: str, parent: str | None, mark: str, kind: str, attributes: dict[str, Any]) -> dict[str, Any]:
    """A span of version 4."""
    told = {
        "mlflow.traceRequestId": TRACE,
        "mlflow.spanType": kind,
        "mlflow.spanInputs": {"messages": [mark]},
        "mlflow.spanOutputs": mark,
        mark: mark,
        "gen_ai.prompt": mark,
        **attributes,
    }
    return {
        "trace_id": TRACE,
        "span_id": identity,
        "parent_span_id": parent,
        "name": mark,
        "start_time_unix_nano": 1_772_704_800_000_000_000,
        "end_time_unix_nano": 1_772_704_801_500_000_000,
        "status": {"code": "STATUS_CODE_OK", "message": mark},
        "events": [],
        "attributes": {name: json.dumps(value) for name, value in told.items()},
        "links": [{"attributes": {mark: mark}}],
    }
