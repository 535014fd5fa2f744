"""The verdict on a line: what is good, what is not and why, and that no fast path changes it."""

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from beleg.ingest import reference
from beleg.ingest.judge import Judge
from beleg.ingest.limits import Limits
from beleg.ingest.reasons import REASONS, Refusal
from beleg.ingest.schemas import compile_schema, event_rules, shape_folders
from tests.ingest.support import ALL_EVENTS, HASH, STEP, dump, judge, refusal, verdict

LINE = dump(STEP)


def with_text(old: str, new: str, line: bytes = LINE) -> bytes:
    assert old.encode() in line
    return line.replace(old.encode(), new.encode(), 1)


def latency(text: str) -> bytes:
    return with_text('"latency_ms":31', f'"latency_ms":{text}')


@pytest.mark.parametrize("name", ALL_EVENTS)
def test_a_good_event_of_each_type_is_accepted(name: str) -> None:
    assert verdict(ALL_EVENTS[name]) == name


def test_every_event_that_ships_has_a_good_example_here() -> None:
    assert set(ALL_EVENTS) == {event for event, _ in event_rules()}


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        # research on what readers do with a bad value: DuckDB would store something in each of these cases
        (latency('"12"'), "schema"),
        (latency("12.7"), "schema"),
        (latency("12.0"), "step"),
        (latency("1e3"), "step"),
        (latency("true"), "schema"),
        (latency("-1"), "schema"),
        (latency("9223372036854775808"), "number_out_of_range"),
        (latency("100000000000000000000000000000"), "number_out_of_range"),
        (latency("1" + "0" * 5000), "number_out_of_range"),
        (latency("1e400"), "number_out_of_range"),
        (latency("NaN"), "not_a_number"),
        (latency("Infinity"), "not_a_number"),
        (latency("-Infinity"), "not_a_number"),
        (latency("[1]"), "schema"),
        (latency("031"), "not_json"),
        (with_text('"model":"gpt-5"', '"model":25'), "schema"),
        (with_text('"model":"gpt-5"', '"model":{"a":1}'), "schema"),
        (with_text('"model":"gpt-5"', '"model":""'), "schema"),
        (with_text('"2030-01-01T12:00:00Z"', '"yesterday"'), "schema"),
        (with_text('"2030-01-01T12:00:00Z"', '"2030-02-30T12:00:00Z"'), "schema"),
        (with_text('"2030-01-01T12:00:00Z"', '"2030-01-01T24:00:00Z"'), "schema"),
        (with_text('"2030-01-01T12:00:00Z"', '"2030-01-01T12:00:60Z"'), "schema"),
        (with_text('"2030-01-01T12:00:00Z"', '"2030-01-01T12:00:00+24:00"'), "schema"),
        (with_text('"2030-01-01T12:00:00Z"', '"2030-01-01T12:00:00"'), "schema"),
        (with_text('"2030-01-01T12:00:00Z"', '"2030-01-01T12:00:00.1234567Z"'), "schema"),
        (with_text('"2030-01-01T12:00:00Z"', '"2030-01-01T12:00:00.123456+02:00"'), "step"),
        (with_text('"latency_ms":31,', '"latency_ms":31,,'), "not_json"),
        (LINE[:-1] + b",}", "not_json"),
        (LINE[:-9], "not_json"),
        (LINE + LINE, "not_json"),
        (with_text('"latency_ms":31', '"latency_ms":31,"latency_ms":31'), "duplicate_key"),
        (with_text('"latency_ms":31', '"latency_ms":31,"latency\\u005fms":32'), "duplicate_key"),
        (with_text('"latency_ms":31', '"latency_ms":31,"latency_ms" :32'), "duplicate_key"),
        (with_text('"prompt_tokens":15', '"prompt_tokens":15,"prompt_tokens":16'), "duplicate_key"),
        (with_text('"attempt":1', '"attempt":1,"other":2'), "schema"),
        (with_text('"run_id":"run",', ""), "schema"),
        (with_text('"model":"gpt-5"', '"model":"\\ud800"'), "lone_surrogate"),
        (with_text('"model":"gpt-5"', '"model":"\\ud83d\\ude00 \\u0000"'), "step"),
        (with_text('"prompt_tokens":15', '"prompt_tokens":9007199254740993'), "schema"),
        (with_text('"billed_pico_usd":4596000000', '"billed_pico_usd":9000000000000000000'), "step"),
        (with_text('"event":"step"', '"event":"stop"'), "unknown_event"),
        (with_text('"event":"step"', '"event":["step"]'), "unknown_event"),
        (with_text('"event":"step",', ""), "unknown_event"),
        (with_text('"schema_version":1', '"schema_version":2'), "unknown_version"),
        (with_text('"schema_version":1', '"schema_version":"1"'), "unknown_version"),
        (with_text('"schema_version":1', '"schema_version":true'), "schema"),
        (with_text('"schema_version":1', '"schema_version":1.0'), "step"),
        (with_text("metadata_and_hashes_only", "everything"), "schema"),
        (b"[]", "not_object"),
        (b'"text"', "not_object"),
        (b"null", "not_object"),
        (b"hello", "not_json"),
        (b"\xef\xbb\xbf" + LINE, "byte_order_mark"),
        (LINE.decode().encode("utf-16"), "wrong_encoding"),
        (LINE.decode().encode("utf-16-le"), "wrong_encoding"),
        (LINE + b"\0", "wrong_encoding"),
        (LINE.replace(b"gpt-5", b"gpt-\xff"), "not_utf8"),
        (LINE.replace(b"gpt-5", "gpt-\xfc".encode("latin-1")), "not_utf8"),
        (b"[" * 100_000, "nesting_too_deep"),
        (b'{"a":' * 100_000, "nesting_too_deep"),
        (b'{"event":"step","labels":' + b'{"a":' * 200 + b"1" + b"}" * 201, "nesting_too_deep"),
        (b" " + LINE + b"\r", "step"),
        (json.dumps(STEP).encode(), "step"),
    ],
)
def test_each_line_gets_its_verdict(line: bytes, expected: str) -> None:
    assert verdict(line) == expected
    taken = judge().take(line + b"\n")
    assert taken.left == [0] or (taken.good[expected] == [line] and expected in ALL_EVENTS)


def test_a_line_above_the_limit_is_refused_unread() -> None:
    small = Judge(Limits(line_bytes=len(LINE) - 1), shape_folders(None))
    assert small.judge(LINE) == Refusal("line_too_long", f"longer than {len(LINE) - 1} bytes")
    assert small.take(LINE + b"\n").left == [0]


def test_artifacts_keep_to_a_registered_shape_and_a_size() -> None:
    artifact = ALL_EVENTS["artifact"]
    fields = [{"name": "n" * 90, "value": "v" * 400}] * 33
    assert verdict({**artifact, "kind": "letter"}) == "unknown_shape"
    assert verdict({**artifact, "content": {"fields": "all"}}) == "shape"
    assert verdict({**artifact, "content": {"fields": fields[:31]}}) == "artifact"
    assert verdict({**artifact, "content": {"fields": fields}}) == "value_too_large"
    assert verdict({**artifact, "content": {"fields": [{"name": "n", "value": 2**63}]}}) == "number_out_of_range"


def test_expected_values_keep_to_a_size() -> None:
    correction = ALL_EVENTS["correction"]
    assert verdict({**correction, "expected": "x" * 16382}) == "correction"
    assert verdict({**correction, "expected": "x" * 16383}) == "value_too_large"
    assert verdict({**correction, "expected": None}) == "correction"


def test_a_projects_own_shape_is_known_and_wins(tmp_path: Any) -> None:
    folder = tmp_path / "contracts" / "events" / "artifact" / "shapes"
    folder.mkdir(parents=True)
    (folder / "letter.schema.json").write_text('{"type": "object", "required": ["to"]}')
    (folder / "answer_summary.schema.json").write_text('{"type": "object", "required": ["mine"]}')
    own = Judge(Limits(), shape_folders(tmp_path))
    artifact = ALL_EVENTS["artifact"]
    assert own.judge(dump({**artifact, "kind": "letter", "content": {"to": "x"}})) == "artifact"
    refused = own.judge(dump({**artifact, "kind": "answer_summary", "content": {"summary": "x"}}))
    assert isinstance(refused, Refusal)
    assert refused.detail == "/content: missing mine"


def test_details_name_rule_place_and_expectation() -> None:
    assert refusal(latency('"12"')).detail == "/latency_ms: expected integer or null, found string"
    assert refusal(with_text('"run_id":"run",', "")).detail == ": missing run_id"
    unknown = refusal(with_text('"attempt":1', '"attempt":1,"modle":"x"'))
    assert unknown.detail == ": 1 unknown field (names not shown); near to model"
    assert refusal({**STEP, "labels": {"key": 5}}).detail == "/labels/*: expected string, found integer"
    assert refusal({**STEP, "kind": "magic"}).detail == '/kind: expected one of "model", "tool", "retrieval", "other"'
    correction = {k: v for k, v in ALL_EVENTS["correction"].items() if k != "run_id"}
    assert refusal(correction).detail.startswith(": ")


def test_every_reason_is_documented_by_its_code() -> None:
    assert all(code.isidentifier() and code.islower() and REASONS[code] for code in REASONS)


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8)
    | st.sampled_from(["2030-01-01T00:00:00Z", "2030-02-30T00:00:00Z", HASH, HASH + "\n", "run\n", "1", "ok"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=5,
)


@st.composite
def mutated(draw: st.DrawFn) -> dict[str, Any]:
    """A good event with some fields changed, dropped or added."""
    found = dict(draw(st.sampled_from(list(ALL_EVENTS.values()))))
    for _ in range(draw(st.integers(0, 3))):
        name = draw(st.sampled_from([*found, "revision", "occurred_at", "unknown", "tenant", "count"]))
        if draw(st.booleans()):
            found[name] = draw(json_values)
        else:
            found.pop(name, None)
    return found


@given(mutated())
def test_both_validators_agree_on_every_event(value: dict[str, Any]) -> None:
    for (event, version), rule in event_rules().items():
        if value.get("event") == event and version == 1:
            assert rule.validator.is_valid(value) == reference.validator(rule.schema).is_valid(value)


@given(
    st.from_regex(
        r"20[0-9]{2}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,7})?(Z|[+-][0-9]{2}:[0-9]{2})?\n?"
    )
)
@example("2030-02-29T00:00:00Z")
@example("2032-02-29T00:00:00Z")
@example("2030-01-01T23:59:60Z")
@example("2030-01-01T00:00:00+23:59")
@example("2030-01-01T00:00:00-24:00")
def test_both_validators_agree_on_times(text: str) -> None:
    schema = event_rules()["step", 1].schema["properties"]["event_time"]
    assert compile_schema(schema).is_valid(text) == reference.validator(schema).is_valid(text)


@given(mutated(), st.booleans(), st.booleans())
def test_the_fast_path_takes_only_what_the_exact_one_accepts(
    value: dict[str, Any], compact: bool, ascii_: bool
) -> None:
    separators = (",", ":") if compact else (", ", " : ")
    line = json.dumps(value, separators=separators, ensure_ascii=ascii_).encode(errors="surrogatepass")
    taken = judge().take(line + b"\n")
    if taken.left == []:
        event = judge().judge(line)
        assert isinstance(event, str)
        assert taken.good[event] == [line]


@given(st.sampled_from([name for name in ALL_EVENTS if name not in {"artifact", "correction", "toolset", "layout"}]))
def test_the_fast_path_takes_ordinary_lines(name: str) -> None:
    assert judge().take(dump(ALL_EVENTS[name]) + b"\n").left == []


@given(st.data())
def test_a_repeated_key_is_always_found(data: st.DataObject) -> None:
    value = data.draw(st.sampled_from(list(ALL_EVENTS.values())))
    key = data.draw(st.sampled_from(list(value)))
    colon = data.draw(st.sampled_from([":", ": ", " :", "\t:", "\r:"]))
    decoy = data.draw(st.sampled_from(["", ',"name":"a \\":b"', ',"name":" :"', ',"name" :"x"']))
    again = f"{json.dumps(key)}{colon}{json.dumps(value[key])}"
    line = dump(value)[:-1] + f",{again}{decoy}}}".encode()
    assert judge().take(line + b"\n").left == [0]
    assert verdict(line) == "duplicate_key"


@given(st.binary(max_size=60))
def test_any_bytes_get_a_verdict_of_a_known_reason(line: bytes) -> None:
    assert verdict(line) in REASONS
