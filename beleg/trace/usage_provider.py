"""Who answered, as far as the answer itself tells; what the caller says outranks it.

The names are the provider ids of the price book (`genai-prices`).
"""

from functools import lru_cache
from typing import Any

from beleg.trace.usage_view import get, word

_MODULES = {
    "anthropic": "anthropic",
    "mistralai": "mistral",
    "groq": "groq",
    "google": "google",
    "vertexai": "google",
    "cohere": "cohere",
    "xai_sdk": "x-ai",
    "ollama": "ollama",
}
_MODEL_PREFIXES = (
    ("claude", "anthropic"),
    ("gpt-oss", None),  # open weights: served by many
    ("gpt-", "openai"),
    ("chatgpt-", "openai"),
    ("o1", "openai"),
    ("o3", "openai"),
    ("o4", "openai"),
    ("text-embedding-3", "openai"),
    ("text-embedding-ada", "openai"),
    ("gemini", "google"),
    ("deepseek-chat", "deepseek"),
    ("deepseek-reasoner", "deepseek"),
    ("deepseek-v", "deepseek"),
    ("grok", "x-ai"),
    ("mistral-", "mistral"),
    ("ministral-", "mistral"),
    ("magistral-", "mistral"),
    ("codestral-", "mistral"),
    ("command-", "cohere"),
)
_LITELLM = {"vertex_ai": "google", "gemini": "google", "bedrock": "aws", "xai": "x-ai", "azure_ai": "azure"}


def provider_of(answer: Any, usage: dict[str, Any], api: str | None, model: str | None) -> str | None:
    """The provider that bills the call; None where the answer does not tell."""
    return (
        _by_gateway(answer, usage)
        or _MODULES.get(type(answer).__module__.partition(".")[0])
        or _by_usage(answer, usage, api)
        or _by_model(model, api)
    )


def _by_gateway(answer: Any, usage: dict[str, Any]) -> str | None:
    hidden = get(answer, "_hidden_params")
    litellm = None if hidden is None else word(hidden, "custom_llm_provider")
    if litellm is not None:
        return _LITELLM.get(litellm, litellm)
    identity = word(answer, "id") or ""
    by_router = "is_byok" in usage or "cost_details" in usage or identity.startswith("gen-")
    return "openrouter" if by_router else None


def _by_usage(answer: Any, usage: dict[str, Any], api: str | None) -> str | None:
    if "cost_in_usd_ticks" in usage or "num_sources_used" in usage:
        return "x-ai"
    if "prompt_cache_hit_tokens" in usage:
        return "deepseek"
    if "queue_time" in usage or get(answer, "x_groq") is not None:
        return "groq"
    if api == "converse":
        return "aws"
    return {"cohere": "cohere", "generate_content": "google", "ollama": "ollama"}.get(api or "")


@lru_cache(maxsize=256)
def _by_model(model: str | None, api: str | None) -> str | None:
    if model is None:
        return None
    for prefix, provider in _MODEL_PREFIXES:
        if model.startswith(prefix):
            return provider
    return "openai" if api == "responses" and "/" not in model else None
