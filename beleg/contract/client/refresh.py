"""Keeping one value current without a thread that could die unseen.

Whoever asks for the value when it is due starts one short fetch and waits for it, at most `timeout_s`; all
others go on with what there is, if that is young enough. The fetch runs in a thread of its own only so that
the wait has an end: its outcome is always written down, a fetch that hangs is given up and
counted, and the next caller starts anew. A forked child starts with the value and without a fetch.
"""

import os
import threading
import time
import weakref
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from beleg.contract.client.errors import Unreachable

T = TypeVar("T")
RETRY_S = 5.0
"""Time after a failure before the next try."""
_MAX_HANGING = 3
"""Fetches that may hang at once before no further is started."""


class _Flight:
    """One fetch on its way."""

    def __init__(self) -> None:
        self.done = threading.Event()
        self.pid = os.getpid()
        self.late = False
        """Counted as a failure already."""

    @property
    def on_its_way(self) -> bool:
        """False also in a forked child, where the thread does not exist."""
        return not self.done.is_set() and self.pid == os.getpid()


class Refresher(Generic[T]):
    """Holds a value, when it was last confirmed, and what went wrong since."""

    def __init__(
        self,
        fetch: Callable[[], T],
        *,
        ttl_s: float,
        max_age_s: float,
        timeout_s: float,
        retry_s: float = RETRY_S,
        monotonic_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self.value: T | None = None
        self.error: Exception | None = None
        """Why the last fetch failed; None after one that succeeded."""
        self.failures = 0
        """Failed fetches since the start of the process."""
        self.confirmed_s = 0.0
        """When the value was last known to be current, on the monotonic clock."""
        self._fetch, self._ttl_s, self._timeout_s, self._retry_s = fetch, ttl_s, timeout_s, retry_s
        self._max_age_s, self._monotonic_s = max_age_s, monotonic_s
        self._due_s = float("-inf")
        self._asked = False
        """Whether any question was answered or given up: before that, all callers wait for the first."""
        self._flight: _Flight | None = None
        self._given_up: list[_Flight] = []
        self._lock = threading.Lock()
        _ALL.add(self)

    @property
    def due(self) -> bool:
        """Whether `poll` has anything to do: to ask, or to wait for an answer that one cannot go on without."""
        return self._time_is_up or not self.usable

    @property
    def _time_is_up(self) -> bool:
        return not self._asked or self._monotonic_s() >= self._due_s

    @property
    def age_s(self) -> float:
        """Seconds since the value was last confirmed."""
        return max(0.0, self._monotonic_s() - self.confirmed_s)

    @property
    def usable(self) -> bool:
        """Whether there is a value, not older than `max_age_s`."""
        return self.value is not None and self.age_s <= self._max_age_s

    def poll(self) -> None:
        """Fetch if it is due; never raises, never waits longer than `timeout_s`.

        Whoever starts the fetch waits for it, and whoever could not go on without.
        """
        flight, mine = self._begin() if self._time_is_up else (self._flight, False)
        if flight is None or not flight.on_its_way or flight.late:
            return
        if mine or not self._asked or not self.usable:
            flight.done.wait(self._timeout_s)
            if mine and not flight.done.is_set():
                self._give_up(flight)

    def start_with(self, value: T, age_s: float) -> None:
        """Take a value from elsewhere (the disk) that was confirmed some time ago, while there is none."""
        if self.value is None:
            self.value, self.confirmed_s = value, self._monotonic_s() - age_s

    def renew_lock(self) -> None:
        """A forked child takes a lock that no vanished thread holds."""
        self._lock = threading.Lock()

    def _begin(self) -> tuple[_Flight | None, bool]:
        """The fetch that is on its way, and whether this caller started it."""
        with self._lock:
            if not self._time_is_up or (self._flight is not None and self._flight.on_its_way and not self._flight.late):
                return self._flight, False
            self._due_s = self._monotonic_s() + self._retry_s
            self._given_up = [each for each in self._given_up if each.on_its_way]
            if len(self._given_up) >= _MAX_HANGING:
                self._fail(Unreachable(f"{_MAX_HANGING} requests hang; none is started until one of them ends"))
                return None, False
            return self._start(), True

    def _start(self) -> _Flight | None:
        flight = self._flight = _Flight()
        thread = threading.Thread(target=self._fly, args=(flight,), name="beleg-refresh", daemon=True)
        try:
            thread.start()
        except RuntimeError as error:  # the interpreter is closing, or there are too many threads
            flight.done.set()
            self._fail(Unreachable(f"no request can be started: {error}"))
        return flight

    def _fly(self, flight: _Flight) -> None:
        try:
            value = self._fetch()
        except BaseException as error:  # noqa: BLE001 - the outcome, whatever it is, is written down
            if flight is self._flight and not flight.late:
                self._fail(error if isinstance(error, Exception) else Unreachable(f"the request ended: {error!r}"))
        else:
            if flight is self._flight:  # one that was replaced meanwhile says nothing any more
                self._succeed(value)
        finally:
            flight.done.set()

    def _succeed(self, value: T) -> None:
        now_s = self._monotonic_s()
        self.value, self.error, self.confirmed_s, self._asked = value, None, now_s, True
        self._due_s = now_s + self._ttl_s

    def _fail(self, error: Exception) -> None:
        self.failures += 1
        self.error, self._asked = error, True
        self._due_s = self._monotonic_s() + self._retry_s

    def _give_up(self, flight: _Flight) -> None:
        flight.late = True
        self._given_up.append(flight)
        self._fail(Unreachable(f"the registry gives no answer within {self._timeout_s:g} s"))


_ALL: "weakref.WeakSet[Refresher[Any]]" = weakref.WeakSet()


def _after_fork() -> None:
    for each in list(_ALL):
        each.renew_lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
