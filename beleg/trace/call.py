"""What an answer or a span tells about one model call: the common ground of all usage readers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

from beleg.trace import policy
from beleg.trace.usage import Reported, normalise

_MIN_KEY_CHARS = 16


@dataclass(slots=True)
class Call:
    """Metadata and reported usage of one model call; no payload."""

    provider: str | None = None
    """Who bills, by the ids of the price book (openai, anthropic, google, aws, x-ai, …)."""
    endpoint_provider: str | None = None
    api: str | None = None
    model: str | None = None
    response_id: str | None = None
    service_tier: str | None = None
    region: str | None = None
    batch: bool | None = None
    reported: Reported = field(default_factory=Reported)
    raw_usage: Mapping[str, Any] = field(default_factory=dict)
    """Figures as reported, nested names joined by a dot."""
    other_units: Mapping[str, int] = field(default_factory=dict)
    billed_pico_usd: int | None = None
    is_contradicted: bool = False
    """True where the source reports one count twice and differently, or a count that is none."""

    def with_known(self, *, provider: str | None = None, model: str | None = None) -> "Call":
        """The call with what the caller knows better."""
        if provider is not None:
            self.provider = provider
        if model is not None:
            self.model = model
        return self


_WORDS = (
    ("provider", 100),
    ("endpoint_provider", 100),
    ("api", 100),
    ("model", 256),
    ("response_id", 256),
    ("service_tier", 100),
    ("region", 100),
)
_words = attrgetter(*(name for name, _ in _WORDS))


def call_fields(call: Call) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Fields of a `step` event that describe the call, and the names of those that may not be stored.

    Raises nothing. A usage that contradicts itself in a priced bucket is stored with its raw figures and
    without buckets: its cost is unknown, and the raw figures say why.
    """
    fields: dict[str, Any] = {}
    refused: tuple[str, ...] = ()
    for (name, max_chars), value in zip(_WORDS, _words(call), strict=True):
        if value is None:
            continue
        words = policy.text(value)
        if words is not None and (policy.is_key if name == "response_id" else policy.is_word)(words, max_chars):
            fields[name] = words
        else:
            refused += (name,)
    if call.batch is not None:
        fields["batch"] = call.batch
    key = call_key(fields.get("response_id"))
    if key is not None:
        fields["call_key"] = key
    fields.update(_usage_fields(call))
    return fields, refused


def _usage_fields(call: Call) -> dict[str, Any]:
    usage = normalise(call.reported)
    fields: dict[str, Any] = {}
    if usage.known:
        fields["buckets"] = usage.known
    raw = policy.figures(call.raw_usage)
    if raw:
        fields["raw_usage"] = raw
    if usage.convention is not None:
        fields["convention"] = usage.convention
    if usage.convention_evidence is not None:
        fields["convention_evidence"] = usage.convention_evidence
    if usage.usage_check is not None:
        fields["usage_check"] = "conflict" if call.is_contradicted else usage.usage_check
    units = policy.figures(call.other_units) if call.other_units else None
    if units:
        fields["other_units"] = units
    if call.billed_pico_usd is not None:
        fields["billed_pico_usd"] = call.billed_pico_usd
    return fields


def call_key(response_id: str | None) -> str | None:
    """What two reports of one call share: the provider's response id.

    None for short ids: some servers number their answers from one, so that theirs come again.
    """
    return response_id if response_id is not None and len(response_id) >= _MIN_KEY_CHARS else None
