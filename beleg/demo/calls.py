"""Model calls as they go in practice: caches that hold or not, rate limits, timeouts, outages."""

from collections.abc import Mapping
from typing import Any, Literal

from beleg.demo.company import HAIKU, OUTAGE_US, ROUTED, Model
from beleg.demo.run import Run

Buckets = dict[str, int]


def _error(name: str) -> type[Exception]:
    """An error of the company's own code; traces show its class alone."""
    return type(name, (Exception,), {"__module__": "musterkontor"})


APITimeoutError = _error("APITimeoutError")
APIConnectionError = _error("APIConnectionError")
RateLimitError = _error("RateLimitError")
ToolTimeoutError = _error("ToolTimeoutError")
UnreadableDocumentError = _error("UnreadableDocumentError")
OutputValidationError = _error("OutputValidationError")
AmbiguousMatchError = _error("AmbiguousMatchError")
ContradictoryPeriodError = _error("ContradictoryPeriodError")

_NOTHING_USED = {"input_uncached": 0, "output": 0}


def plain(run: Run, input_tokens: int, output_tokens: int, *, cached: int = 0) -> Buckets:
    """Usage around the given figures, `cached` of the input now and then read from the cache."""
    vary = run.recorder.between
    held = cached if cached and run.recorder.chance(0.7) else 0
    fresh = vary(input_tokens * 9 // 10, input_tokens * 11 // 10) - held
    return {
        "input_uncached": fresh,
        "cache_read": held,
        "output": vary(output_tokens * 8 // 10, output_tokens * 13 // 10),
    }


def openai(run: Run, input_tokens: int, output_tokens: int) -> Buckets:
    """Usage of a reasoning model whose provider caches by itself, in blocks of 128 tokens."""
    held = input_tokens * run.recorder.between(0, 70) // 100 // 128 * 128
    return {
        "input_uncached": input_tokens - held,
        "cache_read": held,
        "output": output_tokens,
        "reasoning": run.recorder.between(0, 12) * 64,
    }


def anthropic(
    run: Run, input_tokens: int, output_tokens: int, *, shared: int, lifetime: Literal["5m", "1h"]
) -> Buckets:
    """Usage with `shared` tokens of prompt read from the cache or, where it did not hold, written to it."""
    missed = run.recorder.chance(0.18)
    return {
        "input_uncached": input_tokens,
        "cache_read": 0 if missed else shared,
        f"cache_write_{lifetime}": shared if missed else 0,
        "output": output_tokens,
    }


def failing_sometimes(
    run: Run, model: Model, buckets: Mapping[str, int], *, latency_ms: int, **surroundings: Any
) -> None:
    """A call that now and then succeeds at the second try only.

    A refused call used nothing; what a call that timed out has used is unknown, which is not zero.
    """
    failed = run.recorder.chance(0.02)
    if failed and run.recorder.chance(0.2):
        run.model(model, None, latency_ms=60_000, error=APITimeoutError, **surroundings)
    elif failed:
        run.model(model, _NOTHING_USED, latency_ms=180, error=RateLimitError, **surroundings)
        run.think(2)
    again: dict[str, Any] = {"attempt": 2, "attempt_reason": "retry"} if failed else {}
    run.model(model, buckets, latency_ms=latency_ms, **again, **surroundings)


def attempt_with_fallback(run: Run, buckets: Mapping[str, int]) -> None:
    """A call of Haiku, which goes through a second provider while the first cannot be reached."""
    if not OUTAGE_US[0] <= run.now_us < OUTAGE_US[1]:
        failing_sometimes(run, HAIKU, buckets, latency_ms=run.recorder.between(900, 3_800))
        return
    run.model(HAIKU, _NOTHING_USED, latency_ms=10_000, error=APIConnectionError)
    routed = {
        "input_uncached": buckets["input_uncached"],
        "cache_read": buckets["cache_read"],
        "cache_write": buckets["cache_write_5m"],
        "output": buckets["output"],
    }
    run.model(ROUTED, routed, latency_ms=2_600, attempt=2, attempt_reason="fallback")
