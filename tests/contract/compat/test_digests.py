"""The two digests: of the interface that readers see, and of the text that the model sees."""

from typing import Any

import pytest

from beleg.contract.compat import SchemaError, behavioural, compare, interface_digest, raw_digest

OLD: dict[str, Any] = {
    "type": "object",
    "properties": {"a": {"type": ["string", "null"]}, "b": {"enum": [1, 2]}},
    "required": ["a", "b"],
    "additionalProperties": False,
}
TREE = {"$ref": "#/$defs/t", "$defs": {"t": {"type": "array", "items": {"$ref": "#/$defs/t"}}}}


@pytest.mark.parametrize(
    "new",
    [
        {**OLD, "required": ["b", "a"], "title": "T"},
        {**OLD, "properties": {"b": {"enum": [2.0, 1], "description": "B"}, "a": {"type": ["null", "string"]}}},
        {**OLD, "properties": {**OLD["properties"], "a": {"anyOf": [{"type": "null"}, {"type": "string"}]}}},
        {**OLD, "properties": {**OLD["properties"], "b": {"$ref": "#/$defs/b"}}, "$defs": {"b": {"enum": [1, 2]}}},
        {"allOf": [OLD]},
    ],
)
def test_the_interface_digest_is_blind_to_spelling(new: Any) -> None:
    assert interface_digest(new) == interface_digest(OLD)
    assert raw_digest(new) != raw_digest(OLD)
    assert compare(OLD, new).bump in {"none", "patch"}
    assert behavioural(OLD, new)


@pytest.mark.parametrize(
    "new",
    [
        {**OLD, "required": ["a"]},
        {**OLD, "additionalProperties": True},
        {**OLD, "properties": {**OLD["properties"], "b": {"enum": [1, True]}}},
        {**OLD, "properties": {**OLD["properties"], "c": {}}},
    ],
)
def test_the_interface_digest_moves_with_the_interface(new: Any) -> None:
    assert interface_digest(new) != interface_digest(OLD)


def test_a_renamed_definition_that_contains_itself_keeps_the_digest() -> None:
    renamed = {"$ref": "#/$defs/node", "$defs": {"node": {"items": {"$ref": "#/$defs/node"}, "type": "array"}}}
    unrolled = {"type": "array", "items": renamed["$ref"] and {"$ref": "#/$defs/node"}, "$defs": renamed["$defs"]}
    assert interface_digest(TREE) == interface_digest(renamed) == interface_digest(unrolled)
    other = {"$ref": "#/$defs/t", "$defs": {"t": {"type": "array", "items": {"$ref": "#/$defs/t"}, "maxItems": 1}}}
    assert interface_digest(TREE) != interface_digest(other)


def test_the_order_of_fields_is_behaviour_and_no_interface() -> None:
    turned = {**OLD, "properties": dict(reversed(OLD["properties"].items()))}
    assert compare(OLD, turned).bump == "none"
    assert behavioural(OLD, turned)
    assert not behavioural(OLD, dict(OLD))


def test_a_schema_that_cannot_be_understood_has_a_digest_still() -> None:
    assert interface_digest({"$schema": "urn:mine", "a": 1}) != interface_digest({"$schema": "urn:mine", "a": 2})


def test_what_is_no_json_has_no_digest() -> None:
    for schema in ({"const": float("nan")}, {"const": {1}}):
        with pytest.raises(SchemaError):
            raw_digest(schema)
    with pytest.raises(SchemaError):
        interface_digest({"type": "text"})
