"""The model call behind a LangSmith run: usage_metadata wherever a library left it, or the provider's own body."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from beleg.ingest.readers.parsing import member, parsed
from beleg.ingest.readers.traces import from_cache, provider, source_cost
from beleg.trace.call import Call
from beleg.trace.semconv import whole
from beleg.trace.usage import Reported
from beleg.trace.usage_read import read_call
from beleg.trace.usage_shapes import add
from beleg.trace.usage_view import figures

_TIERS = ("priority", "flex")
_UNCERTAIN = ("aws",)
"""Providers whose wrappers passed input on without its cached tokens at times: only arithmetic tells."""
_MESSAGE = (
    ("generations", 0, 0, "message"),
    ("generations", 0, "message"),
    ("message",),
    ("messages", -1),
    ("output",),
)
"""Where LangChain puts the message that the model answered."""


def call_of(run: Mapping[str, Any], *, is_call: bool) -> Call | None:
    """The model call behind a run; None for another run without tokens. Parents repeat those of their children."""
    outputs, extra = parsed(run.get("outputs")), parsed(run.get("extra"))
    message = _message(outputs)
    usage = _usage(run, outputs, extra, message)
    if usage is None and not is_call:
        return None
    response = member(message, "response_metadata") or {}
    metadata = member(extra, "metadata") or {}
    body = read_call(outputs) if isinstance(outputs, dict) else Call()
    model = _model(outputs, response, metadata, extra)
    who = provider(member(metadata, "ls_provider"), model) or body.provider
    call = replace(
        body,
        provider=who,
        model=model,
        response_id=_response_id(outputs, response, message),
        service_tier=body.service_tier or _tier(usage or {}) or _standard(member(response, "service_tier")),
    )
    if usage is not None:
        is_gemini = "gemini" in (model or "")
        call = replace(call, reported=reported(usage, who, is_gemini=is_gemini), raw_usage=figures(usage))
    return from_cache(_with_cost(run, usage or {}, call) if is_call else call, member(metadata, "cache_hit"))


def reported(usage: Mapping[str, Any], who: str | None = None, *, is_gemini: bool = False) -> Reported:
    """What a usage_metadata reports. Its input holds all input tokens by its own definition."""
    inputs, outputs = usage.get("input_token_details") or {}, usage.get("output_token_details") or {}
    five, hour = (_count(inputs, f"ephemeral_{life}_input_tokens") for life in ("5m", "1h"))
    written = _count(inputs, "cache_creation")
    if written is not None and written < (five or 0) + (hour or 0):
        written = None  # left at zero where the lifetimes are told
    reasoning = _sum(outputs, "reasoning", *(f"{tier}_reasoning" for tier in _TIERS))
    return Reported(
        input=_count(usage, "input_tokens"),
        cache_read=_sum(inputs, "cache_read", "cache_read_over_200k", *(f"{tier}_cache_read" for tier in _TIERS)),
        cache_write=written,
        cache_write_5m=five,
        cache_write_1h=hour,
        output=_count(usage, "output_tokens"),
        reasoning=reasoning,
        total=_count(usage, "total_tokens"),
        input_audio=_count(inputs, "audio"),
        output_audio=_count(outputs, "audio"),
        provider_rule=None if who in _UNCERTAIN else "inclusive",
        reasoning_rule=True,
        hidden_reasoning=is_gemini and reasoning is None,
    )


def _usage(run: Mapping[str, Any], outputs: Any, extra: Any, message: Any) -> dict[str, Any] | None:
    places = (
        member(outputs, "usage_metadata"),
        member(message, "usage_metadata"),
        member(extra, "metadata", "usage_metadata"),
    )
    for found in places:
        if isinstance(found, dict) and whole(found.get("input_tokens")) is not None:
            return found
    by_server = {
        "input_tokens": run.get("prompt_tokens"),
        "output_tokens": run.get("completion_tokens"),
        "total_tokens": run.get("total_tokens"),
        "input_token_details": parsed(run.get("prompt_token_details")),
        "output_token_details": parsed(run.get("completion_token_details")),
    }
    has_own = isinstance(outputs, dict) and read_call(outputs).reported != Reported()
    # The server shows zero for what it does not know.
    return None if has_own or not whole(by_server["total_tokens"]) else by_server


def _message(outputs: Any) -> Any:
    for path in _MESSAGE:
        found = member(outputs, *path)
        if isinstance(found, dict):
            return found.get("kwargs") if isinstance(found.get("kwargs"), dict) else found
    return None


def _model(outputs: Any, response: Any, metadata: Any, extra: Any) -> str | None:
    """The model that answered, else the one that was asked."""
    candidates = (
        member(response, "model_name"),
        member(response, "model"),
        member(outputs, "model"),
        member(outputs, "llm_output", "model_name"),
        member(metadata, "ls_model_name"),
        member(extra, "invocation_params", "model"),
    )
    return next((model for model in candidates if isinstance(model, str) and model), None)


def _response_id(outputs: Any, response: Any, message: Any) -> str | None:
    """The provider's id of its answer; LangChain's own ids of messages are none."""
    candidates = (member(response, "id"), member(outputs, "id"), member(message, "id"))
    own = ("run-", "run--", "lc_", "lc_run")
    return next((i for i in candidates if isinstance(i, str) and i and not i.startswith(own)), None)


def _tier(usage: Mapping[str, Any]) -> str | None:
    """The SDK's wrappers name the service tier in the keys of the details alone."""
    details = [usage.get("input_token_details"), usage.get("output_token_details")]
    names = {name for found in details if isinstance(found, dict) for name in found}
    return next((tier for tier in _TIERS if {tier, f"{tier}_cache_read", f"{tier}_reasoning"} & names), None)


def _standard(tier: Any) -> str | None:
    return tier if isinstance(tier, str) and tier not in ("", "auto", "default", "standard") else None


def _with_cost(run: Mapping[str, Any], usage: Mapping[str, Any], call: Call) -> Call:
    cost = source_cost(run.get("total_cost") or usage.get("total_cost"), call.raw_usage)
    return replace(call, raw_usage={**call.raw_usage, **cost})


def _count(values: Any, name: str) -> int | None:
    return whole(member(values, name))


def _sum(values: Any, *names: str) -> int | None:
    return add(*(_count(values, name) for name in names))
