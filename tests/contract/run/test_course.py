"""Retries, fallbacks and repair: the course of a run, the same for both doors."""

import asyncio
from typing import Any

import pytest

from beleg.contract.client import errors
from beleg.contract.client.feature import Feature
from beleg.contract.model import Prompt, Variable
from beleg.contract.run import drive
from beleg.contract.run.result import Result
from beleg.testing import capture
from tests.contract.client.released import ANSWER, tool
from tests.contract.run.conftest import EVERY_API, LOOKUP, VARIABLES, Make, asked
from tests.contract.run.double import Act, Api, Double, answers, calls, cut, drips, fails, hangs, refuses, says


def course(feature: Feature, pauses: list[float], **tools: Any) -> Result:
    """A run whose pauses are noted, not waited for."""
    return drive.run(feature.snapshot(), VARIABLES, tools, {}, sleep=pauses.append)


def story(result: Result | errors.NoProvider | errors.Refused | errors.InvalidAnswer) -> list[tuple[object, ...]]:
    return [(each.provider, each.number, each.reason, each.outcome) for each in result.attempts]


@pytest.mark.parametrize("fault", [fails(429), fails(500), fails(503), cut()])
def test_passing_fault_is_tried_again(feature: Make, model: Double, fault: Act) -> None:
    model.will(fault, fault, answers(ANSWER))
    pauses: list[float] = []
    with capture() as captured:
        result = course(feature(attempts=3), pauses)
    assert [(number, reason) for _, number, reason, _ in story(result)] == [(1, None), (2, "retry"), (3, "retry")]
    assert [
        (each.get("attempt"), each.get("attempt_reason"), each["status"]) for each in captured.only_run().steps
    ] == [
        (1, None, "failed"),
        (2, "retry", "failed"),
        (3, "retry", "succeeded"),
    ]
    assert 0.25 <= pauses[0] <= 0.5
    assert 0.5 <= pauses[1] <= 1.0


@pytest.mark.parametrize(("said", "waited"), [("7", 7.0), ("0.5", 0.5), ("0", 0.0), ("-3", 0.0)])
def test_retry_after_is_honoured(feature: Make, model: Double, said: str, waited: float) -> None:
    model.will(fails(429, Retry_After=said), answers(ANSWER))
    pauses: list[float] = []
    course(feature(attempts=2), pauses)
    assert pauses == [waited]


def test_retry_after_may_be_a_date(feature: Make, model: Double) -> None:
    model.will(fails(429, Retry_After="Wed, 21 Oct 2015 07:28:00 GMT"), answers(ANSWER))
    pauses: list[float] = []
    course(feature(attempts=2), pauses)
    assert pauses == [0.0]


@pytest.mark.parametrize("nonsense", ["soon", "inf", "nan", ""])
def test_retry_after_that_says_nothing_is_no_limit(feature: Make, model: Double, nonsense: str) -> None:
    model.will(fails(429, Retry_After=nonsense), answers(ANSWER))
    pauses: list[float] = []
    course(feature(attempts=2), pauses)
    assert 0 < pauses[0] <= 0.5


def test_provider_that_wants_a_long_wait_is_left_for_the_next(feature: Make, model: Double) -> None:
    model.will(fails(429, Retry_After="3600"), answers(ANSWER))
    pauses: list[float] = []
    result = course(feature(attempts=5, fallbacks=[asked(model, "messages")]), pauses)
    assert pauses == []
    assert story(result) == [("openai", 1, None, "rate_limit"), ("anthropic", 2, "fallback", "answered")]


@EVERY_API
@pytest.mark.parametrize("way", ["run", "arun"])
@pytest.mark.parametrize("fault", [fails(429, Retry_After="0"), fails(500), cut(), hangs, drips])
def test_fallback_steps_in_where_the_primary_cannot_be_reached(
    feature: Make, model: Double, api: Api, way: str, fault: Act
) -> None:
    model.will(fault, answers(ANSWER))
    slow = fault in (hangs, drips)
    made = feature(
        api, primary={"timeout_s": 0.3 if slow else 20.0}, fallbacks=[asked(model, "chat", provider="second")]
    )
    with capture() as captured:
        result = made.run(VARIABLES) if way == "run" else asyncio.run(made.arun(VARIABLES))
    assert result.provider == "second"
    assert [each.reason for each in result.attempts] == [None, "fallback"]
    assert [each.get("attempt_reason") for each in captured.only_run().steps] == [None, "fallback"]


def test_unreachable_address_is_a_reason_for_the_fallback(feature: Make, model: Double) -> None:
    model.will(answers(ANSWER))
    made = feature(primary={"base_url": "http://127.0.0.1:1/v1"}, fallbacks=[asked(model, "chat", provider="second")])
    assert [each.outcome for each in made.run(VARIABLES).attempts] == ["connection", "answered"]


@pytest.mark.parametrize("tier", [2, 3])
@pytest.mark.parametrize(("fault", "error"), [(refuses(), errors.Refused), (fails(400), errors.NoProvider)])
def test_from_tier_two_no_fallback_gets_around_a_no_whatever_the_contract_says(
    feature: Make, model: Double, tier: int, fault: Act, error: type[Exception]
) -> None:
    model.will(fault, answers(ANSWER))
    named = ("timeout", "refusal", "bad_request")
    made = feature(risk_tier=tier, attempts=3, fallback_on=named, fallbacks=[asked(model, "messages")])
    with pytest.raises(error):
        made.run(VARIABLES)
    assert len(model.seen) == 1


@pytest.mark.parametrize("fault", [refuses(), fails(400)])
def test_in_tier_one_the_contract_may_say_so(feature: Make, model: Double, fault: Act) -> None:
    model.will(fault, answers(ANSWER))
    named = ("refusal", "bad_request")
    made = feature(risk_tier=1, attempts=3, fallback_on=named, fallbacks=[asked(model, "messages")])
    assert made.run(VARIABLES).provider == "anthropic"
    assert len(model.seen) == 2


@pytest.mark.parametrize("fault", [refuses(), fails(400)])
def test_in_tier_one_too_it_is_no_default(feature: Make, model: Double, fault: Act) -> None:
    model.will(fault, answers(ANSWER))
    with pytest.raises((errors.Refused, errors.NoProvider)):
        feature(risk_tier=1, fallbacks=[asked(model, "messages")]).run(VARIABLES)


def test_reason_that_the_contract_does_not_name_lets_no_fallback_step_in(feature: Make, model: Double) -> None:
    model.will(fails(500), answers(ANSWER))
    with pytest.raises(errors.NoProvider):
        feature(fallback_on=("timeout",), fallbacks=[asked(model, "messages")]).run(VARIABLES)


def test_error_lists_every_attempt_at_every_provider(feature: Make, model: Double) -> None:
    model.will(fails(500), fails(429), fails(503))
    with pytest.raises(errors.NoProvider) as caught:
        course(feature(attempts=2, fallbacks=[asked(model, "messages")]), [])
    assert story(caught.value) == [
        ("openai", 1, None, "server_error"),
        ("openai", 2, "retry", "rate_limit"),
        ("anthropic", 3, "fallback", "server_error"),
        ("anthropic", 4, "retry", "server_error"),
    ]
    assert "after 4 attempts: openai/gpt-5-mini-2025-08-07: server_error 500 server_error" in str(caught.value)


def test_fallback_that_is_not_set_up_is_passed_over_and_named(feature: Make, model: Double) -> None:
    model.will(fails(500), answers(ANSWER))
    keyless = asked(model, "chat", provider="second", api_key_env="NOBODYS_KEY")
    made = feature(fallbacks=[keyless, asked(model, "messages")])
    assert [each.outcome for each in made.run(VARIABLES).attempts] == ["server_error", "not_set_up", "answered"]


def test_last_fallback_that_is_not_set_up_does_not_hide_what_the_primary_said(feature: Make, model: Double) -> None:
    model.will(fails(500))
    with pytest.raises(errors.NoProvider) as caught:
        feature(fallbacks=[asked(model, "chat", provider="second", api_key_env="NOBODYS_KEY")]).run(VARIABLES)
    assert [each.outcome for each in caught.value.attempts] == ["server_error", "not_set_up"]
    assert "NOBODYS_KEY" in str(caught.value.__cause__)


# -- repair ---------------------------------------------------------------------------------------


@EVERY_API
@pytest.mark.parametrize("wrong", ['{"total": "PLANTED", "currency": "EUR"}', "PLANTED no JSON at all", ""])
def test_wrong_answer_is_sent_back_once(feature: Make, model: Double, api: Api, wrong: str) -> None:
    model.will(says(wrong), answers(ANSWER))
    with capture() as captured:
        result = feature(api, repair_attempts=1).run(VARIABLES)
    assert result.value == ANSWER
    assert [(each.number, each.reason, each.outcome) for each in result.attempts] == [
        (1, None, "invalid_answer"),
        (2, "repair", "answered"),
    ]
    assert [each.get("attempt_reason") for each in captured.only_run().steps] == [None, "repair"]
    assert "breaks '" in model.seen[1].text
    captured.assert_no_trace_of("PLANTED")


def test_repair_is_tried_once_only(feature: Make, model: Double) -> None:
    model.will(says("no JSON"))
    with pytest.raises(errors.InvalidAnswer) as caught:
        feature(repair_attempts=1).run(VARIABLES)
    assert [each.reason for each in caught.value.attempts] == [None, "repair"]


def test_without_repair_the_first_wrong_answer_counts(feature: Make, model: Double) -> None:
    model.will(says("no JSON"), answers(ANSWER))
    with pytest.raises(errors.InvalidAnswer):
        feature(repair_attempts=0).run(VARIABLES)
    assert len(model.seen) == 1


# -- variables, endings, switches -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("variables", "problem"),
    [
        ({}, "'document' is missing"),
        ({"document": ""}, "'document' breaks 'minLength'"),
        ({"document": 3}, "'document' breaks 'type'"),
        ({"document": "x", "PLANTEDkey": 1}, "is no variable of the prompt"),
        ("PLANTED", "variables are a str"),
    ],
)
def test_variables_that_do_not_fit_are_named_and_nothing_is_sent(
    feature: Make, model: Double, variables: Any, problem: str
) -> None:
    with capture() as captured, pytest.raises(errors.VariablesInvalid, match=problem):
        feature().run(variables)
    assert model.seen == []
    assert [run.status for run in captured.runs] == ([] if isinstance(variables, str) else ["failed"])


def test_trace_options_are_passed_on_and_unknown_ones_fail_loudly(feature: Make, model: Double) -> None:
    model.will(answers(ANSWER))
    made = feature()
    with capture() as captured:
        made.run(VARIABLES, workflow="ocr", purpose="eval", input_ref="receipts/1", tenant="t1")
    run = captured.only_run("ocr")
    assert (run.started["purpose"], run.started["input_ref"], run.started["tenant"]) == ("eval", "receipts/1", "t1")
    wrong: list[dict[str, Any]] = [{"purose": "eval"}, {"contract_version": "9.9.9"}]
    for options in wrong:
        with pytest.raises(TypeError):
            made.run(VARIABLES, **options)


def test_run_without_tracing_gives_the_same_answer(
    feature: Make, model: Double, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BELEG_DISABLED", "1")
    model.will(fails(500, Retry_After="0"), answers(ANSWER))
    result = feature(attempts=2).run(VARIABLES)
    assert (result.value, result.run_id) == (ANSWER, None)


def test_cancelled_run_is_recorded_as_cancelled_and_stops_at_once(feature: Make, model: Double) -> None:
    model.will(hangs)
    made = feature()

    async def cancel() -> None:
        task = asyncio.create_task(made.arun(VARIABLES))
        await asyncio.to_thread(model.arrived.wait, 20)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    with capture() as captured:
        asyncio.run(cancel())
    assert captured.only_run().status == "cancelled"


def test_optional_variable_may_be_left_out(feature: Make, model: Double) -> None:
    model.will(answers(ANSWER))
    user = "{% if hint %}Hint: {{ hint }}{% else %}No hint{% endif %}"
    made = feature(prompt=Prompt("", user, (Variable("hint", {"type": "string"}, required=False),)))
    made.run({})
    made.run({"hint": "net"})
    assert [each.body["messages"][0]["content"] for each in model.seen] == ["No hint", "Hint: net"]


def test_one_run_keeps_its_version_while_another_is_published(feature: Make, model: Double, tmp_path: Any) -> None:
    from tests.contract.client.released import Shop, contract

    made = feature(tools=(tool(),))
    model.will(calls(LOOKUP), answers(ANSWER))
    held = made.snapshot()

    def lookup_vendor(vat_id: str) -> str:
        Shop(tmp_path / "registry").publish("1.1.0", contract(change_note="meanwhile"))
        made._refresher._due_s = 0.0
        assert made.version == "1.1.0"
        return "Acme"

    assert drive.run(held, VARIABLES, {"lookup_vendor": lookup_vendor}, {}).version == "1.0.0"
