"""A schema as a provider can enforce it: whatever it lets through is, on its way back, valid under the contract's."""

import json
from collections.abc import Mapping
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from beleg.contract.lint.profiles import Profile, profiles
from beleg.contract.run.convert import Converted, Inexpressible, convert

OPENAI, ANTHROPIC = (profiles()[name] for name in ("openai", "anthropic"))
PROFILES = pytest.mark.parametrize("profile", profiles().values(), ids=profiles())
Json = dict[str, Any]


def valid(schema: Any, value: Any) -> bool:
    return bool(jsonschema_rs.validator_for(schema, validate_formats=True).is_valid(value))


# -- schemas of what both can express, and values under any schema --------------------------------

NAMES = st.sampled_from(["a", "b", "c", "long name"])


def scalars() -> st.SearchStrategy[Json]:
    return st.one_of(
        st.sampled_from([{"type": "string"}, {"type": "boolean"}, {"type": "null"}, {"type": "number"}]),
        st.sampled_from([{"type": "integer"}, {"type": ["string", "null"]}, {"type": ["integer", "boolean"]}]),
        st.lists(st.sampled_from(["x", "y", 1, None, False]), min_size=1, max_size=3).map(
            lambda values: {"enum": values}
        ),
        st.sampled_from(["x", 7, True, None]).map(lambda value: {"const": value}),
        st.sampled_from([{"type": "string", "format": "date"}]),
    )


def nested(inner: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    def to_object(properties: dict[str, Json], required: list[str], closed: bool, title: bool) -> Json:
        made: Json = {"type": "object", "properties": properties, "required": [n for n in required if n in properties]}
        return made | ({"additionalProperties": False} if closed else {}) | ({"title": "T"} if title else {})

    properties = st.dictionaries(NAMES, inner, min_size=1, max_size=3)
    objects = st.builds(to_object, properties, st.lists(NAMES, unique=True), st.booleans(), st.booleans())
    return st.one_of(
        objects,
        inner.map(lambda items: {"type": "array", "items": items}),
        st.lists(inner, min_size=1, max_size=3).map(lambda branches: {"anyOf": branches}),
        inner.map(lambda part: {"allOf": [part]}),
        st.tuples(objects, st.sampled_from(["array", "object", "null"])).map(
            lambda pair: {
                **pair[0],
                "items": {"type": "integer"},
                "type": ["object", pair[1]] if pair[1] != "object" else "object",
            }
        ),
    )


def with_reference(schema: Json) -> Json:
    """The same with a part that stands in $defs and may occur within itself."""
    node = {
        "type": "object",
        "properties": {
            "v": schema,
            "next": {"$ref": "#/$defs/node"},
            "other": {"type": "array", "items": {"$ref": "#/$defs/node"}},
        },
        "required": ["v"],
    }
    return {"$ref": "#/$defs/node", "$defs": {"node": node}}


SCHEMAS = st.recursive(scalars(), nested, max_leaves=8)
ANY_SCHEMA = st.one_of(SCHEMAS, SCHEMAS.map(with_reference))


def values(draw: Any, schema: Json, root: Json, depth: int = 0) -> Any:
    """A value under a converted schema: those have few keywords, all known here."""
    if "$ref" in schema:
        return values(draw, root["$defs"][schema["$ref"].rpartition("/")[2]], root, depth)
    if "anyOf" in schema:
        branches = schema["anyOf"]
        last = next((each for each in branches if each.get("type") == "null"), branches[0])
        return values(draw, last if depth > 4 else draw(st.sampled_from(branches)), root, depth)
    return draw(st.sampled_from(schema["enum"])) if "enum" in schema else of_type(draw, schema, root, depth)


def of_type(draw: Any, schema: Json, root: Json, depth: int) -> Any:
    """A value under a schema that says no more than its types."""
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    kind = draw(st.sampled_from(kinds))
    if kind == "object":
        wanted = [
            name for name in schema["properties"] if name in schema["required"] or (depth < 4 and draw(st.booleans()))
        ]
        return {name: values(draw, schema["properties"][name], root, depth + 1) for name in wanted}
    if kind == "array":
        size = 0 if depth > 4 else draw(st.integers(schema.get("minItems", 0), 2))
        return [values(draw, schema["items"], root, depth + 1) for _ in range(size)]
    if kind == "string":
        return draw(st.sampled_from(["2026-11-30"])) if schema.get("format") == "date" else draw(st.text(max_size=3))
    return draw({
        "integer": st.integers(-5, 5), "number": st.floats(-5, 5), "boolean": st.booleans(), "null": st.none(),
    }[kind])  # fmt: skip


@st.composite
def converted_values(draw: Any, profile: Profile) -> tuple[Json, Converted, Any]:
    schema = draw(ANY_SCHEMA)
    try:
        made = convert(schema, profile)
    except Inexpressible:
        assume(False)
        raise
    return schema, made, values(draw, made.schema, made.schema)


@PROFILES
@given(data=st.data())
def test_what_a_provider_may_answer_is_valid_under_the_contract_on_its_way_back(
    profile: Profile, data: st.DataObject
) -> None:
    schema, made, value = data.draw(converted_values(profile))
    assert valid(made.schema, value)
    assert valid(schema, made.back(value)), (schema, made.schema, value, made.back(value))


@PROFILES
@given(schema=ANY_SCHEMA)
def test_converted_schema_has_the_shape_that_strict_modes_demand(profile: Profile, schema: Json) -> None:
    try:
        made = convert(schema, profile).schema
    except Inexpressible:
        assume(False)
        raise
    assert made["type"] == "object"
    assert "anyOf" not in made
    parts: list[Any] = [made]
    while parts:
        part = parts.pop()
        if isinstance(part, list):
            parts += part
        elif isinstance(part, Mapping):
            if part.get("type") == "object":
                assert part["additionalProperties"] is False
                if profile.all_required:
                    assert set(part["required"]) == set(part["properties"])
            parts += [value for key, value in part.items() if key not in {"enum", "required", "type"}]
    jsonschema_rs.meta.validate(made)
    json.dumps(made)


@given(schema=SCHEMAS, data=st.data())
def test_conversion_twice_is_conversion_once(schema: Json, data: st.DataObject) -> None:
    try:
        once = convert(schema, OPENAI).schema
    except Inexpressible:
        assume(False)
        raise
    assert convert(once, OPENAI).schema == once


# -- single rules ---------------------------------------------------------------------------------


def members(**properties: Any) -> Json:
    return {"type": "object", "properties": properties, "required": []}


@pytest.mark.parametrize(
    ("part", "nullable"),
    [
        ({"type": "string"}, {"type": ["string", "null"]}),
        ({"type": ["string", "integer"]}, {"type": ["string", "integer", "null"]}),
        ({"enum": ["a"]}, {"type": ["string", "null"], "enum": ["a", None]}),
        ({"const": 3}, {"type": ["integer", "null"], "enum": [3, None]}),
        ({"type": ["string", "null"]}, {"type": ["string", "null"]}),
        (
            {"type": "array", "items": {"type": "string"}},
            {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]},
        ),
    ],
)
def test_optional_field_becomes_nullable(part: Json, nullable: Json) -> None:
    made = convert(members(x=part), OPENAI).schema
    assert (made["properties"]["x"], made["required"]) == (nullable, ["x"])


def test_null_is_dropped_only_where_it_stands_for_nothing() -> None:
    schema = members(plain={"type": "string"}, nullable={"type": ["string", "null"]}, must={"type": "null"})
    schema["required"] = ["must"]
    back = convert(schema, OPENAI).back
    assert back({"plain": None, "nullable": None, "must": None}) == {"nullable": None, "must": None}


@pytest.mark.parametrize(
    ("keyword", "value"),
    [
        ("minLength", 3),
        ("maxLength", 3),
        ("uniqueItems", True),
        ("contains", {"const": "a"}),
        ("minProperties", 1),
        ("not", {"const": "a"}),
        ("if", {"const": "a"}),
        ("format", "iri"),
    ],
)
def test_keyword_that_cannot_be_enforced_is_left_to_our_own_validation(keyword: str, value: Any) -> None:
    made = convert(members(x={"type": "string", keyword: value}), OPENAI).schema
    assert made["properties"]["x"] == {"type": ["string", "null"]}


def test_constraints_go_to_who_enforces_them() -> None:
    schema = {
        **members(n={"type": "integer", "minimum": 1}, l={"type": "array", "items": {"type": "string"}, "minItems": 3})
    }
    schema["required"] = ["n", "l"]
    assert convert(schema, OPENAI).schema["properties"]["n"] == {"type": "integer", "minimum": 1}
    assert convert(schema, OPENAI).schema["properties"]["l"]["minItems"] == 3
    assert convert(schema, ANTHROPIC).schema["properties"]["n"] == {"type": "integer"}
    assert convert(schema, ANTHROPIC).schema["properties"]["l"]["minItems"] == 1


@PROFILES
@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array", "items": {"type": "integer"}},
        {"type": "string"},
        {"anyOf": [members(a={"type": "null"}), members(b={"type": "null"})]},
    ],
)
def test_answer_that_is_no_object_is_wrapped_and_unwrapped(profile: Profile, schema: Json) -> None:
    made = convert(schema, profile)
    assert list(made.schema["properties"]) == ["value"]
    value: Any = {"array": [1, 2], "string": "x"}.get(str(schema.get("type")), {"a": None})
    assert made.back({"value": value}) == value


def test_branch_is_told_by_what_is_valid_after_the_way_back() -> None:
    card = {
        "type": "object",
        "properties": {"kind": {"const": "card"}, "last4": {"type": "string"}},
        "required": ["kind"],
    }
    cash = {
        "type": "object",
        "properties": {"kind": {"const": "cash"}, "note": {"type": ["string", "null"]}},
        "required": ["kind"],
    }
    schema = {"type": "object", "properties": {"paid": {"oneOf": [card, cash]}}, "required": ["paid"]}
    back = convert(schema, OPENAI).back
    assert back({"paid": {"kind": "card", "last4": None}}) == {"paid": {"kind": "card"}}
    assert back({"paid": {"kind": "cash", "note": None}}) == {"paid": {"kind": "cash", "note": None}}


def test_parts_of_all_of_are_folded() -> None:
    schema = {
        "allOf": [{"$ref": "#/$defs/base"}, {"properties": {"b": {"type": "integer"}}, "required": ["b"]}],
        "type": "object",
        "$defs": {"base": {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}},
    }
    made = convert(schema, OPENAI).schema
    assert (sorted(made["properties"]), sorted(made["required"])) == (["a", "b"], ["a", "b"])


def nest(depth: int) -> Any:
    schema: Any = {"type": "string"}
    for _ in range(depth):
        schema = {"type": "array", "items": schema}
    return schema


@PROFILES
@pytest.mark.parametrize(
    "schema",
    [
        True,
        False,
        {},
        {"type": "object"},
        {"type": "object", "additionalProperties": {"type": "number"}},
        {"type": "object", "patternProperties": {"^a": {}}, "properties": {"x": {"type": "string"}}},
        {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["b"]},
        {"type": "object", "properties": {"a": True}},
        {"type": "array"},
        {"type": "array", "prefixItems": [{"type": "string"}]},
        {"enum": [{"a": 1}]},
        {"enum": []},
        {"type": "string", "enum": [1]},
        {"$ref": "#"},
        {"$ref": "#/$defs/none"},
        {"$ref": "https://example.com/schema"},
        {"$ref": "#/definitions/x", "definitions": {"x": {"type": "string"}}},
        {"$ref": "#/$defs/x", "minLength": 3, "$defs": {"x": {"type": "string"}}},
        {"allOf": [{"type": "string", "minLength": 1}, {"minLength": 2}]},
        {"allOf": [{"$ref": "#/$defs/x"}], "$defs": {"x": {"$ref": "#/$defs/x"}}},
        {"not": {"type": "string"}},
        nest(5_000),
    ],
)
def test_shape_that_no_strict_mode_knows_is_told_apart(profile: Profile, schema: Any) -> None:
    with pytest.raises(Inexpressible):
        convert(schema, profile)


def test_recursion_is_for_those_who_know_it() -> None:
    schema = with_reference({"type": "string"})
    made = convert(schema, OPENAI)
    value = {"v": "a", "next": {"v": "b", "next": None, "other": None}, "other": []}
    assert valid(made.schema, value)
    assert made.back(value) == {"v": "a", "next": {"v": "b"}, "other": []}
    with pytest.raises(Inexpressible, match="recursion"):
        convert(schema, ANTHROPIC)


@PROFILES
@given(
    value=st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=2),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
        max_leaves=10,
    )
)
def test_way_back_takes_any_value(profile: Profile, value: Any) -> None:
    schema = {
        "type": "object",
        "properties": {
            "a": {"anyOf": [members(b={"type": "string"}), {"type": "array", "items": members(c={"type": "null"})}]}
        },
    }
    convert(schema, profile).back(value)
