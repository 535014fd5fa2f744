"""Whether an input count holds the cached tokens: asked of the schema, the instrumentation, the figures, per span."""

import json
from typing import Any

import pytest

from beleg.trace.call import call_fields
from beleg.trace.semconv import payloads, read_span, read_usage, with_events
from beleg.trace.usage import Usage, normalise

SCHEMA = "https://opentelemetry.io/schemas/{}"
CACHED = {
    "gen_ai.usage.input_tokens": 1_000,
    "gen_ai.usage.output_tokens": 50,
    "gen_ai.usage.cache_read.input_tokens": 600,
}
CHAT = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}


def used(attributes: dict[str, Any], **by: Any) -> Usage:
    return normalise(read_usage(attributes, **by))


def spanned(attributes: dict[str, Any], **by: Any) -> Usage:
    return normalise(read_span({**CHAT, **attributes}, **by).call.reported)


@pytest.mark.parametrize(
    ("by", "convention", "evidence", "uncached"),
    [
        ({"schema_url": SCHEMA.format("1.40.0")}, "inclusive", "declared", 400),
        ({"schema_url": SCHEMA.format("gen-ai/1.42.0"), "provider": "anthropic"}, "inclusive", "declared", 400),
        ({"schema_url": SCHEMA.format("1.37.0"), "provider": "anthropic"}, "exclusive", "provider_rule", 1_000),
        ({"schema_url": SCHEMA.format("1.37.0"), "provider": "openai"}, "inclusive", "provider_rule", 400),
        ({"scope": "strands.telemetry.tracer"}, "exclusive", "provider_rule", 1_000),
        ({"scope": "opentelemetry.instrumentation.bedrock"}, "exclusive", "provider_rule", 1_000),
        ({"scope": "opentelemetry.instrumentation.x", "provider": "anthropic"}, "inclusive", "provider_rule", 400),
        ({"scope": "pydantic-ai", "schema_url": SCHEMA.format("1.30.0")}, "inclusive", "provider_rule", 400),
        ({"scope": "ai", "provider": "anthropic"}, "exclusive", "provider_rule", 1_000),
        ({"scope": "ai", "provider": "openai"}, "inclusive", "provider_rule", 400),
        ({}, "inclusive", "provider_rule", 400),
    ],
)  # fmt: skip
def test_who_wrote_a_span_tells_how_its_input_is_read(
    by: dict[str, Any], convention: str, evidence: str, uncached: int
) -> None:
    usage = used(CACHED, **by)
    assert (usage.convention, usage.convention_evidence) == (convention, evidence)
    assert usage.known == {"input_uncached": uncached, "cache_read": 600, "output": 50}


@pytest.mark.parametrize("schema", ["1.40.0", "1.44.0"])
def test_figures_that_break_the_declared_convention_outrank_it(schema: str) -> None:
    beside = {**CACHED, "gen_ai.usage.total_tokens": 1_650}
    usage = used(beside, schema_url=SCHEMA.format(schema))
    assert (usage.convention, usage.convention_evidence, usage.usage_check) == ("exclusive", "identity", "ok")
    more = {**CACHED, "gen_ai.usage.input_tokens": 4}
    usage = used(more, schema_url=SCHEMA.format(schema))
    assert (usage.convention, usage.convention_evidence) == ("exclusive", "identity")


def test_total_that_an_exclusive_instrumentation_adds_up_itself_proves_nothing() -> None:
    usage = used({**CACHED, "gen_ai.usage.total_tokens": 1_050}, scope="opentelemetry.instrumentation.bedrock")
    assert usage.known["input_uncached"] == 1_000
    assert (usage.convention, usage.usage_check) == ("exclusive", "ok")


def test_version_six_of_the_ai_sdk_declares_what_is_inside() -> None:
    six = {
        "ai.usage.inputTokens": 10_000,
        "ai.usage.inputTokenDetails.noCacheTokens": 500,
        "ai.usage.inputTokenDetails.cacheReadTokens": 8_000,
        "ai.usage.inputTokenDetails.cacheWriteTokens": 1_500,
        "ai.usage.outputTokens": 20,
    }
    usage = used(six, scope="ai", provider="anthropic")
    assert usage.known == {"input_uncached": 500, "cache_read": 8_000, "cache_write": 1_500, "output": 20}
    assert usage.convention_evidence == "declared"


@pytest.mark.parametrize("version", ["4", "5"])
def test_earlier_ai_sdk_with_anthropic_is_read_from_the_providers_own_figures(version: str) -> None:
    usage = {"input_tokens": 100, "cache_read_input_tokens": 50, "cache_creation_input_tokens": 7, "output_tokens": 10}
    names = {"4": ("promptTokens", "completionTokens"), "5": ("inputTokens", "outputTokens")}[version]
    attributes = {
        "ai.model.provider": "anthropic.messages",
        f"ai.usage.{names[0]}": 100,
        f"ai.usage.{names[1]}": 10,
        "ai.usage.cachedInputTokens": 50,
        "ai.usage.totalTokens": 110,
        "ai.response.providerMetadata": json.dumps({"anthropic": {"usage": usage, "cacheCreationInputTokens": 7}}),
    }
    found = spanned(attributes, scope="ai", name="ai.streamText.doStream")
    assert found.known == {"input_uncached": 100, "cache_read": 50, "cache_write": 7, "output": 10}
    assert (found.convention, found.convention_evidence) == ("exclusive", "declared")


def test_anthropics_figures_without_any_cache_are_still_anthropics() -> None:
    metadata = json.dumps({"anthropic": {"usage": {"input_tokens": 3, "output_tokens": 2}}})
    found = spanned({"ai.response.providerMetadata": metadata}, scope="ai", name="ai.generateText.doGenerate")
    assert (found.known, found.convention) == ({"input_uncached": 3, "output": 2}, "exclusive")


@pytest.mark.parametrize(
    ("metadata", "bucket", "count"),
    [
        ({"openai": {"cachedPromptTokens": 60, "reasoningTokens": 5}}, "cache_read", 60),
        ({"openai": {"cachedPromptTokens": 60, "reasoningTokens": 5}}, "reasoning", 5),
        ({"bedrock": {"usage": {"cacheReadInputTokens": 60}}}, "cache_read", 60),
        ({"bedrock": {"usage": {"cacheWriteInputTokens": 60}}}, "cache_write", 60),
        ({"anthropic": {"cacheCreationInputTokens": 60}}, "cache_write", 60),
        ({"deepseek": {"promptCacheHitTokens": 60}}, "cache_read", 60),
    ],
)
def test_provider_metadata_of_the_ai_sdk_tells_what_its_counts_leave_out(
    metadata: dict[str, Any], bucket: str, count: int
) -> None:
    attributes = {"ai.usage.promptTokens": 100, "ai.usage.completionTokens": 10}
    usage = spanned(
        {**attributes, "ai.response.providerMetadata": json.dumps(metadata)}, scope="ai", name="ai.x.doGenerate"
    )
    assert usage.known[bucket] == count


def test_gemini_through_the_ai_sdk_has_its_thoughts_beside_the_candidates() -> None:
    usage = {"promptTokenCount": 100, "candidatesTokenCount": 10, "thoughtsTokenCount": 40, "totalTokenCount": 150}
    attributes = {
        "ai.usage.inputTokens": 100,
        "ai.usage.outputTokens": 10,
        "ai.response.providerMetadata": json.dumps({"google": {"usageMetadata": usage}}),
    }
    found = spanned(attributes, scope="ai", name="ai.generateText.doGenerate")
    assert found.known == {"input_uncached": 100, "output": 10, "reasoning": 40}


def test_googles_agent_kit_keeps_the_cached_tokens_in_the_answer() -> None:
    usage = {"prompt_token_count": 900, "cached_content_token_count": 700, "candidates_token_count": 30}
    attributes = {
        "gen_ai.system": "gcp.vertex.agent",
        "gen_ai.request.model": "gemini-2.5-flash",
        "gcp.vertex.agent.llm_response": json.dumps({"content": {}, "usage_metadata": usage}),
    }
    call = read_span(attributes, scope="gcp.vertex.agent", name="call_llm").call
    assert normalise(call.reported).known == {"input_uncached": 200, "cache_read": 700, "output": 30}
    assert (call.provider, call.model) == ("google", "gemini-2.5-flash")


def test_genkit_counts_thoughts_beside_the_output() -> None:
    usage = {"inputTokens": 12, "outputTokens": 8, "thoughtsTokens": 30, "totalTokens": 50}
    attributes = {
        "genkit:metadata:subtype": "model",
        "genkit:name": "googleai/gemini-2.5-flash",
        "genkit:output": json.dumps({"usage": usage, "message": {}}),
    }
    call = read_span(attributes, scope="genkit-tracer", name="gemini").call
    assert normalise(call.reported).known == {"input_uncached": 12, "output": 8, "reasoning": 30}
    assert (call.provider, call.model) == ("google", "gemini-2.5-flash")


ANSWER = {
    "id": "msg_01EF3r8zYyZntM4Sg9a5kc6k",
    "model": "claude-sonnet-4-5",
    "usage": {
        "input_tokens": 4,
        "cache_creation_input_tokens": 1_163,
        "cache_creation": {"ephemeral_5m_input_tokens": 163, "ephemeral_1h_input_tokens": 1_000},
        "output_tokens": 187,
        "service_tier": "priority",
    },
}
OPENINFERENCE = {"openinference.span.kind": "LLM", "llm.token_count.prompt": 4, "llm.token_count.completion": 187}


def test_providers_own_answer_outranks_what_an_instrumentation_made_of_it() -> None:
    call = read_span({**OPENINFERENCE, "output.value": json.dumps(ANSWER)}).call
    known = normalise(call.reported).known
    assert known == {"input_uncached": 4, "cache_write_5m": 163, "cache_write_1h": 1_000, "output": 187}
    assert (call.response_id, call.service_tier) == ("msg_01EF3r8zYyZntM4Sg9a5kc6k", "priority")


@pytest.mark.parametrize(
    "output",
    [
        {**ANSWER, "id": "invoice-7"},
        {"usage": ANSWER["usage"]},
        [ANSWER],
        "no JSON",
        '{"id": "msg_01EF3r8zYyZntM4Sg9a5kc6k", "usage": "plenty"}',
    ],
)
def test_json_that_a_model_wrote_itself_is_no_answer_of_a_provider(output: Any) -> None:
    text = output if isinstance(output, str) else json.dumps(output)
    call = read_span({**OPENINFERENCE, "output.value": text}).call
    assert normalise(call.reported).known == {"input_uncached": 4, "output": 187}


def test_answer_of_an_agent_is_not_read_as_a_call() -> None:
    attributes = {**OPENINFERENCE, "openinference.span.kind": "AGENT", "output.value": json.dumps(ANSWER)}
    assert normalise(read_span(attributes).call.reported).known == {"input_uncached": 4, "output": 187}


@pytest.mark.parametrize(
    ("attributes", "name"),
    [
        ({"gen_ai.operation.name": "embeddings", "gen_ai.usage.input_tokens": 9}, "embeddings m"),
        ({"openinference.span.kind": "EMBEDDING", "llm.token_count.total": 9}, "CreateEmbeddings"),
        ({"ai.usage.tokens": 9, "ai.model.id": "m"}, "ai.embed.doEmbed"),
    ],
)
def test_tokens_of_an_embedding_are_all_input(attributes: dict[str, Any], name: str) -> None:
    usage = normalise(read_span(attributes, name=name).call.reported)
    assert (usage.known, usage.usage_check) == ({"input_uncached": 9, "output": 0}, "ok")


def test_audio_and_images_of_the_newest_conventions_have_buckets_of_their_own() -> None:
    usage = used(
        {
            "gen_ai.usage.input_tokens": 1_000,
            "gen_ai.usage.audio.input_tokens": 300,
            "gen_ai.usage.image.input_tokens": 200,
            "gen_ai.usage.cache_read.input_tokens": 400,
            "gen_ai.usage.audio.cache_read.input_tokens": 100,
            "gen_ai.usage.image.cache_read.input_tokens": 50,
            "gen_ai.usage.output_tokens": 80,
            "gen_ai.usage.audio.output_tokens": 20,
            "gen_ai.usage.image.output_tokens": 10,
        }
    )
    assert usage.known == {
        "input_uncached": 250,
        "input_audio": 200,
        "input_image": 150,
        "cache_read": 250,
        "cache_read_audio": 100,
        "cache_read_image": 50,
        "output": 50,
        "output_audio": 20,
        "output_image": 10,
    }


@pytest.mark.parametrize("name", ["gen_ai.client.inference.operation.details", "gen_ai.choice"])
def test_usage_on_an_event_of_the_span_counts_where_the_span_has_none(name: str) -> None:
    event = (name, {"gen_ai.usage.input_tokens": 5, "gen_ai.usage.output_tokens": 2, "gen_ai.input.messages": "hello"})
    attributes = with_events({"gen_ai.operation.name": "chat", "gen_ai.usage.output_tokens": 3}, [event])
    assert normalise(read_span(attributes).call.reported).known == {"input_uncached": 5, "output": 3}
    assert payloads(attributes) == ("hello", None)


def test_other_events_and_other_attributes_of_them_are_not_read() -> None:
    given = {"gen_ai.operation.name": "chat"}
    events: list[tuple[str, dict[str, Any]]] = [
        ("log", {"gen_ai.usage.input_tokens": 5}),
        ("gen_ai.user.message", {"content": "hello"}),
    ]
    assert with_events(given, events) == given


@pytest.mark.parametrize("alias", ["gen_ai.response.cache_hit", "litellm.cache_hit"])
@pytest.mark.parametrize("value", [True, "True", "true"])
def test_c21_answer_from_the_clients_own_cache_uses_nothing(alias: str, value: Any) -> None:
    call = read_span({**CHAT, **CACHED, alias: value}).call
    assert normalise(call.reported).known == {"input_uncached": 0, "output": 0}
    assert call.raw_usage["response_cache_hit"] == 1
    assert call.raw_usage["gen_ai.usage.input_tokens"] == 1_000


@pytest.mark.parametrize("value", [False, "False", "None", "", None, 0])
def test_call_that_missed_the_clients_cache_counts(value: Any) -> None:
    assert spanned({**CACHED, "litellm.cache_hit": value}).known["input_uncached"] == 400


@pytest.mark.parametrize(
    ("attributes", "pico_usd"),
    [
        ({"llm.cost.total": 0.0042}, 4_200_000_000),
        ({"gen_ai.usage.cost": "0.0042"}, 4_200_000_000),
        ({"operation.cost": 0.0042}, 4_200_000_000),
        ({"gen_ai.usage.cost.amount": 0.0042, "gen_ai.usage.cost.currency": "USD"}, 4_200_000_000),
        ({"gen_ai.usage.cost.amount": 0.0042, "gen_ai.usage.cost.currency": "EUR"}, None),
        ({"llm.cost.total": 0}, 0),
        ({"llm.cost.total": -1}, None),
        ({"llm.cost.total": 1_000}, None),  # the input count itself
        ({"gen_ai.usage.cost": 150_000}, None),
        ({"llm.cost.total": "plenty"}, None),
        ({"llm.cost.completion_details.output": 300}, None),
    ],
)
def test_cost_of_the_instrumentation_is_kept_apart_and_only_where_it_can_be_one(
    attributes: dict[str, Any], pico_usd: int | None
) -> None:
    call = read_span({**CHAT, **CACHED, **attributes}).call
    assert call.raw_usage.get("source_cost_pico_usd") == pico_usd
    assert call.billed_pico_usd is None


@pytest.mark.parametrize(
    "text", ["{" * 100_000, '{"a":' * 5_000, "[1]", '"{"', "{}", "", "null", '{"anthropic": 5}', 7, None]
)
def test_metadata_that_is_none_changes_nothing(text: Any) -> None:
    usage = spanned({**CACHED, "ai.response.providerMetadata": text, "genkit:output": text, "output.value": text})
    assert usage.known["input_uncached"] == 400


CONTRADICTIONS: dict[str, dict[str, Any]] = {
    "two names of the input": {"gen_ai.usage.input_tokens": 100, "gen_ai.usage.prompt_tokens": 90},
    "a zero beside a count": {"gen_ai.usage.input_tokens": 0, "gen_ai.usage.prompt_tokens": 90},
    "two names of the cached": {
        "gen_ai.usage.input_tokens": 100,
        "gen_ai.usage.cache_read.input_tokens": 30,
        "gen_ai.usage.cache_read_tokens": 20,
    },
    "half a token": {"gen_ai.usage.input_tokens": 100.5},
    "a truth": {"gen_ai.usage.input_tokens": True},
    "a word": {"gen_ai.usage.input_tokens": "many"},
}


def checked(usage: dict[str, Any]) -> dict[str, Any]:
    attributes = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "gpt-4o", "gen_ai.usage.output_tokens": 5}
    return call_fields(read_span({**attributes, **usage}).call)[0]


@pytest.mark.parametrize("usage", CONTRADICTIONS.values(), ids=CONTRADICTIONS.keys())
def test_counts_that_contradict_each_other_or_are_none_are_marked(usage: dict[str, Any]) -> None:
    assert checked(usage)["usage_check"] == "conflict"


def test_a_zero_never_hides_a_count() -> None:
    assert checked(CONTRADICTIONS["a zero beside a count"])["buckets"]["input_uncached"] == 90


@pytest.mark.parametrize(
    "usage",
    [
        {"gen_ai.usage.input_tokens": 100, "gen_ai.usage.prompt_tokens": 100},
        {
            "gen_ai.usage.input_tokens": 100,
            "gen_ai.usage.prompt_tokens": 70,
            "gen_ai.usage.cache_read.input_tokens": 30,
        },
        {"gen_ai.usage.input_tokens": float("nan")},
        {"gen_ai.usage.input_tokens": None},
    ],
    ids=["equal", "apart by the cached tokens", "NaN is unknown", "null is unknown"],
)
def test_names_that_agree_and_counts_that_are_unknown_are_no_conflict(usage: dict[str, Any]) -> None:
    assert checked(usage)["usage_check"] == "ok"
