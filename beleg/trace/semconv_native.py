"""A provider's own usage figures inside a span: what an instrumentation passed on rather than translated.

They outrank the span's attributes, since no instrumentation's convention stands between. Of such an answer
nothing is read but its usage, its id, its model and its service tier.
"""

import json
from collections.abc import Mapping
from typing import Any

from beleg.trace.call import Call
from beleg.trace.usage import Reported
from beleg.trace.usage_read import read_call, read_calls
from beleg.trace.usage_view import figures, get, plain

Attributes = Mapping[str, Any]

METADATA = "ai.response.providerMetadata"
_IN_METADATA = (
    ("anthropic", "usage", "messages"),
    ("google", "usageMetadata", "generate_content"),
    ("vertex", "usageMetadata", "generate_content"),
)
_GENKIT = "genkit:output"
_ADK = "gcp.vertex.agent.llm_response"
_OUTPUT = "output.value"
_ANSWER_IDS = ("chatcmpl-", "resp_", "msg_", "gen-")
"""Beginnings of the ids that providers give their answers: a model may well write JSON about usage itself."""
_MOST_CHARS = 256 * 1024
"""A longer text is not parsed: embeddings answer with megabytes, and spans are read inside applications."""


def with_metadata(attributes: Attributes) -> Attributes:
    """The attributes and the figures of the Vercel AI SDK's provider metadata, which is JSON, by dotted names."""
    found = _json(attributes.get(METADATA))
    return attributes if found is None else {**attributes, **figures(plain(found), f"{METADATA}.")}


def native_call(attributes: Attributes) -> Call:
    """The call as the provider's own answer tells it; one without usage where the span holds none."""
    metadata = _json(attributes.get(METADATA))
    for provider, member, api in _IN_METADATA:
        usage = get(get(metadata, provider), member)
        if isinstance(usage, dict):
            return read_calls({"usage": usage}, api)[0]
    genkit = get(_json(attributes.get(_GENKIT)), "usage")
    if isinstance(genkit, dict):
        return _genkit(attributes, figures(plain(genkit)))
    answer = _json(attributes.get(_ADK)) or _json(attributes.get(_OUTPUT))
    is_native = answer is not None and (_ADK in attributes or str(answer.get("id")).startswith(_ANSWER_IDS))
    return read_call(answer) if is_native else Call()


def _genkit(attributes: Attributes, counts: dict[str, Any]) -> Call:
    """Genkit translates every provider's figures to names of its own, thoughts beside the output as Gemini has them."""
    whole = {name: int(value) for name, value in counts.items() if value % 1 == 0}
    provider, _, model = str(attributes.get("genkit:name") or "").rpartition("/")
    return Call(
        provider=_GENKIT_PROVIDERS.get(provider, provider or None),
        model=model or None,
        reported=Reported(
            input=whole.get("inputTokens"),
            output=whole.get("outputTokens"),
            reasoning=whole.get("thoughtsTokens"),
            cache_read=whole.get("cachedContentTokens"),
            total=whole.get("totalTokens"),
            provider_rule="inclusive",
            reasoning_rule=False,
        ),
        raw_usage=counts,
    )


_GENKIT_PROVIDERS = {"googleai": "google", "vertexai": "google"}


def _json(text: Any) -> dict[str, Any] | None:
    """The object in a text; None for anything else. Some exporters nest JSON in JSON."""
    for _ in range(2):
        if isinstance(text, dict):
            return text
        if not isinstance(text, str) or len(text) > _MOST_CHARS or text[:1] not in ("{", '"'):
            return None
        try:
            text = json.loads(text)
        except (ValueError, RecursionError):
            return None
    return text if isinstance(text, dict) else None
