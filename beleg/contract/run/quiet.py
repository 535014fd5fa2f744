"""Keeps the vendors' packages from logging a run's prompt, and leaves the application's own use of them alone.

At level DEBUG they write the whole request to their loggers.
"""

import logging
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

LOGGERS = (
    *(f"{vendor}.{part}" for vendor in ("openai", "anthropic") for part in ("_base_client", "_response")),
    "openai._legacy_response",
    "httpx2",
    *(f"httpcore2.{part}" for part in ("connection", "http11", "http2", "proxy", "socks")),
)
"""Those that speak of a request; a logger's filter sees its own records only, not those of loggers below it."""
_ours: ContextVar[bool] = ContextVar("beleg_run_asks", default=False)


class _Filter(logging.Filter):
    """Drops what is below INFO while a run asks; lines of status stay."""

    def filter(self, record: logging.LogRecord) -> bool:
        return record.levelno >= logging.INFO or not _ours.get()


_FILTER = _Filter()
for _name in LOGGERS:
    logging.getLogger(_name).addFilter(_FILTER)


@contextmanager
def quiet() -> Generator[None]:
    """In this thread or task the vendors' packages say nothing of a request."""
    token = _ours.set(True)
    try:
        yield
    finally:
        _ours.reset(token)
