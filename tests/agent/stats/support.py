"""Requests of an agent in a lake in memory, a minute apart unless told otherwise."""

from datetime import datetime, timedelta
from typing import Any

from tests.cost.support import NOON, Lake

CLAUDE = {"provider": "anthropic", "model": "claude-sonnet-4-5"}
"""3.00 in, 0.30 read, 3.75 written for five minutes, 6.00 for an hour, 15.00 out, USD per million tokens."""
GPT = {"provider": "openai", "model": "gpt-4o"}
"""2.50 in, 1.25 cached, 10.00 out, USD per million tokens."""
IN, READ, WRITE_5M, WRITE_1H = 3_000_000, 300_000, 3_750_000, 6_000_000
"""The same of CLAUDE in pico-USD per token."""


def minute(number: float) -> datetime:
    """So many minutes after noon."""
    return NOON + timedelta(minutes=number)


def claude(lake: Lake, at: float, /, *, run: str = "run", read: int = 0, write: int = 0, **values: Any) -> None:
    """A request to Claude with 10 uncached tokens at a minute after noon."""
    tokens = {"input_uncached": 10, "cache_read": read, "cache_write_5m": write, "output": 1}
    lake.step(run, **CLAUDE, at=minute(at), **{**tokens, **values})


def causes(lake: Lake) -> dict[str, int]:
    """Cause → requests."""
    lake.build()
    return dict(lake.rows("SELECT cause, sum(requests)::BIGINT FROM cache_misses GROUP BY cause ORDER BY cause"))
