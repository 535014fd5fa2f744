"""Wall clock and stopwatch. Instants come from the one, durations only ever from the other."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

_SECOND_NS = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Clock:
    """Two readings in nanoseconds; tests inject their own."""

    wall_ns: Callable[[], int] = time.time_ns
    """Since 1970, UTC. May jump; nothing but the time of an event depends on it."""
    monotonic_ns: Callable[[], int] = time.perf_counter_ns
    """Never jumps; differences are durations."""


def timestamp(wall_ns: int) -> str:
    """RFC 3339 in UTC with microseconds, the form of every `event_time`."""
    digits = str(wall_ns // 1000)
    if wall_ns < _SECOND_NS:  # too few digits, or a sign
        return f"{_second(wall_ns // _SECOND_NS)}.{wall_ns // 1000 % 1_000_000:06d}Z"
    return f"{_second(digits[:-6])}.{digits[-6:]}Z"


@lru_cache(maxsize=8)
def _second(seconds: str | int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(int(seconds)))


def milliseconds(duration_ns: int) -> int:
    """Whole milliseconds, the nearest; never below 0."""
    return (duration_ns + 500_000) // 1_000_000 if duration_ns > 0 else 0
