"""Readers are written in Python or in ECMAScript, and they drop what they do not know before they count."""

import itertools
import re
from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from beleg.contract.compat import Comparison, compare
from beleg.contract.compat.spelling import Unspeakable, spelled
from tests.deep import examples

TEXT = {"type": "string"}


def text(pattern: str) -> dict[str, Any]:
    return {"type": "string", "pattern": pattern}


def rust(schema: Any) -> Any:
    return jsonschema_rs.validator_for(schema).is_valid


@pytest.mark.parametrize(
    ("pattern", "value"),
    [
        (r"^\w+$", "müll"),
        (r"^\d+$", "٣"),
        ("^.$", "\r"),
        ("^.$", "\u2028"),
        (r"^\s$", "\x1c"),
        (r"^\S$", "\ufeff"),
        ("^a$", "a\n"),
        (r"^[\w-]+$", "é-1"),
        (r"^[^\W]$", "ä"),
    ],
)
def test_what_readers_in_ecmascript_refuse_breaks_readers(pattern: str, value: str) -> None:
    found = compare(text(pattern), {"enum": [value]})
    assert (found.bump, found.reader_safe, found.unprovable) == ("major", False, False)
    assert found.changes[0].witness == value
    assert found.changes[0].sentence.endswith("So it is for readers in ECMAScript.")
    assert not rust(text(pattern))(value)


@pytest.mark.parametrize(
    ("pattern", "value"), [(r"^\W+$", "ä"), (r"^\D+$", "٣"), (r"^\s$", "\ufeff"), (r"^\S$", "\x1c"), (r"^\S$", "\x85")]
)
def test_what_readers_in_python_refuse_breaks_readers(pattern: str, value: str) -> None:
    found = compare(text(pattern), {"enum": [value]})
    assert (found.bump, found.reader_safe, found.unprovable) == ("major", False, False)
    assert found.changes[0].sentence.endswith("So it is for readers in Python.")
    assert rust(text(pattern))(value)


def test_a_wider_class_breaks_the_readers_for_whom_it_is_wider() -> None:
    ascii_only = compare(text(r"^\w+$"), text("^[a-zäöü]+$"))
    assert (ascii_only.bump, ascii_only.changes[0].witness) == ("major", "ä")
    unicode = compare(text("^[0-9]$"), text(r"^\d$"))
    assert (unicode.bump, unicode.changes[0].witness) == ("major", "\N{ARABIC-INDIC DIGIT ZERO}")
    end = compare(text(r"^a\Z"), text("^a$"))
    assert (end.bump, end.unprovable, end.changes[0].witness) == ("major", False, "a\n")
    assert compare(text(r"^\d$"), text("^[0-9]$")).reader_safe


def test_the_edge_of_a_word_is_another_one_in_ecmascript() -> None:
    assert not compare(text(r"^a\Bä"), {"enum": ["aä"]}).reader_safe
    assert not compare(text(r"^a\bä"), {"enum": ["aä"]}).reader_safe
    assert compare(text(r"^a\b"), {"enum": ["a b"]}).reader_safe


def test_a_pattern_that_ecmascript_does_not_have_is_unprovable() -> None:
    for pattern in (r"^a\Z", "(?i)^a$", r"\Aa"):
        found = compare(text(pattern), {"enum": ["a"]})
        assert (found.bump, found.unprovable) == ("major", True)


def test_names_of_members_are_read_both_ways() -> None:
    def named(pattern: str) -> dict[str, Any]:
        return {"type": "object", "patternProperties": {pattern: {"type": "number"}}, "additionalProperties": TEXT}

    assert compare(named(r"^\d$"), named(r"^[0-9]$")).reader_safe is False
    assert compare(named(r"^[0-9]$"), named(r"^\d$")).reader_safe is False
    same = {"type": "object", "patternProperties": {r"^\d$": TEXT}, "properties": {"a": TEXT}}
    assert compare(same, {**same, "properties": {"a": {**TEXT, "maxLength": 3}}}).bump == "minor"


def test_a_change_that_both_see_is_told_once() -> None:
    found = compare(text("^a$"), text("^[ab]$"))
    assert [(change.rule, change.witness) for change in found.changes] == [("R23", "b")]
    assert "readers in" not in found.changes[0].sentence


PIECES = [
    "a",
    "b",
    "-",
    "]",
    "ä",
    "1",
    " ",
    r"\d",
    r"\D",
    r"\w",
    r"\W",
    r"\s",
    r"\S",
    ".",
    r"\.",
    r"\-",
    r"\t",
    r"\x41",
]
CHARACTERS = [*"aAb-]ä1 ٣_.\t\n\r", "\x1c", "\x85", "\xa0", "\u2028", "\ufeff", "\U0001f600"]
bodies = st.lists(st.sampled_from(PIECES), min_size=1, max_size=3).map("".join)
patterns = st.lists(
    st.one_of(bodies, bodies.map(lambda body: f"[{body}]"), bodies.map(lambda body: f"[^{body}]")),
    min_size=1,
    max_size=2,
).map(lambda parts: f"^{''.join(parts)}$")


@given(patterns)
@settings(max_examples=examples(150, soak=5_000))
def test_the_reading_of_ecmascript_is_that_of_the_validator(pattern: str) -> None:
    try:
        read = re.compile(spelled(pattern, "ecmascript"))
        validator = rust({"pattern": pattern})
    except (Unspeakable, re.error, jsonschema_rs.ValidationError):
        return
    for value in map("".join, itertools.chain(CHARACTERS, itertools.product(CHARACTERS, repeat=2))):
        assert (read.search(value) is not None) == validator(value)


def closed(*required: str, **fields: Any) -> dict[str, Any]:
    return {"type": "object", "properties": fields, "required": list(required), "additionalProperties": False}


def lists(*fields: str, **words: Any) -> dict[str, Any]:
    return {"type": "array", "items": closed("sku", **dict.fromkeys(fields, TEXT)), **words}


TOTAL = closed("sku", sku={"const": "total"})


@pytest.mark.parametrize(
    ("words", "witness"),
    [
        ({"uniqueItems": True}, [{"sku": "x", "lot": "x"}, {"sku": "x", "lot": "a"}]),
        ({"contains": TOTAL, "maxContains": 1}, None),
        ({"contains": {"required": ["lot"]}}, None),
        ({"contains": {"maxProperties": 1}, "maxContains": 1}, None),
        ({"not": {"contains": {"const": {"sku": "x"}}}}, None),
        ({"not": {"items": {"maxProperties": 1}}}, None),
    ],
)
def test_what_readers_drop_is_dropped_before_entries_are_counted(words: dict[str, Any], witness: Any) -> None:
    old, new = lists("sku", **words), lists("sku", "lot", **words)
    found = compare(old, new)
    assert (found.bump, found.reader_safe, found.unprovable) == ("major", False, False)
    value = next(change.witness for change in found.changes if change.witness_kind == "reader")
    assert witness is None or value == witness
    assert rust(new)(value)
    assert not any(rust(old)(reduced) for reduced in drops(value))


def test_the_promise_and_the_entries_may_stand_apart() -> None:
    def apart(*fields: str) -> dict[str, Any]:
        return {"allOf": [lists(*fields), {"uniqueItems": True}]}

    def either(*fields: str) -> dict[str, Any]:
        return {"anyOf": [lists(*fields, uniqueItems=True), {"type": "null"}]}

    for make in (apart, either):
        found = compare(make("sku"), make("sku", "lot"))
        assert (found.bump, found.unprovable) == ("major", False)


def test_what_cannot_be_shown_is_unprovable() -> None:
    def nested(*fields: str) -> dict[str, Any]:
        return {"type": "array", "uniqueItems": True, "items": closed(part=closed(**dict.fromkeys(fields, TEXT)))}

    found = compare(nested("a"), nested("a", "b"))
    assert found.bump == "major"
    assert not found.reader_safe


def test_a_listed_object_is_no_longer_it_once_a_member_is_dropped() -> None:
    contains = {"enum": [{"b": "a"}, "a"]}
    old, new = {"type": "array", "contains": contains}, {"type": "array", "contains": {**contains, **closed()}}
    assert not compare(old, new).rollback_safe
    assert not compare(new, old).reader_safe


def test_variants_may_drop_what_is_counted() -> None:
    def variants(*fields: str) -> dict[str, Any]:
        kinds = [lists("sku", *fields)["items"], closed("x", x=TEXT, **dict.fromkeys(fields, TEXT))]
        return {"type": "array", "items": {"anyOf": kinds}, "contains": {"required": ["lot"]}, "minContains": 0}

    for most in ({"maxContains": 0}, {"minContains": 1}):
        assert not compare({**variants(), **most}, {**variants("lot"), **most}).reader_safe


def test_counted_lists_whose_readers_drop_nothing_stay_minor() -> None:
    unique = lists("sku", uniqueItems=True)
    narrower = {**unique, "items": closed("sku", sku={"type": "string", "maxLength": 3})}
    assert [change.rule for change in compare(unique, narrower).changes] == ["R21"]
    assert compare(closed(a=unique), closed(a=unique, b=TEXT)).bump == "minor"
    assert compare(unique, lists("sku", "lot", uniqueItems=True, maxItems=1)).reader_safe
    kind = {"properties": {"sku": {"const": "total"}}, "required": ["sku"]}
    assert compare(lists("sku", contains=kind), lists("sku", "lot", contains=kind)).bump == "minor"


NAMES = "abc"
flat = st.sampled_from([True, TEXT, {"type": "integer"}, {"enum": ["a", 1]}, {"const": "a"}])
shut: st.SearchStrategy[dict[str, Any]] = st.builds(
    lambda fields, required: closed(*required, **fields),
    st.dictionaries(st.sampled_from(NAMES), flat, max_size=3),
    st.lists(st.sampled_from(NAMES), max_size=1),
)
inner: st.SearchStrategy[Any] = st.one_of(
    shut,
    st.lists(shut, min_size=2, max_size=2).map(lambda kinds: {"anyOf": kinds}),
    st.builds(
        lambda outer, part: closed(a=part, **outer["properties"]) if "a" not in outer["properties"] else outer,
        shut,
        shut,
    ),
    flat,
)
counted = st.one_of(
    inner,
    st.sampled_from([{"const": {"a": "a"}}, {"required": ["c"]}, {"maxProperties": 1}, {"not": {"required": ["b"]}}]),
)
arrays: st.SearchStrategy[Any] = st.fixed_dictionaries(
    {"type": st.just("array"), "items": inner},
    optional={
        "uniqueItems": st.just(True),
        "contains": counted,
        "minContains": st.integers(0, 2),
        "maxContains": st.integers(0, 2),
        "not": st.one_of(
            st.just({"uniqueItems": True}),
            counted.map(lambda schema: {"contains": schema}),
            counted.map(lambda schema: {"items": schema}),
        ),
    },
)


@st.composite
def steps(draw: st.DrawFn) -> tuple[Any, Any]:
    """A counted list, and the same with other entries or one other promise."""
    old, other = draw(arrays), draw(arrays)
    new: Any = {**old, "items": other["items"]} if draw(st.booleans()) else {**old, **other, "items": old["items"]}
    fields = old["items"]["properties"] if isinstance(old["items"], dict) and "properties" in old["items"] else None
    if fields is not None and draw(st.booleans()):
        new = {**old, "items": {**old["items"], "properties": {**fields, draw(st.sampled_from(NAMES)): draw(inner)}}}
    return old, new


def drops(value: Any) -> Iterator[Any]:
    """The value without any of its members, anywhere: more than a reader may drop."""
    if isinstance(value, dict):
        ways = [[None, *((name, reduced) for reduced in drops(member))] for name, member in value.items()]
        yield from (dict(filter(None, chosen)) for chosen in itertools.product(*ways))
    elif isinstance(value, list):
        yield from map(list, itertools.product(*map(list, map(drops, value))))
    else:
        yield value


MEMBERS: list[Any] = ["a", 1, {"a": "a"}]
OBJECTS = [
    dict(zip(names, values, strict=True))
    for size in range(3)
    for names in itertools.combinations(NAMES, size)
    for values in itertools.product(MEMBERS[: 4 - size], repeat=size)
]
LISTS = [[], *([value] for value in OBJECTS), *map(list, itertools.product([*OBJECTS, "a"], repeat=2))]


@given(steps())
@example((lists("a", uniqueItems=True), lists("a", "b", uniqueItems=True)))
@settings(max_examples=examples(60, soak=2_000), suppress_health_check=[HealthCheck.too_slow])
def test_no_small_list_contradicts_a_verdict(pair: tuple[Any, Any]) -> None:
    old, new = pair
    found = compare(old, new)
    assert compare(new, new) == Comparison("none")
    before, now = rust(old), rust(new)
    for value in LISTS:
        was, is_now = before(value), now(value)
        assert was or not is_now or not found.reader_safe or any(map(before, drops(value)))
        assert is_now or not was or not found.rollback_safe or any(map(now, drops(value)))
        assert was == is_now or found.bump not in {"none", "patch"}
    for change in found.changes:
        if change.witness_kind is not None:
            giver, reader = (now, before) if change.witness_kind == "reader" else (before, now)
            assert giver(change.witness)
            assert not reader(change.witness)
