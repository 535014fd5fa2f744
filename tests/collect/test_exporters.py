"""Real exporters and instrumentations against a running receiver."""

from pathlib import Path

import pytest
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from beleg.core.settings import Settings
from beleg.flow import run
from beleg.lake.catalog import connect
from tests.collect.conftest import Collector, collecting


def traced(collector: Collector, compression: Compression) -> None:
    provider = TracerProvider(resource=Resource({"service.name": "shop"}))
    provider.add_span_processor(
        BatchSpanProcessor(OTLPSpanExporter(f"{collector.url}/v1/traces", compression=compression))
    )
    tracer = provider.get_tracer("opentelemetry.instrumentation.openai_v2", "2.4b0")
    with tracer.start_as_current_span("POST /answer"):
        for number in range(3):
            attributes: dict[str, str | int] = {
                "gen_ai.operation.name": "chat",
                "gen_ai.provider.name": "openai",
                "gen_ai.request.model": "gpt-4o-mini",
                "gen_ai.response.id": f"chatcmpl-{number:024d}",
                "gen_ai.usage.input_tokens": 1000,
                "gen_ai.usage.output_tokens": 100,
            }
            with tracer.start_as_current_span("chat gpt-4o-mini", attributes=attributes):
                pass
    provider.shutdown()


@pytest.mark.parametrize("compression", [Compression.NoCompression, Compression.Gzip], ids=["plain", "gzip"])
def test_spans_of_the_sdk_become_a_priced_run(tmp_path: Path, compression: Compression) -> None:
    with collecting(tmp_path / "home") as running:
        traced(running, compression)
    settings = Settings.load({"BELEG_HOME": str(tmp_path / "home")})
    taken = run(settings)
    assert (taken.ingest.quarantined, taken.ingest.accepted_by_event["step"]) == (0, 3)
    with connect(settings) as con:
        figures = "count(*), sum(model_steps), sum(cost_pico_usd), any_value(workflow)"
        row = con.execute(f"SELECT {figures} FROM run_costs").fetchone()
    # 3 calls x (1000 x 0.15 + 100 x 0.60) USD per million tokens.
    assert row == (1, 3, 3 * (1000 * 150_000 + 100 * 600_000), "otlp")
