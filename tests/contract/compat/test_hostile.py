"""Whatever is handed in, there is an answer or an error that helps, and soon."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from beleg.contract.compat import SchemaError, compare, interface_digest

LIMIT_S = 1.0
TEXT = {"type": "string"}
NUMBER = {"type": "number"}

DEEP: dict[str, Callable[[Any], Any]] = {
    "properties": lambda inner: {"type": "object", "properties": {"a": inner}, "required": ["a"]},
    "items": lambda inner: {"type": "array", "items": inner},
    "allOf": lambda inner: {"allOf": [inner]},
    "anyOf": lambda inner: {"anyOf": [inner, {"type": "null"}]},
    "not": lambda inner: {"not": inner},
    "const": lambda inner: {"const": [inner]},
}


def nested(depth: int, wrap: Callable[[Any], Any], inner: Any) -> Any:
    for _ in range(depth):
        inner = wrap(inner)
    return inner


@pytest.mark.parametrize("word", sorted(DEEP))
def test_ten_thousand_levels_are_called_unprovable(word: str) -> None:
    old, new = (nested(10_000, DEEP[word], inner) for inner in (TEXT, NUMBER))
    found = compare(old, new)
    assert (found.bump, found.unprovable, found.reader_safe) == ("major", True, False)


def test_thirty_levels_are_compared() -> None:
    old, new = (nested(30, DEEP["properties"], inner) for inner in (NUMBER, {"type": "integer"}))
    assert compare(old, new).bump == "minor"
    assert compare(new, old).reader_safe is False


LADDERS: dict[str, Callable[[Any, int], Any]] = {
    "allOf": lambda below, _: {"allOf": [below, below]},
    "anyOf": lambda below, n: {"anyOf": [below, {"allOf": [below, {"minLength": n % 3}]}]},
    "oneOf": lambda below, n: {"oneOf": [below, {"properties": {f"p{n}": below}}]},
    "properties": lambda below, _: {"type": "object", "properties": {"a": below, "b": below}, "required": ["a", "b"]},
    "if": lambda below, _: {"if": below, "then": {"minLength": 1}, "else": below},
}


def ladder(rungs: int, make: Callable[[Any, int], Any], foot: Any) -> dict[str, Any]:
    """Each definition uses the next one twice: 2**rungs when written out."""
    steps = {f"d{n}": make({"$ref": f"#/$defs/d{n + 1}"}, n) for n in range(rungs)}
    return {"$ref": "#/$defs/d0", "$defs": {**steps, f"d{rungs}": foot}}


@pytest.mark.parametrize("word", sorted(LADDERS))
def test_references_that_double_at_every_level_do_no_harm(word: str) -> None:
    old, new = (ladder(40, LADDERS[word], {"type": "string", "maxLength": most}) for most in (4, 3))
    assert compare(old, new, time_limit_s=LIMIT_S).bump in {"minor", "major"}
    assert compare(old, json.loads(json.dumps(old))).bump == "none"


def test_a_proof_too_large_to_write_down_is_not_returned() -> None:
    old, new = (ladder(40, LADDERS["properties"], {"type": "string", "maxLength": most}) for most in (3, 4))
    found = compare(old, new, time_limit_s=LIMIT_S)
    assert (found.bump, found.reader_safe, found.unprovable) == ("major", False, True)
    assert len(json.dumps(found.to_dict())) < 10_000


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"allOf": [{"$ref": "#"}]},
        {"not": {"$ref": "#"}},
        {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"anyOf": [{"$ref": "#/$defs/a"}, TEXT]}}},
    ],
)
def test_a_schema_that_refers_to_itself_without_end_is_unprovable(schema: Any) -> None:
    assert compare(schema, TEXT).unprovable
    assert compare(TEXT, schema).unprovable


def _wide(count: int, first: int) -> dict[str, Any]:
    return {"oneOf": [{"properties": {"k": {"const": n}}, "required": ["k"]} for n in range(first, first + count)]}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"enum": [f"v{n}" for n in range(20_000)]}, {"enum": [f"v{n}" for n in range(1, 20_001)]}),
        ({"enum": [{"a": n} for n in range(2_000)]}, {"enum": [{"a": n} for n in range(1, 2_001)]}),
        (_wide(300, 0), _wide(300, 1)),
        ({"pattern": "^(a+)+$"}, {"enum": [f"{'a' * 5_000}!"]}),
        (
            {"patternProperties": {"^(a|a)*$": TEXT}},
            {"properties": {f"{'a' * 99}!": NUMBER}, "required": [f"{'a' * 99}!"]},
        ),
        ({"pattern": "^(.*a.{12})+$"}, {"pattern": "^(.*b.{12})+$"}),
        ({"pattern": r"(?<=a)b"}, {"pattern": "b"}),
        ({"minItems": 10**9}, {"minItems": 10**9 - 1}),
        ({"minProperties": 10**9}, {"minProperties": 10**9 - 1}),
        ({"minLength": 10**9}, {"minLength": 10**9 - 1}),
        ({"anyOf": [{"required": [f"a{n}"]} for n in range(12)], "unevaluatedProperties": False}, {"type": "object"}),
        (
            {"type": "array", "allOf": [{"contains": {"const": n}, "minContains": 5} for n in range(8)]},
            {"type": "array"},
        ),
    ],
)
def test_what_is_large_or_intricate_is_answered_in_time(old: Any, new: Any) -> None:
    found = compare(old, new, time_limit_s=LIMIT_S)
    assert found.bump == "major"
    assert found.unprovable or any(change.witness_kind == "reader" for change in found.changes)


def test_no_time_at_all_is_called_unprovable() -> None:
    found = compare(TEXT, NUMBER, time_limit_s=-1)
    assert (found.bump, found.unprovable, found.changes[0].rule) == ("major", True, "R62")


@pytest.mark.parametrize(
    "schema",
    [
        *(None, 5, "x", [], {"type": "strng"}, {"properties": 5}, {"properties": {"a": 7}}, {1: 2}),
        *({"enum": [float("nan")]}, {"enum": [{1, 2}]}, {"minimum": float("inf")}, {"minLength": float("inf")}),
        *({"minLength": -1}, {"required": "a"}, {"$ref": 5}, {"enum": 5}, {"multipleOf": 0}, {"pattern": 7}),
        *({"items": [5]}, {"const": {1: 2}}, {"description": {1, 2}}, {"allOf": []}, {"minimum": True}, {"type": [{}]}),
        *({"dependentRequired": {"a": "b"}}, {"x": float("nan")}, {"const": 10**5_000}, {"required": 10**5_000}),
    ],
)
def test_what_is_no_schema_is_refused_with_a_reason(schema: Any) -> None:
    for old, new in ((schema, {}), ({}, schema), (schema, schema)):
        with pytest.raises(SchemaError, match=r"."):
            compare(old, new)


@pytest.mark.parametrize(
    ("schema", "place"),
    [
        ({"pattern": "("}, "/pattern"),
        ({"properties": {"a": {"pattern": "[b-a]"}}}, "/properties/a/pattern"),
        ({"properties": {"a": {"patternProperties": {"a{2,1}": True}}}}, "/properties/a/patternProperties"),
        ({"properties": {"a": {"items": [TEXT]}}}, "/properties/a/items"),
    ],
)
def test_the_error_names_the_place(schema: Any, place: str) -> None:
    for old, new in ((schema, {}), ({}, schema), (schema, schema)):
        with pytest.raises(SchemaError, match=re.escape(place)):
            compare(old, new)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("text", ["^[[:alpha:]]$", "^[a&&b]$", "^[a~~b]$", "^[--a]$", "^[a||b]$"])
def test_sets_that_look_like_sets_of_sets_are_read_in_silence(text: str) -> None:
    named = {"type": "object", "patternProperties": {text: NUMBER}}
    assert compare({"pattern": text}, {"pattern": text.rstrip("$")}).bump == "major"
    assert compare(named, {**named, "patternProperties": {text: TEXT}}).changes[0].witness_kind == "reader"


@pytest.mark.parametrize("reference", ["#/%%%/~9", "http://[bad", "#/$defs/x", "other.json", "#nowhere"])
def test_a_reference_that_leads_nowhere_is_unprovable(reference: str) -> None:
    schema = {"properties": {"a": {"$ref": reference}}, "$defs": {"x": 5}}
    found = compare(schema, {"properties": {"a": TEXT}})
    assert (found.bump, found.unprovable, found.changes[0].rule) == ("major", True, "R62")
    assert compare(schema, dict(schema)).bump == "none"


def test_the_verdict_is_the_same_after_much_else_was_compared() -> None:
    pairs = [({"pattern": f"^{chr(97 + n % 26)}{{{n}}}$"}, {"pattern": f"^b{{{n}}}$"}) for n in range(16)]
    first = [compare(*pair) for pair in pairs]
    assert [compare(*pair) for pair in pairs] == first


def test_a_deep_schema_has_no_digest_and_says_why() -> None:
    with pytest.raises(SchemaError, match="too deeply"):
        interface_digest(nested(10_000, DEEP["properties"], TEXT))
