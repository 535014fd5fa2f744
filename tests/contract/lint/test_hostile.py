"""Whatever stands in a contract, lint answers: never an exception, never the network."""

import socket
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from beleg.contract.lint import Facts, lint
from beleg.contract.lint.judge import TOO_COMPLEX, faults
from beleg.contract.model import Contract, Evals, Prompt, Provider, Providers
from tests.contract.lint.support import contract, tool


def _deep(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(levels):
        schema = {"properties": {"a": schema}}
    return schema


def _doubling(steps: int) -> dict[str, Any]:
    twice = {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(steps)}
    return {"$ref": "#/$defs/d0", "$defs": {**twice, f"d{steps}": {}}}


SCHEMAS: dict[str, Any] = {
    "nothing at all": {},
    "everything": True,
    "nothing": False,
    "ten thousand levels": _deep(10_000),
    "a hundred thousand members": {"properties": {f"a{n}": {"type": "string"} for n in range(100_000)}},
    "only itself": {"$ref": "#"},
    "all of itself": {"allOf": [{"$ref": "#"}]},
    "not itself": {"not": {"$ref": "#"}},
    "references that double": _doubling(40),
    "a pattern that backtracks": {"type": "object", "properties": {"total": {"pattern": "(a+)+$"}}},
    "a pattern that is none": {"properties": {"total": {"pattern": "("}}},
    "members that are no schemas": {"properties": {"a": 7, "b": None, "c": []}},
    "properties that are a list": {"properties": [1, 2]},
    "a huge enum": {"properties": {"total": {"enum": list(range(20_000))}}},
    "a number beyond all": {"maximum": 10**400, "type": "integer"},
    "half a character": {"properties": {"\ud800": {"description": "\udfff"}}},
    "a pointer out of range": {"properties": {"a": {"$ref": "#/allOf/99999999999999999999"}}, "allOf": [{}]},
    "a pointer into a value": {"properties": {"a": {"$ref": "#/title"}}, "title": "x"},
    "a pointer with escapes": {"properties": {"a": {"$ref": "#/$defs/a~1b%25"}}, "$defs": {"a/b%": {}}},
    "thousands of anchors": {"$defs": {f"d{n}": {"$anchor": f"a{n}", "$ref": f"#a{n + 1}"} for n in range(5_000)}},
    "thousands of unknown words": {"properties": {f"a{n}": {f"requird{n}": 1} for n in range(20_000)}},
    "thousands of deprecated members": {
        "properties": {f"a{n}": {"deprecated": True, "description": f"2027-01-01 a{n + 1}"} for n in range(10_000)}
    },
    "a file": {"properties": {"a": {"$ref": "file:///etc/passwd"}}},
    "an address": {"properties": {"a": {"$ref": "http://127.0.0.1:1/x"}}},
    "a dialect of its own": {"$schema": "http://127.0.0.1:1/dialect", "type": "object"},
}


@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=SCHEMAS)
def test_lint_answers_whatever_the_output_schema_is(schema: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket.socket, "connect", _no_network)
    given_ = replace(contract(), output_schema=schema, examples=({"total": "a" * 40 + "!"},))
    assert lint(given_, Facts(active=contract()))


def _no_network(*_: object) -> None:
    raise AssertionError("lint must fetch nothing")


@pytest.mark.parametrize("schema", [SCHEMAS["ten thousand levels"], {"type": 7}, SCHEMAS["only itself"]])
def test_hostile_schemas_of_tools_and_variables_are_answered(schema: Any) -> None:
    odd = replace(tool("lookup_supplier"), input_schema=schema)
    variable = replace(contract().prompt.variables[0], schema=schema)
    given_ = contract()
    prompt = replace(given_.prompt, variables=(variable, given_.prompt.variables[1]))
    assert lint(replace(given_, tools=(odd,), prompt=prompt))


@pytest.mark.parametrize("schema", [_doubling(40), {"allOf": [{"$ref": "#"}]}])
def test_what_would_take_for_ever_is_not_tried(schema: Any) -> None:
    assert faults(schema, 1) == [("", TOO_COMPLEX)]


def test_an_example_under_a_backtracking_pattern_is_answered() -> None:
    assert faults({"pattern": "(a+)+$"}, "a" * 60 + "!")


@pytest.mark.parametrize(
    "value",
    [
        {"a": {"$ref": "#/$defs/x"}},
        {"a": {"b": [1, {"c": None}]}},
        [],
        None,
        2**70,
        "\N{GRINNING FACE}",
    ],
)
def test_a_recursive_schema_and_a_finite_value_are_judged(value: Any) -> None:
    schema = {"type": ["object", "array", "string", "integer", "null"], "additionalProperties": {"$ref": "#"}}
    assert faults(schema, value) == []


@pytest.mark.parametrize("value", [{1: 2}, {"a": {3, 4}}, [object()], b"bytes", float("inf"), "\ud800"])
def test_what_no_file_can_hold_is_all_that_is_said(value: Any) -> None:
    given_ = replace(contract(), examples=(value,), output_schema={"properties": {1: {}}}, change_note="")
    assert {each.rule for each in lint(given_, Facts(active=contract(), approvals=()))} == {"L48"}


def test_twenty_thousand_samples_and_deep_recursive_examples_are_answered() -> None:
    given_ = contract()
    many = replace(given_.prompt, samples=({"company": "x", "document": "y"},) * 20_000)
    deep: dict[str, Any] = {}
    for _ in range(90):
        deep = {"a": deep}
    twice = {"allOf": [{"properties": {"a": {"$ref": "#"}}}] * 2}
    assert lint(replace(given_, prompt=many, output_schema=twice, examples=(deep,)))


def test_of_one_kind_a_hundred_places_are_enough() -> None:
    given_ = replace(contract(), output_schema=SCHEMAS["thousands of unknown words"])
    assert sum(each.rule == "L06" for each in lint(given_)) == 100


def test_an_empty_contract_is_answered() -> None:
    empty = Contract(
        feature="x",
        risk_tier=3,
        prompt=Prompt("", ""),
        output_schema={},
        providers=Providers(Provider("", "", "chat")),
        evals=Evals("", ()),
    )
    rules = {each.rule for each in lint(empty)}
    assert {"L44", "L24", "L28", "L35", "L39"} <= rules


@pytest.mark.parametrize("text", ["\x1b[2J", "\u202e", "a" * 100_000, "\n\n"])
def test_sentences_hold_nothing_that_steers_a_terminal_and_stay_short(text: str) -> None:
    given_ = replace(
        contract(),
        tools=(tool(text, text), tool("send", text)),
        examples=({text: text},),
        output_schema={"type": "object", "required": [text], "properties": {text: {"type": text}, "a": {"$ref": text}}},
    )
    for each in lint(given_):
        assert each.sentence.isprintable()
        assert len(each.sentence) < 1_000


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["type", "properties", "required", "$ref", "items", "enum", "anyOf", "a", "const", "pattern"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@settings(deadline=None)
@given(
    st.dictionaries(st.sampled_from(["type", "properties", "required", "$ref", "items", "enum", "allOf"]), JSON), JSON
)
def test_any_json_as_schema_and_example_is_answered(schema: Any, example: Any) -> None:
    lint(replace(contract(), output_schema=schema, examples=(example,)), Facts(active=contract()))


PLAIN = st.recursive(
    st.sampled_from(
        [
            True,
            False,
            {},
            {"type": "string", "maxLength": 2},
            {"type": "integer", "minimum": 1},
            {"type": ["null", "boolean"]},
            {"enum": ["a", 1, None]},
            {"const": {"a": 1}},
            {"$ref": "#/$defs/part"},
        ]
    ),
    lambda inner: (
        st.fixed_dictionaries({"type": st.just("array"), "items": inner})
        | st.fixed_dictionaries(
            {"properties": st.dictionaries(st.sampled_from("ab"), inner), "required": st.just(["a"])}
        )
        | st.fixed_dictionaries({"anyOf": st.lists(inner, min_size=1, max_size=3)})
        | st.fixed_dictionaries({"not": inner})
        | st.fixed_dictionaries({"additionalProperties": inner, "type": st.just("object")})
    ),
    max_leaves=6,
)
VALUES = st.recursive(
    st.sampled_from(["a", "long", 1, 0, None, True, False]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=6,
)


@settings(deadline=None)
@given(PLAIN, PLAIN, VALUES)
def test_the_bounded_judge_agrees_with_jsonschema(schema: Any, part: Any, value: Any) -> None:
    whole = {"allOf": [schema], "$defs": {"part": {"type": "object", "properties": {"b": part}}}}
    if TOO_COMPLEX in {what for _, what in faults(whole, value)}:
        return  # a reference that leads to itself
    assert (faults(whole, value) == []) == Draft202012Validator(whole).is_valid(value)
