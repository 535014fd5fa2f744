"""Decorated functions of every kind: a run a call, ended when the call, or its stream, ends."""

import asyncio
import contextlib
import gc
from collections.abc import AsyncIterator, Generator, Iterator
from typing import Any

import pytest

import beleg
from beleg.testing import capture


def test_function_is_a_run_with_its_arguments_and_result_fingerprinted() -> None:
    @beleg.traced_agent_run(workflow="add")
    def add(a: int, b: int) -> int:
        """Add."""
        return a + b

    with capture() as captured:
        assert add(1, b=2) == 3
        assert add(1, b=2) == 3
    assert (add.__name__, add.__doc__) == ("add", "Add.")
    first, second = captured.runs
    assert first.started["input_hash"] == second.started["input_hash"]
    assert first.started["input_hash"] == beleg.fingerprint({"args": [1], "kwargs": {"b": 2}})
    assert first.finished is not None
    assert first.finished["output_hash"] == beleg.fingerprint(3)


def test_payload_may_be_computed_from_the_arguments_and_a_fault_there_is_no_fault_of_the_call() -> None:
    @beleg.traced_agent_run(workflow="upper", input_payload=lambda text: {"text": text})
    def upper(text: str) -> str:
        return text.upper()

    @beleg.traced_agent_run(workflow="broken", input_payload=lambda: 1)
    def broken(text: str) -> str:
        return text

    with capture() as captured:
        assert upper("a") == "A"
        assert broken("a") == "a"
    assert captured.only_run("upper").started["input_hash"] == beleg.fingerprint({"text": "a"})
    assert "input_hash" not in captured.only_run("broken").started


def test_output_set_inside_outranks_the_result() -> None:
    @beleg.traced_agent_run(workflow="f")
    def f() -> str:
        run = beleg.current_run()
        assert run is not None
        run.set_output("inner")
        return "outer"

    with capture() as captured:
        f()
    finished = captured.only_run().finished
    assert finished is not None
    assert finished["output_hash"] == beleg.fingerprint("inner")


def test_coroutine_is_a_run() -> None:
    @beleg.traced_agent_run(workflow="f")
    async def f(fail: bool) -> int:
        await asyncio.sleep(0)
        if fail:
            raise LookupError
        return 1

    async def main() -> None:
        assert await f(False) == 1
        with pytest.raises(LookupError):
            await f(True)

    with capture() as captured:
        asyncio.run(main())
    assert [run.status for run in captured.runs] == ["succeeded", "failed"]


@beleg.traced_agent_run(workflow="stream")
def stream(n: int) -> Generator[Any, Any, str]:
    try:
        for i in range(n):
            assert beleg.current_run().run_id is not None
            sent = yield i
            if sent is not None:
                yield ("got", sent)
    except KeyError:
        yield "handled"
    return "result"


def test_object_that_is_called_asynchronously_is_a_run_until_it_is_done() -> None:
    class Agent:
        async def __call__(self, question: str) -> str:
            await asyncio.sleep(0)
            beleg.current_run().units(1)
            return "done"

    traced = beleg.traced_agent_run(workflow="agent", input_payload="q")(Agent())
    with capture() as captured:
        assert asyncio.run(traced("q")) == "done"
    run = captured.only_run("agent")
    assert (run.status, run.units) == ("succeeded", {"result": 1})


def test_generator_ends_its_run_when_the_stream_ends() -> None:
    with capture() as captured:
        generator = stream(2)
        assert captured.events == []
        for _ in generator:
            # The consumer's own code does not belong to the run.
            assert beleg.current_run().run_id is None
        finished = captured.only_run().finished
    assert finished is not None
    assert (finished["status"], finished["output_hash"]) == ("succeeded", beleg.fingerprint("result"))


def test_generator_passes_on_what_is_sent_and_thrown() -> None:
    with capture() as captured:
        generator: Any = stream(5)
        assert next(generator) == 0
        assert generator.send("x") == ("got", "x")
        assert generator.throw(KeyError()) == "handled"
        with pytest.raises(StopIteration) as stopped:
            next(generator)
        assert stopped.value.value == "result"
    assert captured.only_run().status == "succeeded"


def test_abandoned_generator_ends_its_run_as_cancelled() -> None:
    with capture() as captured:
        generator = stream(5)
        next(generator)
        del generator
        gc.collect()
    finished = captured.only_run().finished
    assert finished is not None
    assert (finished["status"], finished["exception_class"]) == ("cancelled", "GeneratorExit")


def test_generator_that_fails_raises_its_own_error() -> None:
    @beleg.traced_agent_run(workflow="bad")
    def bad() -> Iterator[int]:
        yield 1
        raise LookupError("x")

    with capture() as captured, pytest.raises(LookupError):
        list(bad())
    assert captured.only_run().status == "failed"


@beleg.traced_agent_run(workflow="astream")
async def astream(n: int) -> AsyncIterator[Any]:
    try:
        for i in range(n):
            assert beleg.current_run().run_id is not None
            await asyncio.sleep(0)
            yield i
    except KeyError:
        yield "handled"


def test_async_generator_ends_its_run_when_the_stream_ends_or_is_abandoned() -> None:
    async def main() -> None:
        async for _ in astream(3):
            assert beleg.current_run().run_id is None
        async with contextlib.aclosing(astream(3)) as part:  # type: ignore[type-var]
            await anext(part)
        thrown: Any = astream(3)
        await anext(thrown)
        assert await thrown.athrow(KeyError()) == "handled"
        await thrown.aclose()

    with capture() as captured:
        asyncio.run(main())
    assert [run.status for run in captured.runs] == ["succeeded", "cancelled", "cancelled"]


def test_async_generator_closed_by_another_task_gives_no_context_error() -> None:
    async def main() -> None:
        generator: Any = astream(3)
        await asyncio.create_task(generator.__anext__())
        await asyncio.create_task(generator.aclose())
        assert beleg.current_run().run_id is None

    with capture() as captured:
        asyncio.run(main())
    assert captured.only_run().status == "cancelled"


def test_block_inside_an_async_generator_survives_being_closed_in_another_context() -> None:
    async def body() -> AsyncIterator[int]:
        with beleg.traced_agent_run(workflow="inner"):
            yield 1

    async def main() -> None:
        generator: Any = body()
        await asyncio.create_task(generator.__anext__())
        await asyncio.create_task(generator.aclose())

    with capture() as captured:
        asyncio.run(main())
    assert captured.only_run().status == "cancelled"
