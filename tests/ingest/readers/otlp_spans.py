"""Spans of OTLP/JSON for tests, as exporters write them."""

from collections.abc import Mapping
from typing import Any

START_NS = 1_780_000_000_000_000_000
"""2026-05-28T20:26:40Z."""
TRACE = "0af7651916cd43dd8448eb211c80319c"
MS = 1_000_000

Json = dict[str, Any]


def value(given: Any) -> Json:
    """An attribute's value in OTLP/JSON: whole numbers as text, as the protobuf mapping demands."""
    if isinstance(given, bool):
        return {"boolValue": given}
    if isinstance(given, int):
        return {"intValue": str(given)}
    if isinstance(given, float):
        return {"doubleValue": given}
    if isinstance(given, list):
        return {"arrayValue": {"values": [value(item) for item in given]}}
    if isinstance(given, dict):
        return {"kvlistValue": {"values": attributes(given)}}
    return {"stringValue": given}


def attributes(given: Mapping[str, Any]) -> list[Json]:
    return [{"key": key, "value": value(content)} for key, content in given.items()]


def span(  # noqa: PLR0917  # as one writes a span down
    number: int, parent: int | None = None, name: str = "span", trace: str = TRACE, at_ms: int | None = None,
    ms: int = 10, given: Mapping[str, Any] | None = None, **more: Any,
) -> Json:  # fmt: skip
    """A span with the id `number`, which starts `at_ms` (its number) after START_NS and takes `ms`."""
    start = START_NS + (number if at_ms is None else at_ms) * MS
    return {
        "traceId": trace,
        "spanId": f"{number:016x}",
        "parentSpanId": "" if parent is None else f"{parent:016x}",
        "name": name,
        "kind": 1,
        "startTimeUnixNano": str(start),
        "endTimeUnixNano": str(start + ms * MS),
        "attributes": attributes(given or {}),
        "status": {},
        **more,
    }


def request(
    *spans: Json, scope: str = "test", version: str = "1", schema: str = "", resource: Mapping[str, Any] | None = None
) -> Json:
    """An export request with one resource and one scope."""
    group = {"scope": {"name": scope, "version": version}, "spans": list(spans), "schemaUrl": schema}
    given = {"service.name": "shop", **(resource or {})}
    return {"resourceSpans": [{"resource": {"attributes": attributes(given)}, "scopeSpans": [group]}]}


def usage(input_tokens: int, output_tokens: int, **more: Any) -> Json:
    """Attributes of a chat call in the names of OpenTelemetry's conventions."""
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.response.model": "gpt-4o-mini-2024-07-18",
        "gen_ai.usage.input_tokens": input_tokens,
        "gen_ai.usage.output_tokens": output_tokens,
        **more,
    }


def agent(**more: Any) -> Json:
    """Attributes of an agent's span, which may repeat the usage of its calls."""
    return {**more, "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "helper"}
