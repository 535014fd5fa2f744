"""The span processor, driven by the real OpenTelemetry SDK where it is installed."""

from typing import Any

import pytest

import beleg
from beleg.testing import capture
from beleg.trace.otel import BelegSpanProcessor
from tests.trace.schemas import assert_valid

trace_sdk = pytest.importorskip("opentelemetry.sdk.trace")


@pytest.fixture
def tracer() -> Any:
    provider = trace_sdk.TracerProvider()
    provider.add_span_processor(BelegSpanProcessor(workflow="chatbot"))
    return provider.get_tracer("test")


USAGE = {
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "openai",
    "gen_ai.response.model": "gpt-4o",
    "gen_ai.usage.input_tokens": 100,
    "gen_ai.usage.output_tokens": 20,
    "gen_ai.input.messages": "PLANTED",
}


def test_trace_becomes_a_run_and_its_usage_counts_once(tracer: Any) -> None:
    with capture() as captured, tracer.start_as_current_span("agent") as agent:
        agent.set_attributes({**USAGE, "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "helper"})
        with tracer.start_as_current_span("chat", attributes=USAGE):
            pass
        with tracer.start_as_current_span("tool", attributes={"gen_ai.operation.name": "execute_tool"}):
            pass
    for event in captured.events:
        assert_valid(event)
    run = captured.only_run("helper")
    assert run.tokens("input_uncached") == 100
    assert [step["kind"] for step in run.steps] == ["model", "tool", "other"]
    assert run.steps[0]["input_hash"] == beleg.fingerprint("PLANTED")
    captured.assert_no_trace_of("PLANTED")


def test_usage_of_a_rollup_counts_where_nothing_below_has_any(tracer: Any) -> None:
    attributes = {**USAGE, "gen_ai.operation.name": "invoke_agent"}
    with capture() as captured, tracer.start_as_current_span("agent", attributes=attributes):
        pass
    assert captured.only_run("chatbot").tokens("input_uncached") == 100


def test_span_inside_a_run_is_a_step_of_it(tracer: Any) -> None:
    with capture() as captured, beleg.traced_agent_run(workflow="ocr") as run:
        with tracer.start_as_current_span("chat", attributes=USAGE):
            pass
        assert captured.only_run("ocr").steps[0]["run_id"] == run.run_id
    assert len(captured.runs) == 1


def test_trace_without_genai_spans_leaves_nothing(tracer: Any) -> None:
    with capture() as captured, tracer.start_as_current_span("GET /"):
        pass
    assert captured.events == []


def test_failed_span_is_a_failed_step_without_the_message(tracer: Any) -> None:
    def fail() -> None:
        with tracer.start_as_current_span("chat", attributes={**USAGE, "error.type": "TimeoutError"}):
            raise TimeoutError("PLANTED")

    with capture() as captured, pytest.raises(TimeoutError):
        fail()
    (step,) = captured.of("step")
    assert (step["status"], step["exception_class"]) == ("failed", "TimeoutError")
    captured.assert_no_trace_of("PLANTED")
