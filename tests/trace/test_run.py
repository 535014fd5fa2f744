"""The contract of one call site: what a run writes, and that it fits the event schemas."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import beleg
from beleg.testing import Captured, CapturedRun, capture
from beleg.trace.run import Run
from tests.trace.schemas import assert_valid

ANSWER = {
    "id": "chatcmpl-abcdefghijkl",
    "model": "gpt-4o",
    "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
}


def _only(captured: Captured) -> CapturedRun:
    for event in captured.events:
        assert_valid(event)
    return captured.only_run()


def test_one_call_site_writes_start_step_and_end() -> None:
    with capture() as captured, beleg.traced_agent_run(workflow="ocr", input_payload={"text": "hello"}) as trace:
        trace.set_output({"total": 7}, response=ANSWER)
    assert [event["event"] for event in captured.events] == ["run_started", "step", "run_finished"]
    run = _only(captured)
    assert run.started["input_hash"] == beleg.fingerprint({"text": "hello"})
    assert run.started["canon_version"] == "jcs"
    assert run.finished is not None
    assert run.finished["output_hash"] == beleg.fingerprint({"total": 7})
    assert run.steps[0]["buckets"] == {"input_uncached": 100, "output": 20}
    assert (run.status, run.run_id) == ("succeeded", trace.run_id)


def test_every_field_of_a_start_is_written() -> None:
    given: dict[str, Any] = {
        "input_ref": "s3://bucket/invoice-42.pdf",
        "input_key": "invoice-42",
        "tenant": "acme",
        "team": "finance",
        "environment": "staging",
        "purpose": "eval",
        "conversation_id": "c-1",
        "prompt_version": "v7",
        "prompt_source": "override",
        "feature": "ocr-agent",
        "contract_version": "2.1.0",
        "contract_digest": "ab" * 32,
        "labels": {"region": "eu"},
    }
    with capture(labels=["region"]) as captured, beleg.traced_agent_run(workflow="ocr", **given):
        pass
    started = _only(captured).started
    assert {name: started[name] for name in given} == given
    # Shared members stand on every event of the run.
    assert {e["tenant"] for e in captured.events} == {"acme"}


def test_prompt_object_stamps_its_version_and_source() -> None:
    class Prompt:
        version = "baked"
        source = "baked"

    with capture() as captured, beleg.traced_agent_run(workflow="ocr", prompt=Prompt()):
        pass
    started = _only(captured).started
    assert (started["prompt_version"], started["prompt_source"]) == ("baked", "baked")


def test_steps_and_tools_nest_and_carry_their_own_time() -> None:
    with (
        capture() as captured,
        beleg.traced_agent_run(workflow="ocr") as trace,
        trace.step("extract", provider="openai", attempt=2, attempt_reason="retry") as step,
    ):
        with trace.tool("lookup", input_payload={"iban": 1}) as tool:
            tool.set_output([1])
        step.record(ANSWER)
    tool_event, step_event = _only(captured).steps
    assert tool_event["parent_step_id"] == step_event["step_id"] == step.id
    assert (tool_event["kind"], tool_event["tool_name"], tool_event["input_hash"]) == (
        "tool",
        "lookup",
        beleg.fingerprint({"iban": 1}),
    )
    assert (step_event["attempt"], step_event["attempt_reason"], step_event["provider"]) == (2, "retry", "openai")
    assert step_event["latency_ms"] > tool_event["latency_ms"] > 0


def test_answer_recorded_by_a_step_is_not_counted_again_with_the_output() -> None:
    with capture() as captured, beleg.traced_agent_run(workflow="ocr") as trace:
        with trace.step("extract") as step:
            step.record(ANSWER)
        trace.set_output("x", response=ANSWER)
    assert _only(captured).tokens("input_uncached") == 100


def test_next_answer_at_the_address_of_a_forgotten_one_is_recorded() -> None:
    with capture() as captured, beleg.traced_agent_run(workflow="w") as trace:
        for number in range(50):
            with trace.step("s") as step:
                step.record({"model": "m", "usage": {"prompt_tokens": number, "completion_tokens": 0}})
            trace.set_output(number, response={"model": "m", "usage": {"prompt_tokens": 1000, "completion_tokens": 0}})
    assert len(captured.only_run().steps) == 100


def test_final_message_of_a_stream_that_was_watched_is_not_counted_again() -> None:
    final = {"id": "chatcmpl-9f2c7d1e5a", "model": "m", "usage": {"prompt_tokens": 3, "completion_tokens": 2}}
    with capture() as captured, beleg.traced_agent_run(workflow="w") as trace:
        with trace.step("s") as step:
            list(step.watch([{**final, "usage": None}, final]))
        trace.set_output("x", response=dict(final))
    assert captured.only_run().tokens("input_uncached") == 3


def test_usage_that_contradicts_itself_is_written_with_its_raw_figures_and_without_buckets() -> None:
    usage = {"input_tokens": 3, "input_tokens_details": {"cached_tokens": 9}, "output_tokens": 1, "total_tokens": 4}
    with capture() as captured, beleg.traced_agent_run(workflow="w") as trace:
        trace.set_output("x", response={"id": "resp_1", "model": "m", "usage": usage})
    (step,) = _only(captured).steps
    assert_valid(step)
    assert "buckets" not in step
    assert step["usage_check"] == "conflict"
    assert step["raw_usage"]["input_tokens_details.cached_tokens"] == 9


def test_counts_that_nobody_reported_are_absent_and_reported_zeros_are_zeros() -> None:
    usage = {"prompt_tokens": 5, "completion_tokens": 0, "prompt_tokens_details": {"cached_tokens": 0}}
    with capture() as captured, beleg.traced_agent_run(workflow="w") as trace:
        trace.set_output("x", response={"model": "m", "usage": usage})
        trace.set_output("y", response={"model": "m", "usage": {"prompt_tokens": 5}})
        trace.set_output("z", response={"model": "m"})
    first, second, third = _only(captured).steps
    assert first["buckets"] == {"input_uncached": 5, "cache_read": 0, "output": 0}
    assert second["buckets"] == {"input_uncached": 5}
    assert "buckets" not in third


def test_option_that_does_not_exist_is_a_fault() -> None:
    with capture(strict=False) as captured, beleg.traced_agent_run(workflow="w") as trace:
        with trace.step("s", modle="m"):
            pass
        with trace.step("s", batch=True, attempt=2, attempt_reason="retry"):
            pass
    assert captured.faults.faults == {"refused_option": 1}
    assert [step.get("batch") for step in captured.only_run().steps] == [None, True]


def test_model_within_an_answer_is_a_step_below_its_step() -> None:
    usage = {"input_tokens": 5, "output_tokens": 1, "cache_read_input_tokens": 0}
    advisor = {**usage, "type": "advisor_message", "model": "claude-opus-4-8"}
    answer = {"model": "claude-sonnet-5", "usage": {**usage, "iterations": [{"type": "message", **usage}, advisor]}}
    with capture() as captured, beleg.traced_agent_run(workflow="ocr") as trace:
        trace.set_output(1, response=answer)
    main, part = _only(captured).steps
    assert part["parent_step_id"] == main["step_id"]
    assert (main["model"], part["model"]) == ("claude-sonnet-5", "claude-opus-4-8")


def test_failure_of_the_caller_is_recorded_by_class_and_raised_unchanged() -> None:
    error = ValueError("PLANTED MESSAGE")
    with (
        capture() as captured,
        pytest.raises(ValueError, match="PLANTED") as raised,
        beleg.traced_agent_run(workflow="ocr"),
    ):
        raise error
    assert raised.value is error
    assert [frame.name for frame in raised.traceback] == [
        "test_failure_of_the_caller_is_recorded_by_class_and_raised_unchanged"
    ]
    finished = _only(captured).finished
    assert finished is not None
    assert (finished["status"], finished["exception_class"]) == ("failed", "ValueError")
    captured.assert_no_trace_of("PLANTED")


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit, asyncio.CancelledError, GeneratorExit])
def test_interruption_passes_through_and_is_recorded_as_cancelled(kind: type[BaseException]) -> None:
    run = beleg.traced_agent_run(workflow="ocr")
    with capture() as captured, pytest.raises(kind), run, run.step("call"):
        raise kind
    seen = _only(captured)
    assert (seen.status, seen.steps[0]["status"]) == ("cancelled", "cancelled")


def test_nested_runs_know_their_parent_and_give_the_context_back() -> None:
    with capture() as captured:
        with beleg.traced_agent_run(workflow="outer") as outer:
            with beleg.traced_agent_run(workflow="inner") as inner:
                assert beleg.current_run() is inner
            assert beleg.current_run() is outer
        assert beleg.current_run().run_id is None
    assert captured.only_run("inner").started["parent_run_id"] == outer.run_id


def test_tasks_carry_their_run_and_do_not_mix() -> None:
    async def work(name: str) -> str | None:
        async with beleg.traced_agent_run(workflow=name) as trace:
            await asyncio.sleep(0)
            run = beleg.current_run()
            assert run is trace
            inside = await asyncio.to_thread(beleg.current_run)
            assert inside is trace
        return trace.run_id

    async def main() -> list[str | None]:
        return await asyncio.gather(*(work(f"w{i}") for i in range(20)))

    with capture() as captured:
        ids = asyncio.run(main())
    assert {(run.workflow, run.run_id) for run in captured.runs} == {(f"w{i}", ids[i]) for i in range(20)}


def test_executor_threads_belong_to_the_run_when_carried_and_only_then() -> None:
    with capture(), ThreadPoolExecutor(4) as pool, beleg.traced_agent_run(workflow="ocr") as trace:
        carried = beleg.carry(beleg.current_run)
        assert [f.result() for f in [pool.submit(carried) for _ in range(20)]] == [trace] * 20
        assert pool.submit(beleg.current_run).result().run_id is None


def test_units_add_up_over_threads() -> None:
    def count(trace: Run) -> None:
        for _ in range(500):
            trace.units(1, "transaction")

    with capture() as captured, beleg.traced_agent_run(workflow="ocr") as trace:
        threads = [threading.Thread(target=count, args=(trace,)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        trace.units(3)
    assert _only(captured).units == {"transaction": 4000, "result": 3}


def test_waiting_run_stays_open_and_its_wait_is_no_duration() -> None:
    with capture() as captured:
        with beleg.traced_agent_run(workflow="vat") as trace:
            run_id = trace.needs_input()
        assert captured.only_run().status == "needs_input"
        with beleg.resume_run(run_id) as again:
            assert again.run_id == run_id
            again.set_output("done")
    run = _only(captured)
    assert (run.states, run.status) == (["needs_input", "running"], "succeeded")
    assert run.finished is not None
    # Only the pipeline sees the part before the wait: no figure here is better than a wrong one.
    assert "duration_ms" not in run.finished


def test_run_resumed_in_its_own_process_counts_the_work_on_both_sides_of_the_wait() -> None:
    with capture() as captured, beleg.traced_agent_run(workflow="vat") as trace:
        trace.needs_input()
        for _ in range(100):
            trace.tool("wait")  # a look at no clock: nothing of the wait counts
        trace.resume()
    run = _only(captured)
    assert run.finished is not None
    assert run.finished["duration_ms"] == 2  # one tick before and one after; the stopwatch ticks per look


def test_waiting_run_that_fails_has_ended() -> None:
    def fails_while_waiting() -> None:
        with beleg.traced_agent_run(workflow="vat") as trace:
            trace.needs_input()
            raise RuntimeError

    with capture() as captured, pytest.raises(RuntimeError):
        fails_while_waiting()
    assert _only(captured).status == "failed"


def test_attached_run_adds_steps_and_does_not_end_it() -> None:
    with capture() as captured, beleg.traced_agent_run(workflow="ocr") as trace:
        with beleg.attach_run(trace.run_id) as part, part.step("extract") as step:
            step.record(ANSWER)
        assert captured.only_run().status == "running"
    assert len(_only(captured).steps) == 1


def test_artifact_of_a_registered_shape_is_stored_and_hashed() -> None:
    beleg.register_shape(
        "totals",
        {"type": "object", "properties": {"net": {"type": "integer"}, "cur": {"type": "string", "enum": ["EUR"]}}},
    )
    with capture() as captured, beleg.traced_agent_run(workflow="ocr") as trace:
        trace.artifact("totals", {"net": 5, "cur": "EUR"})
    (artifact,) = _only(captured).artifacts
    assert artifact["content"] == {"net": 5, "cur": "EUR"}
    assert artifact["content_hash"] == beleg.fingerprint({"net": 5, "cur": "EUR"})


def test_streamed_answer_is_passed_through_and_its_usage_read() -> None:
    chunks = [{"id": "c", "model": "gpt-4o"}, {"usage": {"prompt_tokens": 3, "completion_tokens": 2}}]

    async def stream() -> Any:
        for chunk in chunks:
            yield chunk

    async def read(trace: Any) -> list[Any]:
        with trace.step("async") as step:
            return [chunk async for chunk in step.awatch(stream())]

    with capture() as captured, beleg.traced_agent_run(workflow="ocr") as trace:
        with trace.step("sync") as step:
            assert list(step.watch(iter(chunks))) == chunks
        assert asyncio.run(read(trace)) == chunks
    assert [step["buckets"] for step in _only(captured).steps] == [{"input_uncached": 3, "output": 2}] * 2


def test_run_used_without_a_block_ends_when_told() -> None:
    with capture() as captured:
        run = beleg.traced_agent_run(workflow="ocr")
        run.start()
        run.start()
        run.finish()
        run.finish()
    assert [event["event"] for event in captured.events] == ["run_started", "run_finished"]


def test_switched_off_tracing_does_nothing(spool: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BELEG_DISABLED", "1")

    class Untouchable:
        def __getattribute__(self, name: str) -> Any:
            raise AssertionError(name)

    with beleg.traced_agent_run(workflow="ocr", input_payload=Untouchable()) as trace:
        with trace.step("x", input_payload=Untouchable()) as step:
            step.record(Untouchable())
        trace.tool("y")
        trace.set_output(Untouchable(), response=Untouchable())
        trace.units(1)
        trace.artifact("none", {})
        assert trace.needs_input() is None
        with beleg.resume_run(trace.run_id), beleg.attach_run(trace.run_id):
            pass
    assert beleg.feedback(trace.run_id, rating="like") is None
    assert beleg.outcome("ocr", "document") is None
    assert not spool.exists()
