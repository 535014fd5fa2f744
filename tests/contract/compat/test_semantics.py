"""What the comparison means by its words."""

import json
from typing import Any

import pytest

from beleg.contract.compat import NO_WITNESS, Change, compare, compare_all


def closed(required: tuple[str, ...] = (), **fields: Any) -> dict[str, Any]:
    return {"type": "object", "properties": fields, "required": list(required), "additionalProperties": False}


TEXT = {"type": "string"}
NUMBER = {"type": "number"}
ALL_SMALL = {"additionalProperties": {"maximum": 1}}
ALL_SHORT = {"additionalProperties": {"maxLength": 1}}


def test_null_is_a_witness_and_absence_is_none() -> None:
    found = compare(TEXT, {"type": ["string", "null"]})
    assert found.changes[0].witness is None
    assert found.changes[0].witness_kind == "reader"
    assert found.changes[0].to_dict()["witness"] is None
    added = compare(closed(), closed(a=TEXT)).changes[0]
    assert added.witness is NO_WITNESS
    assert "witness" not in added.to_dict()


def test_a_verdict_is_json() -> None:
    found = compare(closed(("a",), a=TEXT), closed(a=NUMBER))
    assert json.loads(json.dumps(found.to_dict()))["bump"] == "major"


def test_changes_come_worst_first_and_readers_before_promises() -> None:
    old = closed(("a",), a=TEXT, b=TEXT, c=TEXT)
    new = closed(("b",), a=TEXT, b=TEXT, c={"type": "string", "title": "C"}, d=TEXT)
    found = compare(old, new)
    assert [change.rule for change in found.changes] == ["R03", "R02", "R01", "R40"]
    assert [change.bump for change in found.changes] == ["major", "major", "minor", "patch"]


def test_a_pointer_leads_into_the_new_schema_or_the_old_one_where_it_is_gone() -> None:
    assert compare(closed(a=TEXT), closed(a=NUMBER)).changes[0].pointer == "/properties/a/type"
    assert compare({**closed(), "properties": {"a/b": TEXT}}, closed()).changes[0].pointer == "/properties/a~1b"
    shared = {"$ref": "#/$defs/t", "$defs": {"t": {"enum": ["a"]}}}
    assert compare(shared, {**shared, "$defs": {"t": {"enum": ["a", "b"]}}}).changes[0].pointer == "/$defs/t/enum"


def test_sentences_keep_the_spelling_of_names() -> None:
    found = compare(closed(("unitPrice",), unitPrice=NUMBER), closed(unitPrice=NUMBER))
    assert found.changes[0].sentence == "Field “unitPrice” is no longer required; a reader may find it missing."


@pytest.mark.parametrize(
    ("old", "new", "safe", "rollback"),
    [
        (NUMBER, {"type": "integer"}, True, False),
        ({"type": "integer"}, NUMBER, False, True),
        (closed(), closed(a=TEXT), True, True),
        (closed(a=TEXT), closed(), True, True),
        (closed(("a",), a=TEXT), closed(a=TEXT), False, True),
        (closed(a=TEXT), closed(("a",), a=TEXT), True, False),
        (TEXT, NUMBER, False, False),
    ],
)
def test_safety_is_told_for_both_directions(old: Any, new: Any, safe: bool, rollback: bool) -> None:
    found = compare(old, new)
    assert (found.reader_safe, found.rollback_safe) == (safe, rollback)


def test_a_required_field_that_loses_a_type_is_major_and_safe() -> None:
    either = {"type": ["string", "null"]}
    for old in (either, {"anyOf": [TEXT, {"type": "null"}]}):
        found = compare(closed(("a",), a=old), closed(("a",), a=TEXT))
        assert (found.bump, found.changes[0].rule, found.reader_safe) == ("major", "R11", True)
        assert found.changes[0].witness_kind == "rollback"
        assert compare(closed(a=old), closed(a=TEXT)).bump == "minor"


def test_a_required_field_inside_a_variant_loses_a_type_too() -> None:
    def union(value: Any) -> dict[str, Any]:
        kinds = [closed(("kind", "v"), kind={"const": kind}, v=value if kind == "a" else TEXT) for kind in "ab"]
        return {"oneOf": kinds}

    found = compare(union({"type": ["string", "null"]}), union(TEXT))
    assert (found.bump, found.changes[0].rule) == ("major", "R11")


def test_newly_required_inside_a_variant_is_major() -> None:
    def union(*required: str) -> dict[str, Any]:
        return {
            "oneOf": [closed(("kind", *required), kind={"const": "a"}, v=TEXT), closed(("kind",), kind={"const": "b"})]
        }

    found = compare(union(), union("v"))
    assert (found.bump, found.changes[0].rule, found.reader_safe) == ("major", "R02", True)


def test_readers_of_an_open_list_expect_more_values() -> None:
    old = {"enum": ["a"], "x-open-enum": True}
    assert compare(old, {"enum": ["a", "b"], "x-open-enum": True}).bump == "minor"
    assert compare({"enum": ["a"]}, {"enum": ["a", "b"], "x-open-enum": True}).bump == "major"
    assert compare(old, {"enum": ["a", 1], "x-open-enum": True}).bump == "major"


def test_members_that_a_closed_object_does_not_name_count_for_nothing() -> None:
    old = closed(a=TEXT, b=TEXT) | {"maxProperties": 1}
    new = closed(a=TEXT, b=TEXT, c=TEXT) | {"maxProperties": 1}
    assert compare(old, new).bump == "minor"
    wide = closed(a=TEXT, c=TEXT) | {"maxProperties": 2}
    assert compare(closed(a=TEXT) | {"maxProperties": 1}, wide).bump == "minor"
    least = closed(a=TEXT) | {"minProperties": 1}
    assert compare(least, closed(a=TEXT, c=TEXT) | {"minProperties": 1}).reader_safe is False


def test_a_condition_on_a_member_that_readers_drop_never_holds() -> None:
    known = closed(a=TEXT) | {"anyOf": [{"required": ["zzz"]}, {"required": ["a"]}]}
    more = closed(a=TEXT, zzz=TEXT) | {"anyOf": [{"required": ["zzz"]}, {"required": ["a"]}]}
    found = compare(known, more)
    assert found.reader_safe is False
    assert found.changes[0].witness == {"zzz": "x"}


@pytest.mark.parametrize(
    "draft", ["http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2019-09/schema"]
)
def test_older_dialects_are_read_as_the_new_one_spells_them(draft: str) -> None:
    old = {
        "$schema": draft,
        "type": "object",
        "properties": {"pair": {"type": "array", "items": [TEXT, NUMBER], "additionalItems": False}},
        "dependencies": {"a": ["b"], "c": {"required": ["d"]}},
    }
    new = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {"pair": {"type": "array", "prefixItems": [TEXT, NUMBER], "items": False}},
        "dependentRequired": {"a": ["b"]},
        "dependentSchemas": {"c": {"required": ["d"]}},
    }
    found = compare(old, new)
    assert (found.bump, [change.rule for change in found.changes]) == ("patch", ["R63"])


def test_references_lead_to_anchors_and_bundled_schemas() -> None:
    bundled = {
        "$id": "https://example.com/root",
        "properties": {"a": {"$ref": "sum"}, "b": {"$ref": "sum#part"}},
        "$defs": {"s": {"$id": "sum", "type": "number", "$defs": {"p": {"$anchor": "part", "type": "string"}}}},
    }
    assert compare({"properties": {"a": NUMBER, "b": TEXT}}, bundled).bump == "patch"


def test_the_worst_of_all_versions_wins_and_says_against_which() -> None:
    first, second = closed(due=TEXT), closed()
    found = compare_all([first, second], closed(due=NUMBER))
    assert (found.bump, found.reader_safe) == ("major", False)
    assert found.changes[0].against == 0
    assert compare_all([], TEXT).bump == "none"


def test_equal_changes_against_several_versions_are_told_once() -> None:
    found = compare_all([closed(), closed()], closed(a=TEXT))
    assert [(change.rule, change.against) for change in found.changes] == [("R01", 1)]


def test_big_numbers_and_exact_steps_are_told_apart() -> None:
    assert compare({"const": 2**60 + 1}, {"const": 2**60}).changes[0].rule == "R51"
    assert compare({"type": "number", "multipleOf": 0.1}, {"type": "number", "multipleOf": 0.3}).bump == "minor"
    assert compare({"multipleOf": 0.3}, {"multipleOf": 0.1}).reader_safe is False
    assert compare({"maximum": 1e308}, {"maximum": 10**400}).bump == "major"


def test_look_aheads_are_reasoned_about() -> None:
    assert compare({"pattern": "^(?=.*b)a"}, {"pattern": "^ab$"}).bump == "minor"


def test_two_schemas_that_allow_nothing_are_the_same() -> None:
    assert compare(False, {"not": {}}).bump == "none"
    assert compare(False, {"not": {}, "title": "Nothing"}).bump == "patch"
    assert compare({"type": "string"}, {"not": {}}).changes[0].rule == "R60"


def test_a_witness_is_unreadable_for_validators_that_reckon_in_floats() -> None:
    found = compare({"maximum": 1e308}, {"maximum": 10**400})
    assert isinstance(found.changes[0].witness, int)
    assert found.changes[0].witness > float("1.4e308")
    near = compare({"maximum": 1e308}, {"maximum": 10**308 + 1})
    assert near.unprovable
    assert near.changes[0].witness is NO_WITNESS


def test_a_change_can_name_the_version_it_is_against() -> None:
    assert Change("R01", "minor", "", "x").against is None


@pytest.mark.parametrize("word", ["additionalProperties", "unevaluatedProperties", "items", "propertyNames"])
def test_what_breaks_two_alternatives_may_be_two_parts_of_one_value(word: str) -> None:
    """One member breaks one branch, another the other; no single member need break both."""
    one, other = (
        ({"maxLength": 1}, {"pattern": "^a"}) if word == "propertyNames" else ({"maximum": 1}, {"maxLength": 1})
    )
    found = compare({"anyOf": [{word: one}, {word: other}]}, {})
    witness = next(change.witness for change in found.changes if change.witness_kind == "reader")
    assert not found.reader_safe
    assert len(witness) > 1


@pytest.mark.parametrize(("most", "is_safe"), [(1, True), (2, False)])
def test_two_members_need_room_for_two(most: int, is_safe: bool) -> None:
    old = {"maxProperties": most, "anyOf": [ALL_SMALL, ALL_SHORT]}
    assert compare(old, {"maxProperties": most}).reader_safe is is_safe
