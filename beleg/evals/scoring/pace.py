"""Requests per minute over all workers."""

import threading
import time
from collections.abc import Callable


class Pace:
    """Spaces requests evenly: no burst, so that no window of a minute ever holds more than allowed."""

    def __init__(
        self,
        per_minute: int | None,
        *,
        monotonic_s: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self._apart_s = 0.0 if per_minute is None else 60.0 / per_minute
        self._monotonic_s, self._sleep = monotonic_s, sleep
        self._lock = threading.Lock()
        self._next_s = 0.0

    def wait(self) -> None:
        """Wait for the turn of a request."""
        with self._lock:
            now_s = self._monotonic_s()
            turn_s = max(now_s, self._next_s)
            self._next_s = turn_s + self._apart_s
        if turn_s > now_s:
            self._sleep(turn_s - now_s)

    def owe(self, requests: int) -> None:
        """Requests beyond those that waited (tool rounds, retries, repairs): the next ones wait longer."""
        with self._lock:
            self._next_s += requests * self._apart_s
