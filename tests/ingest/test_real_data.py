"""Real tables through the mappings beside this file, with their known answers (see the data's README)."""

from pathlib import Path

import duckdb
import pytest

from beleg.ingest.stage import Staged
from beleg.ingest.table import stage_table
from beleg.ingest.typed import read_staged

MAPPINGS = Path(__file__).parent / "mappings"


def staged(table: Path, mapping: str, folder: Path) -> Staged:
    return stage_table([table], MAPPINGS / f"{mapping}.yaml", folder)


def query(staged_: Staged, event: str, sql: str) -> list[tuple[object, ...]]:
    with duckdb.connect(":memory:") as con:
        con.execute("SET TimeZone = 'UTC'")
        read_staged(con, event, staged_.files[event], "t", ingest_id="test")
        return con.execute(sql).fetchall()


def test_every_real_call_is_accepted_and_billed_to_the_last_digit(test_data: Path, tmp_path: Path) -> None:
    calls = staged(test_data / "swebench-llm-calls" / "llm_calls.csv", "swebench_calls", tmp_path)
    assert dict(calls.accepted_by_event) == {"run_started": 500, "step": 20_163}
    assert calls.quarantined == 0
    (row,) = query(
        calls,
        "step",
        "SELECT count(*), count(DISTINCT event_id), count(billed_pico_usd), sum(billed_pico_usd)::DECIMAL(38,0), "
        "count(*) FILTER (usage_check = 'conflict'), count(*) FILTER (usage_check = 'ok'), "
        "count(*) FILTER (usage_check = 'conflict' AND reasoning_tokens IS NULL), "
        "count(*) FILTER (provider = 'google' AND billed_pico_usd IS NULL) FROM t",
    )
    assert [int(str(value)) for value in row] == [20_163, 20_163, 19_584, 224_489_204_600_000, 20, 20_143, 20, 579]


def test_the_billed_cost_follows_from_the_buckets(test_data: Path, tmp_path: Path) -> None:
    calls = staged(test_data / "swebench-llm-calls" / "llm_calls.csv", "swebench_calls", tmp_path)
    prices = (
        "input_uncached_tokens * 2_000_000 + cache_read_tokens * 200_000 "
        "+ (output_tokens + coalesce(reasoning_tokens, 0)) * 12_000_000"
    )
    assert query(calls, "step", f"SELECT count(*) FROM t WHERE billed_pico_usd <> {prices}") == [(0,)]


def test_every_task_ends_and_371_are_resolved(test_data: Path, tmp_path: Path) -> None:
    tasks = staged(test_data / "swebench-llm-calls" / "instances.csv", "swebench_instances", tmp_path)
    assert dict(tasks.accepted_by_event) == {"run_finished": 500, "outcome": 371}
    assert query(tasks, "outcome", "SELECT sum(count)::BIGINT, min(kind), max(len(run_ids)) FROM t") == [
        (371, "resolved issue", 1)
    ]


def test_every_azure_request_is_accepted(test_data: Path, tmp_path: Path) -> None:
    azure = staged(test_data / "azure-llm" / "AzureLLMInferenceTrace_conv.csv", "azure_llm", tmp_path)
    assert dict(azure.accepted_by_event) == {"step": 19_366}
    (row,) = query(
        azure, "step", "SELECT count(DISTINCT event_id), min(event_time)::VARCHAR, max(event_time)::VARCHAR FROM t"
    )
    assert row == (19_366, "2023-11-16 18:15:46.68059+00", "2023-11-16 19:14:08.402527+00")


@pytest.mark.parametrize("name", [path.stem for path in sorted(MAPPINGS.glob("*.yaml"))])
def test_the_mappings_shown_as_examples_are_tested_here(name: str) -> None:
    assert name in Path(__file__).read_text(encoding="utf-8")
