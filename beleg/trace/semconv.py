"""Reads a span's attributes, whatever GenAI convention they follow: one table for all readers.

Used by the span processor in the application and by the pipeline's readers of OTLP and others. Only names
in `semconv_names` are looked at; payload attributes are never read here.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from beleg.trace import semconv_names as names
from beleg.trace.call import Call
from beleg.trace.usage import Reported
from beleg.trace.usage_read import pico_usd

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


def read_span(attributes: Attributes, *, scope: str | None = None, name: str = "") -> SpanReading:
    """Read a span's attributes; `scope` is the name of its instrumentation, `name` the span's own."""
    operation = _operation(attributes, scope, name)
    if operation is None:
        return SpanReading(None)
    return SpanReading(
        operation,
        call=_call(attributes, scope),
        tool_name=text(attributes, names.TOOL),
        workflow=text(attributes, names.WORKFLOW),
        conversation_id=text(attributes, names.CONVERSATION),
    )


def read_usage(attributes: Attributes, *, scope: str | None = None) -> Reported:
    """The usage a span reports.

    The conventions say that input tokens SHOULD hold the cached ones, yet instrumentations differ: the rule
    of the instrumentation is asked only where the arithmetic of the span does not tell.
    """
    counts: dict[str, Any] = {name: number(attributes, aliases) for name, aliases in names.TOKENS.items()}
    exclusive = scope is not None and scope.startswith(names.EXCLUSIVE_SCOPES)
    return Reported(
        **counts,
        provider_rule="exclusive" if exclusive else "inclusive",
        reasoning_rule=True,
    )


def _call(attributes: Attributes, scope: str | None) -> Call:
    provider = text(attributes, names.PROVIDER)
    if provider is not None:
        provider = provider.lower().partition("/")[0]
        provider = names.PROVIDERS.get(provider, names.PROVIDERS.get(provider.partition(".")[0], provider))
    return Call(
        provider=provider,
        api=text(attributes, ("gen_ai.operation.name",)),
        model=text(attributes, names.MODEL),
        response_id=text(attributes, names.RESPONSE_ID),
        service_tier=_tier(text(attributes, names.SERVICE_TIER)),
        reported=read_usage(attributes, scope=scope),
        raw_usage=_raw(attributes),
        billed_pico_usd=_billed(attributes),
    )


def _operation(attributes: Attributes, scope: str | None, name: str) -> Operation | None:
    if scope == "ai" or name.startswith("ai."):
        return _vercel(name)
    found = text(attributes, names.OPERATION)
    if found is not None:
        return names.OPERATIONS.get(found.lower(), "other")  # type: ignore[return-value]
    if text(attributes, names.MODEL) is not None and number(attributes, names.TOKENS["input"]) is not None:
        return "model"
    return None


def _vercel(name: str) -> Operation:
    """The AI SDK repeats a call's usage on its outer span; only the inner one is the call."""
    if name.endswith((".doGenerate", ".doStream", ".doEmbed")):
        return "model"
    return "tool" if name == "ai.toolCall" else "workflow"


def text(attributes: Attributes, aliases: tuple[str, ...]) -> str | None:
    """The first attribute that is a non-empty string."""
    for alias in aliases:
        value = attributes.get(alias)
        if isinstance(value, str) and value:
            return value
    return None


def number(attributes: Attributes, aliases: tuple[str, ...]) -> int | None:
    """The first attribute that is a whole number: an int, an integral float, or their text."""
    for alias in aliases:
        value = whole(attributes.get(alias))
        if value is not None:
            return value
    return None


def whole(value: Any) -> int | None:
    """A count in any of the forms instrumentations use; None for what is no whole number."""
    if isinstance(value, str):
        try:
            value = float(value) if not value.lstrip("-").isdecimal() else int(value)
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value // 1:
        return None
    return int(value)


def _raw(attributes: Attributes) -> dict[str, int]:
    found = {}
    for aliases in names.TOKENS.values():
        for alias in aliases:
            value = whole(attributes.get(alias))
            if value is not None:
                found[alias] = value
    return found


def _billed(attributes: Attributes) -> int | None:
    """A cost counts as billed only where the span says that it is the provider's and in USD."""
    if attributes.get("gen_ai.usage.cost.source") != "provider":
        return None
    if attributes.get("gen_ai.usage.cost.currency") != "USD":
        return None
    return pico_usd(attributes.get("gen_ai.usage.cost.amount"))


def _tier(tier: str | None) -> str | None:
    return None if tier in ("default", "standard", "auto") else tier
