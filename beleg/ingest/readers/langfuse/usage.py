"""Token counts of a Langfuse observation: a flat map whose keys tell where it came from.

Langfuse's own rule is that the entries are disjoint, and it adds them up to `total` where the source gave
none. It normalises what it knows; maps of SDKs, of LiteLLM and of unknown attributes stay as they came. So
each key stands in a family with a rule of its own, and a total that is no more than the sum proves nothing.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal, NamedTuple

from beleg.trace.semconv import whole
from beleg.trace.usage import Reported


class _Key(NamedTuple):
    field: str
    inside: bool | None = None
    """Whether the count stands inside `input` or `output`; None for these themselves and for what is not told."""


_KEYS = {
    "input": _Key("input"),
    "input_tokens": _Key("input"),
    "prompt_tokens": _Key("input"),
    "output": _Key("output"),
    "output_tokens": _Key("output"),
    "completion_tokens": _Key("output"),
    "total": _Key("total"),
    "total_tokens": _Key("total"),
    # what Langfuse writes after it has taken the part off
    "input_cached_tokens": _Key("cache_read", inside=False),
    "input_cache_read": _Key("cache_read", inside=False),
    "input_cache_creation": _Key("cache_write", inside=False),
    "input_cache_creation_5m": _Key("cache_write_5m", inside=False),
    "input_cache_creation_1h": _Key("cache_write_1h", inside=False),
    "output_reasoning": _Key("reasoning", inside=False),
    "output_reasoning_tokens": _Key("reasoning", inside=False),
    "input_audio": _Key("input_audio", inside=False),
    "input_audio_tokens": _Key("input_audio", inside=False),
    "output_audio": _Key("output_audio", inside=False),
    "output_audio_tokens": _Key("output_audio", inside=False),
    "input_image": _Key("input_image", inside=False),
    "input_image_tokens": _Key("input_image", inside=False),
    "output_image": _Key("output_image", inside=False),
    "output_image_tokens": _Key("output_image", inside=False),
    # Anthropic's words, as SDKs and LiteLLM pass them on
    "cache_read_input_tokens": _Key("cache_read", inside=False),
    "cache_creation_input_tokens": _Key("cache_write", inside=False),
    "cache_creation.ephemeral_5m_input_tokens": _Key("cache_write_5m", inside=False),
    "cache_creation.ephemeral_1h_input_tokens": _Key("cache_write_1h", inside=False),
    "input_cache_creation_ephemeral_5m": _Key("cache_write_5m", inside=False),
    "input_cache_creation_ephemeral_1h": _Key("cache_write_1h", inside=False),
    "reasoning_tokens": _Key("reasoning", inside=True),
    # Gemini's words
    "cached_content_token_count": _Key("cache_read", inside=True),
    "input_cached_content_token_count": _Key("cache_read", inside=False),
    "thoughts_token_count": _Key("reasoning", inside=False),
    "output_thoughts_token_count": _Key("reasoning", inside=False),
    # OpenAI's words
    "prompt_tokens_details.cached_tokens": _Key("cache_read", inside=True),
    "input_tokens_details.cached_tokens": _Key("cache_read", inside=True),
    "completion_tokens_details.reasoning_tokens": _Key("reasoning", inside=True),
    "output_tokens_details.reasoning_tokens": _Key("reasoning", inside=True),
    # rests of OpenInference attributes, which Langfuse does not take off
    "prompt_details.cache_read": _Key("cache_read", inside=True),
    "prompt_details.cache_write": _Key("cache_write", inside=True),
    "prompt_details.audio": _Key("input_audio", inside=True),
    "completion_details.reasoning": _Key("reasoning", inside=True),
    "completion_details.audio": _Key("output_audio", inside=True),
    # rests of OpenTelemetry attributes that Langfuse does not know
    "cache_write.input_tokens": _Key("cache_write", inside=True),
    "cache_write_input_tokens": _Key("cache_write", inside=True),
    "details.cache_read_tokens": _Key("cache_read", inside=True),
    "details.cache_write_tokens": _Key("cache_write", inside=True),
    "reasoning.output_tokens": _Key("reasoning", inside=True),
    "audio.input_tokens": _Key("input_audio", inside=True),
    "audio.output_tokens": _Key("output_audio", inside=True),
    "image.input_tokens": _Key("input_image", inside=True),
    "image.output_tokens": _Key("output_image", inside=True),
}
"""Key of the map → what it counts. Another key is kept as a raw figure only."""
_CACHED = ("cache_read", "cache_write", "cache_write_5m", "cache_write_1h")

Counts = dict[str, int]
_Inside = dict[str, bool | None]


def reported(usage: Mapping[str, Any], *, is_gemini: bool = False) -> Reported:
    """What the map of an observation reports. `is_gemini`: its model shows its thinking in the total alone at times."""
    counts, inside = _read(usage)
    entries = [n for n in map(whole, usage.values()) if n is not None]
    summed = "total" in counts and sum(entries) == 2 * counts["total"]
    if summed:
        del counts["total"]
    _together(counts, inside)
    _media_inside(counts, inside)
    cached = [inside[name] for name in _CACHED if name in counts]
    rule: Literal["inclusive", "exclusive"] = "inclusive" if any(cached) else "exclusive"
    made = Reported(
        provider_rule=rule if cached else None,
        reasoning_rule=inside.get("reasoning"),
        hidden_reasoning=is_gemini and "reasoning" not in counts,
    )
    return replace(made, **_whole_writes(counts))  # type: ignore[arg-type]


def _read(usage: Mapping[str, Any]) -> tuple[Counts, _Inside]:
    """The counts by field, the better known key first, and whether each stands inside its side's count."""
    counts: Counts = {}
    inside: _Inside = {}
    for name in (name for name in _KEYS if name in usage):
        count, known = whole(usage[name]), _KEYS[name]
        if count is not None and not counts.get(known.field):
            counts[known.field], inside[known.field] = count, known.inside
    return counts, inside


def _together(counts: Counts, inside: _Inside) -> None:
    """Put all cached tokens on one side of `input`: some sources take off only a part of them."""
    cached = [name for name in _CACHED if counts.get(name)]
    apart = [name for name in cached if not inside[name]]
    if len(apart) == len(cached):
        # LiteLLM takes off what was read and forgets what was written; the total that it passes on tells.
        taken_off = counts.get("input", 0) + counts.get("cache_read", 0) + counts.get("output", 0)
        if len(cached) < 2 or counts.get("total") != taken_off:
            return
        apart = ["cache_read"]
        inside.update(dict.fromkeys(cached, True))
    if "input" in counts:
        counts["input"] += sum(counts[name] for name in apart)
        inside.update(dict.fromkeys(apart, True))


def _media_inside(counts: Counts, inside: _Inside) -> None:
    """`Reported` has audio and image inside the count of their side."""
    for side in ("input", "output"):
        apart = sum(counts.get(n, 0) for n in (f"{side}_audio", f"{side}_image") if inside.get(n) is False)
        if apart and side in counts:
            counts[side] += apart


def _whole_writes(counts: Counts) -> Counts:
    """`Reported` has in `cache_write` the sum of both lifetimes; disjoint entries hold the rest there."""
    split = counts.get("cache_write_5m", 0) + counts.get("cache_write_1h", 0)
    if split and counts.get("cache_write", split) < split:
        return {**counts, "cache_write": counts["cache_write"] + split}
    return counts
