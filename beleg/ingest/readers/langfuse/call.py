"""The model call behind a Langfuse observation."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from beleg.ingest.readers.events import Kind
from beleg.ingest.readers.langfuse.fields import Row, get, mapping
from beleg.ingest.readers.langfuse.usage import reported
from beleg.ingest.readers.parsing import parsed
from beleg.ingest.readers.traces import from_cache, most_telling, provider, provider_body, source_cost
from beleg.trace.call import Call
from beleg.trace.semconv import SpanReading
from beleg.trace.usage import Reported
from beleg.trace.usage_view import figures


def call_of(row: Row, span: SpanReading, metadata: Row, kind: Kind) -> Call | None:
    """The model call behind an observation; None where it is none and reports nothing.

    What the provider's own body and the instrumentation's attributes tell goes before Langfuse's map of them.
    `span` is what the attributes in `metadata` say.
    """
    usage, told = _usage(row), span.call
    if kind != "model" and not usage:
        return None
    body = provider_body(parsed(row.get("output")))
    names = (body.model, told.model, get(row, "model"), get(row, "providedModelName"))
    model = next((name for name in names if isinstance(name, str) and name), None)
    mapped = _mapped(row, usage, model)
    call = replace(
        told,
        provider=provider(told.provider or body.provider or metadata.get("ls_provider"), model),
        model=model,
        response_id=told.response_id or body.response_id,
        service_tier=told.service_tier or body.service_tier or _tier(row),
        reported=most_telling(body.reported, told.reported, mapped),
        raw_usage={**told.raw_usage, **figures(usage), **body.raw_usage, **_cost(row, usage)},
        billed_pico_usd=body.billed_pico_usd,
    )
    return from_cache(call, metadata.get("cache_hit"))


def _usage(row: Row) -> dict[str, Any]:
    """The map of counts, or what stood in its place before version 3: an object whose unit need not be tokens."""
    usage, old = mapping(get(row, "usageDetails")), mapping(row.get("usage"))
    if usage or old.get("unit") not in (None, "TOKENS"):
        return usage
    return {name: old[name] for name in ("input", "output", "total") if old.get(name) is not None}


def _mapped(row: Row, usage: Mapping[str, Any], model: str | None) -> Reported:
    """What the map reports: nothing where the source sent no counts, so that Langfuse counted the text itself."""
    provided = get(row, "providedUsageDetails")
    if provided is not None and not mapping(provided):
        return Reported()
    return reported(usage, is_gemini="gemini" in (model or ""))


def _cost(row: Row, usage: Mapping[str, Any]) -> dict[str, int]:
    costs = mapping(get(row, "costDetails"))
    usd = next((v for v in (costs.get("total"), get(row, "totalCost"), get(row, "calculatedTotalCost")) if v), None)
    return source_cost(usd, usage)


def _tier(row: Row) -> str | None:
    tier = mapping(get(row, "modelParameters")).get("service_tier")
    return tier if isinstance(tier, str) and tier not in ("", "auto", "default", "standard") else None
