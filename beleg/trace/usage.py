"""Turns what a source reported about a model call into disjoint token buckets.

Whether a reported input count already holds the cached tokens, and whether an output count holds the
reasoning, differs by provider, API and instrumentation. This module is the one place that decides, per
call, and says why. It never clamps: a count that cannot be true is reported as such.

The readers of concrete shapes stand beside it: `usage_shapes` for providers' answers, `semconv` for spans.
"""

from dataclasses import dataclass, fields
from operator import attrgetter
from typing import Literal, NamedTuple

Convention = Literal["inclusive", "exclusive", "unknown"]
Evidence = Literal["declared", "identity", "provider_rule"]
Check = Literal["ok", "conflict"]

BUCKETS = (
    "input_uncached",
    "cache_read",
    "cache_write_5m",
    "cache_write_1h",
    "cache_write",
    "output",
    "reasoning",
    "input_audio",
    "cache_read_audio",
    "output_audio",
    "input_image",
    "cache_read_image",
    "output_image",
)
"""Names of the disjoint buckets, as in the schema of the `step` event."""


@dataclass(slots=True)  # not frozen: that would double what making one costs
class Reported:
    """Token counts as one source reported them for one call; None is unknown, which is not zero."""

    input: int | None = None
    """Input tokens; whether cached ones are inside is what `declared` and `provider_rule` speak about."""
    cache_read: int | None = None
    """Input tokens read from the provider's prompt cache, audio and image included."""
    cache_write: int | None = None
    """Input tokens written to the cache: the sum of both lifetimes where those are given too."""
    cache_write_5m: int | None = None
    cache_write_1h: int | None = None
    output: int | None = None
    reasoning: int | None = None
    total: int | None = None
    input_audio: int | None = None
    """Audio tokens inside the input count (and inside `cache_read` as far as `cache_read_audio` says)."""
    cache_read_audio: int | None = None
    output_audio: int | None = None
    """Audio tokens inside the output count."""
    input_image: int | None = None
    cache_read_image: int | None = None
    output_image: int | None = None
    declared: Literal["inclusive", "exclusive"] | None = None
    """What the format's own specification says about cached tokens; outranks everything else."""
    provider_rule: Literal["inclusive", "exclusive"] | None = None
    """What is usual for this provider; asked last, where the arithmetic of the call does not tell."""
    reasoning_inside: bool | None = None
    """Whether the output count holds the reasoning, where the format says so."""
    reasoning_rule: bool | None = None
    """The same as is usual for the provider; asked where the arithmetic does not tell."""
    hidden_reasoning: bool = False
    """True for a source that shows its reasoning tokens in the total alone."""


@dataclass(slots=True)
class Usage:
    """Disjoint token buckets of one call. Their sum is what was processed; None is unknown."""

    buckets: dict[str, int | None]
    """Every name of `BUCKETS`."""
    convention: Convention | None = None
    """Whether the reported input held the cached tokens; None where nothing was cached or told."""
    convention_evidence: Evidence | None = None
    usage_check: Check | None = None
    """`conflict` where the source contradicts itself; None where it reported nothing."""
    contradiction: str | None = None
    """Why a priced bucket cannot be true: the event belongs into quarantine. None for a usable event."""

    @property
    def known(self) -> dict[str, int]:
        """The buckets that are known: what an event stores."""
        return {name: count for name, count in self.buckets.items() if count is not None}


class _Input(NamedTuple):
    uncached: int | None
    cache_read: int | None
    audio: int | None
    image: int | None
    conflict: bool


class _Writes(NamedTuple):
    five_minutes: int | None
    one_hour: int | None
    unknown: int | None
    conflict: bool


class _Output(NamedTuple):
    output: int | None
    reasoning: int | None
    conflict: bool


class _ContradictionError(Exception):
    """A priced bucket is contradicted; the text says which and by what."""


_COUNTS = tuple(f.name for f in fields(Reported) if f.type == int | None)
_counts = attrgetter(*_COUNTS)
_media = attrgetter("input_audio", "cache_read_audio", "input_image", "cache_read_image")
_NO_MEDIA = (None, None, None, None)


def normalise(reported: Reported) -> Usage:
    """Split the reported counts into disjoint buckets.

    Never raises and never clamps: what cannot be true ends up in `Usage.contradiction` (priced buckets;
    quarantine the event) or as `usage_check == "conflict"` (accept and mark).
    """
    known = [count for count in _counts(reported) if count is not None]
    if not known:
        return Usage(dict.fromkeys(BUCKETS))
    cached = (reported.cache_read or 0) + (_written(reported) or 0)
    convention, evidence = _convention(reported, cached)
    try:
        if min(known) < 0:
            _refuse_negative(reported)
        writes = _split_writes(reported)
        inputs = _split_input(reported, cached, convention)
        outputs = _split_output(reported, cached, convention)
    except _ContradictionError as error:
        return Usage(dict.fromkeys(BUCKETS), convention, evidence, "conflict", str(error))
    buckets = _buckets(reported, inputs, writes, outputs)
    conflict = inputs.conflict or writes.conflict or outputs.conflict or _total_differs(reported, buckets)
    return Usage(buckets, convention, evidence, "conflict" if conflict else "ok")


def _buckets(r: Reported, inputs: _Input, writes: _Writes, outputs: _Output) -> dict[str, int | None]:
    return {
        "input_uncached": inputs.uncached,
        "cache_read": inputs.cache_read,
        "cache_write_5m": writes.five_minutes,
        "cache_write_1h": writes.one_hour,
        "cache_write": writes.unknown,
        "output": outputs.output,
        "reasoning": outputs.reasoning,
        "input_audio": inputs.audio,
        "cache_read_audio": r.cache_read_audio,
        "output_audio": r.output_audio,
        "input_image": inputs.image,
        "cache_read_image": r.cache_read_image,
        "output_image": r.output_image,
    }


def _refuse_negative(r: Reported) -> None:
    for name in _COUNTS:
        count = getattr(r, name)
        if count is not None and count < 0:
            raise _ContradictionError(f"{name} is {count}; a token count is at least 0")


def _written(r: Reported) -> int | None:
    if r.cache_write is not None:
        return r.cache_write
    if r.cache_write_5m is None and r.cache_write_1h is None:
        return None
    return (r.cache_write_5m or 0) + (r.cache_write_1h or 0)


def _split_writes(r: Reported) -> _Writes:
    if r.cache_write_5m is None and r.cache_write_1h is None:
        return _Writes(None, None, r.cache_write, conflict=False)
    split = (r.cache_write_5m or 0) + (r.cache_write_1h or 0)
    if r.cache_write is None or r.cache_write == split:
        return _Writes(r.cache_write_5m, r.cache_write_1h, None, conflict=False)
    if r.cache_write < split:
        raise _ContradictionError(f"cache writes by lifetime are {split}, all cache writes {r.cache_write}")
    both_known = r.cache_write_5m is not None and r.cache_write_1h is not None
    return _Writes(r.cache_write_5m, r.cache_write_1h, r.cache_write - split, conflict=both_known)


def _convention(r: Reported, cached: int) -> tuple[Convention | None, Evidence | None]:
    if r.declared is not None:
        return r.declared, "declared"
    if cached and r.input is not None:
        fitting = _fitting_conventions(r, cached)
        if len(fitting) == 1:
            return fitting[0], "identity"
    if r.provider_rule is not None:
        return r.provider_rule, "provider_rule"
    if not cached or r.input is None:
        return None, None
    # More was cached than an inclusive count could hold: only one reading is left.
    return ("exclusive", "identity") if cached > r.input else ("unknown", None)


def _fitting_conventions(r: Reported, cached: int) -> list[Literal["inclusive", "exclusive"]]:
    """The readings of the input count under which the parts add up to the reported total."""
    if r.total is None or r.input is None or r.output is None or r.hidden_reasoning:
        return []
    outputs = {r.output + (0 if inside else r.reasoning or 0) for inside in _reasoning_readings(r)}
    fits: list[Literal["inclusive", "exclusive"]] = []
    if cached <= r.input and any(r.input + output == r.total for output in outputs):
        fits.append("inclusive")
    if any(r.input + cached + output == r.total for output in outputs):
        fits.append("exclusive")
    return fits


def _reasoning_readings(r: Reported) -> tuple[bool, ...]:
    return (True, False) if r.reasoning_inside is None else (r.reasoning_inside,)


def _split_input(r: Reported, cached: int, convention: Convention | None) -> _Input:
    """Uncached and cached input, without audio and image, which get buckets of their own."""
    uncached = r.input
    if uncached is not None and convention == "inclusive":
        uncached -= cached
        if uncached < 0:
            raise _ContradictionError(f"{cached} cached tokens cannot be inside {r.input} input tokens")
    elif convention == "unknown":
        uncached = None
    if _media(r) == _NO_MEDIA:  # as in nearly every call
        return _Input(uncached, r.cache_read, None, None, conflict=False)
    return _split_modalities(r, uncached, convention)


def _split_modalities(r: Reported, uncached: int | None, convention: Convention | None) -> _Input:
    inside = convention != "exclusive"
    audio = _without(r.input_audio, r.cache_read_audio if inside else None)
    image = _without(r.input_image, r.cache_read_image if inside else None)
    read = _without(r.cache_read, (r.cache_read_audio or 0) + (r.cache_read_image or 0))
    for name, count in (("input_audio", audio), ("input_image", image), ("cache_read", read)):
        if count is not None and count < 0:
            raise _ContradictionError(f"{name} would be {count} after its cached audio and image part is taken off")
    text = _without(uncached, (audio or 0) + (image or 0))
    if text is None or text >= 0:
        return _Input(text, read, audio, image, conflict=False)
    if r.cache_read and inside and r.cache_read_audio is None and r.cache_read_image is None:
        # Part of the audio or image came from the cache and nobody says how much: keep it whole as text.
        return _Input(uncached, read, None, None, conflict=True)
    raise _ContradictionError(f"{(audio or 0) + (image or 0)} audio and image tokens exceed {uncached} input tokens")


def _without(count: int | None, part: int | None) -> int | None:
    return None if count is None else count - (part or 0)


def _split_output(r: Reported, cached: int, convention: Convention | None) -> _Output:
    media = (r.output_audio or 0) + (r.output_image or 0)
    output = _without(r.output, media)
    if output is not None and output < 0:
        raise _ContradictionError(f"{media} audio and image tokens exceed {r.output} output tokens")
    if r.reasoning is None:
        return _Output(output, _hidden_reasoning(r, cached, convention), conflict=False)
    if output is None:
        return _Output(None, r.reasoning, conflict=False)
    inside = _is_reasoning_inside(r, cached, convention)
    if inside is False:
        return _Output(output, r.reasoning, conflict=False)
    if inside is None:  # nobody says which: all of it is output, so that nothing counts twice
        return _Output(output, None, conflict=False)
    if r.reasoning > output:
        return _Output(output, None, conflict=True)
    return _Output(output - r.reasoning, r.reasoning, conflict=False)


def _is_reasoning_inside(r: Reported, cached: int, convention: Convention | None) -> bool | None:
    if r.reasoning_inside is not None:
        return r.reasoning_inside
    if r.reasoning and r.total is not None and r.input is not None and r.output is not None:
        visible = r.input + r.output + (cached if convention == "exclusive" else 0)
        if r.total == visible:
            return True
        if r.total == visible + r.reasoning:
            return False
    return r.reasoning_rule


def _hidden_reasoning(r: Reported, cached: int, convention: Convention | None) -> int | None:
    if not r.hidden_reasoning or r.total is None or r.input is None or r.output is None:
        return None
    rest = r.total - r.input - r.output - (cached if convention == "exclusive" else 0)
    return rest if rest > 0 else None


def _total_differs(r: Reported, buckets: dict[str, int | None]) -> bool:
    """True where both sides are known and the parts do not add up to the reported total."""
    if r.total is None or buckets["input_uncached"] is None or buckets["output"] is None:
        return False
    return sum(count for count in buckets.values() if count is not None) != r.total
