"""Reads a provider's answer, object or dict, into `Call`s: usage, model, ids, service tier. No payload.

    read_call(client.chat.completions.create(…))

No SDK is imported. An answer that tells nothing gives an empty Call, never an error.
"""

from dataclasses import replace
from typing import Any

from beleg.trace.call import Call
from beleg.trace.usage import Reported
from beleg.trace.usage_provider import provider_of
from beleg.trace.usage_shapes import Counts, Plain, Shape, add, anthropic, counts, shape_of
from beleg.trace.usage_view import figures, get, plain, word

PICO_PER_USD = 10**12
_TICKS_PER_USD = 10**10
_USAGE_MEMBERS = ("usage", "usage_metadata", "usageMetadata", "meta")
_TIERS = {"default": None, "standard": None, "auto": None}


def read_call(answer: Any) -> Call:
    """The model call behind an answer."""
    return read_calls(answer)[0]


def read_calls(answer: Any, api: str | None = None) -> list[Call]:
    """All model calls behind an answer, the main one first; `api` where the caller knows by which it came.

    Anthropic's advisor runs on a model of its own within the same answer: a call with a price of its own.
    """
    answer = _unwrapped(answer)
    usage = _usage(answer)
    main = _main(answer, usage, shape_of(usage, api))
    if "iterations" not in usage:
        return [main]
    return [main, *(_advisor(main, item) for item in _iterations(usage) if _is_advisor(item))]


def _unwrapped(answer: Any) -> Any:
    """The answer inside an event of a stream (`response.completed`, `message_start`) or a raw response."""
    for name in ("response", "message"):
        inner = get(answer, name)
        if inner is not None and any(get(inner, member) is not None for member in _USAGE_MEMBERS):
            return inner
    return answer


def _usage(answer: Any) -> Plain:
    for member in _USAGE_MEMBERS:
        found = plain(get(answer, member))
        if isinstance(found, dict) and found:
            return found
    itself = {name: get(answer, name) for name in ("prompt_eval_count", "eval_count")}
    return {name: value for name, value in itself.items() if isinstance(value, int)}


def _main(answer: Any, usage: Plain, shape: Shape | None) -> Call:
    model = word(answer, "model", "model_version", "modelVersion", "model_id")
    raw = figures(usage)
    counted = counts(raw)
    api = shape.name if shape is not None else None
    reported = shape.read(_with_iterations(counted, usage), usage) if shape is not None else Reported()
    if api == "chat" and model is not None and "gemini" in model:
        # Google's OpenAI-compatible API shows its thinking in the total alone.
        reported = replace(reported, hidden_reasoning=reported.reasoning is None)
    return Call(
        provider=provider_of(answer, usage, api, model),
        endpoint_provider=word(answer, "provider"),
        api=api,
        model=model,
        response_id=word(answer, "id", "response_id", "responseId") or _request_id(answer),
        service_tier=_service_tier(answer, usage),
        region=_region(usage),
        reported=reported,
        raw_usage=raw,
        other_units=_other_units(counted),
        billed_pico_usd=_billed(counted, usage),
    )


def _request_id(answer: Any) -> str | None:
    return word(get(answer, "ResponseMetadata"), "RequestId")  # botocore


def _service_tier(answer: Any, usage: Plain) -> str | None:
    tier = usage.get("service_tier") or usage.get("serviceTier") or word(answer, "service_tier")
    return _TIERS.get(tier, tier) if isinstance(tier, str) else None


def _region(usage: Plain) -> str | None:
    geo = usage.get("inference_geo")
    return geo if isinstance(geo, str) and geo not in ("not_available", "") else None


# -- Anthropic's iterations ------------------------------------------------------------------------


def _iterations(usage: Plain) -> list[Plain]:
    found = usage.get("iterations")
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def _is_advisor(item: Plain) -> bool:
    return item.get("type") == "advisor_message"


def _with_iterations(counted: Counts, usage: Plain) -> Counts:
    """The counts with the sum of the iterations: the top level leaves out what compaction cost."""
    if "iterations" not in usage:
        return counted
    own = [counts(figures(item)) for item in _iterations(usage) if not _is_advisor(item)]
    if not own:
        return counted
    sums = {name: add(*(item.get(name) for item in own)) for name in _SUMMED}
    return {**counted, **{name: value for name, value in sums.items() if value is not None}}


_SUMMED = (
    "input_tokens",
    "output_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
    "cache_creation.ephemeral_5m_input_tokens",
    "cache_creation.ephemeral_1h_input_tokens",
)


def _advisor(main: Call, item: Plain) -> Call:
    model = item.get("model")
    return Call(
        provider=main.provider,
        api=main.api,
        model=model if isinstance(model, str) else None,
        service_tier=main.service_tier,
        region=main.region,
        reported=anthropic(counts(figures(item)), item),
        raw_usage=figures(item),
    )


# -- money and units -------------------------------------------------------------------------------


def _other_units(counted: Counts) -> dict[str, int]:
    searches = counted.get("server_tool_use.web_search_requests")
    return {"web_searches": searches} if searches else {}


def _billed(counted: Counts, usage: Plain) -> int | None:
    """What the provider says it billed, in pico-USD; None where it does not say so in a known unit."""
    ticks = counted.get("cost_in_usd_ticks")  # xAI: 1e-10 USD
    if ticks is not None:
        return ticks * (PICO_PER_USD // _TICKS_PER_USD)
    if "cost_details" in usage or "is_byok" in usage:  # OpenRouter: credits, which are USD
        return pico_usd(usage.get("cost"))
    return None


def pico_usd(usd: Any) -> int | None:
    """A USD amount in whole pico-USD, rounded half even; None for what is no plausible amount."""
    from decimal import Decimal, InvalidOperation  # noqa: PLC0415 - few answers name an amount

    if isinstance(usd, bool) or not isinstance(usd, int | float | str | Decimal):
        return None
    try:
        pico = (Decimal(str(usd)) * PICO_PER_USD).to_integral_value()
    except InvalidOperation:
        return None
    return int(pico) if pico.is_finite() and abs(pico) < 9 * 10**18 else None
