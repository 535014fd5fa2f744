"""What holds for all schemas: drawn at random, and held against a plain validator on all small values."""

from typing import Any

import jsonschema
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st
from referencing import Registry

from beleg.contract.compat import Comparison, compare, interface_digest, raw_digest
from tests.contract.compat.schemas import VALUES, pairs, perhaps_readable, recursive, schemas, valid
from tests.deep import examples

SLOW = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
deep = settings(max_examples=examples(60, soak=2_000), suppress_health_check=SLOW)
few = settings(max_examples=examples(25, soak=600), suppress_health_check=SLOW)

any_pair = st.one_of(pairs(schemas), pairs(recursive), st.tuples(schemas, schemas))


def checker(schema: Any) -> Any:
    return jsonschema.Draft202012Validator(schema, registry=Registry()).is_valid


@given(st.one_of(schemas, recursive))
@deep
def test_a_schema_compared_with_itself_is_unchanged(schema: Any) -> None:
    assert compare(schema, schema) == Comparison("none")


@given(any_pair)
@example(
    (
        {"properties": {"a": {"minimum": 2, "exclusiveMaximum": 1}}},
        {"properties": {"a": {"dependentSchemas": {"b": {"type": "array"}}}}},
    )
)
@example(({}, {"allOf": [{}], "unevaluatedProperties": False, "minProperties": 3}))
@example(
    ({}, {"unevaluatedProperties": {"type": "object"}, "anyOf": [{"type": "object", "additionalProperties": False}]})
)
@deep
def test_a_witness_is_valid_on_one_side_and_unreadable_on_the_other(pair: tuple[Any, Any]) -> None:
    old, new = pair
    for change in compare(old, new).changes:
        if change.witness_kind is not None:
            giver, reader = (new, old) if change.witness_kind == "reader" else (old, new)
            assert valid(giver, change.witness)
            assert not perhaps_readable(reader, change.witness, surely=True)


@given(any_pair)
@deep
def test_a_break_has_a_reader_witness_and_only_a_break_has(pair: tuple[Any, Any]) -> None:
    found = compare(*pair)
    witnessed = any(change.witness_kind == "reader" for change in found.changes)
    assert witnessed == (not found.reader_safe and not found.unprovable)
    assert found.bump == "major" or found.reader_safe


@given(any_pair)
@example(
    (
        {"properties": {"a": {"minimum": 2, "exclusiveMaximum": 1}}},
        {"properties": {"a": {"dependentSchemas": {"b": {"type": "array"}}}}},
    )
)
@example(
    (
        {},
        {
            "unevaluatedProperties": {"additionalProperties": False},
            "anyOf": [{}, {"additionalProperties": {"exclusiveMaximum": -1}}],
        },
    )
)
@example(
    (
        {
            "unevaluatedProperties": {"unevaluatedItems": False, "prefixItems": [False], "maxContains": 0},
            "anyOf": [{"additionalProperties": {"exclusiveMaximum": 0}, "allOf": [True]}, {}],
        },
        {"unevaluatedItems": False},
    )
)
@few
def test_no_small_value_contradicts_a_verdict(pair: tuple[Any, Any]) -> None:
    old, new = pair
    found = compare(old, new)
    before, now = checker(old), checker(new)
    for value in VALUES:
        was, is_now = before(value), now(value)
        assert found.bump not in {"none", "patch"} or was == is_now
        assert was or not is_now or not found.reader_safe or perhaps_readable(old, value)
        assert is_now or not was or not found.rollback_safe or perhaps_readable(new, value)


@given(any_pair)
@deep
def test_rolling_back_is_the_comparison_the_other_way_round(pair: tuple[Any, Any]) -> None:
    old, new = pair
    there, back = compare(old, new), compare(new, old)
    assume(not there.unprovable and not back.unprovable)
    assert there.rollback_safe == back.reader_safe


def respelled(schema: Any, how: int) -> Any:
    """The same schema in another spelling, everywhere."""
    if not isinstance(schema, dict):
        return {"not": {}} if schema is False and how % 2 else schema
    words = {word: _respelled(word, value, how) for word, value in reversed(schema.items())}
    if "const" in words and "enum" not in words and how % 2:
        words["enum"] = [words.pop("const")]
    kinds = words.get("type")
    if isinstance(kinds, list) and how % 3 == 0 and "anyOf" not in words:
        words["anyOf"] = [{"type": kind} for kind in reversed(words.pop("type"))]
    return [words, {"allOf": [words]}, {"anyOf": [words, False]}, {"not": {"not": words}}, {"allOf": [words, words]}][
        how % 5
    ]


def _respelled(word: str, value: Any, how: int) -> Any:
    if word in {"properties", "patternProperties", "dependentSchemas"}:
        return {name: respelled(inner, how + 1) for name, inner in reversed(value.items())}
    if word in {"allOf", "anyOf", "oneOf"}:
        return [respelled(inner, how + 1) for inner in reversed(value)]
    if word == "prefixItems":
        return [respelled(inner, how + 1) for inner in value]
    if word in {"required", "enum"} or (word == "type" and isinstance(value, list)):
        return list(reversed(value))
    inside = {"items", "contains", "additionalProperties", "propertyNames", "not"}
    return respelled(value, how + 1) if word in inside else value


def _steered(schema: Any) -> bool:
    """Whether some keyword looks at its neighbours, which then must stay where they are."""
    text = repr(schema)
    words = (
        "unevaluated",
        "'if'",
        "'then'",
        "'else'",
        "minContains",
        "maxContains",
        "additionalProperties",
        "prefixItems",
    )
    return any(word in text for word in words)


@given(schemas, st.integers(0, 29))
@example({"properties": {"a": False}}, 0)
@deep
def test_another_spelling_is_no_change(schema: Any, how: int) -> None:
    assume(not _steered(schema) and any(map(checker(schema), VALUES)))
    found = compare(schema, respelled(schema, how))
    assert found.bump == "none" or found.unprovable


@given(schemas)
@deep
def test_references_written_out_and_notes_do_not_move_the_digest(schema: Any) -> None:
    wrapped = {"properties": {"a": schema}, "type": "object"}
    noted = {
        "title": "A note",
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/one", "description": "Another note."}},
        "$defs": {"one": schema, "left over": {"type": "null"}},
    }
    assert interface_digest(wrapped) == interface_digest(noted)
    assert raw_digest(wrapped) != raw_digest(noted)


@given(any_pair)
@example(({}, {"anyOf": [True, {"properties": {"a": True}}]}))
@deep
def test_equal_digests_mean_equal_interfaces(pair: tuple[Any, Any]) -> None:
    old, new = pair
    if interface_digest(old) == interface_digest(new):
        assert compare(old, new).bump in {"none", "patch"} or not any(map(checker(new), VALUES))
