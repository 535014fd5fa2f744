"""opencode's storage: JSON files, and the database of newer versions."""

import json
import sqlite3
from pathlib import Path

from tests.ingest.readers.samples.opencode import CREATED, NAME, SESSION, database, message, sample, tool
from tests.ingest.readers.support import Home, events, refusals, stage, write

PICO_USD = 100 * 3_000_000 + 5000 * 300_000 + 300 * 3_750_000 + (40 + 60) * 15_000_000


def test_a_message_is_a_call_with_all_its_counts_disjoint(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.take(write(tmp_path, NAME, message()), write(tmp_path, "prt_1.json", tool()))
    counts = ", ".join(
        f"{name}_tokens" for name in ("input_uncached", "cache_read", "cache_write", "output", "reasoning")
    )
    sql = f"SELECT name, status, latency_ms, {counts}, cost_pico_usd::BIGINT FROM step_costs ORDER BY kind"
    assert [tuple(row.values()) for row in home.rows(sql)] == [
        ("build", "succeeded", 2500, 100, 5000, 300, 40, 60, PICO_USD),
        ("bash", "failed", 700, None, None, None, None, None, 0),
    ]
    assert home.one("SELECT run_id, workflow, team, CAST(units AS JSON) FROM run_costs") == (
        SESSION, "opencode", "shop", '{"sessions":1}'
    )  # fmt: skip


def test_the_database_and_the_files_it_was_made_from_are_counted_once(tmp_path: Path) -> None:
    home = Home(tmp_path)
    path = database(tmp_path / "opencode.db", message(), mark="a secret sentence")
    report = home.take(write(tmp_path, NAME, message()), path)
    assert (report.ingest.quarantined, report.ingest.formats) == (0, {"opencode": 2})
    assert home.one("SELECT count(*), sum(cost_pico_usd)::BIGINT FROM step_costs WHERE kind = 'model'") == (1, PICO_USD)
    assert home.one("SELECT CAST(max(last_seen_at) AS VARCHAR) FROM run_costs") == ("2026-03-05 10:00:09+00",)


def test_a_fork_that_copies_messages_under_new_ids_counts_them_once(tmp_path: Path) -> None:
    fork = message(id="msg_copy", sessionID="ses_fork")
    new = message(id="msg_new", sessionID="ses_fork", time={"created": CREATED + 9000, "completed": CREATED + 9900})
    found = stage(tmp_path / "s", database(tmp_path / "opencode.db", message(), fork, new))
    assert len({step["event_id"] for step in events(found, "step") if step["kind"] == "model"}) == 2


def test_f_what_stands_in_the_write_ahead_log_is_read(tmp_path: Path) -> None:
    """Reading the main file alone misses what a running opencode wrote last."""
    path = database(tmp_path / "opencode.db")
    writer = sqlite3.connect(path)
    writer.execute("PRAGMA journal_mode = WAL")
    writer.execute("PRAGMA wal_autocheckpoint = 0")
    row = message(tokens={"input": 7, "output": 1})
    data = json.dumps({name: value for name, value in row.items() if name not in {"id", "sessionID"}})
    writer.execute("INSERT INTO message VALUES ('msg_wal', ?, ?, ?)", (SESSION, CREATED, data))
    writer.commit()
    try:
        steps = events(stage(tmp_path / "s", path), "step")
    finally:
        writer.close()
    assert [step["buckets"]["input_uncached"] for step in steps if step["kind"] == "model"] == [7]


def test_a_message_that_is_still_written_is_no_call_yet_and_one_that_failed_is(tmp_path: Path) -> None:
    open_ = message(time={"created": CREATED}, tokens={"input": 0, "output": 0, "cache": {}})
    failed = message(error={"name": "APIError"})
    stopped = message(id="msg_3", error={"name": "MessageAbortedError"}, modelID="other")
    for number, (row, expected) in enumerate([(open_, []), (failed, ["failed"]), (stopped, ["cancelled"])]):
        found = stage(tmp_path / str(number), write(tmp_path, f"{number}.json", row))
        assert [step["status"] for step in events(found, "step")] == expected


def test_its_own_cost_is_kept_beside_and_never_taken_for_a_bill(tmp_path: Path) -> None:
    (step,) = events(stage(tmp_path / "s", write(tmp_path, NAME, message())), "step")
    assert step["raw_usage"]["source_cost_pico_usd"] == 4_000_000_000
    assert "billed_pico_usd" not in step


def test_a_database_that_is_damaged_or_of_another_program_stops_nothing(tmp_path: Path) -> None:
    path = database(tmp_path / "opencode.db", *(message(id=f"msg_{n}") for n in range(50)))
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    assert {reason for _, reason in refusals(stage(tmp_path / "s", path))} == {"damaged_archive"}
    other = tmp_path / "folder" / "other.db"
    other.parent.mkdir()
    with sqlite3.connect(other) as con:
        con.execute("CREATE TABLE notes (text TEXT)")
    con.close()
    assert stage(tmp_path / "t", other.parent).read == 0


def test_the_sample_is_read_without_a_refusal(tmp_path: Path) -> None:
    assert refusals(stage(tmp_path / "s", write(tmp_path, NAME, sample("a secret sentence")))) == []
