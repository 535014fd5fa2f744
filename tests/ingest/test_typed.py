"""DuckDB's typed reading of accepted lines agrees with Python's parsing, to the last digit."""

import json
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beleg.core.contracts import Column, TableContract, event_tables
from beleg.core.errors import DamagedError
from beleg.ingest.schemas import Schema, event_rules
from beleg.ingest.typed import read_staged
from tests.ingest.support import ALL_EVENTS, STEP, dump, verdict


def read(folder: Path, event: str, *lines: bytes) -> list[dict[str, Any]]:
    path = folder / "staged [1].jsonl"
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    con = connection()
    read_staged(con, event, [path], "incoming", ingest_id="it's one")
    rows = con.execute("SELECT * FROM incoming")
    names = [d[0] for d in rows.description or []]
    return [dict(zip(names, row, strict=True)) for row in rows.fetchall()]


@cache
def connection() -> duckdb.DuckDBPyConnection:
    con = duckdb.connect(":memory:")
    con.execute("SET TimeZone = 'Asia/Kathmandu'")  # the session's zone must not matter
    return con


def expected(column: Column, contract: TableContract, event: dict[str, Any]) -> Any:
    """The value of a column by Python's own parsing of the line."""
    if column.source == "ingest":
        return "it's one"
    if column.source == "partition":
        return _utc(event[str(contract.partition_of)]).date()
    value: Any = event
    for part in (column.source or column.name).split("."):
        value = value.get(part) if isinstance(value, dict) else None
    if column.name == "has_usage":
        return event.get("buckets") is not None
    if value is None or column.type == "JSON":
        return value
    return _utc(value) if column.type == "TIMESTAMP WITH TIME ZONE" else _filled(value, column.type)


def _filled(value: Any, type_: str) -> Any:
    if type_.startswith("STRUCT"):  # a member that the line leaves out is null
        members = [part.split()[0] for part in type_[len("STRUCT(") : -len(")[]")].split(", ")]
        return [{name: item.get(name) for name in members} for item in value]
    return value


def _utc(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


def assert_equal_to_python(folder: Path, line: bytes) -> None:
    event = json.loads(line)
    contract = event_tables()[event["event"]]
    (row,) = read(folder, event["event"], line)
    assert list(row) == [c.name for c in contract.columns]
    for column in contract.columns:
        found, wanted = row[column.name], expected(column, contract, event)
        if column.type == "JSON":
            assert (found is None) == ((column.source or column.name) not in event)
            found = None if found is None else json.loads(found)
        if isinstance(found, datetime):
            assert found.utcoffset() is not None
        assert found == wanted, column.name


@pytest.mark.parametrize("name", ALL_EVENTS)
def test_each_event_becomes_a_row_of_its_table(tmp_path: Path, name: str) -> None:
    assert_equal_to_python(tmp_path, dump(ALL_EVENTS[name]))


@pytest.mark.parametrize(
    "fields",
    [
        {"billed_pico_usd": 9_000_000_000_000_000_000},
        {"billed_pico_usd": -9_000_000_000_000_000_000},
        {"billed_pico_usd": 9_007_199_254_740_993},
        {"event_time": "2030-01-01T00:30:00+02:00"},
        {"event_time": "2030-12-31T23:59:59.999999-23:59"},
        {"event_time": "2030-01-01T00:00:00.1Z", "revision": "2030-01-01T00:00:00.000001+00:00"},
        {"labels": {}, "raw_usage": {}, "other_units": {}, "buckets": {}},
        {"labels": None, "raw_usage": None, "other_units": None, "buckets": None},
        {"model": "\0", "name": "a\0b", "tool_name": "ü € 😀 \u2028 \\ \" '", "labels": {"\0": "\0"}},
        {"raw_usage": {"a": 9007199254740992, "b": 0.1, "c": -1.5e-7, "d": 123456789.123456789}},
        {"labels": {"quote'": "it's", 'double"': "", "new\nline": "\t"}},
    ],
)
def test_values_at_the_edges_keep_every_digit(tmp_path: Path, fields: dict[str, Any]) -> None:
    line = dump({**STEP, **fields})
    assert verdict(line) == "step"
    assert_equal_to_python(tmp_path, line)


@pytest.mark.parametrize(
    ("text", "stored"),
    [("12.0", 12), ("1e3", 1000), ("-0.0", 0), ("1.5e1", 15), ("1E+3", 1000), ("1000000000000", 10**12)],
)
def test_numbers_that_are_integers_to_json_schema_are_stored_as_such(tmp_path: Path, text: str, stored: int) -> None:
    line = dump(STEP).replace(b'"latency_ms":31', f'"latency_ms":{text}'.encode())
    assert verdict(line) == "step"
    assert read(tmp_path, "step", line)[0]["latency_ms"] == stored


@pytest.mark.parametrize("line_end", [b"\r", b" ", b"\t"])
def test_white_space_around_a_line_is_none_of_it(tmp_path: Path, line_end: bytes) -> None:
    spaced = json.dumps(STEP, indent=1).replace("\n", "\r").encode() + line_end
    assert verdict(spaced) == "step"
    assert len(read(tmp_path, "step", spaced, dump(STEP) + line_end, dump(STEP))) == 3


@pytest.mark.parametrize("value", [None, 0, "", [], {"a": None}, 10**18, "null", 1.10])
def test_a_right_value_of_null_is_not_the_same_as_none_given(tmp_path: Path, value: Any) -> None:
    assert_equal_to_python(tmp_path, dump({**ALL_EVENTS["correction"], "expected": value}))
    bare = {k: v for k, v in ALL_EVENTS["correction"].items() if k != "expected"}
    assert_equal_to_python(tmp_path, dump(bare))


def values(schema: Schema) -> st.SearchStrategy[Any]:
    """Values that meet a property's schema, many of them at its limits."""
    if "const" in schema:
        return st.just(schema["const"])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    types = [schema["type"]] if isinstance(schema.get("type"), str) else schema.get("type", ["null"])
    return st.one_of([_of_type(type_, schema) for type_ in types])


def _of_type(type_: str, schema: Schema) -> st.SearchStrategy[Any]:
    by_type = {"string": _texts, "integer": _integers, "number": _numbers, "array": _lists, "object": _objects}
    plain = {"boolean": st.booleans(), "null": st.none()}
    return plain[type_] if type_ in plain else by_type[type_](schema)


def _texts(schema: Schema) -> st.SearchStrategy[Any]:
    if schema.get("format") == "date-time":
        offsets = st.sampled_from(["Z", "+00:00", "+02:00", "-11:30", "+23:59"])
        moments = st.datetimes(datetime(2000, 1, 2), datetime(2099, 12, 30))  # noqa: DTZ001  # the offset is drawn
        return st.builds(lambda moment, offset: moment.isoformat() + offset, moments, offsets)
    if "pattern" in schema:
        return st.from_regex(schema["pattern"].replace("$", r"\Z"))
    return st.text(min_size=schema.get("minLength", 0), max_size=min(schema.get("maxLength", 20), 20))


def _integers(schema: Schema) -> st.SearchStrategy[Any]:
    return st.integers(schema["minimum"], schema["maximum"]) | st.just(schema["maximum"])


def _numbers(schema: Schema) -> st.SearchStrategy[Any]:
    return st.floats(-1e15, 1e15) | st.integers(schema["minimum"], schema["maximum"])


def _lists(schema: Schema) -> st.SearchStrategy[Any]:
    return st.lists(values(schema["items"]), max_size=3)


def _objects(schema: Schema) -> st.SearchStrategy[Any]:
    if schema.get("additionalProperties"):
        keys = st.text(min_size=schema["propertyNames"]["minLength"], max_size=8)
        return st.dictionaries(keys, values(schema["additionalProperties"]), max_size=4)
    members = schema.get("properties", {})
    required = {name: values(s) for name, s in members.items() if name in schema.get("required", ())}
    return st.fixed_dictionaries(required, optional={n: values(s) for n, s in members.items() if n not in required})


def _generated(name: str) -> st.SearchStrategy[dict[str, Any]]:
    schema = event_rules()[name, 1].schema
    good = ALL_EVENTS[name]
    fixed = {n: st.just(good[n]) if n in {"kind", "content"} and name == "artifact" else values(s)
             for n, s in schema["properties"].items() if n in schema["required"]}  # fmt: skip
    optional = {n: values(s) for n, s in schema["properties"].items() if n not in fixed and n != "expected"}
    bound = {n: st.just(good[n]) for n in ("run_id", "expected") if n in good}
    return st.fixed_dictionaries({**fixed, **bound}, optional={n: s for n, s in optional.items() if n not in bound})


@given(st.sampled_from(sorted(ALL_EVENTS)).flatmap(_generated), st.booleans())
def test_every_accepted_event_is_stored_as_python_reads_it(
    tmp_path_factory: pytest.TempPathFactory, event: dict[str, Any], ascii_: bool
) -> None:
    event.pop("expected_hash", None)
    line = json.dumps(event, ensure_ascii=ascii_).encode()
    assert verdict(line) == event["event"]
    assert_equal_to_python(tmp_path_factory.mktemp("typed"), line)


def test_a_line_that_does_not_fit_is_loud_and_not_shown(tmp_path: Path) -> None:
    line = dump({**STEP, "latency_ms": "TOP-SECRET"})
    with pytest.raises(DamagedError) as raised:
        read(tmp_path, "step", line)
    assert "TOP-SECRET" not in str(raised.value)
    assert raised.value.__cause__ is None
