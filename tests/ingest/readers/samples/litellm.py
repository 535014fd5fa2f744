"""Spend logs of LiteLLM: two calls of a session; a mark wherever payload may stand."""

import json
from typing import Any

NAME = "spend_logs.json"


def sample(mark: str) -> bytes:
    return json.dumps([row(mark), row(mark, request_id="chatcmpl-0f1e2d3c4b5a69788796", status="failure")]).encode()


def row(mark: str = "text", /, **changed: Any) -> dict[str, Any]:
    """A call with cached tokens; `metadata` is JSON inside a string, as LiteLLM writes it."""
    usage = {
        "prompt_tokens": 1149,
        "completion_tokens": 100,
        "total_tokens": 1249,
        "prompt_tokens_details": {"cached_tokens": 1024, "text_tokens": 125, "audio_tokens": None},
        "completion_tokens_details": {"reasoning_tokens": 64},
        "cache_read_input_tokens": 1024,
        mark: 1,
    }
    metadata = {
        "usage_object": usage,
        "additional_usage_values": {"prompt_tokens_details": None},
        "user_api_key_alias": mark,
        "user_api_key_team_alias": mark,
        "error_information": {"error_class": mark, "error_message": mark, "traceback": mark},
        "note": mark,
        "spend_logs_metadata": {mark: mark},
    }
    made = {
        "request_id": "chatcmpl-2283081b-dc89-41f6-93e6-d4f914774027",
        "session_id": "5f6a7b8c-session-of-a-chat",
        "call_type": "acompletion",
        "api_key": "88dc28d0f030c55ed4ab77ed8faf098196cb1c05df778539800c9f1243fe6b4b",
        "cache_hit": "None",
        "startTime": "2026-01-24 09:20:46.847371",
        "endTime": "2026-01-24 09:20:48.851954",
        "completionStartTime": "2026-01-24 09:20:47.851954",
        "model": "gpt-4o",
        "model_group": mark,
        "user": mark,
        "end_user": mark,
        "team_id": mark,
        "metadata": json.dumps(metadata),
        "spend": 0.00259250000000001,
        "total_tokens": 1249,
        "prompt_tokens": 1149,
        "completion_tokens": 100,
        "request_tags": json.dumps([mark]),
        "api_base": mark,
        "requester_ip_address": mark,
        "custom_llm_provider": "openai",
        "messages": [{"role": "user", "content": mark}],
        "response": {"choices": [{"message": {"content": mark}}], mark: mark},
        "proxy_server_request": {"body": {"messages": mark}},
        "status": "success",
        "mcp_namespaced_tool_name": mark,
        "agent_id": mark,
    }
    return {**made, **changed}
