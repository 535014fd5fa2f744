"""Mapping files: any table becomes events, exactly, and what is wrong is said with what is allowed."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from beleg.core.errors import UsageError
from beleg.ingest.cells import UNITS, BadCell
from beleg.ingest.mapping_file import load_mapping
from beleg.ingest.table import stage_table
from tests.ingest.mapping_support import AT, STEP, details, made, mapping_file, run, step, usage
from tests.ingest.support import gz, reasons, sha256, zst


def test_a_row_becomes_an_event_in_normal_form(tmp_path: Path) -> None:
    staged = run(tmp_path, f"id,at\na,{AT}\n")
    assert made(staged) == [
        {
            "event": "step",
            "schema_version": 1,
            "source": "test",
            "event_id": "a",
            "event_time": "2030-01-01T00:00:00.000000Z",
            "run_id": "a",
            "step_id": "a",
            "kind": "tool",
            "status": "succeeded",
            "retention_policy": "metadata_and_hashes_only",
            "payload_policy": "hashed_not_stored",
        }
    ]
    assert (staged.read, staged.accepted, staged.rows, staged.quarantined) == (1, 1, 1, 0)


@pytest.mark.parametrize(
    ("unit", "cell", "expected"),
    [
        ("epoch_s", "1763510516", "2025-11-19T00:01:56.000000Z"),
        ("epoch_s", "1763510516.1234567", "2025-11-19T00:01:56.123456Z"),
        ("epoch_ms", "1763510516789", "2025-11-19T00:01:56.789000Z"),
        ("epoch_us", "1763510516789123", "2025-11-19T00:01:56.789123Z"),
        ("epoch_s", "1763510516789", BadCell),
        ("iso", "2030-01-01T02:00:00+02:00", "2030-01-01T00:00:00.000000Z"),
        ("iso", "2030-01-01 00:00:00.1234569Z", "2030-01-01T00:00:00.123456Z"),
        ("iso", "2030-01-01T00:00:00", BadCell),
        ("iso", "2030-02-30T00:00:00Z", BadCell),
        ("iso_naive_utc", "2023-11-16 18:15:46.6805900", "2023-11-16T18:15:46.680590Z"),
        ("iso_naive_utc", "2030-01-01T00:00", "2030-01-01T00:00:00.000000Z"),
        ("iso_naive_utc", "2030-01-01T00:00:00Z", BadCell),
        ("s", "1.2345", 1234),
        ("s", "0.0005", 0),
        ("s", "0.0015", 2),
        ("ms", "31", 31),
        ("us", "1500", 2),
        ("ns", "2500000", 2),
        ("usd", "0.004596", 4_596_000_000),
        ("usd", "1e-12", 1),
        ("usd", "1e-13", BadCell),
        ("usd", "0.23051419999999997", BadCell),
        ("usd_half_even", "0.23051419999999997", 230_514_200_000),
        ("usd", "-0.5", -500_000_000_000),
        ("cent", "0.1", 1_000_000_000),
        ("micro_usd", "7", 7_000_000),
        ("pico_usd", "7", 7),
        ("pico_usd", "7.5", BadCell),
        ("usd", "NaN", BadCell),
        ("usd", "1_000", BadCell),
        ("usd", "1,5", BadCell),
        ("usd", "$1", BadCell),
        ("usd", "1e999999999", BadCell),
    ],
)
def test_units_are_exact(unit: str, cell: str, expected: Any) -> None:
    if expected is BadCell:
        with pytest.raises(BadCell):
            UNITS[unit].convert(cell, ".")
    else:
        assert UNITS[unit].convert(cell, ".") == expected


@given(st.integers(-(10**30), 10**30))
def test_pico_usd_from_dollar_text_keep_every_digit(pico: int) -> None:
    sign, digits = ("-" if pico < 0 else ""), f"{abs(pico):013d}"
    assert UNITS["usd"].convert(f"{sign}{digits[:-12]}.{digits[-12:]}", ".") == pico


def test_an_empty_cell_is_unknown_and_not_zero(tmp_path: Path) -> None:
    latency = step(latency_ms={"column": "ms", "unit": "ms"}, name={"column": "name"})
    staged = run(tmp_path, f"id,at,ms,name\na,{AT},0,n/a\nb,{AT},,x\n", latency, table={"unknown": ["", "n/a"]})
    first, second = made(staged)
    assert (first["latency_ms"], "name" in first) == (0, False)
    assert ("latency_ms" in second, second["name"]) == (False, "x")


def test_quotes_line_feeds_and_byte_order_marks_of_csv(tmp_path: Path) -> None:
    table = f'\ufeffid,at,name\r\n"a, b",{AT},"line one\r\nline ""two"""\r\n"c",{AT},"x\ry"\r\n\r\nd,{AT},é\r\n'
    staged = run(tmp_path, table, step(name={"column": "name"}))
    assert [(e["event_id"], e["name"]) for e in made(staged)] == [
        ("a, b", 'line one\r\nline "two"'),
        ("c", "x\ry"),
        ("d", "é"),
    ]


@pytest.mark.parametrize("pack", [bytes, gz, zst])
def test_bad_rows_are_refused_with_place_and_digest_and_the_rest_is_kept(tmp_path: Path, pack: Any) -> None:
    rows = [
        b"id,at",
        b"a,2030-01-01T00:00:00Z",
        b"b,yesterday",
        b"c,2030-01-01T00:00:00Z,one too many",
        b'd"d"x,"2030-01-01T00:00:00Z"x',
        b'"e\ne",nowhen',
        b"f\xff,2030-01-01T00:00:00Z",
        b",2030-01-01T00:00:00Z",
        b"g,2030-01-01T00:00:00Z",
    ]
    data = b"\n".join(rows) + b"\n"
    staged = run(tmp_path, pack(data))
    assert [e["event_id"] for e in made(staged)] == ["a", "g"]
    assert reasons(staged) == {
        3: "unmapped_cell",
        4: "unmapped_cell",
        5: "unmapped_cell",
        6: "unmapped_cell",
        8: "not_utf8",
        9: "schema",
    }
    assert staged.read == staged.accepted + staged.quarantined == staged.rows == 8
    assert all(
        row["line_sha256"] == sha256(data[row["byte_offset"] : row["byte_offset"] + row["length"]])
        for row in staged.quarantine_rows()
    )
    assert details(staged)[0] == "event_time from column 'at': expected a time such as 2026-03-01T12:00:00Z"
    assert details(staged)[-1] == "step : missing event_id, run_id, step_id"


def test_a_quote_that_never_ends_loses_no_line(tmp_path: Path) -> None:
    data = f'id,at\na,{AT}\n"b,{AT}\nc,{AT}\n'.encode()
    staged = run(tmp_path, data)
    (row,) = staged.quarantine_rows()
    assert (staged.accepted, row["line_number"]) == (1, 3)
    assert row["line_sha256"] == sha256(data[row["byte_offset"] : row["byte_offset"] + row["length"]])
    assert row["byte_offset"] + row["length"] == len(data) - 1 or row["byte_offset"] + row["length"] == len(data)


def test_semicolons_and_decimal_commas_must_be_declared(tmp_path: Path) -> None:
    money = step(billed_pico_usd={"column": "cost", "unit": "usd"})
    table = f"id;at;cost\na;{AT};0,004596\nb;{AT};1.234,5\n"
    with pytest.raises(UsageError, match="has no column 'at'; columns are id;at;cost"):
        run(tmp_path, table, money)
    undeclared = run(tmp_path, table, money, table={"delimiter": ";"})
    assert undeclared.accepted == 0
    assert "declare `decimal: ','`" in details(undeclared)[0]
    declared = run(tmp_path, table, money, table={"delimiter": ";", "decimal": ","})
    assert [e["billed_pico_usd"] for e in made(declared)] == [4_596_000_000]
    assert "without thousands separators" in details(declared)[0]


def test_other_encodings_are_declared(tmp_path: Path) -> None:
    table = f"id,at\nMüller,{AT}\n".encode("cp1252")
    assert reasons(run(tmp_path, table)) == {2: "not_utf8"}
    assert made(run(tmp_path, table, table={"encoding": "cp1252"}))[0]["run_id"] == "Müller"


def test_tabs_jsonl_and_parquet_give_the_same_events(tmp_path: Path) -> None:
    fields = step(
        latency_ms={"column": "took.s", "unit": "s"},
        billed_pico_usd={"column": "cost", "unit": "usd"},
        attempt={"column": "try"},
        batch={"column": "batch"},
    )
    row = {"id": "a", "at": AT, "took.s": 1.5, "cost": 0.1, "try": 2, "batch": True}
    nested = {"id": "a", "at": AT, "took": {"s": 1.5}, "cost": 0.1, "try": 2.0, "batch": True}
    parquet.write_table(pa.Table.from_pylist([row]), tmp_path / "p.parquet")
    tsv = "\t".join(row) + "\n" + "\t".join(str(value) for value in row.values()) + "\n"
    found = [
        made(run(tmp_path, tsv, fields, name="t.tsv")),
        made(run(tmp_path, json.dumps(nested) + "\n", fields, name="t.jsonl")),
        made(run(tmp_path, (tmp_path / "p.parquet").read_bytes(), fields, name="t.parquet")),
    ]
    assert found[0] == found[1] == found[2]
    assert found[0][0]["latency_ms"] == 1500
    assert found[0][0]["billed_pico_usd"] == 100_000_000_000
    assert (found[0][0]["attempt"], found[0][0]["batch"]) == (2, True)


def test_bad_rows_of_jsonl_and_a_damaged_parquet_file(tmp_path: Path) -> None:
    rows = f'{{"id":"a","at":"{AT}"}}\n{{"id":"b","id":"c"}}\n[1]\nnot\n{{"id":{{}},"at":"{AT}"}}\n'
    staged = run(tmp_path, rows, name="t.jsonl")
    assert (staged.accepted, reasons(staged)) == (
        1,
        {2: "duplicate_key", 3: "not_object", 4: "not_json", 5: "unmapped_cell"},
    )
    broken = run(tmp_path, b"PAR1 no parquet", name="t.parquet")
    assert (broken.read, list(reasons(broken).values())) == (1, ["damaged_archive"])


def test_groups_conditions_aliases_templates_and_members(tmp_path: Path) -> None:
    started = {
        "event": "run_started",
        "once_per": "task",
        "fields": {
            "event_id": {"template": "{task}:started:{_row}:{_file}"},
            "event_time": {"column": "at", "unit": "iso"},
            "run_id": {"column": "task"},
            "workflow": {"column": "kind", "alias": {"a": "alpha", 1: "one"}, "others": "keep"},
            "purpose": {"value": "production"},
            "labels.region": {"column": "region"},
            "labels.fixed": {"value": "x"},
        },
    }
    outcome = {
        "event": "outcome",
        "when": {"column": "ok", "is": ["1", "yes"]},
        "fields": {
            "event_id": {"template": "{task}:{_row}"},
            "outcome_id": {"template": "{task}:{_row}"},
            "event_time": {"column": "at", "unit": "iso"},
            "occurred_at": {"column": "at", "unit": "iso"},
            "workflow": {"value": "w"},
            "kind": {"value": "k"},
            "count": {"column": "n"},
            "run_ids": [{"column": "task"}, {"column": "parent"}],
        },
    }
    table = (
        f"task,at,kind,region,ok,n,parent\nt1,{AT},a,eu,1,2,\nt1,{AT},a,eu,0,,\nt2,{AT},1,,yes,3.0,t1\nt3,{AT},z,,,,\n"
    )
    staged = run(tmp_path, table, started, outcome)
    events = made(staged)
    runs = {e["run_id"]: e for e in events if e["event"] == "run_started"}
    outcomes = [e for e in events if e["event"] == "outcome"]
    assert staged.accepted_by_event == {"run_started": 3, "outcome": 2}
    assert runs["t1"]["event_id"] == "t1:started:1:t.csv"
    assert [runs[t]["workflow"] for t in ("t1", "t2", "t3")] == ["alpha", "one", "z"]
    assert [runs[t]["labels"] for t in ("t1", "t2")] == [{"region": "eu", "fixed": "x"}, {"fixed": "x"}]
    assert [(o["count"], o["run_ids"]) for o in outcomes] == [(2, ["t1"]), (3, ["t2", "t1"])]


def test_a_row_is_kept_whole_or_refused_whole(tmp_path: Path) -> None:
    second = step(event_id={"template": "{id}-2"}, latency_ms={"column": "ms", "unit": "ms"})
    staged = run(tmp_path, f"id,at,ms\na,{AT},1\nb,{AT},-1\n", STEP, second)
    assert sorted(e["event_id"] for e in made(staged)) == ["a", "a-2"]
    assert (staged.rows, staged.read, staged.quarantined) == (2, 3, 1)


def test_an_unlisted_alias_is_refused(tmp_path: Path) -> None:
    staged = run(tmp_path, f"id,at,s\na,{AT},odd\n", step(status={"column": "s", "alias": {"ok": "succeeded"}}))
    assert "expected a value that the alias lists" in details(staged)[0]


def test_usage_is_normalised_and_kept_as_reported(tmp_path: Path) -> None:
    counts = usage(input={"column": "in"}, cache_read={"column": "hit"}, output={"column": "out"}, declared="inclusive")
    (event,) = made(run(tmp_path, f"id,at,in,hit,out\na,{AT},100,60,7\n", counts))
    assert event["buckets"] == {"input_uncached": 40, "cache_read": 60, "output": 7}
    assert event["raw_usage"] == {"in": 100, "hit": 60, "out": 7}
    assert (event["convention"], event["convention_evidence"], event["usage_check"]) == ("inclusive", "declared", "ok")


def test_contradicted_usage_is_refused_conflicting_is_marked_missing_stays_missing(tmp_path: Path) -> None:
    counts = usage(
        input={"column": "in"},
        cache_read={"column": "hit"},
        output={"column": "out"},
        reasoning={"column": "think"},
        declared="inclusive",
        reasoning_inside=True,
    )
    table = f"id,at,in,hit,out,think\na,{AT},5,60,7,\nb,{AT},5,0,7,9\nc,{AT},,,,\n"
    staged = run(tmp_path, table, counts)
    conflict, missing = made(staged)
    assert reasons(staged) == {2: "contradicted_usage"}
    assert details(staged) == ["the counts of hit, in, out, think cannot all be true as declared"]
    assert (conflict["usage_check"], conflict["buckets"]["output"], "reasoning" in conflict["buckets"]) == (
        "conflict",
        7,
        False,
    )
    assert "buckets" not in missing


def test_times_in_yaml_keep_their_zone(tmp_path: Path) -> None:
    path = tmp_path / "mapping.yaml"
    text = json.dumps(
        {"mapping": 1, "source": "test", "events": [STEP], "every_event": {"event_time": {"value": "AT"}}}
    )
    events = text.replace('"event_time": {"column": "at", "unit": "iso"}, ', "")
    table = tmp_path / "t.csv"
    table.write_text("id\na\n")
    path.write_text(events.replace('"AT"', "2025-11-19T01:00:00Z"))
    assert made(stage_table([table], path, tmp_path / "s"))[0]["event_time"] == "2025-11-19T01:00:00Z"
    path.write_text(events.replace('"AT"', "2025-11-19"))
    with pytest.raises(UsageError, match="quote 2025-11-19"):
        load_mapping(path)


def test_folders_of_tables_are_read_in_one_go(tmp_path: Path) -> None:
    folder = tmp_path / "tables"
    folder.mkdir()
    (folder / "a.csv").write_text(f"id,at\na,{AT}\n")
    (folder / "b.csv.gz").write_bytes(gz(f"id,at\nb,{AT}\nc,bad\n".encode()))
    (folder / "notes.md").write_text("no table")
    seen: list[int] = []
    staged = stage_table([folder], mapping_file(tmp_path), tmp_path / "s", on_progress=lambda p: seen.append(p.read))
    assert (staged.accepted, staged.quarantined, seen[-1]) == (2, 1, 3)
    assert [Path(row["file"]).name for row in staged.quarantine_rows()] == ["b.csv.gz"]


@given(st.binary(max_size=200), st.sampled_from(["t.csv", "t.jsonl", "t.tsv", "t.parquet"]))
def test_any_bytes_are_a_table_or_a_usage_error(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, name: str
) -> None:
    folder = tmp_path_factory.mktemp("fuzz")
    try:
        staged = run(folder, data if name == "t.parquet" else b"id,at\na," + AT.encode() + b"\n" + data, name=name)
    except UsageError:
        return
    assert staged.read == staged.accepted + staged.quarantined
