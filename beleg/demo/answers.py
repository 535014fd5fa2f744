"""Answers as the providers send them, for calls whose token buckets are known: what the tracer has to read back."""

from collections.abc import Mapping
from typing import Any

from beleg.demo.company import Model

Answer = dict[str, Any]
_PICO_PER_USD = 10**12


def answer_of(model: Model, buckets: Mapping[str, int], number: int, *, billed_pico_usd: int | None = None) -> Answer:
    """The answer to a call that used these tokens; `number` makes its id."""
    return {
        "messages": _messages,
        "responses": _responses,
        "chat": _chat,
        "generate_content": _generate_content,
    }[model.api](model, buckets, f"{number:016x}", billed_pico_usd)


def _messages(model: Model, used: Mapping[str, int], name: str, _: int | None) -> Answer:
    written = {lifetime: used.get(f"cache_write_{lifetime}", 0) for lifetime in ("5m", "1h")}
    return {
        "id": f"msg_{name}",
        "type": "message",
        "model": model.name,
        "usage": {
            "input_tokens": used["input_uncached"],
            "cache_read_input_tokens": used.get("cache_read", 0),
            "cache_creation_input_tokens": sum(written.values()),
            "cache_creation": {f"ephemeral_{lifetime}_input_tokens": count for lifetime, count in written.items()},
            "output_tokens": used["output"],
        },
    }


def _responses(model: Model, used: Mapping[str, int], name: str, _: int | None) -> Answer:
    cached, reasoning = used.get("cache_read", 0), used.get("reasoning", 0)
    return {
        "id": f"resp_{name}",
        "object": "response",
        "model": model.name,
        "usage": {
            "input_tokens": used["input_uncached"] + cached,
            "input_tokens_details": {"cached_tokens": cached},
            "output_tokens": used["output"] + reasoning,
            "output_tokens_details": {"reasoning_tokens": reasoning},
            "total_tokens": sum(used.values()),
        },
    }


def _chat(model: Model, used: Mapping[str, int], name: str, billed_pico_usd: int | None) -> Answer:
    details = {"cached_tokens": used.get("cache_read", 0)}
    if "cache_write" in used:
        details["cache_write_tokens"] = used["cache_write"]
    usage: Answer = {
        "prompt_tokens": sum(used.values()) - used["output"],
        "prompt_tokens_details": details,
        "completion_tokens": used["output"],
        "total_tokens": sum(used.values()),
    }
    if billed_pico_usd is not None:  # as OpenRouter tells it; the shortest float that means this amount
        usage |= {"cost": billed_pico_usd / _PICO_PER_USD, "cost_details": {}}
    answer: Answer = {"id": f"chatcmpl-{name}", "object": "chat.completion", "model": model.name, "usage": usage}
    if model.endpoint_provider:
        answer |= {"id": f"gen-{name}", "provider": model.endpoint_provider}
    return answer


def _generate_content(model: Model, used: Mapping[str, int], name: str, _: int | None) -> Answer:
    counts = {
        "promptTokenCount": used["input_uncached"] + used.get("cache_read", 0),
        "cachedContentTokenCount": used.get("cache_read", 0),
        "candidatesTokenCount": used["output"],
        "thoughtsTokenCount": used.get("reasoning", 0),
        "totalTokenCount": sum(used.values()),
    }
    return {"responseId": f"gemini-{name}", "modelVersion": model.name, "usageMetadata": counts}
