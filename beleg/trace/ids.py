"""UUIDv7 ids (RFC 9562): they carry their time, so that an id's day needs no look-up.

Ids of one generator ascend, also within a millisecond and when the clock jumps back; a clock that jumps
back by a lot is followed by no id (time stands still until it catches up).
"""

import os
import random
import threading
import time
from collections.abc import Callable

_MAX_COUNTER = 0xFFF
_LAST_MS = (1 << 48) - 1
_NOISE_BITS = 62
_NOISE_MASK = (1 << _NOISE_BITS) - 1
_VERSION_7 = 7 << 76
_VARIANT = 1 << 63
_STRIDE = 0x1E3779B97F4A7C15
"""Odd, so that the ends of ids that follow each other differ: people tell runs apart by them."""


class IdGenerator:
    """Makes ascending UUIDv7 texts; `clock_ns` and `random_bits` are injectable for tests.

    The 12 bits after the millisecond count the ids within it; if they run over, the next millisecond is
    borrowed. The other 62 begin at random in each millisecond, which tells processes apart, and go on by a
    fixed stride within it. Safe for threads, signal handlers and forks.
    """

    def __init__(
        self,
        clock_ns: Callable[[], int] = time.time_ns,
        random_bits: Callable[[int], int] | None = None,
    ) -> None:
        self._clock_ns = clock_ns
        self._given_bits = random_bits
        self._ms = self._counter = self._noise = 0
        self.renew()

    def renew(self) -> None:
        """Go on with fresh randomness, as a forked child must.

        A lock that another thread held at the fork stays locked for ever, and both sides would draw alike.
        """
        # An own generator: the application may seed the global one.
        own = random.Random(os.urandom(32))  # noqa: S311
        self._random_bits = own.getrandbits if self._given_bits is None else self._given_bits
        self._lock = threading.RLock()  # re-entrant: a signal handler may trace too
        ms, counter = self._ms, self._counter
        self._begin(ms)
        self._counter = counter

    def __call__(self) -> str:
        """The next id, for example `019b0a3e-7c1f-7a20-9d31-5f0c2b8e6a44`."""
        with self._lock:
            ms = self._clock_ns() // 1_000_000
            if self._ms < ms <= _LAST_MS:
                self._begin(ms)
            elif self._counter < _MAX_COUNTER:
                self._counter += 1
            else:
                self._begin(self._ms + 1)
            self._noise = noise = (self._noise + _STRIDE) & _NOISE_MASK
            # One number and its digits: a third of the time of three numbers.
            tail = "%x" % (_VERSION_7 | self._counter << 64 | _VARIANT | noise)
            return f"{self._head}-{tail[:4]}-{tail[4:8]}-{tail[8:]}"

    def _begin(self, ms: int) -> None:
        self._ms, self._counter = ms, 0
        self._head = f"{ms >> 16:08x}-{ms & 0xFFFF:04x}"
        self._noise = self._random_bits(_NOISE_BITS)


def unix_ms(uuid7: str) -> int:
    """Milliseconds since 1970 that a UUIDv7 carries; raises ValueError for any other text."""
    digits = uuid7.replace("-", "")
    if len(digits) != 32 or digits[12] != "7":
        raise ValueError(f"{uuid7!r} is no UUIDv7; ids of Beleg's own look like 019b0a3e-7c1f-7a20-…")
    return int(digits[:12], 16)


new_id = IdGenerator()
"""The process's own generator."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=new_id.renew)
