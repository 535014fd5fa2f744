"""Decorating functions, coroutines, generators and asynchronous generators.

A generator's run lasts from its first item to its last, or until it is abandoned; it is the current run
only while the generator's own code runs, never between the items in the code that consumes them.
"""

import functools
import inspect
from collections.abc import AsyncGenerator, Callable, Generator
from typing import Any, ParamSpec, TypeVar, cast

from beleg.trace import context
from beleg.trace.run import Run

P = ParamSpec("P")
R = TypeVar("R")
MakeRun = Callable[[tuple[Any, ...], dict[str, Any]], Run]


def traced(function: Callable[P, R], make_run: MakeRun) -> Callable[P, R]:
    """The function with each of its calls as a run."""
    code = _code_of(function)
    if inspect.isasyncgenfunction(code):
        wrapper = _async_generator(function, make_run)
    elif inspect.isgeneratorfunction(code):
        wrapper = _generator(function, make_run)
    elif inspect.iscoroutinefunction(code):
        wrapper = _coroutine(function, make_run)
    else:
        wrapper = _function(function, make_run)
    return cast("Callable[P, R]", functools.wraps(function)(wrapper))


def _code_of(function: Callable[..., Any]) -> Any:
    """What says of which kind a call is: for an object that can be called, the method that does it."""
    plain = inspect.isroutine(function) or inspect.isclass(function) or isinstance(function, functools.partial)
    return function if plain else getattr(type(function), "__call__", function)  # noqa: B004 - the method itself


def _function(function: Callable[..., Any], make_run: MakeRun) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        with make_run(args, kwargs) as run:
            result = function(*args, **kwargs)
            run.set_default_output(result)
            return result

    return call


def _coroutine(function: Callable[..., Any], make_run: MakeRun) -> Callable[..., Any]:
    async def call(*args: Any, **kwargs: Any) -> Any:
        async with make_run(args, kwargs) as run:
            result = await function(*args, **kwargs)
            run.set_default_output(result)
            return result

    return call


def _generator(function: Callable[..., Any], make_run: MakeRun) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        run = make_run(args, kwargs)
        run.start()
        try:
            result = yield from _Driven(function(*args, **kwargs), run)
            run.set_default_output(result)
        except BaseException as error:
            run.finish(type(error))
            raise
        run.finish()
        return result

    return call


class _Driven(Generator[Any, Any, Any]):
    """A generator whose own code, and nothing else, runs inside the run."""

    def __init__(self, inner: Generator[Any, Any, Any], run: Run) -> None:
        self._inner = inner
        self._run = run

    def send(self, value: Any) -> Any:
        """Run on to the next item."""
        return self._inside(self._inner.send, value)

    def throw(self, *error: Any) -> Any:
        """Raise inside; called with the exception, or with its class, itself and its traceback."""
        return self._inside(self._inner.throw, error[-1] if len(error) == 1 else error[1] or error[0])

    def close(self) -> None:
        """Abandon the generator."""
        self._inside(self._inner.close)

    def _inside(self, act: Callable[..., Any], *args: Any) -> Any:
        token = context.current.set(self._run)
        try:
            return act(*args)
        finally:
            context.leave(token, self._run)


def _async_generator(function: Callable[..., Any], make_run: MakeRun) -> Callable[..., Any]:
    async def call(*args: Any, **kwargs: Any) -> AsyncGenerator[Any, Any]:
        run = make_run(args, kwargs)
        run.start()
        inner = function(*args, **kwargs)
        advance = inner.__anext__
        try:
            while True:
                item = await _inside(run, advance)
                try:
                    advance = functools.partial(inner.asend, (yield item))
                except GeneratorExit:
                    await _inside(run, inner.aclose)
                    raise
                except BaseException as error:  # noqa: BLE001 - thrown in by the consumer: the body's business
                    advance = functools.partial(inner.athrow, error)
        except StopAsyncIteration:
            run.finish()
        except BaseException as error:
            run.finish(type(error))
            raise

    return call


async def _inside(run: Run, act: Callable[[], Any]) -> Any:
    token = context.current.set(run)
    try:
        return await act()
    finally:
        context.leave(token, run)
