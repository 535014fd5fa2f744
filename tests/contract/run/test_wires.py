"""Each wire format over real HTTP: what is sent, what is read, and every fault."""

import asyncio
import contextlib
import importlib
import json
import logging
from typing import Any

import pytest

import beleg
from beleg.contract.client import errors
from beleg.contract.run import transport
from beleg.contract.run.result import Result
from beleg.testing import capture
from tests.contract.client.released import ANSWER
from tests.contract.run.conftest import EVERY_API, VARIABLES, Make, asked
from tests.contract.run.double import (
    MODEL,
    Act,
    Api,
    Double,
    answers,
    cut,
    drips,
    envelope,
    fails,
    floods,
    hangs,
    raw,
    refuses,
    says,
)
from tests.trace.schemas import assert_valid


def run(feature: Any, way: str, **options: Any) -> Result:
    """Both doors lead through the same course."""
    result = feature.run(VARIABLES, **options) if way == "run" else asyncio.run(feature.arun(VARIABLES, **options))
    assert isinstance(result, Result)
    return result


@EVERY_API
@pytest.mark.parametrize("way", ["run", "arun"])
@pytest.mark.parametrize("output", ["strict", "validated"])
def test_answer_is_given_validated_and_traced(feature: Make, model: Double, api: Api, way: str, output: str) -> None:
    model.will(answers(ANSWER))
    made = feature(api, output=output)
    with capture() as captured:
        result = run(made, way)
    assert result.value == ANSWER
    assert (result.version, result.mode) == ("1.0.0", "native" if output == "strict" else "prompted")
    assert [str(each) for each in result.attempts] == [f"{result.provider}/{result.model}: answered"]
    traced = captured.only_run()
    assert traced.run_id == result.run_id
    assert traced.workflow == "receipt-extraction"
    stamp = ("feature", "contract_version", "prompt_version", "prompt_source")
    assert [traced.started.get(name) for name in stamp] == ["receipt-extraction", "1.0.0", "1.0.0", "registry"]
    assert traced.started["contract_digest"] == made.contract.digest
    assert traced.started["input_hash"] == beleg.fingerprint(VARIABLES)
    assert traced.finished is not None
    assert traced.finished["output_hash"] == beleg.fingerprint(ANSWER)
    assert [(s["attempt"], s["model"], s["status"]) for s in traced.steps] == [(1, MODEL[api], "succeeded")]
    assert (traced.tokens("input_uncached"), traced.tokens("output")) == (11, 7)
    for event in captured.events:
        assert_valid(event)
    captured.assert_no_trace_of("PLANTED")


@EVERY_API
def test_question_holds_prompt_schema_and_limits(feature: Make, model: Double, api: Api) -> None:
    model.will(answers(ANSWER))
    feature(api, primary={"max_output_tokens": 300, "temperature": 0.0}).run(VARIABLES)
    body = model.seen[0].body
    assert "You read receipts." in model.seen[0].text
    assert VARIABLES["document"] in model.seen[0].text
    assert body["temperature"] == 0.0
    assert 300 in [body.get(name) for name in ("max_tokens", "max_completion_tokens", "max_output_tokens")]
    schema = {
        "chat": lambda: body["response_format"]["json_schema"],
        "responses": lambda: body["text"]["format"],
        "messages": lambda: body["output_config"]["format"],
    }[api]()["schema"]
    assert schema["additionalProperties"] is False
    assert list(schema["properties"]) == ["total", "currency", "note"]
    assert schema["required"] == (["total", "currency"] if api == "messages" else ["total", "currency", "note"])


@pytest.mark.parametrize("api", ["chat", "responses"])
def test_null_of_an_optional_field_is_no_field(feature: Make, model: Double, api: Api) -> None:
    model.will(answers({**ANSWER, "note": None}))
    assert feature(api).run(VARIABLES).value == ANSWER


FAULTS: dict[str, tuple[Act, str, int | None]] = {
    "slow": (hangs, "timeout", None),
    "dripping": (drips, "timeout", None),
    "half an answer": (cut(), "connection", None),
    "429": (fails(429), "rate_limit", 429),
    "500": (fails(500), "server_error", 500),
    "529": (fails(529), "server_error", 529),
    "408": (fails(408), "timeout", 408),
    "malformed JSON": (raw(b'{"id": "x", '), "server_error", None),
    "a web page": (raw(b"<html></html>", "text/html"), "server_error", None),
    "JSON of another kind": (raw(b"[]"), "server_error", None),
    "JSON of no wire format": (raw(b'{"choices": [], "output": 3, "content": null}'), "server_error", None),
    "a number beyond all": (raw(b'{"choices": 1e999}'), "server_error", None),
    "400": (fails(400), "bad_request", 400),
    "401": (fails(401), "bad_request", 401),
    "404": (fails(404), "bad_request", 404),
}


@EVERY_API
@pytest.mark.parametrize("way", ["run", "arun"])
@pytest.mark.parametrize("fault", FAULTS)
def test_fault_is_told_by_its_kind_and_recorded_without_a_word_of_the_provider(
    feature: Make, model: Double, api: Api, way: str, fault: str
) -> None:
    act, outcome, status = FAULTS[fault]
    model.will(act)
    made = feature(api, primary={"timeout_s": 0.3 if outcome == "timeout" else 20.0})
    with capture() as captured, pytest.raises(errors.NoProvider) as caught:
        run(made, way)
    (attempt,) = caught.value.attempts
    assert (attempt.outcome, attempt.status, attempt.reason) == (outcome, status, None)
    assert attempt.code == (None if status is None else "server_error")
    assert outcome in str(caught.value)
    assert "PLANTED" not in str(caught.value)
    traced = captured.only_run()
    assert traced.status == "failed"
    assert traced.finished is not None
    assert traced.finished["exception_class"].endswith(".NoProvider")
    assert (traced.steps[0]["status"], traced.steps[0]["model"]) == ("failed", made.contract.providers.primary.model)
    captured.assert_no_trace_of("PLANTED")


@EVERY_API
@pytest.mark.parametrize("way", ["run", "arun"])
def test_oversized_answer_is_cut_off(
    feature: Make, model: Double, api: Api, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transport, "MAX_BYTES", 1 << 20)
    model.will(floods)
    with pytest.raises(errors.InvalidAnswer, match="'size'") as caught:
        run(feature(api), way)
    assert [each.outcome for each in caught.value.attempts] == ["invalid_answer"]


@EVERY_API
def test_refusal_is_no_answer_and_no_outage(feature: Make, model: Double, api: Api) -> None:
    model.will(refuses())
    with capture() as captured, pytest.raises(errors.Refused, match="declined to answer") as caught:
        feature(api).run(VARIABLES)
    assert "PLANTED" not in str(caught.value)
    captured.assert_no_trace_of("PLANTED")


@pytest.mark.parametrize("code", ["content_filter", "content_policy_violation"])
def test_policy_of_the_provider_is_a_refusal_too(feature: Make, model: Double, code: str) -> None:
    model.will(fails(400, code))
    with pytest.raises(errors.Refused):
        feature("chat").run(VARIABLES)


@pytest.mark.parametrize(("api", "stop"), [("chat", "content_filter"), ("responses", "content_filter")])
def test_filtered_answer_is_a_refusal(feature: Make, model: Double, api: Api, stop: str) -> None:
    model.will(says("half", stop=stop))
    with pytest.raises(errors.Refused):
        feature(api).run(VARIABLES)


@pytest.mark.parametrize(
    ("api", "stop"), [("chat", "length"), ("responses", "max_output_tokens"), ("messages", "max_tokens")]
)
def test_answer_cut_by_the_token_limit_is_invalid_even_if_it_parses(
    feature: Make, model: Double, api: Api, stop: str
) -> None:
    model.will(says(json.dumps(ANSWER), stop=stop))
    with pytest.raises(errors.InvalidAnswer, match="truncated"):
        feature(api, repair_attempts=1).run(VARIABLES)
    assert len(model.seen) == 1


@EVERY_API
def test_prose_around_one_json_value_is_let_through(feature: Make, model: Double, api: Api) -> None:
    model.will(says(f"Here you are:\n```json\n{json.dumps(ANSWER)}\n```\nAnything else?"))
    assert feature(api, output="validated").run(VARIABLES).value == ANSWER


WRONG = {
    "no JSON": ("PLANTED I think it is 119", "json", ""),
    "two values": (json.dumps(ANSWER) * 2, "json", ""),
    "half a value": ('PLANTED {"total": 119.0, "lines": [{"total": 1, "currency": "EUR"}], "cur', "json", ""),
    "a wrong type": ('{"total": "PLANTED", "currency": "EUR"}', "type", "/total"),
    "a missing field": ('{"total": 1}', "required", ""),
    "a foreign field": ('{"total": 1, "currency": "EUR", "PLANTED": 1}', "additionalProperties", ""),
    "a value outside": ('{"total": 1, "currency": "PLANTED"}', "enum", "/currency"),
    "too long": (json.dumps({**ANSWER, "note": "PLANTED" * 40}), "maxLength", "/note"),
    "a key twice": ('{"total": 1, "total": 2, "currency": "EUR"}', "json", ""),
    "NaN": ('{"total": NaN, "currency": "EUR"}', "json", ""),
    "infinity": ('{"total": 1e999, "currency": "EUR"}', "json", ""),
    "too deep": ("[" * 200_000, "json", ""),
    "nothing": ("", "json", ""),
}


@EVERY_API
@pytest.mark.parametrize("wrong", WRONG)
def test_answer_that_breaks_the_contract_is_refused_by_rule_and_place(
    feature: Make, model: Double, api: Api, wrong: str
) -> None:
    text, rule, place = WRONG[wrong]
    model.will(says(text))
    with capture() as captured, pytest.raises(errors.InvalidAnswer) as caught:
        feature(api).run(VARIABLES)
    assert (caught.value.rule, caught.value.place) == (rule, place)
    assert "PLANTED" not in str(caught.value)
    assert [each.outcome for each in caught.value.attempts] == ["invalid_answer"]
    captured.assert_no_trace_of("PLANTED")


def test_keys_of_the_payload_do_not_stand_in_the_place(feature: Make, model: Double) -> None:
    model.will(answers({"PLANTED name": "x"}))
    schema = {"type": "object", "additionalProperties": {"type": "number"}}
    with pytest.raises(errors.InvalidAnswer) as caught:
        feature("chat", output_schema=schema, examples=()).run(VARIABLES)
    assert (caught.value.rule, caught.value.place) == ("type", "/*")


def test_anthropic_gets_a_tool_where_it_cannot_enforce_the_schema(feature: Make, model: Double) -> None:
    from tests.contract.run.double import calls

    schema = {
        "type": "object",
        "properties": {"amounts": {"type": "object", "additionalProperties": {"type": "number"}}},
    }
    model.will(calls(("give_answer", {"amounts": {"EUR": 1}})))
    result = feature("messages", output_schema=schema, examples=()).run(VARIABLES)
    assert (result.value, result.mode) == ({"amounts": {"EUR": 1}}, "tool")
    assert model.seen[0].body["tool_choice"] == {"type": "any"}


def test_key_comes_from_the_variable_that_the_contract_names(
    feature: Make, model: Double, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEAM_KEY", "sk-team")
    model.will(answers(ANSWER))
    feature("chat", primary={"api_key_env": "TEAM_KEY"}).run(VARIABLES)
    assert model.seen[0].headers["authorization"] == "Bearer sk-team"


def test_missing_key_is_named_before_anything_is_sent(
    feature: Make, model: Double, monkeypatch: pytest.MonkeyPatch
) -> None:
    model.will(answers(ANSWER))
    with pytest.raises(errors.SetupError, match="set the environment variable NOBODYS_KEY"):
        feature("chat", primary={"api_key_env": "NOBODYS_KEY"}).run(VARIABLES)
    assert model.seen == []


def test_local_server_needs_no_key_and_foreign_keys_go_nowhere(
    feature: Make, model: Double, monkeypatch: pytest.MonkeyPatch
) -> None:
    model.will(answers(ANSWER))
    feature("chat", primary={"provider": "ollama"}).run(VARIABLES)
    assert model.seen[0].headers["authorization"] == "Bearer none"


def test_provider_without_an_address_is_not_taken_for_openai(feature: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MISTRAL_API_KEY", "sk-m")
    with pytest.raises(errors.SetupError, match="names no base_url"):
        feature("chat", primary={"provider": "mistral", "base_url": None}).run(VARIABLES)


def test_address_of_the_environment_is_asked_before_that_of_the_contract(
    feature: Make, model: Double, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BELEG_BASE_URL_MUSTER_CLOUD", model.base_url("chat"))
    model.will(answers(ANSWER))
    feature("chat", primary={"provider": "muster-cloud", "base_url": "https://nowhere.example/v1"}).run(VARIABLES)
    assert len(model.seen) == 1


def test_missing_package_is_named(feature: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(errors.SetupError, match=r'pip install "beleg\[providers\]"'):
        feature("chat").run(VARIABLES)


def test_fallback_is_asked_in_its_own_wire_format_with_its_own_schema(feature: Make, model: Double) -> None:
    model.will(fails(503), answers({**ANSWER, "note": None}), answers(ANSWER))
    made = feature("messages", fallbacks=[asked(model, "responses")])
    result = made.run(VARIABLES)
    assert (result.value, result.provider) == (ANSWER, "openai")
    assert [each.api for each in model.seen] == ["messages", "responses"]
    assert [(each.number, each.reason, each.outcome) for each in result.attempts] == [
        (1, None, "server_error"),
        (2, "fallback", "answered"),
    ]


def test_tool_of_the_contract_with_the_name_of_our_own_is_not_shadowed(feature: Make, model: Double) -> None:
    from tests.contract.client.released import tool

    schema = {"type": "object", "additionalProperties": {"type": "number"}}
    model.will(answers({"EUR": 1}))
    made = feature("messages", output_schema=schema, examples=(), tools=(tool("give_answer"),))
    assert made.run(VARIABLES, tools={"give_answer": print}).mode == "prompted"


@pytest.mark.parametrize("code", ["PLANTED words", "planted_word", 3, None, ["x"], "x" * 100])
def test_only_a_known_word_of_the_providers_error_is_kept(feature: Make, model: Double, code: Any) -> None:
    model.will(fails(400, code))
    with pytest.raises(errors.NoProvider) as caught:
        feature("chat").run(VARIABLES)
    assert caught.value.attempts[0].code is None
    assert "planted" not in str(caught.value).lower()


@pytest.mark.parametrize("figures", [{}, {"cache_read_input_tokens": 3}, {"cache_read_input_tokens": None}])
def test_messages_of_a_provider_of_another_name_are_traced_as_such(
    feature: Make, model: Double, figures: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTHER_API_KEY", "sk-PLANTED-other")
    whole = envelope("messages", json.dumps(ANSWER), None, [])
    whole["usage"] = {"input_tokens": 11, "output_tokens": 7, **figures}
    model.will(raw(json.dumps(whole).encode()))
    with capture() as captured:
        feature("messages", primary={"provider": "other"}).run(VARIABLES)
    (step,) = captured.only_run().steps
    assert (step["provider"], step["api"], step["model"]) == ("other", "messages", whole["model"])
    assert (step["convention"], step["buckets"]["input_uncached"], step["buckets"]["output"]) == ("exclusive", 11, 7)


@EVERY_API
@pytest.mark.parametrize("act", [answers(ANSWER), fails(500), cut()])
def test_loggers_of_the_vendors_hold_nothing_of_a_run(
    feature: Make, model: Double, api: Api, act: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """Every logger at its most talkative; what the application does itself is still logged."""
    caplog.set_level(logging.DEBUG)
    model.will(act)
    made = feature(api)
    for way in ("run", "arun"):
        with contextlib.suppress(errors.NoProvider):
            run(made, way)
    assert len(model.seen) == 2
    assert "PLANTED" not in caplog.text
    caplog.clear()
    vendor = importlib.import_module("anthropic" if api == "messages" else "openai")
    client = (vendor.Anthropic if api == "messages" else vendor.OpenAI)(base_url=model.url, max_retries=0)
    with contextlib.suppress(vendor.APIError):
        client.post("/v1/messages", cast_to=object, body={"model": "x"})
    talkative = [each.name for each in caplog.records if each.levelno == logging.DEBUG]
    assert f"{vendor.__name__}._base_client" in talkative
    assert "httpcore2.http11" in talkative


@pytest.mark.parametrize("way", ["run", "arun"])
def test_missing_extra_is_named(feature: Make, monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    import sys

    made = feature("chat")
    monkeypatch.setitem(sys.modules, "beleg.contract.run.drive", None)
    with pytest.raises(errors.SetupError, match=r'pip install "beleg\[providers\]"'):
        run(made, way)
