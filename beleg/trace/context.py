"""Which run and step the running code belongs to.

Asyncio tasks, `asyncio.to_thread` and anyio carry this by themselves. Plain threads and executors do not
(before Python 3.14 without its flag): wrap what they run in `carry`. Other processes know nothing: pass
the run's id and use `attach_run`.
"""

import functools
from collections.abc import Callable
from contextvars import ContextVar, Token
from typing import TYPE_CHECKING, ParamSpec, TypeVar

if TYPE_CHECKING:
    from beleg.trace.run import Run

P = ParamSpec("P")
R = TypeVar("R")

current: "ContextVar[Run | None]" = ContextVar("beleg_run", default=None)
current_step: ContextVar[str | None] = ContextVar("beleg_step", default=None)


def leave(token: "Token[Run | None]", run: "Run") -> None:
    """Undo a `current.set(run)`, also where it was made in another context (async generators)."""
    try:
        current.reset(token)
    except ValueError:
        if current.get() is run:
            current.set(None if token.old_value is Token.MISSING else token.old_value)


def carry(function: Callable[P, R]) -> Callable[P, R]:
    """A function that belongs to the present run and step, whatever thread calls it.

    `executor.submit(beleg.carry(work), item)`; the same wrapper may run in many threads at once.
    """
    run, step = current.get(), current_step.get()

    @functools.wraps(function)
    def carried(*args: P.args, **kwargs: P.kwargs) -> R:
        token, step_token = current.set(run), current_step.set(step)
        try:
            return function(*args, **kwargs)
        finally:
            current_step.reset(step_token)
            current.reset(token)

    return carried
