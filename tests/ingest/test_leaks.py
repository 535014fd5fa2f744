"""No value of a line ever reaches the quarantine, a log or a message: it may be payload."""

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from beleg.core.errors import CheckFailed
from beleg.core.settings import Settings
from beleg.ingest import quarantine
from beleg.ingest.limits import Limits
from beleg.ingest.ranges import QUARANTINE
from beleg.ingest.sources import find_sources
from beleg.ingest.stage import Staged, stage
from beleg.ingest.table import stage_table
from beleg.lake.table import LakeTable
from tests.ingest.support import ALL_EVENTS, HASH, dump

MARK = "LEAK7f3a"
NUMBER = 731_845_927_364


def marked(value: Any) -> Iterator[Any]:
    """The value with the mark in each place that may hold text, one place at a time: values and keys."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield {**{k: v for k, v in value.items() if k != key}, f"{MARK} {key}": inner}
            for changed in marked(inner):
                yield {**value, key: changed}
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            for changed in marked(inner):
                yield [*value[:index], changed, *value[index + 1 :]]
    elif isinstance(value, str):
        yield f"{MARK} {value}"
        yield {MARK: MARK}
        yield [MARK]
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield MARK
        yield NUMBER


def lines() -> list[bytes]:
    """Events with the mark everywhere, good and broken in many ways."""
    made = [dump(changed) for event in ALL_EVENTS.values() for changed in marked(event)]
    broken = [
        line.replace(b'"source":"test"', change)
        for line in made[::7]
        for change in (
            b'"source":NaN',
            b'"source":"test","source":"LEAK7f3a"',
            b'"source":"\\ud800 LEAK7f3a"',
            b'"source":"test","extra LEAK7f3a":"LEAK7f3a"',
            b'"source":1e999',
            b'"source":731845927364999999999999999999',
            b'"source":"LEAK7f3a\xff"',
            b'"source":"LEAK7f3a',
            b'"source":' + b"[" * 90 + b'"LEAK7f3a"' + b"]" * 90,
        )
    ]
    raw = [b"LEAK7f3a", b'"LEAK7f3a"', b'["LEAK7f3a"]', b"LEAK7f3a" * 1000, "LEAK7f3a".encode("utf-16"), made[0][:-3]]
    return made + broken + raw


def assert_nothing_leaked(settings: Settings, staged: Staged, *texts: str) -> None:
    quarantine.keep(settings, staged, "ingest")
    table = LakeTable(settings, "quarantine")
    with duckdb.connect(":memory:") as con:
        rows = con.execute(f"SELECT t::VARCHAR FROM {table.relation(table.files())} AS t").fetchall()
    assert len(rows) > 0
    staged_rows = [path.read_text() for path in staged.refused_files]
    found = [*texts, *staged_rows, *(row[0] for row in rows), json.dumps(quarantine.counts(settings), default=str)]
    for text in found:
        for secret in (MARK, str(NUMBER), HASH[:20]):
            assert secret not in text
    for path in settings.home.rglob("*"):
        assert not path.is_file() or MARK.encode() not in path.read_bytes()


def test_no_mark_leaves_a_line(
    settings: Settings, tmp_path: Path, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    path = tmp_path / "events.jsonl"
    path.write_bytes(b"\n".join(lines()))
    limits = Limits(line_bytes=4000, inline_bytes=0, range_bytes=100_000)  # in workers, whose output is looked at too
    staged = stage(find_sources([path]), tmp_path / "staged", workers=2, limits=limits)
    assert staged.quarantined > 300
    assert staged.accepted > 50
    reasons = {row["reason"] for row in staged.quarantine_rows()}
    assert {"schema", "not_json", "duplicate_key", "unknown_event", "unknown_shape", "shape", "torn_line"} <= reasons
    with pytest.raises(CheckFailed) as raised:
        quarantine.Share().check(staged.accepted, staged.quarantined)
    captured = capfd.readouterr()
    assert_nothing_leaked(settings, staged, caplog.text, captured.out, captured.err, str(raised.value))


def test_the_words_for_a_fault_hold_no_mark_when_seen_again(settings: Settings, tmp_path: Path) -> None:
    """Words are remembered by the place of the fault; two faults in one place differ in their values."""
    path = tmp_path / "events.jsonl"
    step = ALL_EVENTS["step"]
    path.write_bytes(b"\n".join(dump({**step, "latency_ms": value, "labels": {MARK: 5}}) for value in (MARK, "x", -1)))
    staged = stage(find_sources([path]), tmp_path / "staged")
    assert staged.quarantined == 3
    assert_nothing_leaked(settings, staged)


def test_no_cell_of_a_table_leaves_its_row(settings: Settings, tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    rows = [
        f"{MARK},2030-01-01T00:00:00Z,1,2,3",
        f"a,{MARK},1,2,3",
        f"b,2030-01-01T00:00:00Z,{MARK},2,3",
        f"c,2030-01-01T00:00:00Z,5,{NUMBER},3",
        f"d,2030-01-01T00:00:00Z,5,2,{MARK}",
        f"e,2030-01-01T00:00:00Z,5,2,3,{MARK}",
        f'f"{MARK}"x,"{MARK}"x',
        f"{MARK * 50},2030-01-01T00:00:00Z,5,2,3",
    ]
    table.write_text("id,at,in,hit,kind\n" + "\n".join(rows) + "\n")
    mapping = tmp_path / "m.yaml"
    mapping.write_text(
        json.dumps(
            {
                "mapping": 1,
                "source": "test",
                "events": [
                    {
                        "event": "step",
                        "fields": {
                            "event_id": {"column": "id"},
                            "run_id": {"column": "id"},
                            "step_id": {"template": "{id}"},
                            "event_time": {"column": "at", "unit": "iso"},
                            "kind": {"column": "kind", "alias": {"3": "tool"}},
                            "status": {"value": "succeeded"},
                        },
                        "usage": {"input": {"column": "in"}, "cache_read": {"column": "hit"}, "declared": "inclusive"},
                    }
                ],
            }
        )
    )
    staged = stage_table([table], mapping, tmp_path / "staged")
    assert staged.quarantined == len(rows)
    assert {row["reason"] for row in staged.quarantine_rows()} == {"unmapped_cell", "contradicted_usage", "schema"}
    assert_nothing_leaked(settings, staged)


def test_quarantine_files_hold_no_other_keys(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_bytes(b"bad\n")
    staged = stage(find_sources([path]), tmp_path / "staged")
    (row,) = (tmp_path / "staged" / QUARANTINE / "000000.jsonl").read_text().splitlines()
    assert set(json.loads(row)) == {"part", "byte_offset", "line_number", "length", "line_sha256", "reason", "detail"}
    assert staged.quarantined == 1
