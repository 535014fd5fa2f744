"""Another clock for a process: what `time` and `datetime` say is moved, before the code under test is imported.

Clocks that are read in C, or that somebody took a reference of earlier, keep their time; the check looks for
times in the text as well.
"""

import datetime as dt
import time
from collections.abc import Callable
from typing import Any


def move_clock(to: dt.datetime) -> None:
    """Let every later look at the clock start from `to` (aware)."""
    offset_s = to.timestamp() - time.time()
    _move_time(offset_s)
    _move_datetime(offset_s)


def _move_time(offset_s: float) -> None:
    real_s, real_ns = time.time, time.time_ns
    time.time = lambda: real_s() + offset_s
    time.time_ns = lambda: real_ns() + int(offset_s * 1e9)
    for name in ("localtime", "gmtime", "ctime"):
        setattr(time, name, _from_now(getattr(time, name)))
    strftime: Callable[..., str] = time.strftime
    moved: Callable[..., str] = lambda form, *at: strftime(form, *(at or [time.localtime()]))  # noqa: E731
    setattr(time, "strftime", moved)  # noqa: B010


def _from_now(real: Callable[..., Any]) -> Callable[..., Any]:
    return lambda seconds=None: real(time.time() if seconds is None else seconds)


def _move_datetime(offset_s: float) -> None:
    real, shift = dt.datetime, dt.timedelta(seconds=offset_s)

    class Kind(type):
        def __instancecheck__(cls, value: Any) -> bool:
            return isinstance(value, cls.__mro__[1])

    class Moved(real, metaclass=Kind):  # type: ignore[misc, valid-type]
        @classmethod
        def now(cls, tz: dt.tzinfo | None = None) -> Any:
            return real.now(tz) + shift

        @classmethod
        def utcnow(cls) -> Any:
            return (real.now(dt.UTC) + shift).replace(tzinfo=None)

        today = now

    class MovedDate(dt.date, metaclass=Kind):
        @classmethod
        def today(cls) -> Any:
            return (real.now() + shift).date()

    Moved.__name__, MovedDate.__name__ = "datetime", "date"
    dt.datetime, dt.date = Moved, MovedDate  # type: ignore[misc]
