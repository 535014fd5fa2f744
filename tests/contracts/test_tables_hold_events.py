"""Table contracts and event schemas say the same: no field is lost on the way, none is invented."""

from typing import Any

import jsonschema
import pytest

from beleg.core.contracts import Column, event_tables
from beleg.ingest.schemas import event_rules, shape_folders, shape_rules
from beleg.trace.shapes import check_shape
from beleg.trace.usage import BUCKETS

TABLES = event_tables()
NOT_STORED = {"event", "schema_version"}
"""The table tells the event, and upcasters bring every version to the latest."""
SCALARS = {"string": "VARCHAR", "integer": "BIGINT", "number": "DOUBLE", "boolean": "BOOLEAN"}


def schema_of(event: str) -> dict[str, Any]:
    return event_rules()[max(version for version in event_rules() if version[0] == event)].schema


def _types(schema: dict[str, Any]) -> list[str]:
    given = schema.get("type", [])
    return [t for t in ([given] if isinstance(given, str) else given) if t != "null"]


def duckdb_type(schema: dict[str, Any]) -> str:
    """The DuckDB type that holds every value of a property without loss."""
    if schema.get("format") == "date-time":
        return "TIMESTAMP WITH TIME ZONE"
    types = _types(schema)
    if not types:
        return "JSON"
    if types == ["array"]:
        return f"{duckdb_type(schema['items'])}[]"
    if types == ["object"] and schema.get("additionalProperties"):
        return f"MAP(VARCHAR, {duckdb_type(schema['additionalProperties'])})"
    if types == ["object"] and "properties" in schema:
        members = ", ".join(f"{name} {duckdb_type(s)}" for name, s in schema["properties"].items())
        return f"STRUCT({members})"
    return "JSON" if types == ["object"] else SCALARS[types[0]]


def sources(event: str) -> dict[str, Column]:
    """Where each column takes its value from → the column."""
    return {column.source or column.name: column for column in TABLES[event].columns}


def test_each_event_has_one_table_and_each_event_table_an_event() -> None:
    assert set(TABLES) == {event for event, _ in event_rules()}


@pytest.mark.parametrize("event", sorted(TABLES))
def test_every_field_has_a_column_of_a_type_that_holds_it(event: str) -> None:
    schema, columns = schema_of(event), sources(event)
    for name, field in schema["properties"].items():
        if name in NOT_STORED or name == "buckets":
            continue
        column = columns[name]
        wanted = "VARCHAR" if "const" in field or "enum" in field else duckdb_type(field)
        assert column.type == wanted, name
        assert column.required == (name in schema["required"]), name
        assert column.description == field["description"], name


@pytest.mark.parametrize("event", sorted(TABLES))
def test_every_column_comes_from_a_field(event: str) -> None:
    schema = schema_of(event)
    known = {"ingest", "partition", *schema["properties"]}
    known |= {f"buckets.{name}" for name in schema["properties"].get("buckets", {}).get("properties", {})}
    assert set(sources(event)) <= known
    assert list(sources(event))[-2:] == ["ingest", "partition"]


def test_every_token_bucket_has_a_column() -> None:
    columns = sources("step")
    assert set(schema_of("step")["properties"]["buckets"]["properties"]) == set(BUCKETS)
    for name in BUCKETS:
        column = columns[f"buckets.{name}"]
        assert (column.name, column.type, column.unit) == (f"{name}_tokens", "BIGINT", "tokens")
    assert (columns["buckets"].name, columns["buckets"].type) == ("has_usage", "BOOLEAN")


@pytest.mark.parametrize("event", sorted(TABLES))
def test_identity_partition_and_units_are_the_same_everywhere(event: str) -> None:
    contract = TABLES[event]
    assert contract.primary_key == ("source", "event_id")
    assert contract.partition_of in {"event_time", "occurred_at"}
    assert contract.order_by[-2:] == contract.primary_key
    suffixes = {"_ms": "ms", "_tokens": "tokens", "_pico_usd": "pico-USD"}
    for column in contract.columns:
        wanted = next((unit for suffix, unit in suffixes.items() if column.name.endswith(suffix)), None)
        assert column.unit == wanted, column.name


@pytest.mark.parametrize("event", sorted(TABLES))
def test_event_schemas_are_valid_and_closed(event: str) -> None:
    schema = schema_of(event)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["additionalProperties"] is False
    assert all(
        "maxLength" in s or "pattern" in s or "enum" in s
        for s in schema["properties"].values()
        if "string" in _types(s)
    )


def test_shipped_shapes_are_ones_that_the_tracer_accepts() -> None:
    shapes = shape_rules(shape_folders(None))
    assert sorted(shapes) == ["answer_summary", "extracted_fields"]
    for shape in shapes.values():
        jsonschema.Draft202012Validator.check_schema(shape.schema)
        check_shape(shape.schema)
