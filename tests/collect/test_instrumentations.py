"""Real instrumentations of OpenAI and Anthropic against a local double of their servers, through the receiver."""

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from anthropic import Anthropic
from openai import OpenAI
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor

from beleg.core.settings import Settings
from beleg.flow import run
from beleg.lake.catalog import connect
from tests.collect.conftest import collecting

SECRET = "the patient's name is Marked Sentence"
OPENAI = {
    "id": "chatcmpl-B4s5Yq0kJ2m1n8v7x6c5b4n3",
    "object": "chat.completion",
    "created": 1_795_000_000,
    "model": "gpt-4o-mini-2024-07-18",
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": SECRET}}],
    "usage": {
        "prompt_tokens": 1149,
        "completion_tokens": 20,
        "total_tokens": 1169,
        "prompt_tokens_details": {"cached_tokens": 1024},
    },
}
ANTHROPIC = {
    "id": "msg_01XFDUDYJgAACzvnptvVoYEL",
    "type": "message",
    "role": "assistant",
    "model": "claude-sonnet-4-6",
    "stop_reason": "end_turn",
    "stop_sequence": None,
    "content": [{"type": "text", "text": SECRET}],
    "usage": {
        "input_tokens": 4,
        "output_tokens": 187,
        "cache_read_input_tokens": 0,
        "cache_creation_input_tokens": 1163,
    },
}
# Per million tokens: gpt-4o-mini 0.15 in, 0.075 cached, 0.60 out; claude-sonnet-4-6 3 in, 3.75 written, 15 out.
OPENAI_PICO_USD = 125 * 150_000 + 1024 * 75_000 + 20 * 600_000
OPENAI_WITHOUT_CACHE_PICO_USD = 1149 * 150_000 + 20 * 600_000
ANTHROPIC_PICO_USD = 4 * 3_000_000 + 1163 * 3_750_000 + 187 * 15_000_000


class Double(BaseHTTPRequestHandler):
    """Answers every request as the provider of its path does."""

    def do_POST(self) -> None:
        """One answer, the same each time."""
        self.rfile.read(int(self.headers["content-length"]))
        body = json.dumps(ANTHROPIC if self.path.endswith("/messages") else OPENAI).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Nothing."""


@pytest.fixture(scope="module")
def provider() -> Iterator[str]:
    """Address of the double."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Double)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def openai_v2() -> Any:
    from opentelemetry.instrumentation.openai_v2 import OpenAIInstrumentor

    return OpenAIInstrumentor()  # type: ignore[no-untyped-call]


def openinference_openai() -> Any:
    from openinference.instrumentation.openai import OpenAIInstrumentor

    return OpenAIInstrumentor()


def openllmetry_anthropic() -> Any:
    from opentelemetry.instrumentation.anthropic import AnthropicInstrumentor

    return AnthropicInstrumentor()


def openinference_anthropic() -> Any:
    from openinference.instrumentation.anthropic import AnthropicInstrumentor

    return AnthropicInstrumentor()


def ask_openai(url: str) -> None:
    with OpenAI(base_url=f"{url}/v1", api_key="none") as client:
        client.chat.completions.create(model="gpt-4o-mini", messages=[{"role": "user", "content": SECRET}])


def ask_anthropic(url: str) -> None:
    with Anthropic(base_url=url, api_key="none") as client:
        client.messages.create(
            model="claude-sonnet-4-6", max_tokens=300, messages=[{"role": "user", "content": SECRET}]
        )


@pytest.mark.parametrize(
    ("instrumentor", "ask", "cost_pico_usd"),
    [
        # It exports no count of cached tokens for chat: the call looks dearer than it was, and nothing can tell.
        pytest.param(openai_v2, ask_openai, OPENAI_WITHOUT_CACHE_PICO_USD, id="otel-openai-v2"),
        pytest.param(openinference_openai, ask_openai, OPENAI_PICO_USD, id="openinference-openai"),
        pytest.param(openllmetry_anthropic, ask_anthropic, ANTHROPIC_PICO_USD, id="openllmetry-anthropic"),
        pytest.param(openinference_anthropic, ask_anthropic, ANTHROPIC_PICO_USD, id="openinference-anthropic"),
    ],
)
def test_a_call_seen_by_a_real_instrumentation_costs_what_it_did(
    tmp_path: Path,
    provider: str,
    instrumentor: Callable[[], Any],
    ask: Callable[[str], None],
    cost_pico_usd: int,
) -> None:
    with collecting(tmp_path / "home") as running:
        tracing = TracerProvider()
        tracing.add_span_processor(SimpleSpanProcessor(OTLPSpanExporter(f"{running.url}/v1/traces")))
        watching = instrumentor()
        watching.instrument(tracer_provider=tracing)
        try:
            ask(provider)
        finally:
            watching.uninstrument()
            tracing.shutdown()
    settings = Settings.load({"BELEG_HOME": str(tmp_path / "home")})
    assert run(settings).ingest.quarantined == 0
    with connect(settings) as con:
        figures = "sum(model_steps), sum(unpriced_steps), sum(cost_pico_usd)"
        assert con.execute(f"SELECT {figures} FROM run_costs").fetchone() == (1, 0, cost_pico_usd)
    stored = [path.read_bytes() for path in settings.home.rglob("*") if path.is_file()]
    assert not [data for data in stored if b"Marked Sentence" in data]
