"""The shapes in which providers report usage, and how each is read (one function a shape).

The rules are those of the providers' API references; `docs/token-usage.md` shows how they fare on 775 real
bodies. A shape is recognised by its keys alone, since one SDK speaks to many providers.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from beleg.trace.usage import Reported

Plain = dict[str, Any]
Counts = dict[str, int]


class Shape(NamedTuple):
    """One way to report usage."""

    name: str
    """What `step.api` calls it."""
    matches: Callable[[Plain], bool]
    read: Callable[[Counts, Plain], Reported]
    """From the counts by dotted name, and the usage itself where its lists matter."""


def counts(figures: dict[str, Any]) -> Counts:
    """The whole numbers of a usage, by their dotted names."""
    return {n: int(v) for n, v in figures.items() if type(v) is int or (type(v) is float and v % 1 == 0)}


def _first(c: Counts, names: tuple[str, ...]) -> int | None:
    for name in names:
        if name in c:
            return c[name]
    return None


def add(*counts: int | None) -> int | None:
    """The sum of the known counts; None where none is known."""
    known = [c for c in counts if c is not None]
    return sum(known) if known else None


def anthropic(c: Counts, _: Plain) -> Reported:
    """Messages API: input excludes both cache figures, thinking is inside output."""
    return Reported(
        input=c.get("input_tokens"),
        cache_read=c.get("cache_read_input_tokens"),
        cache_write=c.get("cache_creation_input_tokens"),
        cache_write_5m=c.get("cache_creation.ephemeral_5m_input_tokens"),
        cache_write_1h=c.get("cache_creation.ephemeral_1h_input_tokens"),
        output=c.get("output_tokens"),
        reasoning=c.get("output_tokens_details.thinking_tokens"),
        declared="exclusive",
        reasoning_inside=True,
    )


def responses(c: Counts, u: Plain) -> Reported:
    """OpenAI responses and realtime API (which says `input_token_details`): everything is inside."""
    inputs = "input_tokens_details" if "input_tokens_details" in u else "input_token_details"
    outputs = "output_tokens_details" if "output_tokens_details" in u else "output_token_details"
    return Reported(
        input=c.get("input_tokens"),
        cache_read=c.get(f"{inputs}.cached_tokens"),
        cache_write=c.get(f"{inputs}.cache_write_tokens"),
        output=c.get("output_tokens"),
        reasoning=c.get(f"{outputs}.reasoning_tokens"),
        total=c.get("total_tokens"),
        input_audio=c.get(f"{inputs}.audio_tokens"),
        cache_read_audio=c.get(f"{inputs}.cached_tokens_details.audio_tokens"),
        output_audio=c.get(f"{outputs}.audio_tokens"),
        input_image=c.get(f"{inputs}.image_tokens"),
        cache_read_image=c.get(f"{inputs}.cached_tokens_details.image_tokens"),
        output_image=c.get(f"{outputs}.image_tokens"),
        declared="inclusive",
        reasoning_inside=True,
    )


_CHAT_CACHE_READS = (
    "prompt_tokens_details.cached_tokens",
    "cache_read_input_tokens",
    "prompt_cache_hit_tokens",
    "num_cached_tokens",
    "cached_tokens",
)
_CHAT_CACHE_WRITES = (
    "prompt_tokens_details.cache_write_tokens",
    "prompt_tokens_details.cache_creation_tokens",
    "cache_creation_input_tokens",
)


def chat(c: Counts, _: Plain) -> Reported:
    """OpenAI chat completions and all that speak like it, LiteLLM, DeepSeek, Mistral and Groq among them."""
    prompt, completion, total = c.get("prompt_tokens"), c.get("completion_tokens"), c.get("total_tokens")
    if completion is None and prompt is not None and prompt == total:
        completion = 0  # an embedding: nothing came out
    return Reported(
        input=prompt,
        cache_read=_first(c, _CHAT_CACHE_READS),
        cache_write=_first(c, _CHAT_CACHE_WRITES),
        output=completion,
        reasoning=_first(c, ("completion_tokens_details.reasoning_tokens", "reasoning_tokens")),
        total=total,
        input_audio=c.get("prompt_tokens_details.audio_tokens"),
        output_audio=c.get("completion_tokens_details.audio_tokens"),
        input_image=c.get("prompt_tokens_details.image_tokens"),
        output_image=c.get("completion_tokens_details.image_tokens"),
        # Gateways differ, also between their versions: the total of the call decides where it can.
        provider_rule="inclusive",
        reasoning_rule=True,
    )


def gemini(counted: Counts, u: Plain) -> Reported:
    """Gemini and Vertex: cached tokens inside the prompt, thoughts beside the candidates, zeros left out."""
    c = {_camel(name): value for name, value in counted.items()}
    lists = {_camel(name): value for name, value in u.items() if isinstance(value, list)}
    thoughts, candidates, total = (c.get(f"{n}TokenCount") for n in ("thoughts", "candidates", "total"))
    prompt = add(c.get("promptTokenCount"), c.get("toolUsePromptTokenCount"))
    if candidates is None and prompt is not None and total == prompt + (thoughts or 0):
        candidates = 0  # protobuf leaves out zeros; the total proves that it was one
    return Reported(
        input=prompt,
        cache_read=c.get("cachedContentTokenCount"),
        output=candidates,
        reasoning=thoughts,
        total=total,
        input_audio=_modality(lists, _PROMPTS, "AUDIO"),
        cache_read_audio=_modality(lists, ("cacheTokensDetails",), "AUDIO"),
        output_audio=_modality(lists, ("candidatesTokensDetails",), "AUDIO"),
        input_image=_modality(lists, _PROMPTS, "IMAGE"),
        cache_read_image=_modality(lists, ("cacheTokensDetails",), "IMAGE"),
        output_image=_modality(lists, ("candidatesTokensDetails",), "IMAGE"),
        declared="inclusive",
        reasoning_inside=False,
    )


_PROMPTS = ("promptTokensDetails", "toolUsePromptTokensDetails")


def bedrock(c: Counts, u: Plain) -> Reported:
    """Bedrock Converse: input usually excludes the cache; some models' streams include it, so the total asks."""
    lifetimes = _lifetimes(u.get("cacheDetails"))
    return Reported(
        input=c.get("inputTokens"),
        cache_read=_first(c, ("cacheReadInputTokens", "cacheReadInputTokenCount")),
        cache_write=_first(c, ("cacheWriteInputTokens", "cacheWriteInputTokenCount")),
        cache_write_5m=lifetimes.get("5m"),
        cache_write_1h=lifetimes.get("1h"),
        output=c.get("outputTokens"),
        total=c.get("totalTokens"),
        provider_rule="exclusive",
    )


def cohere(c: Counts, u: Plain) -> Reported:
    """Cohere v2: what is billed stands in `billed_units`; its cached tokens refer to `tokens` alone."""
    output = c.get("billed_units.output_tokens")
    if output is None and "tokens" not in u:
        output = 0  # an embedding
    return Reported(input=c.get("billed_units.input_tokens"), output=output)


def ollama(c: Counts, _: Plain) -> Reported:
    """Ollama's native API: the counts stand beside the answer."""
    return Reported(input=c.get("prompt_eval_count"), output=c.get("eval_count"))


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(part.title() for part in rest)


def _modality(lists: dict[str, list[Any]], fields: tuple[str, ...], modality: str) -> int | None:
    items = [item for field in fields for item in lists.get(field, ()) if isinstance(item, dict)]
    named = [item for item in items if item.get("modality") == modality]
    return add(*(_whole(item.get("tokenCount", item.get("token_count"))) for item in named))


def _lifetimes(details: Any) -> dict[str, int | None]:
    found: dict[str, int | None] = {}
    for item in details if isinstance(details, list) else ():
        if isinstance(item, dict) and item.get("ttl") in ("5m", "1h"):
            found[item["ttl"]] = add(found.get(item["ttl"]), _whole(item.get("inputTokens")))
    return found


def _whole(value: Any) -> int | None:
    return value if type(value) is int else None


_ANTHROPIC_KEYS = frozenset({"cache_creation_input_tokens", "cache_read_input_tokens", "cache_creation"})

MESSAGES = Shape("messages", lambda u: "input_tokens" in u and not _ANTHROPIC_KEYS.isdisjoint(u), anthropic)
_RESPONSES_KEYS = frozenset({"input_tokens_details", "input_token_details"})

SHAPES = (
    Shape("chat", lambda u: "prompt_tokens" in u, chat),
    Shape("generate_content", lambda u: "promptTokenCount" in u or "prompt_token_count" in u, gemini),
    Shape("converse", lambda u: "inputTokens" in u, bedrock),
    MESSAGES,
    Shape("responses", lambda u: "input_tokens" in u, responses),
    Shape("cohere", lambda u: "billed_units" in u, cohere),
    Shape("ollama", lambda u: "prompt_eval_count" in u or "eval_count" in u, ollama),
)
"""In the order they are asked."""


def shape_of(usage: Plain, api: str | None = None) -> Shape | None:
    """The shape of a plain usage; None for one that is not known.

    `api` is what the caller knows: without cache figures, messages and responses look alike.
    """
    for shape in SHAPES:
        if shape.matches(usage):
            alike = api == "messages" and shape.name == "responses" and _RESPONSES_KEYS.isdisjoint(usage)
            return MESSAGES if alike else shape
    return None
