"""Reads a span's attributes, whatever GenAI convention they follow: one table for all readers.

Used by the span processor in the application and by the pipeline's readers of OTLP and others. Only names
in `semconv_names` are looked at; of payload attributes nothing is read but a provider's own usage figures
(`semconv_native`).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from beleg.trace import semconv_names as names
from beleg.trace.call import Call
from beleg.trace.semconv_native import native_call, with_metadata
from beleg.trace.semconv_usage import counted, is_contradicted, number, read_usage, source_cost, text, whole
from beleg.trace.usage import Reported
from beleg.trace.usage_read import pico_usd

__all__ = ["SpanReading", "number", "payloads", "read_span", "read_usage", "text", "whole", "with_events"]

Operation = Literal["model", "tool", "retrieval", "agent", "workflow", "other"]
Attributes = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SpanReading:
    """What a span tells, without payload."""

    operation: Operation | None
    """None for a span that has nothing to do with GenAI."""
    call: Call = field(default_factory=Call)
    tool_name: str | None = None
    workflow: str | None = None
    conversation_id: str | None = None

    @property
    def is_rollup(self) -> bool:
        """True where usage may repeat that of spans below: count it only if none of those has any."""
        return self.operation in ("agent", "workflow", "other")


def read_span(
    attributes: Attributes, *, scope: str | None = None, name: str = "", schema_url: str | None = None
) -> SpanReading:
    """Read a span's attributes; `scope` is the name of its instrumentation, `name` the span's own."""
    operation = _operation(attributes, scope, name)
    if operation is None:
        return SpanReading(None)
    attributes = with_metadata(attributes)
    return SpanReading(
        operation,
        call=_call(attributes, scope, name, schema_url, operation),
        tool_name=text(attributes, names.TOOL),
        workflow=text(attributes, names.WORKFLOW),
        conversation_id=text(attributes, names.CONVERSATION),
    )


def with_events(attributes: Attributes, events: Iterable[tuple[str, Attributes]]) -> Attributes:
    """The attributes with what stands on an event of the span in their place, as some versions have it."""
    found: dict[str, Any] = {}
    for name, given in events:
        if name.startswith("gen_ai."):
            found |= {alias: value for alias, value in given.items() if alias in names.OF_EVENTS}
    return {**found, **attributes} if found else attributes


def payloads(attributes: Attributes) -> tuple[Any, Any]:
    """Input and output of a span, for their fingerprints; None where it holds none."""
    aliases = (names.INPUT_PAYLOAD, names.OUTPUT_PAYLOAD)
    given, answered = (next((attributes[a] for a in of if a in attributes), None) for of in aliases)
    return given, answered


def _call(attributes: Attributes, scope: str | None, name: str, schema_url: str | None, operation: Operation) -> Call:
    """The call as the provider's own answer tells it, where the span holds that, else as the attributes do."""
    native = native_call(attributes) if operation == "model" else Call()
    provider = _provider(attributes) or native.provider
    call = Call(
        provider=provider,
        api=text(attributes, ("gen_ai.operation.name",)),
        model=text(attributes, names.MODEL) or native.model,
        response_id=text(attributes, names.RESPONSE_ID) or native.response_id,
        service_tier=_tier(text(attributes, names.SERVICE_TIER)) or native.service_tier,
        region=native.region,
        reported=read_usage(attributes, scope=scope, provider=provider, schema_url=schema_url),
        raw_usage={**_raw(attributes), **native.raw_usage},
        other_units=native.other_units,
        billed_pico_usd=_billed(attributes) if native.billed_pico_usd is None else native.billed_pico_usd,
        is_contradicted=is_contradicted(attributes),
    )
    if native.reported.input is not None or native.reported.output is not None:
        call.reported, call.is_contradicted = native.reported, False
    if operation == "model" and _is_embedding(attributes, name):
        call.reported = _embedding(call.reported)
    return _from_own_cache(call) if _is_own_cache_hit(attributes) else call


def _provider(attributes: Attributes) -> str | None:
    provider = text(attributes, names.PROVIDER)
    if provider is None:
        return None
    provider = provider.lower().partition("/")[0]
    first = provider.partition(".")[0]
    return names.PROVIDERS.get(provider) or names.PROVIDERS.get(first) or (first if "." in provider else provider)


def _operation(attributes: Attributes, scope: str | None, name: str) -> Operation | None:
    if scope == "ai" or name.startswith("ai."):
        return _vercel(name)
    found = text(attributes, names.OPERATION)
    if found is not None:
        return names.OPERATIONS.get(found.lower(), "other")  # type: ignore[return-value]
    if text(attributes, names.TOOL) is not None:
        return "tool"
    if text(attributes, names.MODEL) is None:
        return None
    has_counts = any(number(attributes, names.TOKENS[side]) is not None for side in ("input", "output"))
    return "model" if has_counts or "gcp.vertex.agent.llm_response" in attributes else None


def _vercel(name: str) -> Operation:
    """The AI SDK repeats a call's usage on its outer span; only the inner one is the call."""
    operation = name.partition(" ")[0]
    if operation.endswith((".doGenerate", ".doStream", ".doEmbed")):
        return "model"
    return "tool" if operation == "ai.toolCall" else "workflow"


def _is_embedding(attributes: Attributes, name: str) -> bool:
    return name.partition(" ")[0].endswith(".doEmbed") or (
        (text(attributes, names.OPERATION) or "").lower() in names.EMBEDDINGS
    )


def _embedding(reported: Reported) -> Reported:
    """An embedding's tokens are all input, also where a span gives no more than their total."""
    if reported.input is None:
        reported.input = reported.total
    if reported.input is not None and reported.output is None:
        reported.output = 0
    return reported


def _is_own_cache_hit(attributes: Attributes) -> bool:
    return any(attributes.get(alias) in (True, "True", "true") for alias in names.RESPONSE_CACHE_HIT)


def _from_own_cache(call: Call) -> Call:
    """No provider was asked: nothing was used, whatever figures of the first answer the span repeats."""
    call.reported = Reported(input=0, output=0)
    call.raw_usage = {**call.raw_usage, "response_cache_hit": 1}
    return call


def _raw(attributes: Attributes) -> dict[str, int]:
    found = counted(attributes)
    cost = source_cost(attributes, found)
    return found if cost is None else {**found, "source_cost_pico_usd": cost}


def _billed(attributes: Attributes) -> int | None:
    """A cost counts as billed only where the span says that it is the provider's and in USD."""
    if attributes.get("gen_ai.usage.cost.source") != "provider":
        return None
    if attributes.get("gen_ai.usage.cost.currency") != "USD":
        return None
    return pico_usd(attributes.get("gen_ai.usage.cost.amount"))


def _tier(tier: str | None) -> str | None:
    return None if tier in ("default", "standard", "auto") else tier
