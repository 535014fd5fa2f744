"""The two clocks of the client, injectable."""

import time
from collections.abc import Callable
from datetime import UTC, date, datetime


def _now() -> datetime:
    return datetime.now(UTC)


class Clock:
    """`now` decides about dates (sunset, deadlines), `monotonic_s` about ages within the process."""

    def __init__(self, now: Callable[[], datetime] = _now, monotonic_s: Callable[[], float] = time.monotonic) -> None:
        self.now, self.monotonic_s = now, monotonic_s

    def today(self) -> date:
        """The UTC day."""
        return self.now().astimezone(UTC).date()


SYSTEM = Clock()
