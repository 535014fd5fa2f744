"""A trace of every convention, with a mark in every attribute, event, name and status that may hold payload."""

import json
from typing import Any

from beleg.trace import semconv_names as names
from tests.ingest.readers.otlp_spans import attributes, request, span, usage

NAME = "traces.json"


def sample(mark: str) -> bytes:
    return json.dumps(request(*spans(mark), resource={"service.name": mark, "host.name": mark, mark: mark})).encode()


def spans(mark: str) -> list[dict[str, Any]]:
    root = span(1, name=mark, given={"http.route": mark, "session.id": mark, "user.id": mark, mark: mark}, ms=90)
    agent = span(2, 1, name=mark, given=everything(mark) | {"gen_ai.operation.name": "invoke_agent"}, ms=80)
    between = span(
        3, 2, name=mark, given={"db.statement": mark}, ms=70, links=[{"attributes": attributes({mark: mark})}]
    )
    call = span(4, 3, name=mark, given=everything(mark) | usage(100, 20), ms=40, **_failure(mark))
    tool = span(5, 3, name=mark, given=everything(mark) | {"gen_ai.operation.name": "execute_tool"}, ms=5)
    vercel = span(6, 3, name="ai.generateText.doGenerate", given=_vercel(mark), ms=5)
    return [call, tool, vercel, between, agent, root]


def everything(mark: str) -> dict[str, Any]:
    """Each name that conventions know, with the mark in it as text, list, object and JSON."""
    words = (*names.PAYLOAD_PREFIXES, *names.TOOL, *names.CONVERSATION, *names.WORKFLOW, *names.RESPONSE_ID)
    given: dict[str, Any] = dict.fromkeys((*words, *names.SERVICE_TIER, "metadata", "error.type"), mark)
    answer = {"id": f"chatcmpl-{mark}", "choices": [{"message": {"content": mark}}], "usage": {mark: 1, "total": mark}}
    return given | {
        "gen_ai.input.messages": [{"role": "user", "parts": [{"content": mark}]}],
        "gen_ai.prompt.0.content": mark,
        "llm.input_messages.0.message.content": mark,
        "output.value": json.dumps(answer),
        "gen_ai.prompt.name": mark,
        "langfuse.observation.usage_details": json.dumps({mark: 5}),
        "langfuse.trace.metadata.note": mark,
        "tag.tags": [mark],
        "free": {"text": mark, "list": [mark, {"deep": mark}]},
    }


def _vercel(mark: str) -> dict[str, Any]:
    metadata = {"anthropic": {"usage": {"input_tokens": 3, "output_tokens": 2, "note": mark, mark: 9}}, mark: mark}
    return {
        "ai.model.id": "claude-sonnet-4-5",
        "ai.model.provider": "anthropic.messages",
        "ai.usage.inputTokens": 3,
        "ai.usage.outputTokens": 2,
        "ai.response.text": mark,
        "ai.response.providerMetadata": json.dumps(metadata),
    }


def _failure(mark: str) -> dict[str, Any]:
    raised = {"exception.type": mark, "exception.message": mark, "exception.stacktrace": mark}
    events = [
        ("exception", raised),
        ("gen_ai.user.message", {"content": mark}),
        ("gen_ai.choice", {"message": mark}),
        (mark, {mark: mark}),
    ]
    return {
        "status": {"code": 2, "message": mark},
        "events": [{"name": name, "attributes": attributes(given)} for name, given in events],
        "traceState": mark,
    }
