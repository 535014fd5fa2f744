"""The code that publishing hands out runs as it stands."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import beleg
from beleg.contract.client.errors import VariablesInvalid
from beleg.contract.model import Contract, Prompt, Providers, Variable
from beleg.contract.snippet import snippet
from tests.contract.client.released import ANSWER, Shop, contract, tool
from tests.contract.run.conftest import asked
from tests.contract.run.double import APIS, Api, Double, answers, calls

Execute = Callable[..., tuple[str, dict[str, Any]]]


@pytest.fixture
def execute(tmp_path: Path, model: Double, monkeypatch: pytest.MonkeyPatch) -> Execute:
    """Publishes a contract, and runs its snippet as a user would paste it."""
    monkeypatch.setitem(beleg._MODULES, "load", "beleg.contract.client.load")

    def run(made: Contract, version: str = "1.0.0") -> tuple[str, dict[str, Any]]:
        code = snippet(Shop(tmp_path / "registry").publish(version, made))
        scope: dict[str, Any] = {"__name__": "pasted"}
        exec(compile(code, "snippet", "exec"), scope)
        return code, scope

    return run


@pytest.mark.parametrize("api", APIS)
def test_snippet_runs_the_released_version(
    execute: Execute, model: Double, api: Api, capsys: pytest.CaptureFixture[str]
) -> None:
    model.will(answers(ANSWER))
    code, scope = execute(contract(providers=Providers(asked(model, api))))
    assert scope["result"].value == ANSWER
    assert "Total 119.00 EUR" in model.seen[0].text
    assert capsys.readouterr().out == f"1.0.0 {ANSWER}\n"
    assert ("OPENAI_API_KEY" in code, "ANTHROPIC_API_KEY" in code) == (api != "messages", api == "messages")


def test_snippet_names_the_major_that_was_released(execute: Execute, model: Double) -> None:
    model.will(answers(ANSWER))
    code, _ = execute(contract(providers=Providers(asked(model, "chat"))), "3.1.4")
    assert "beleg.load('receipt-extraction', major=3)" in code


def test_tools_become_functions_to_be_filled_in(execute: Execute, model: Double) -> None:
    awkward = {"type": "object", "properties": {"vat-id": {"type": "string"}, "class": {"type": "string"}}}
    tools = (tool(), tool("class", input_schema=awkward), tool("beleg"), tool("a-b", description='"""\nimport os'))
    model.will(calls(("lookup_vendor", {"vat_id": "DE1"})), answers(ANSWER))
    with pytest.raises(NotImplementedError, match="call your lookup_vendor here: Finds a vendor"):
        execute(contract(providers=Providers(asked(model, "chat")), tools=tools))


HOSTILE = "'''\"\"\"\\\n__import__('sys').exit(99)\n#{}%s\u2028\x00"


@pytest.mark.parametrize("text", [HOSTILE, "x" * 5000, "Grüße\n\t✓"])
def test_nothing_of_the_contract_becomes_code(execute: Execute, model: Double, text: str) -> None:
    model.will(answers(ANSWER))
    prompt = Prompt("", "{{ document }}", (Variable("document", {"type": "string"}),), ({"document": text},))
    _, scope = execute(
        contract(prompt=prompt, providers=Providers(asked(model, "chat")), tools=(tool("t", description=text),))
    )
    assert scope["variables"] == {"document": text}
    assert "sys" not in scope
    assert sys.exc_info() == (None, None, None)


@pytest.mark.parametrize(
    ("schema", "blank"),
    [
        ({"type": "string"}, "…"),
        ({"type": "integer"}, 1),
        ({"type": ["number", "null"]}, 1.0),
        ({"enum": ["b", "a"]}, "b"),
        ({"const": None}, None),
        ({"type": "string", "examples": ["2026-11-30"]}, "2026-11-30"),
        ({"type": "array"}, []),
        (True, "…"),
    ],
)
def test_without_a_sample_values_are_there_to_be_replaced(
    execute: Execute, model: Double, schema: Any, blank: Any
) -> None:
    model.will(answers(ANSWER))
    variables = (Variable("x", schema), Variable("hint", {"type": "string"}, required=False))
    prompt = Prompt("", "{{ x }}", variables)
    _, scope = execute(contract(prompt=prompt, providers=Providers(asked(model, "chat"))))
    assert scope["variables"] == {"x": blank}


def test_blank_that_does_not_fit_says_so(execute: Execute, model: Double) -> None:
    prompt = Prompt("", "{{ x }}", (Variable("x", {"type": "string", "pattern": "^[A-Z]+$"}),))
    with pytest.raises(VariablesInvalid, match="'x' breaks 'pattern'"):
        execute(contract(prompt=prompt, providers=Providers(asked(model, "chat"))))
