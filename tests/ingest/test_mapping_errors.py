"""A wrong mapping, or one that does not fit its table, says where and what is allowed."""

import json
from pathlib import Path
from typing import Any

import pytest

from beleg.core.errors import UsageError
from beleg.ingest.mapping_file import load_mapping
from tests.ingest.mapping_support import STEP, run, step, usage


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"mapping": 2}, "mapping: 2 is no version"),
        ({"sauce": "x"}, "unknown key 'sauce'; keys are events, every_event, mapping, source, table"),
        ({"source": None}, "'source' is missing"),
        ({"events": []}, "at least one event"),
        ({"events": [{"event": "stop", "fields": {}}]}, "'stop' is not allowed; use one of artifact, correction"),
        ({"events": [{"event": "step", "felds": {}}]}, "unknown key 'felds'"),
        ({"events": [step(colour={"value": 1})]}, "step has no such field to map; fields are api, attempt"),
        ({"events": [step(payload_policy={"value": "x"})]}, "no such field"),
        ({"events": [step(name={"colum": "x"})]}, "unknown key 'colum'; keys are alias, column, others"),
        ({"events": [step(name={"column": "x", "value": 1})]}, "exactly one of column, value, template"),
        ({"events": [step(name={"value": "x", "unit": "s"})]}, "unit goes with a column only"),
        ({"events": [step(name={"column": "x", "unit": "s"})]}, "'s' does not fit; name has no unit"),
        ({"events": [step(event_time={"column": "x"})]}, "declare the unit; units are epoch_s, epoch_ms"),
        ({"events": [step(event_time={"column": "x", "unit": "usd"})]}, "'usd' does not fit; units are epoch_s"),
        ({"events": [step(latency_ms={"column": "x", "unit": "minutes"})]}, "'minutes' does not fit; units are s, ms"),
        ({"events": [step(labels={"column": "x"})]}, "map its members as labels.MEMBER"),
        ({"events": [step(**{"buckets.inputs": {"column": "x"}})]}, "buckets has no member 'inputs'"),
        ({"events": [step(name={"template": "{x"})]}, "template"),
        ({"events": [step(name={"column": "x", "alias": {"a": 1.5}})]}, "quote 1.5"),
        ({"events": [step(name={"column": "x", "others": "drop"})]}, "'drop' is not allowed; use one of keep"),
        ({"events": [step(name={"column": 1})]}, "1 is no column name; quote it"),
        ({"events": [usage(inputs={"column": "x"})]}, "unknown key 'inputs'"),
        ({"events": [usage(declared="sometimes")]}, "'sometimes' is not allowed; use one of inclusive, exclusive"),
        ({"events": [{"event": "review", "fields": {}, "usage": {}}]}, "only a step has usage"),
        ({"events": [{**STEP, "when": {"column": "x", "is": [True]}}]}, "quote True"),
        ({"table": {"format": "xls"}}, "'xls' is not allowed; use one of csv, tsv, jsonl, parquet"),
        ({"table": {"decimal": ";"}}, "table.decimal"),
        ({"table": {"delimiter": ";;"}}, "not one character"),
        ({"table": {"encoding": "utf-16"}}, "table.encoding"),
        ({"table": {"unknown": "n/a"}}, "list of quoted texts"),
    ],
)
def test_a_wrong_mapping_says_what_is_allowed(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    path = tmp_path / "mapping.yaml"
    path.write_text(json.dumps({"mapping": 1, "source": "test", "events": [STEP]} | change))
    with pytest.raises(UsageError) as raised:
        load_mapping(path)
    assert message in str(raised.value)
    assert str(path) in str(raised.value)


@pytest.mark.parametrize("text", ["", "- a", "mapping: [", "a: &x [*x]", "\xff"])
def test_a_file_that_is_no_mapping_is_a_usage_error(tmp_path: Path, text: str) -> None:
    path = tmp_path / "mapping.yaml"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(UsageError):
        load_mapping(path)


def test_a_table_that_does_not_fit_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="has no column 'at'; columns are id, when"):
        run(tmp_path, "id,when\na,b\n")
    with pytest.raises(UsageError, match="column 'id' twice"):
        run(tmp_path, "id,at,id\n1,2,3\n")
    with pytest.raises(UsageError, match="its name tells no format"):
        run(tmp_path, "id,at\n", name="table.dat")
    assert run(tmp_path, "id,at\n").read == 0
    assert run(tmp_path, "").read == 0
