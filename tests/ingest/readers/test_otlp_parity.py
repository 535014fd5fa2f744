"""The span processor in an application and the reader of what it exports make the same of one span."""

import json
from pathlib import Path
from typing import Any

import pytest

from beleg.ingest.readers.events import Maker
from beleg.ingest.readers.naming import Naming
from beleg.ingest.readers.otlp import Tree, from_protobuf, items_of
from beleg.testing import capture
from beleg.trace.otel import BelegSpanProcessor
from tests.ingest.readers.support import events, stage, write

sdk = pytest.importorskip("opentelemetry.sdk.trace")
export = pytest.importorskip("opentelemetry.sdk.trace.export")
memory = pytest.importorskip("opentelemetry.sdk.trace.export.in_memory_span_exporter")
encoder = pytest.importorskip("opentelemetry.exporter.otlp.proto.common.trace_encoder")

SAME = (
    "kind", "status", "name", "tool_name", "provider", "api", "model", "response_id", "call_key", "service_tier",
    "buckets", "raw_usage", "convention", "convention_evidence", "usage_check", "billed_pico_usd", "exception_class",
    "input_hash", "output_hash", "step_id", "run_id", "event_time", "latency_ms",
)  # fmt: skip
ANSWER = {"id": "chatcmpl-0123456789abcdef", "usage": {"prompt_tokens": 90, "completion_tokens": 4, "total_tokens": 94}}
SPANS: dict[str, dict[str, Any]] = {
    "newest conventions": {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "anthropic",
        "gen_ai.response.model": "claude-sonnet-4-5",
        "gen_ai.response.id": "msg_0123456789abcdef",
        "gen_ai.usage.input_tokens": 1_000,
        "gen_ai.usage.cache_read.input_tokens": 600,
        "gen_ai.usage.cache_write.input_tokens": 100,
        "gen_ai.usage.output_tokens": 50,
        "gen_ai.usage.reasoning.output_tokens": 20,
        "gen_ai.input.messages": '[{"role": "user"}]',
        "gen_ai.output.messages": "ä€😀",
    },
    "old conventions": {
        "gen_ai.system": "openai",
        "gen_ai.request.model": "gpt-4o",
        "gen_ai.usage.prompt_tokens": 12,
        "gen_ai.usage.completion_tokens": 3,
    },
    "openinference": {
        "openinference.span.kind": "LLM",
        "llm.provider": "openai",
        "llm.model_name": "gpt-4o-mini",
        "llm.token_count.prompt": 90,
        "llm.token_count.completion": 4,
        "llm.cost.total": 0.00001,
        "input.value": "hello",
        "output.value": json.dumps(ANSWER),
    },
    "vercel": {
        "ai.usage.inputTokens": 5,
        "ai.usage.outputTokens": 2,
        "ai.model.id": "m",
        "ai.prompt.messages": ["a", "b"],
    },
    "tool": {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "search", "gen_ai.tool.call.arguments": "{}"},
    "embedding": {"gen_ai.operation.name": "embeddings", "gen_ai.usage.input_tokens": 9, "gen_ai.request.model": "e"},
    "bytes": {"gen_ai.operation.name": "chat", "gen_ai.input.messages": b"\x00\xff"},
}


@pytest.mark.parametrize(
    "schema", [None, "https://opentelemetry.io/schemas/1.37.0", "https://opentelemetry.io/schemas/1.40.0"]
)
@pytest.mark.parametrize("way", SPANS)
def test_processor_and_reader_agree(way: str, schema: str | None) -> None:
    mine, exported = _both(way, schema, fails=False)
    assert {name: mine.get(name) for name in SAME} == {name: exported.get(name) for name in SAME}
    assert mine["kind"] == ("tool" if way == "tool" else "model")


def test_they_agree_on_a_failed_call() -> None:
    mine, exported = _both("newest conventions", None, fails=True)
    assert {name: mine.get(name) for name in SAME} == {name: exported.get(name) for name in SAME}
    assert (mine["status"], mine["exception_class"]) == ("failed", "TimeoutError")


def _call(*, fails: bool) -> None:
    if fails:
        raise TimeoutError("no answer")


def _both(way: str, schema: str | None, *, fails: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    """The step that the processor writes, and that of the reader from what the SDK exports as protobuf."""
    provider, kept = sdk.TracerProvider(), memory.InMemorySpanExporter()
    provider.add_span_processor(BelegSpanProcessor())
    provider.add_span_processor(export.SimpleSpanProcessor(kept))
    tracer = provider.get_tracer("ai" if way == "vercel" else "test", "1", schema_url=schema)
    name = "ai.generateText.doGenerate" if way == "vercel" else "call"
    with capture() as captured:
        try:
            with tracer.start_as_current_span(name, attributes=SPANS[way]):
                _call(fails=fails)
        except TimeoutError:
            pass
    data = encoder.encode_spans(kept.get_finished_spans()).SerializeToString()
    items = items_of(from_protobuf(data), Maker("otlp"), Naming(), Tree())
    (exported,) = [event for item in items for event in item.events if event["event"] == "step"]
    (mine,) = captured.of("step")
    return mine, exported


def test_files_that_the_reader_takes_may_come_from_the_sdk(tmp_path: Path) -> None:
    provider, kept = sdk.TracerProvider(), memory.InMemorySpanExporter()
    provider.add_span_processor(export.SimpleSpanProcessor(kept))
    tracer = provider.get_tracer("test")
    with (
        tracer.start_as_current_span("root"),
        tracer.start_as_current_span("call", attributes=SPANS["old conventions"]),
    ):
        pass
    data = encoder.encode_spans(kept.get_finished_spans()).SerializeToString()
    staged = stage(tmp_path / "s", write(tmp_path, "t.pb", data))
    assert [event["event"] for event in events(staged)] == ["run_finished", "run_started", "step"]
