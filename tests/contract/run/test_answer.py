"""From words to one JSON value, and the verdict on it."""

import json
from decimal import Decimal
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beleg.contract.client.errors import InvalidAnswer, Tampered
from beleg.contract.run import answer
from beleg.contract.run.validate import Broken, Validator

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)
PROSE = st.text(st.characters(blacklist_characters="{}[]", blacklist_categories=["Cs"]))


@given(JSON)
def test_any_json_value_is_read_exactly(value: Any) -> None:
    assert answer.parse(json.dumps(value)) == value


@given(st.dictionaries(st.text(), JSON, min_size=1, max_size=3) | st.lists(JSON), PROSE, PROSE)
def test_one_value_within_prose_is_found(value: Any, before: str, after: str) -> None:
    assert answer.parse(f"{before}. {json.dumps(value)}\n{after}.") == value


@given(st.dictionaries(st.text(), JSON, min_size=1, max_size=3), st.data())
def test_half_an_answer_is_never_an_answer(value: Any, data: st.DataObject) -> None:
    text = json.dumps({"outer": value, "more": [value]})
    cut = text[: data.draw(st.integers(1, len(text) - 1))]
    with pytest.raises(InvalidAnswer):
        answer.parse(f"Here: {cut}")
    with pytest.raises(InvalidAnswer):
        answer.parse(cut)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no",
        "{} {}",
        "[1] and {}",
        "see [1]: {}{",
        "{",
        "]",
        "{'a': 1}",
        "[NaN]",
        '{"a":1,"a":2}',
        "[1e999]",
        "9" * 5000,
    ],
)
def test_what_is_not_exactly_one_value_is_refused(text: str) -> None:
    with pytest.raises(InvalidAnswer) as caught:
        answer.parse(text)
    assert caught.value.rule == "json"


def test_too_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answer, "MAX_CHARS", 10)
    with pytest.raises(InvalidAnswer, match="size"):
        answer.parse("[" + " " * 20)


@pytest.mark.parametrize(
    ("schema", "value", "broken"),
    [
        ({"required": ["a"]}, {}, Broken("required", "", "/required")),
        (
            {"properties": {"a": {"items": {"type": "string"}}}},
            {"a": ["x", 1]},
            Broken("type", "/a/1", "/properties/a/items/type"),
        ),
        (
            {"additionalProperties": {"type": "string"}},
            {"secret": 1},
            Broken("type", "/*", "/additionalProperties/type"),
        ),
        ({"properties": {"a/b~": {"type": "null"}}}, {"a/b~": 1}, Broken("type", "/a~1b~0", "/properties/a~1b~0/type")),
        (False, 1, Broken("falseSchema", "", "")),
    ],
)
def test_first_broken_rule_is_told_by_place(schema: Any, value: Any, broken: Broken) -> None:
    assert Validator(schema, "schema").broken(value) == broken


@pytest.mark.parametrize("value", [2**53 + 1, 2**64, -(2**80), 10**400, 0.1, 1e308])
def test_numbers_of_any_size_are_judged(value: Any) -> None:
    assert Validator({"type": "number"}, "schema").broken(value) is None
    assert Validator({"maximum": value}, "schema").broken(value) is None


@pytest.mark.parametrize("value", [float("nan"), {1: 2}, {1, 2}, object(), Decimal(1), "\ud800"])
def test_what_is_no_json_breaks_every_schema_and_raises_nothing(value: Any) -> None:
    Validator({"type": ["object", "string"]}, "schema").broken(value)


def test_amounts_are_judged_as_the_decimals_that_were_written() -> None:
    cents = Validator({"multipleOf": 0.01}, "schema")
    assert [cents.valid(value) for value in (19.99, 4.35, 0.07, 19.999)] == [True, True, True, False]


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "http://127.0.0.1:9/x"},
        {"$ref": "file:///etc/passwd"},
        {"$ref": "#/none"},
        {"type": "nope"},
        {"pattern": "("},
    ],
)
def test_schema_that_cannot_be_used_is_refused_without_reading_anything(schema: Any) -> None:
    with pytest.raises(Tampered, match="no JSON Schema that can be used"):
        Validator(schema, "the output schema")


def test_hostile_pattern_ends() -> None:
    assert not Validator({"pattern": "^(a+)+$"}, "schema").valid("a" * 5000 + "b")


SCHEMA = {
    "type": "object",
    "properties": {
        "a": {"type": "integer", "minimum": 0},
        "b": {"type": "array", "items": {"enum": ["x", None, 1]}, "uniqueItems": True},
    },
    "required": ["a"],
    "additionalProperties": {"type": "string", "maxLength": 3},
}


@given(st.dictionaries(st.sampled_from(["a", "b", "c"]), JSON, max_size=3))
def test_verdict_agrees_with_the_reference_validator(value: Any) -> None:
    assert Validator(SCHEMA, "schema").valid(value) == jsonschema.Draft202012Validator(SCHEMA).is_valid(value)
