"""Canonical JSON: RFC 8785 to the byte for what JSON holds, tags behind a prefix for the rest."""

import datetime as dt
import decimal
import enum
import hashlib
import json
import math
import struct
import uuid
from collections import OrderedDict, UserDict
from dataclasses import dataclass
from typing import Any

import pytest
import rfc8785
from hypothesis import example, given
from hypothesis import strategies as st

from beleg.trace.canon import EXTENDED, EXTENDED_PREFIX, MAX_DEPTH, PLAIN, canonical
from beleg.trace.canon_codec import DEFAULT, EXACT, ORJSON, STDLIB, Codec
from beleg.trace.canon_number import number_text
from beleg.trace.canon_types import NotCanonicalError

CODECS = [codec for codec in (ORJSON, STDLIB, EXACT) if codec is not None]
LIMIT = 2**53 - 1

# RFC 8785, appendix B: IEEE 754 bits and their text.
RFC_NUMBERS = [
    ("0000000000000000", "0"),
    ("8000000000000000", "0"),
    ("0000000000000001", "5e-324"),
    ("8000000000000001", "-5e-324"),
    ("7fefffffffffffff", "1.7976931348623157e+308"),
    ("ffefffffffffffff", "-1.7976931348623157e+308"),
    ("4340000000000000", "9007199254740992"),
    ("c340000000000000", "-9007199254740992"),
    ("4430000000000000", "295147905179352830000"),
    ("44b52d02c7e14af5", "9.999999999999997e+22"),
    ("44b52d02c7e14af6", "1e+23"),
    ("44b52d02c7e14af7", "1.0000000000000001e+23"),
    ("444b1ae4d6e2ef4e", "999999999999999700000"),
    ("444b1ae4d6e2ef4f", "999999999999999900000"),
    ("444b1ae4d6e2ef50", "1e+21"),
    ("3eb0c6f7a0b5ed8c", "9.999999999999997e-7"),
    ("3eb0c6f7a0b5ed8d", "0.000001"),
    ("41b3de4355555553", "333333333.3333332"),
    ("41b3de4355555554", "333333333.33333325"),
    ("41b3de4355555555", "333333333.3333333"),
    ("41b3de4355555556", "333333333.3333334"),
    ("41b3de4355555557", "333333333.33333343"),
    ("becbf647612f3696", "-0.0000033333333333333333"),
    ("43143ff3c1cb0959", "1424953923781206.2"),
]


@pytest.mark.parametrize(("bits", "text"), RFC_NUMBERS)
def test_numbers_of_the_rfc_are_written_as_it_says(bits: str, text: str) -> None:
    value = struct.unpack(">d", bytes.fromhex(bits))[0]
    assert number_text(value) == text
    assert canonical([value]).data == f"[{text}]".encode()


@pytest.mark.parametrize("codec", CODECS)
def test_example_of_the_rfc_is_written_as_it_says(codec: Codec) -> None:
    value = {
        "numbers": [333333333.33333329, 1e30, 4.50, 2e-3, 0.000000000000000000000000001],
        "string": "\u20ac$\u000f\u000aA'\u0042\u0022\u005c\\\"/",
        "literals": [None, True, False],
    }
    assert canonical(value, codec).data == (
        rb'{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],'
        rb'"string":"' + "€".encode() + rb"""$\u000f\nA'B\"\\\\\"/"}"""
    )


@pytest.mark.parametrize("codec", CODECS)
def test_keys_are_sorted_by_their_utf16_units_as_the_rfc_says(codec: Codec) -> None:
    value = {"\u20ac": 1, "\r": 2, "\ufb33": 3, "1": 4, "\U0001f600": 5, "\u0080": 6, "\u00f6": 7}
    assert list(json.loads(canonical(value, codec).data).values()) == [2, 4, 6, 7, 1, 5, 3]


scalars = (
    st.none()
    | st.booleans()
    | st.integers(-LIMIT, LIMIT)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from([1.0, -0.0, 1e15, 1e16, 1e20, 1e21, 1e-4, 1e-5, 1e-6, 1e-7, 123456789.0, 0.1, -1.5])
    | st.text(st.characters(exclude_categories=["Cs"]))
    | st.sampled_from(["\ue000", "\U00010000", "\x7f", "\u2028", "$beleg", "\ufffe"])
)
keys = st.text(st.characters(exclude_categories=["Cs"])) | st.sampled_from(["$beleg", "\ue000", "\U00010000"])
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner) | st.lists(inner).map(tuple) | st.dictionaries(keys, inner),
    max_leaves=30,
)


@given(values)
@example({"\ue000": 1, "\U00010000": 2, "a": [1e-7, {"$beleg": 1.0}]})
@example([[1.0, 2], {"a": 1e-300}])
def test_every_codec_agrees_with_the_reference_implementation(value: Any) -> None:
    expected = rfc8785.dumps(value)
    for codec in CODECS:
        assert canonical(value, codec) == (expected, PLAIN)


records = st.lists(st.fixed_dictionaries({"a": values, "b": scalars, "ä": st.lists(scalars)}), min_size=1)


@given(records, st.integers(33, 40))
@example([{"a": "x.0,", "b": 1.0, "ä": [2.0]}], 33)
@example([{"a": {"\U00010000": 1, "\ue000": 2}, "b": -3.0, "ä": [-0.5]}], 33)
def test_wide_values_agree_with_the_reference_implementation(value: list[Any], width: int) -> None:
    wide = [value[index % len(value)] for index in range(width)]
    expected = rfc8785.dumps(wide)
    for codec in CODECS:
        assert canonical(wide, codec) == (expected, PLAIN)


@given(st.lists(st.floats(), min_size=33))
@example([1.5] * 40 + [math.nan])
@example([math.nan] + [-1.5] * 40)
@example([1.5] * 40 + [math.inf, -math.inf])
@example([-2.0] * 40)
@example([1e14] * 40)
def test_wide_lists_of_floats_are_written_as_narrow_ones(value: list[float]) -> None:
    narrow = [value[index : index + 8] for index in range(0, len(value), 8)]
    for codec in CODECS:
        wide, in_parts = canonical(value, codec), canonical(narrow, codec)
        assert wide.version == in_parts.version
        assert wide.data.replace(b"[", b"").replace(b"]", b"") == in_parts.data.replace(b"[", b"").replace(b"]", b"")


@pytest.mark.parametrize("text", ["1.0,", "[2.0]", '{"a":3.0}', "4.0", "\\5.0,"])
def test_texts_that_look_like_whole_floats_stay_as_they_are(text: str) -> None:
    values: list[Any] = [[1.0, text], {"b": text, "a": -7.0}, {text: 1.0, "a": text}, [text]]
    for value in values:
        for codec in CODECS:
            assert canonical(value, codec) == (rfc8785.dumps(value), PLAIN)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_floats_agree_with_the_reference_implementation(value: float) -> None:
    assert canonical(value).data == rfc8785.dumps(value)


@given(st.dictionaries(keys, scalars, min_size=2), st.randoms())
def test_order_of_keys_changes_nothing(value: dict[str, Any], random: Any) -> None:
    shuffled = list(value.items())
    random.shuffle(shuffled)
    assert canonical(dict(shuffled)) == canonical(value)


class Colour(enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 3


class Word(enum.StrEnum):
    TOTAL = "total"


@dataclass
class Point:
    x: int
    y: float


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        ((1, 2), [1, 2]),
        (Colour.RED, "red"),
        (Level.HIGH, 3),
        (Point(1, 2.0), {"x": 1, "y": 2}),
        (OrderedDict(b=1, a=2), {"a": 2, "b": 1}),
        (UserDict({"a": 1}), {"a": 1}),
        (uuid.UUID(int=5), "00000000-0000-0000-0000-000000000005"),
        (1.0, 1),
        (-0.0, 0),
        ({"a": Point(1, 1)}, {"a": {"x": 1, "y": 1}}),
        ({Word.TOTAL: 1.0, "a": {Word.TOTAL: None}}, {"total": 1, "a": {"total": None}}),
    ],
)
def test_values_that_mean_a_json_value_are_that_value(value: Any, plain: Any) -> None:
    for codec in CODECS:
        assert canonical(value, codec) == (rfc8785.dumps(plain), PLAIN)


@pytest.mark.parametrize(
    ("value", "tagged"),
    [
        (math.nan, '["float","nan"]'),
        (-math.inf, '["float","-inf"]'),
        (2**53, '["int","9007199254740992"]'),
        (b"\x00\xff", '["bytes","AP8="]'),
        (decimal.Decimal("1.10"), '["decimal","11e-1"]'),
        (decimal.Decimal(-1200), '["decimal","-12e2"]'),
        (decimal.Decimal("0.00"), '["decimal","0"]'),
        (decimal.Decimal("NaN"), '["decimal","nan"]'),
        (dt.date(2030, 1, 2), '["date","2030-01-02"]'),
        (dt.datetime(2030, 1, 2, 3, tzinfo=dt.UTC), '["instant","2030-01-02T03:00:00.000000Z"]'),
        (dt.datetime(2030, 1, 2, 3), '["datetime","2030-01-02T03:00:00.000000"]'),  # noqa: DTZ001
        (dt.timedelta(seconds=1), '["duration_us","1000000"]'),
        ({2, 1}, '["set",[1,2]]'),
        ({1: "a"}, '["map",[[1,"a"]]]'),
        ("\ud800", '["utf16","d800"]'),
        ({"\ud800": 1}, '["map",[[{"$beleg":["utf16","d800"]},1]]]'),
    ],
)
def test_values_json_cannot_hold_have_a_documented_form(value: Any, tagged: str) -> None:
    expected = EXTENDED_PREFIX + f'{{"$beleg":{tagged}}}'.encode()
    for codec in CODECS:
        assert canonical(value, codec) == (expected, EXTENDED)


def test_equal_decimals_and_instants_have_one_form() -> None:
    assert canonical(decimal.Decimal(100)) == canonical(decimal.Decimal("1.00E+2"))
    east = dt.timezone(dt.timedelta(hours=2))
    noon = dt.datetime(2030, 1, 1, 12, tzinfo=dt.UTC)
    assert canonical(noon) == canonical(noon.astimezone(east))


def test_plain_object_that_looks_like_a_tag_is_not_taken_for_one() -> None:
    lookalike = {"$beleg": ["decimal", "11e-1"]}
    real = decimal.Decimal("1.1")
    assert canonical(lookalike).data == rfc8785.dumps(lookalike)
    assert canonical(lookalike) != canonical(real)
    # Also where the same value holds both, so that everything is behind the prefix.
    assert canonical([lookalike, real]) != canonical([real, real])
    assert canonical([lookalike, real]) != canonical([real, lookalike])


hashables = st.integers() | st.text() | st.booleans() | st.floats() | st.binary() | st.decimals(allow_nan=False)
anything = st.recursive(
    hashables | st.none() | st.datetimes() | st.dates() | st.frozensets(st.integers() | st.text()),
    lambda inner: st.lists(inner) | st.dictionaries(hashables, inner),
    max_leaves=20,
)


@given(anything)
def test_every_codec_agrees_on_what_json_cannot_hold(value: Any) -> None:
    results = {canonical(value, codec) for codec in CODECS}
    assert len(results) == 1
    assert next(iter(results)).data.startswith(EXTENDED_PREFIX) == (next(iter(results)).version == EXTENDED)


def test_subclasses_are_read_without_asking_their_overrides() -> None:
    class Loud(str):
        __slots__ = ()

        def __str__(self) -> str:
            raise AssertionError("asked")

        def __eq__(self, other: object) -> bool:
            raise AssertionError("asked")

        def __hash__(self) -> int:
            return str.__hash__(self)

    class LoudDict(dict[str, Any]):
        def items(self) -> Any:
            raise AssertionError("asked")

    assert canonical(LoudDict(a=Loud("x"))).data == b'{"a":"x"}'
    wide = [{Loud("a"): Loud("x")} for _ in range(40)]
    for codec in CODECS:
        assert canonical(wide, codec).data == b"[" + b",".join([b'{"a":"x"}'] * 40) + b"]"


def _nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize("codec", CODECS)
def test_deepest_allowed_nesting_is_written_and_one_more_refused(codec: Codec) -> None:
    assert canonical(_nested(MAX_DEPTH), codec).data == b"[" * MAX_DEPTH + b"1" + b"]" * MAX_DEPTH
    with pytest.raises(NotCanonicalError) as refused:
        canonical(_nested(MAX_DEPTH + 2), codec)
    assert refused.value.reason == "too_deep"


def _cyclic() -> Any:
    value: dict[str, Any] = {}
    value["self"] = [value]
    return value


def _bomb() -> Any:
    value: Any = ["x" * 1000]
    for _ in range(30):
        value = [value, value]
    return value


def _wide_bomb(part: Any) -> Any:
    for _ in range(4):
        part = [part] * 1000
    return part


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (_cyclic(), "too_deep"),
        (_bomb(), "too_large"),
        (_wide_bomb({"k" * 100_000: "x" * 1000}), "too_large"),
        (2**100_000, "too_large"),
        (object(), "unsupported_type"),
        (iter([1]), "unsupported_type"),
        ({"a": {1j}}, "unsupported_type"),
        ((x for x in "ab"), "unsupported_type"),
    ],
    ids=[
        "cyclic",
        "bomb",
        "wide bomb",
        "huge integer",
        "object",
        "iterator",
        "complex",
        "generator",
    ],
)
def test_value_without_canonical_form_has_a_reason(value: Any, reason: str) -> None:
    with pytest.raises(NotCanonicalError) as refused:
        canonical(value, DEFAULT)
    assert refused.value.reason == reason


def test_iterator_in_a_payload_is_not_consumed() -> None:
    payload = iter([1, 2])
    with pytest.raises(NotCanonicalError):
        canonical({"stream": payload})
    assert list(payload) == [1, 2]


def test_hash_of_a_plain_value_is_the_sha256_of_its_rfc_form() -> None:
    from beleg import fingerprint

    assert fingerprint({"b": 1.0, "a": "ü"}) == hashlib.sha256('{"a":"ü","b":1}'.encode()).hexdigest()
