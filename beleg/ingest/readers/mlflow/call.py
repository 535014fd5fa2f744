"""The model call behind an MLflow span."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from beleg.ingest.readers.events import Kind
from beleg.ingest.readers.parsing import member
from beleg.ingest.readers.traces import most_telling, provider, provider_body, source_cost
from beleg.trace.call import Call
from beleg.trace.semconv import SpanReading, whole
from beleg.trace.usage import Reported
from beleg.trace.usage_view import figures

_KINDS: dict[str, Kind] = {
    "CHAT_MODEL": "model", "LLM": "model", "EMBEDDING": "model", "TOOL": "tool", "RETRIEVER": "retrieval",
}  # fmt: skip
_CACHE_READ = ("cache_read_input_tokens", "cached_input_tokens")
_UNCERTAIN = ("anthropic", "aws")
"""Providers whose input MLflow took without the cached tokens before 2026: only arithmetic tells."""


def kind_of(attributes: Mapping[str, Any], known: SpanReading) -> Kind:
    """What a span is: by its type, else by its attributes."""
    found = _KINDS.get(str(attributes.get("mlflow.spanType")))
    if found is None and known.operation in ("model", "tool", "retrieval"):
        return known.operation
    return found or "other"


def call_of(attributes: Mapping[str, Any], known: SpanReading, kind: Kind) -> Call | None:
    """The model call behind a span; None for another one without tokens."""
    usage, told = attributes.get("mlflow.chat.tokenUsage"), known.call
    usage = usage if isinstance(usage, dict) else {}
    if kind != "model" and not usage:
        return None
    body = provider_body(attributes.get("mlflow.spanOutputs"))
    model = next((m for m in (body.model, told.model, attributes.get("mlflow.llm.model")) if isinstance(m, str)), None)
    who = provider(attributes.get("mlflow.llm.provider") or told.provider, model)
    cost = member(attributes.get("mlflow.llm.cost"), "total_cost")
    counted = most_telling(body.reported, told.reported, _reported(usage, who, is_gemini="gemini" in (model or "")))
    return replace(
        told,
        provider=who,
        model=model,
        response_id=body.response_id or told.response_id,
        service_tier=body.service_tier or told.service_tier,
        reported=counted,
        raw_usage={**told.raw_usage, **figures(usage), **body.raw_usage, **source_cost(cost, usage)},
        billed_pico_usd=body.billed_pico_usd,
    )


def _reported(usage: Mapping[str, Any], who: str | None, *, is_gemini: bool) -> Reported:
    """What the usage of a span reports: its input holds the cached tokens, since 2026 for every provider."""
    if not usage:
        return Reported()
    return Reported(
        input=whole(usage.get("input_tokens")),
        output=whole(usage.get("output_tokens")),
        total=whole(usage.get("total_tokens")),
        cache_read=next((n for n in (whole(usage.get(name)) for name in _CACHE_READ) if n is not None), None),
        cache_write=whole(usage.get("cache_creation_input_tokens")),
        provider_rule=None if who in _UNCERTAIN else "inclusive",
        hidden_reasoning=is_gemini,
    )
