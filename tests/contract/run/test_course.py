"""Retries, fallbacks, repair and tools: the course of a run, the same for both doors."""

import asyncio
from typing import Any

import pytest

import beleg
from beleg.contract.client import errors
from beleg.contract.client.feature import Feature
from beleg.contract.model import Prompt, Variable
from beleg.contract.run import converse, drive
from beleg.contract.run.result import Result
from beleg.testing import capture
from tests.contract.client.released import ANSWER, tool
from tests.contract.run.conftest import Make, asked
from tests.contract.run.double import APIS, Act, Api, Double, answers, calls, cut, drips, fails, hangs, refuses, says

VARIABLES = {"document": "PLANTED Total 119.00 EUR"}
EVERY_API = pytest.mark.parametrize("api", APIS)


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


# -- tools ----------------------------------------------------------------------------------------

LOOKUP = ("lookup_vendor", {"vat_id": "DE129273398"})


@EVERY_API
@pytest.mark.parametrize("way", ["run", "arun"])
def test_tools_are_called_and_their_results_told(feature: Make, model: Double, api: Api, way: str) -> None:
    model.will(calls(LOOKUP, LOOKUP), calls(LOOKUP), answers(ANSWER))
    seen: list[str] = []

    def lookup_vendor(vat_id: str) -> dict[str, str]:
        seen.append(f"{vat_id} in {beleg.current_run().run_id}")
        return {"name": "PLANTED GmbH"}

    made = feature(api, tools=(tool(),))
    tools = {"lookup_vendor": lookup_vendor}
    with capture() as captured:
        result = made.run(VARIABLES, tools=tools) if way == "run" else asyncio.run(made.arun(VARIABLES, tools=tools))
    assert result.value == ANSWER
    assert seen == [f"DE129273398 in {result.run_id}"] * 3
    assert [(each["kind"], each.get("tool_name")) for each in captured.only_run().steps] == [
        ("model", None), ("tool", "lookup_vendor"), ("tool", "lookup_vendor"), ("model", None),
        ("tool", "lookup_vendor"), ("model", None),
    ]  # fmt: skip
    assert [each.outcome for each in result.attempts] == ["answered"] * 3
    assert model.seen[-1].text.count("PLANTED GmbH") == 3
    captured.assert_no_trace_of("PLANTED")


def test_coroutine_tools_run_in_the_loop_of_arun_and_are_refused_by_run(feature: Make, model: Double) -> None:
    async def lookup_vendor(vat_id: str) -> str:
        await asyncio.sleep(0)
        return vat_id

    made = feature(tools=(tool(),))
    model.will(calls(LOOKUP), answers(ANSWER))
    assert asyncio.run(made.arun(VARIABLES, tools={"lookup_vendor": lookup_vendor})).value == ANSWER
    model.will(calls(LOOKUP), answers(ANSWER))
    with pytest.raises(errors.ToolsInvalid, match="use it with arun"):
        made.run(VARIABLES, tools={"lookup_vendor": lookup_vendor})


@EVERY_API
@pytest.mark.parametrize(
    ("wanted", "told"),
    [
        (("lookup_vendor", {"vat_id": "PLANTED"}), "break 'pattern' at /vat_id"),
        (("lookup_vendor", {}), "break 'required'"),
        (("lookup_vendor", {"vat_id": "DE1", "also": 1}), "break 'additionalProperties'"),
        (("pay_vendor", {"vat_id": "DE1"}), "no tool 'pay_vendor'"),
    ],
)
def test_call_that_the_contract_does_not_allow_reaches_no_function(
    feature: Make, model: Double, api: Api, wanted: tuple[str, Any], told: str
) -> None:
    model.will(calls(wanted), answers(ANSWER))

    def lookup_vendor(**_: Any) -> str:
        raise AssertionError

    assert feature(api, tools=(tool(),)).run(VARIABLES, tools={"lookup_vendor": lookup_vendor}).value == ANSWER
    assert told in model.seen[1].text


@pytest.mark.parametrize("arguments", ["{half", "[]", "null", '"text"'])
@pytest.mark.parametrize("api", ["chat", "responses"])
def test_arguments_that_are_no_object_reach_no_function(feature: Make, model: Double, api: Api, arguments: str) -> None:
    model.will(calls(("lookup_vendor", arguments)), answers(ANSWER))
    made = feature(api, tools=(tool(),))
    assert made.run(VARIABLES, tools={"lookup_vendor": lambda vat_id: 1 / 0}).value == ANSWER
    assert "no JSON object" in model.seen[1].text


def test_only_tools_that_were_handed_over_are_offered(feature: Make, model: Double) -> None:
    model.will(answers(ANSWER))
    made = feature(tools=(tool(), tool("list_accounts")))
    made.run(VARIABLES, tools={"list_accounts": list})
    assert [each["function"]["name"] for each in model.seen[0].body["tools"]] == ["list_accounts"]
    made.run(VARIABLES)
    assert "tools" not in model.seen[1].body


def test_tool_that_the_contract_does_not_know_is_refused(feature: Make, model: Double) -> None:
    model.will(answers(ANSWER))
    made = feature(tools=(tool(),))
    with pytest.raises(
        errors.ToolsInvalid, match="pay is no tool of the contract; the contract's tools: lookup_vendor"
    ):
        made.run(VARIABLES, tools={"pay": print})
    with pytest.raises(errors.ToolsInvalid, match="a tool is a function"):
        made.run(VARIABLES, tools={"lookup_vendor": "print"})  # type: ignore[dict-item]
    assert model.seen == []


def test_rounds_of_tools_are_bounded(feature: Make, model: Double) -> None:
    model.will(calls(LOOKUP))
    with pytest.raises(errors.InvalidAnswer, match="more than 10 rounds") as caught:
        feature(tools=(tool(),), repair_attempts=1).run(VARIABLES, tools={"lookup_vendor": lambda vat_id: "x"})
    assert len(caught.value.attempts) == len(model.seen) == converse.MAX_ROUNDS + 1


class AppError(Exception):
    pass


@pytest.mark.parametrize("way", ["run", "arun"])
def test_error_of_a_tool_is_the_callers_and_passes_unchanged(feature: Make, model: Double, way: str) -> None:
    model.will(calls(LOOKUP), answers(ANSWER))
    error = AppError("PLANTED")

    def lookup_vendor(vat_id: str) -> str:
        raise error

    made = feature(tools=(tool(),))
    tools = {"lookup_vendor": lookup_vendor}
    with capture() as captured, pytest.raises(AppError) as caught:
        _ = made.run(VARIABLES, tools=tools) if way == "run" else asyncio.run(made.arun(VARIABLES, tools=tools))
    assert caught.value is error
    assert captured.only_run().status == "failed"
    captured.assert_no_trace_of("PLANTED")


@pytest.mark.parametrize("way", ["run", "arun"])
def test_tool_that_stops_an_iteration_does_not_end_the_run(feature: Make, model: Double, way: str) -> None:
    """`next(…)` of nothing: Python lets no StopIteration out of a coroutine, so `arun` has it as the cause."""
    model.will(calls(LOOKUP), answers(ANSWER))
    error = StopIteration("PLANTED")

    def lookup_vendor(vat_id: str) -> str:
        raise error

    made = feature(tools=(tool(),))
    tools = {"lookup_vendor": lookup_vendor}
    with capture() as captured, pytest.raises((StopIteration, RuntimeError)) as caught:
        _ = made.run(VARIABLES, tools=tools) if way == "run" else asyncio.run(made.arun(VARIABLES, tools=tools))
    assert (caught.value if way == "run" else caught.value.__cause__) is error
    assert captured.only_run().status == "failed"
    captured.assert_no_trace_of("PLANTED")


@pytest.mark.parametrize(
    ("result", "why"),
    [({1, 2}, "set that is no JSON"), (float("nan"), "no JSON"), ("\ud800", "no JSON"), ("x" * 400_001, "400001 char")],
)
def test_result_that_cannot_be_told_is_an_error_of_the_tool(
    feature: Make, model: Double, result: Any, why: str
) -> None:
    model.will(calls(LOOKUP), answers(ANSWER))
    with pytest.raises(errors.ToolsInvalid, match=why):
        feature(tools=(tool(),)).run(VARIABLES, tools={"lookup_vendor": lambda vat_id: result})


def test_conversation_with_tools_goes_on_at_the_fallback(feature: Make, model: Double) -> None:
    model.will(calls(LOOKUP), fails(500), calls(LOOKUP), answers(ANSWER))
    made = feature("chat", tools=(tool(),), fallbacks=[asked(model, "messages")])
    result = made.run(VARIABLES, tools={"lookup_vendor": lambda vat_id: "Acme"})
    assert [each.api for each in model.seen] == ["chat", "chat", "messages", "messages"]
    assert [block["type"] for block in model.seen[2].body["messages"][1]["content"]] == ["tool_use"]
    assert result.provider == "anthropic"


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
