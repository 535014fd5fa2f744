"""Spans of every GenAI convention are read by one table."""

import json
from pathlib import Path
from typing import Any

import pytest

from beleg.trace import semconv_names as names
from beleg.trace.semconv import read_span, read_usage, whole
from beleg.trace.usage import normalise


@pytest.mark.parametrize(
    ("field", "alias"),
    [(field, alias) for field, aliases in names.TOKENS.items() for alias in aliases],
)
def test_every_alias_is_read_into_its_field(field: str, alias: str) -> None:
    assert getattr(read_usage({alias: "7"}), field) == 7


def test_cache_writes_under_their_new_name_are_inside_the_input() -> None:
    usage = normalise(
        read_usage(
            {
                "gen_ai.usage.input_tokens": 11_935,
                "gen_ai.usage.cache_read.input_tokens": 5_758,
                "gen_ai.usage.cache_write.input_tokens": 6_174,
            }
        )
    )
    assert usage.known == {"input_uncached": 3, "cache_read": 5_758, "cache_write": 6_174}


def test_text_tokens_written_where_cached_ones_belong_are_not_taken_for_cached() -> None:
    usage = normalise(read_usage({"llm.token_count.prompt": 50, "llm.token_count.prompt_details.cache_input": 50}))
    assert usage.known == {"input_uncached": 50}


def test_bedrock_instrumentation_passes_on_an_exclusive_input() -> None:
    attributes = {"llm.token_count.prompt": 3, "llm.token_count.prompt_details.cache_read": 7_917}
    usage = normalise(read_usage(attributes, scope="openinference.instrumentation.bedrock"))
    assert usage.known == {"input_uncached": 3, "cache_read": 7_917}


def test_more_cached_than_an_inclusive_input_holds_leaves_one_reading() -> None:
    attributes = {"llm.token_count.prompt": 3, "llm.token_count.prompt_details.cache_read": 7_917}
    usage = normalise(read_usage(attributes))
    assert usage.known == {"input_uncached": 3, "cache_read": 7_917}
    assert (usage.convention, usage.convention_evidence) == ("exclusive", "identity")


def test_total_decides_where_an_instrumentation_differs_from_the_convention() -> None:
    usage = normalise(
        read_usage(
            {
                "gen_ai.usage.input_tokens": 4_299,
                "gen_ai.usage.output_tokens": 631,
                "gen_ai.usage.cache_read_input_tokens": 35_574,
                "gen_ai.usage.cache_write_input_tokens": 17_787,
                "gen_ai.usage.total_tokens": 58_291,
            }
        )
    )
    assert (usage.convention, usage.convention_evidence) == ("exclusive", "identity")


@pytest.mark.parametrize(
    ("attributes", "scope", "name", "operation", "rollup"),
    [
        ({"gen_ai.operation.name": "chat"}, None, "chat", "model", False),
        ({"gen_ai.operation.name": "invoke_agent"}, None, "", "agent", True),
        ({"gen_ai.operation.name": "execute_tool"}, None, "", "tool", False),
        ({"gen_ai.operation.name": "something_new"}, None, "", "other", True),
        ({"openinference.span.kind": "LLM"}, None, "", "model", False),
        ({"openinference.span.kind": "CHAIN"}, None, "", "workflow", True),
        ({"traceloop.span.kind": "workflow"}, None, "", "workflow", True),
        ({}, "ai", "ai.generateText", "workflow", True),
        ({}, "ai", "ai.generateText.doGenerate", "model", False),
        ({}, "ai", "ai.toolCall", "tool", False),
        ({"gen_ai.request.model": "m", "gen_ai.usage.input_tokens": 1}, None, "", "model", False),
        ({"gen_ai.tool.name": "search"}, "pydantic-ai", "running tool", "tool", False),
        ({"langfuse.observation.type": "generation"}, "langfuse-sdk", "", "model", False),
        ({"langfuse.observation.type": "span"}, "langfuse-sdk", "", "other", True),
        ({"genkit:metadata:subtype": "flow"}, "genkit-tracer", "", "workflow", True),
        ({}, "ai", "ai.embed.doEmbed my-function", "model", False),
        ({"gen_ai.request.model": "m", "gcp.vertex.agent.llm_response": "{}"}, None, "call_llm", "model", False),
        ({"http.method": "GET"}, None, "GET /", None, False),
    ],
)
def test_operation_of_a_span_is_told_by_its_convention(
    attributes: dict[str, Any], scope: str | None, name: str, operation: str | None, rollup: bool
) -> None:
    reading = read_span(attributes, scope=scope, name=name)
    assert (reading.operation, reading.is_rollup) == (operation, rollup)


@pytest.mark.parametrize(
    ("given", "provider"),
    [
        ("aws.bedrock", "aws"),
        ("gcp.vertex_ai", "google"),
        ("gcp.vertex.agent", "google"),
        ("x_ai", "x-ai"),
        ("OpenAI", "openai"),
        ("groq", "groq"),
        ("anthropic.messages", "anthropic"),
        ("amazon-bedrock", "aws"),
        ("google.generative-ai", "google"),
        ("azure-openai.chat", "azure"),
        ("xai.chat", "x-ai"),
    ],
)
def test_provider_gets_the_name_of_the_price_book(given: str, provider: str) -> None:
    assert read_span({"gen_ai.operation.name": "chat", "gen_ai.provider.name": given}).call.provider == provider


def test_cost_is_billed_only_where_the_span_says_that_it_is_the_providers() -> None:
    cost = {"gen_ai.operation.name": "chat", "gen_ai.usage.cost.amount": 0.5, "gen_ai.usage.cost.currency": "USD"}
    assert read_span(cost).call.billed_pico_usd is None
    assert read_span({**cost, "gen_ai.usage.cost.source": "provider"}).call.billed_pico_usd == 5 * 10**11
    assert read_span({"gen_ai.operation.name": "chat", "llm.cost.total": 0.5}).call.billed_pico_usd is None


@pytest.mark.parametrize(
    ("value", "count"),
    [(7, 7), (7.0, 7), ("7", 7), ("7.0", 7), (7.5, None), ("x", None), (True, None), (None, None), ("nan", None)],
)
def test_count_is_read_in_every_form_and_nothing_else(value: Any, count: int | None) -> None:
    assert whole(value) == count


def _spans(path: Path) -> Any:
    for resource in json.loads(path.read_text())["resourceSpans"]:
        for scope in resource["scopeSpans"]:
            for span in scope["spans"]:
                attributes = {p["key"]: next(iter(p["value"].values())) for p in span.get("attributes", ())}
                yield scope.get("scope", {}).get("name"), attributes


def test_recorded_calls_of_real_instrumentations_agree_on_their_tokens(test_data: Path) -> None:
    seen: set[tuple[str, int | None, int | None]] = set()
    for path in sorted((test_data / "otlp").glob("*.json")):
        for scope, attributes in _spans(path):
            reading = read_span(attributes, scope=scope)
            if reading.operation == "model":
                buckets = normalise(reading.call.reported).buckets
                seen.add((path.name.split(".")[0], buckets["cache_read"], buckets["output"]))
    assert ("openinference", 0, 187) in seen
    assert ("traceloop", 1_024) in {(origin, cached) for origin, cached, _ in seen}
    assert ("openinference", 1_024) in {(origin, cached) for origin, cached, _ in seen}


def test_no_alias_of_a_payload_is_among_those_that_are_read() -> None:
    read = [alias for aliases in names.TOKENS.values() for alias in aliases]
    read += [*names.MODEL, *names.PROVIDER, *names.RESPONSE_ID, *names.CONVERSATION, *names.TOOL, *names.WORKFLOW]
    assert not [alias for alias in read if alias.startswith(names.PAYLOAD_PREFIXES)]
