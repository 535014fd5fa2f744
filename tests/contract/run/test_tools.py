"""Tools in a run: which are offered, what reaches a function, and what comes back."""

import asyncio
from typing import Any

import pytest

import beleg
from beleg.contract.client import errors
from beleg.contract.run import converse
from beleg.testing import capture
from tests.contract.client.released import ANSWER, tool
from tests.contract.run.conftest import EVERY_API, LOOKUP, VARIABLES, Make, asked
from tests.contract.run.double import Api, Double, answers, calls, fails


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
