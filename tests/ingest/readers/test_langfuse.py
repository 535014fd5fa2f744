"""Langfuse: real traces with their known counts, every kind of export, and what went wrong elsewhere."""

import csv
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from beleg.ingest.readers import files
from beleg.ingest.readers.langfuse.fields import snake
from beleg.ingest.readers.langfuse.usage import reported
from beleg.trace.usage import normalise
from tests.ingest.readers.samples.langfuse import NAME, observation, observations, sample, trace
from tests.ingest.readers.support import Home, assert_adds_up, events, json_lines, refusals, stage, write

Step = dict[str, Any]
ROOT = "a000000000000001"


def steps(tmp_path: Path, content: Any, name: str = "rows.jsonl") -> list[Step]:
    """The steps of a file of rows, none of which is refused."""
    staged = stage(tmp_path / "staged", write(tmp_path, name, content))
    assert_adds_up(staged)
    assert refusals(staged) == []
    return events(staged, "step")


def generation(usage: Mapping[str, Any], identity: str = "b000000000000001", **fields: Any) -> dict[str, Any]:
    row = observation(identity, "GENERATION", "call", end="10:00:02.500Z")
    return row | {"usageDetails": dict(usage), "model": "gpt-4o"} | fields


def buckets(tmp_path: Path, usage: Mapping[str, Any], **fields: Any) -> dict[str, int]:
    (step,) = steps(tmp_path, json_lines(generation(usage, **fields)))
    return {name: count for name, count in step.get("buckets", {}).items() if count}


# -- real traces --------------------------------------------------------------------------------------

REAL = {
    "agno-2025-06-11": [{"input_uncached": 163, "output": 20}, {"input_uncached": 663, "output": 225}],
    "autogen-2025-06-06": [{"input_uncached": 41, "output": 3}],
    "claude-agent-2025-12-22": [
        {"input_uncached": 19, "output": 29},
        {"input_uncached": 5, "output": 53},
        {"input_uncached": 5, "output": 56},
        {"input_uncached": 5, "output": 94},
    ],
    "crewai-2025-07-11": [{"input_uncached": 190, "output": 164}],
    "google-gemini-2025-08-01": [{"input_uncached": 6, "output": 951, "reasoning": 1104}],
    "langgraph-js-2025-10-30": [
        {"input_uncached": 142, "output": 24},
        {"input_uncached": 179, "output": 35, "reasoning": 64},
    ],
    "openai-agents-2025-09-30": [{"input_uncached": 55, "output": 15}, {"input_uncached": 85, "output": 29}],
    "pydantic-ai-2025-06-06": [{"input_uncached": 31, "output": 96}],
    "vercel-aisdk-2025-11-17": [{"input_uncached": 62, "output": 85}],
    "vertex-ai-2025-08-01": [{"input_uncached": 5, "output": 845, "reasoning": 1173}],
}
"""Trace → the tokens of its model calls in order of time, roll-ups and zeros left out."""
COSTS_PICO_USD = {
    "claude-agent-2025-12-22": 3_582_000_000,
    "crewai-2025-07-11": 126_900_000,
    "google-gemini-2025-08-01": 5_139_300_000,
    "langgraph-js-2025-10-30": 326_250_000,
    "openai-agents-2025-09-30": 632_000_000,
    "pydantic-ai-2025-06-06": 1_037_500_000,
}
"""Traces of which Langfuse's own prices were the list prices."""


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory, test_data: Path) -> Home:
    home = Home(tmp_path_factory.mktemp("langfuse"))
    report = home.take(test_data / "langfuse")
    assert (report.ingest.quarantined, report.ingest.superseded, report.ingest.files) == (0, 0, 10)
    return home


@pytest.mark.parametrize("name", REAL)
def test_every_real_trace_counts_each_call_once(real: Home, test_data: Path, name: str) -> None:
    run = json.loads((test_data / "langfuse" / f"{name}.trace.json").read_bytes())["trace"]["id"]
    found = real.rows(
        "SELECT input_uncached_tokens AS input_uncached, output_tokens AS output, reasoning_tokens AS reasoning "
        f"FROM step_costs WHERE kind = 'model' AND counted AND run_id = '{run}' ORDER BY event_time, step_id DESC"
    )
    counts = [{name: count for name, count in row.items() if count} for row in found]
    assert sorted(counts, key=str) == sorted(REAL[name], key=str)


@pytest.mark.parametrize("name", COSTS_PICO_USD)
def test_the_computed_cost_of_a_real_trace_is_that_of_langfuse(real: Home, test_data: Path, name: str) -> None:
    run = json.loads((test_data / "langfuse" / f"{name}.trace.json").read_bytes())["trace"]["id"]
    ((cost, source),) = [
        tuple(row.values())
        for row in real.rows(
            "SELECT sum(c.cost_pico_usd), sum(s.raw_usage['source_cost_pico_usd']) FILTER (c.counted) "
            f"FROM step_costs c JOIN steps s USING (source, event_id) WHERE c.run_id = '{run}'"
        )
    ]
    assert cost == COSTS_PICO_USD[name]
    assert abs(cost - source) <= 2  # Langfuse keeps binary floats


def test_every_real_trace_has_its_start_its_end_and_its_length(real: Home) -> None:
    assert real.one("SELECT count(*), min(status) FROM runs_finished") == (10, "succeeded")
    assert real.one("SELECT duration_ms FROM runs_finished WHERE run_id LIKE '2c1581dd%'") == (5290,)
    assert real.one("SELECT count(*), count(DISTINCT workflow) FROM runs_started") == (10, 1)


def test_the_same_real_files_again_change_nothing(real: Home, test_data: Path) -> None:
    before = real.rows("SELECT * FROM steps ORDER BY source, event_id")
    for path in sorted((test_data / "langfuse").iterdir(), reverse=True):
        real.take(path)
    assert real.rows("SELECT * FROM steps ORDER BY source, event_id") == before


# -- exports ------------------------------------------------------------------------------------------


def blob_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row as the blob export writes it: other names, maps as JSON in texts."""
    renamed = {"model": "provided_model_name"}
    values = {renamed.get(name, snake(name)): value for name, value in row.items()}
    return {name: json.dumps(value) if isinstance(value, dict | list) else value for name, value in values.items()}


def as_csv(rows: list[dict[str, Any]]) -> bytes:
    columns = list(dict.fromkeys(name for row in rows for name in row))
    file = io.StringIO()
    writer = csv.DictWriter(file, columns)
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue().encode()


def as_parquet(rows: list[Mapping[str, Any]]) -> bytes:
    """Rows with their token counts as a real map."""
    columns: dict[str, Any] = {}
    for name in dict.fromkeys(name for row in rows for name in row):
        values = [row.get(name) for row in rows]
        if name == "usage_details":
            columns[name] = pa.array(
                [list((value or {}).items()) for value in values], pa.map_(pa.string(), pa.int64())
            )
        else:
            columns[name] = pa.array([json.dumps(v) if isinstance(v, dict | list) else v for v in values])
    buffer = io.BytesIO()
    parquet.write_table(pa.table(columns), buffer)
    return buffer.getvalue()


ROWS = observations("call")
for _row in ROWS:
    _row.pop("toolDefinitions", None)
BLOB = [blob_row(row) for row in ROWS]
EXPORTS = {
    "page.json": json.dumps({"data": ROWS, "meta": {"page": 1, "totalItems": 4}}).encode(),
    "list.json": json.dumps(ROWS).encode(),
    "api_trace.json": json.dumps({**trace("call"), "observations": ROWS}).encode(),
    "download.json": sample("call"),
    "traces.jsonl": json_lines({**trace("call"), "observations": ROWS}),
    "blob.jsonl": json_lines(*BLOB),
    "blob.json": json.dumps(BLOB).encode(),
    "blob.csv": as_csv(BLOB),
    "blob.parquet": as_parquet(
        [{snake(n): v for n, v in row.items()} | {"provided_model_name": row.get("model")} for row in ROWS]
    ),
}


@pytest.mark.parametrize("name", EXPORTS)
def test_every_export_tells_the_same_steps(tmp_path: Path, name: str) -> None:
    assert steps(tmp_path, EXPORTS[name], name) == steps(tmp_path / "other", EXPORTS["list.json"], "list.json")


@pytest.mark.parametrize("name", ["download.json", "page.json", "api_trace.json"])
def test_a_document_too_large_for_memory_tells_the_same_steps(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = steps(tmp_path / "whole", EXPORTS[name], name)
    monkeypatch.setattr(files, "WHOLE_BYTES", 500)
    assert steps(tmp_path, EXPORTS[name], name) == whole


def test_files_in_any_order_and_split_give_the_same_tables(tmp_path: Path) -> None:
    traces = write(tmp_path, "traces.jsonl", json_lines(blob_row(trace("call"))))
    parts = [write(tmp_path, f"part{number}.jsonl", json_lines(row)) for number, row in enumerate(BLOB)]
    whole = write(tmp_path, "whole.jsonl", json_lines(*BLOB))
    tables = []
    for number, paths in enumerate(([traces, whole], [*reversed(parts), traces], [*parts, whole, traces, traces])):
        home = Home(tmp_path / f"home{number}")
        for path in paths:
            home.take(path)
        told = "SELECT * EXCLUDE (ingest_id) FROM"
        tables.append(
            [home.rows(f"{told} {table} ORDER BY event_id") for table in ("runs_started", "runs_finished", "steps")]
        )
    assert tables[0] == tables[1] == tables[2]
    assert [len(table) for table in tables[0]] == [1, 1, 4]


def test_observations_alone_begin_and_end_their_run_at_the_root(tmp_path: Path) -> None:
    staged = stage(tmp_path / "staged", write(tmp_path, "rows.jsonl", json_lines(*BLOB)))
    (start,), (end,) = events(staged, "run_started"), events(staged, "run_finished")
    assert (start["event_time"], end["event_time"]) == ("2026-03-05T10:00:00.500000Z", "2026-03-05T10:00:04.000000Z")
    assert (end["status"], end["duration_ms"]) == ("succeeded", 3500)


def test_a_run_whose_root_is_elsewhere_begins_with_its_first_part_until_more_is_known(tmp_path: Path) -> None:
    staged = stage(tmp_path / "staged", write(tmp_path, "rows.jsonl", json_lines(*BLOB[1:])))
    (start,) = events(staged, "run_started")
    assert start["event_time"] == "2026-03-05T10:00:00.500000Z"
    assert start["revision"] < "2000-01-02"
    assert events(staged, "run_finished") == []


def test_of_several_roots_the_first_begins_and_the_last_ends_the_run_in_whatever_order(tmp_path: Path) -> None:
    roots = [
        observation(f"a{hour}", "GENERATION", "call", parent=None, end=f"{hour}:00:09.000Z")
        | {"startTime": f"2026-03-05T{hour}:00:00Z"}
        for hour in (11, 10, 12)
    ]
    for number, rows in enumerate((roots, roots[::-1])):
        home = Home(tmp_path / str(number))
        home.take(write(tmp_path, f"{number}.jsonl", json_lines(*rows[:2])))
        home.take(write(tmp_path, f"{number}-last.jsonl", json_lines(rows[2])))
        start, end = "SELECT hour(event_time) FROM runs_started", "SELECT hour(event_time) FROM runs_finished"
        assert (home.one(start), home.one(end)) == ((10,), (12,))


def test_rows_without_id_or_time_are_refused_alone(tmp_path: Path) -> None:
    nameless, timeless = dict(ROWS[1]), {**ROWS[2], "startTime": "no time"}
    del nameless["id"]
    staged = stage(tmp_path / "staged", write(tmp_path, "rows.jsonl", json_lines(ROWS[0], nameless, timeless)))
    assert_adds_up(staged)
    assert refusals(staged) == [(2, "no_id"), (3, "no_time")]
    assert len(events(staged, "step")) == 1


def test_a_call_that_goes_on_is_replaced_when_it_has_ended(tmp_path: Path) -> None:
    home = Home(tmp_path)
    going = generation({}, endTime=None)
    done = generation({"input": 10, "output": 5, "total": 15})
    for number, row in enumerate((going, done, going)):
        home.take(write(tmp_path, f"{number}.jsonl", json_lines(row)))
    assert home.one("SELECT input_uncached_tokens, output_tokens FROM steps") == (10, 5)


def test_rules_name_the_run_by_tag_service_and_prompt(tmp_path: Path) -> None:
    naming = """
naming: 1
rules:
  - {when: {tag: "job:*"}, workflow: {from: tag, pattern: "job:(.*)"}, units: {documents: 2}, outcome: {kind: posted}}
  - {when: {resource.service.name: billing}, team: finance}
"""
    home = Home(tmp_path, naming=naming)
    told = trace("call") | {"tags": ["job:ocr"], "environment": "staging"}
    told["metadata"] = {"resourceAttributes": {"service.name": "billing"}}
    rows = [
        row | ({"promptName": "extract", "promptVersion": 7} if row["type"] == "GENERATION" else {}) for row in ROWS
    ]
    home.take(write(tmp_path, NAME, {"trace": told, "observations": rows}))
    assert home.one("SELECT workflow, team, environment, prompt_version FROM runs_started") == (
        "ocr",
        "finance",
        "staging",
        "7",
    )
    assert home.one("SELECT units['documents'] FROM runs_finished") == (2,)
    assert home.one("SELECT workflow, kind, count, run_ids FROM outcomes") == ("ocr", "posted", 1, [told["id"]])


# -- scores -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("score", "rating"),
    [
        ({"name": "user-feedback", "value": 1, "dataType": "BOOLEAN", "source": "API"}, "like"),
        ({"name": "User Feedback", "value": 0, "dataType": "BOOLEAN", "source": "ANNOTATION"}, "dislike"),
        ({"name": "thumbs_up", "value": "1.0", "data_type": "BOOLEAN", "source": "API"}, "like"),
        ({"name": "user-feedback", "value": 1, "dataType": "NUMERIC", "source": "API"}, None),
        ({"name": "user-feedback", "value": 1, "dataType": "BOOLEAN", "source": "EVAL"}, None),
        ({"name": "is_correct", "value": 1, "dataType": "BOOLEAN", "source": "API"}, None),
        ({"name": "user-feedback", "value": None, "dataType": "BOOLEAN", "source": "API"}, None),
        ({"name": "user-feedback", "value": 1, "dataType": "BOOLEAN", "source": "API", "traceId": None}, None),
    ],
)
def test_only_a_persons_yes_or_no_is_feedback(tmp_path: Path, score: dict[str, Any], rating: str | None) -> None:
    row = {"id": "s1", "traceId": "t1", "observationId": None, "timestamp": "2026-03-05T10:01:00Z", **score}
    staged = stage(tmp_path / "staged", write(tmp_path, "scores.jsonl", json_lines(row)), form="langfuse")
    assert [(event["rating"], event["run_id"]) for event in events(staged, "feedback")] == (
        [(rating, "t1")] if rating else []
    )
    assert staged.ignored == (0 if rating else 1)


# -- what went wrong elsewhere ------------------------------------------------------------------------


def test_c1_input_that_holds_the_cached_tokens_is_told_by_the_total(tmp_path: Path) -> None:
    usage = {"input": 17_903, "input_cached_tokens": 17_817, "output": 100, "total": 18_003}
    assert buckets(tmp_path, usage) == {"input_uncached": 86, "cache_read": 17_817, "output": 100}


def test_c1_the_answer_kept_as_output_outranks_a_map_that_adds_up_to_twice_the_input(tmp_path: Path) -> None:
    answer = {
        "id": "gen-1763600000-abcdefgh",
        "model": "openai/gpt-4o",
        "usage": {"prompt_tokens": 17_903, "completion_tokens": 100, "total_tokens": 18_003,
                  "prompt_tokens_details": {"cached_tokens": 17_817}},
    }  # fmt: skip
    usage = {"input": 17_903, "input_cached_tokens": 17_817, "output": 100, "total": 35_820}
    found = buckets(tmp_path, usage, output=answer)
    assert found == {"input_uncached": 86, "cache_read": 17_817, "output": 100}


@pytest.mark.parametrize(
    "alias",
    [
        "cache_read.input_tokens",
        "cache_read_input_tokens",
        "cache_read_tokens",
        "input_cached_tokens",
        "details.cache_read_tokens",
    ],
)
def test_c3_the_attributes_outrank_a_map_that_counts_the_cached_tokens_twice(tmp_path: Path, alias: str) -> None:
    attributes = {"gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": "11935"}
    attributes |= {"gen_ai.usage.output_tokens": "10", f"gen_ai.usage.{alias}": "5758"}
    usage = {"input": 11_935, "input_cached_tokens": 5_758, "output": 10, "total": 17_703}
    found = buckets(tmp_path, usage, metadata={"attributes": attributes})
    assert found == {"input_uncached": 6_177, "cache_read": 5_758, "output": 10}


def test_c3_a_map_that_langfuse_has_made_disjoint_stays_so(tmp_path: Path) -> None:
    usage = {"input": 6_177, "input_cached_tokens": 5_758, "output": 10, "total": 11_945}
    assert buckets(tmp_path, usage) == {"input_uncached": 6_177, "cache_read": 5_758, "output": 10}


def test_c4_cache_writes_under_the_new_name_are_not_left_in_the_input(tmp_path: Path) -> None:
    usage = {
        "input": 6_177,
        "input_cached_tokens": 5_758,
        "cache_write.input_tokens": 6_174,
        "output": 10,
        "total": 18_119,
    }
    expected = {"input_uncached": 3, "cache_read": 5_758, "cache_write": 6_174, "output": 10}
    assert buckets(tmp_path, usage) == expected


def test_c4_cache_writes_under_the_new_name_are_read_from_the_attributes(tmp_path: Path) -> None:
    attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.usage.input_tokens": 11_935,
        "gen_ai.usage.output_tokens": 10,
    }
    attributes |= {"gen_ai.usage.cache_read.input_tokens": 5_758, "gen_ai.usage.cache_write.input_tokens": 6_174}
    usage = {"input": 6_177, "output": 10}
    expected = {"input_uncached": 3, "cache_read": 5_758, "cache_write": 6_174, "output": 10}
    assert buckets(tmp_path, usage, metadata={"attributes": attributes}) == expected


def test_c5_cache_writes_that_litellm_forgets_to_take_off_are_taken_off(tmp_path: Path) -> None:
    prompt, read, written, out = 12_315, 8, 12_304, 550
    usage = {"input": prompt - read, "output": out, "total": prompt + out,
             "cache_read_input_tokens": read, "cache_creation_input_tokens": written}  # fmt: skip
    expected = {"input_uncached": 3, "cache_read": 8, "cache_write": 12_304, "output": 550}
    assert buckets(tmp_path, usage) == expected


def test_c17_the_details_of_the_responses_api_are_read_under_their_own_names(tmp_path: Path) -> None:
    usage = {"input": 1_149, "input_tokens_details.cached_tokens": 1_024, "output": 20, "total": 1_169}
    assert buckets(tmp_path, usage) == {"input_uncached": 125, "cache_read": 1_024, "output": 20}


def test_c18_a_token_count_in_the_place_of_a_cost_is_no_cost(tmp_path: Path) -> None:
    rows = [
        generation({"input": 100_000, "output": 50_000}, "b1", costDetails={"total": 150_000}),
        generation({"input": 100_000, "output": 50_000}, "b2", costDetails={"total": 0.75}),
        generation({"input": 100_000, "output": 50_000}, "b3", metadata={"cost": {"total_tokens": 150_000}}),
    ]
    found = [step["raw_usage"].get("source_cost_pico_usd") for step in steps(tmp_path, json_lines(*rows))]
    assert found == [None, 750_000_000_000, None]


@pytest.mark.parametrize("name", ["thoughts_token_count", "output_reasoning_tokens", None])
def test_c20_the_thoughts_of_gemini_are_output_whether_shown_or_hidden_in_the_total(
    tmp_path: Path, name: str | None
) -> None:
    usage = {"input": 5, "output": 845, "total": 2_023} | ({name: 1_173} if name else {})
    found = buckets(tmp_path, usage, model="publishers/google/models/gemini-2.5-flash")
    assert found == {"input_uncached": 5, "output": 845, "reasoning": 1_173}


def test_c21_an_answer_from_the_clients_own_cache_costs_nothing(tmp_path: Path) -> None:
    home = Home(tmp_path)
    usage = {"input": 100, "output": 50, "total": 150}
    rows = [generation(usage, "b1"), generation(usage, "b2", metadata={"cache_hit": "True"})]
    home.take(write(tmp_path, "rows.jsonl", json_lines(*rows)))
    found = home.rows("SELECT cost_pico_usd, unpriced_reason FROM step_costs ORDER BY event_id")
    assert [tuple(row.values()) for row in found] == [(750_000_000, None), (0, None)]
    raw = home.one("SELECT raw_usage['response_cache_hit'], raw_usage['input'] FROM steps WHERE event_id = 'b2'")
    assert raw == (1, 100)


def test_c21_the_same_answer_shown_again_counts_once(tmp_path: Path) -> None:
    home = Home(tmp_path)
    output = {"id": "chatcmpl-BhGJDsZlpk55owZCjMyJl8TOGqk0H", "choices": []}
    usage = {"input": 100, "output": 50, "total": 150}
    rows = [generation(usage, f"b{number}", output=output) for number in range(2)]
    home.take(write(tmp_path, "rows.jsonl", json_lines(*rows)))
    assert home.one(
        "SELECT sum(cost_pico_usd), count(*) FILTER (not_counted_reason = 'duplicate_call') FROM step_costs"
    ) == (
        750_000_000,
        1,
    )


def test_n6_a_parent_that_repeats_the_usage_of_its_children_adds_nothing(tmp_path: Path) -> None:
    home = Home(tmp_path)
    usage = {"input": 100, "output": 50, "total": 150}
    parent = observation(ROOT, "AGENT", "agent", parent=None, end="10:00:04.000Z") | {"usageDetails": usage}
    outer = generation(usage, "b1")
    inner = generation(usage, "b2", parentObservationId="b1")
    home.take(write(tmp_path, "rows.jsonl", json_lines(parent, outer, inner)))
    counted = "SELECT sum(cost_pico_usd), count(*) FILTER (not_counted_reason = 'rollup') FROM step_costs"
    assert home.one(counted) == (750_000_000, 2)


def test_n7_two_instrumentations_of_one_call_count_once(tmp_path: Path) -> None:
    home = Home(tmp_path)
    usage = {"input": 100, "output": 50, "total": 150}
    attributes = {"gen_ai.operation.name": "chat", "gen_ai.response.id": "chatcmpl-0123456789"}
    rows = [generation(usage, f"b{number}", metadata={"attributes": attributes}) for number in range(2)]
    home.take(write(tmp_path, "rows.jsonl", json_lines(*rows)))
    assert home.one("SELECT sum(cost_pico_usd) FROM step_costs") == (750_000_000,)


def test_n16_an_update_of_an_observation_replaces_it_however_late_it_comes(tmp_path: Path) -> None:
    home = Home(tmp_path)
    late = generation({"input": 20, "output": 5, "total": 25}, updatedAt="2026-05-01T00:00:00Z")
    early = generation({"input": 10, "output": 5, "total": 15}, updatedAt="2026-03-05T10:00:03Z")
    for number, row in enumerate((early, late, early)):
        home.take(write(tmp_path, f"{number}.jsonl", json_lines(row)))
    assert home.one("SELECT count(*), max(input_uncached_tokens) FROM steps") == (1, 20)


def test_t4_times_without_a_zone_are_utc(tmp_path: Path) -> None:
    row = generation(
        {"input": 1, "output": 1}, startTime="2026-03-05 23:30:00.123456", endTime="2026-03-05 23:30:01.123456"
    )
    (step,) = steps(tmp_path, json_lines(blob_row(row)))
    assert (step["event_time"], step["latency_ms"]) == ("2026-03-05T23:30:00.123456Z", 1_000)


def test_p1_p3_nothing_of_a_payload_is_kept_wherever_it_stands(tmp_path: Path) -> None:
    mark = "zebra wanders at seventeen"
    blob = {"inline_data": {"data": "QUJD" * 50_000, "note": mark}}
    rows = [
        observation("b1", "GENERATION", mark, end="10:00:01.000Z")
        | {"input": blob, "usageDetails": {"input": 1, mark: 2}}
    ]
    staged = stage(tmp_path / "staged", write(tmp_path, "rows.json", rows))
    kept = json.dumps(events(staged))
    assert len(events(staged, "step")) == 1
    assert not any(word in kept for word in ("zebra", "wanders", "QUJD"))


def test_the_usage_of_old_exports_is_read_where_its_unit_is_tokens(tmp_path: Path) -> None:
    old = {"input": 10, "output": 5, "total": 15, "unit": "TOKENS", "inputCost": 0.1}
    rows = [{**generation({}, "b1"), "usage": old}, {**generation({}, "b2"), "usage": {**old, "unit": "CHARACTERS"}}]
    tokens, characters = steps(tmp_path, json_lines(*rows))
    assert tokens["buckets"] == {"input_uncached": 10, "output": 5}
    assert "buckets" not in characters


def test_counts_that_langfuse_took_from_the_text_are_no_usage(tmp_path: Path) -> None:
    rows = [
        generation({"input": 10, "output": 5, "total": 15}, "b1", providedUsageDetails={}),
        generation({"input": 10, "output": 5, "total": 15}, "b2", provided_usage_details='{"input": 10, "output": 5}'),
    ]
    guessed, told = steps(tmp_path, json_lines(*rows))
    assert "buckets" not in guessed
    assert told["buckets"] == {"input_uncached": 10, "output": 5}


KEYS = [
    *("input", "output", "input_cached_tokens", "input_cache_creation", "cache_write.input_tokens"),
    *("prompt_details.cache_read", "output_reasoning", "completion_details.reasoning", "input_audio"),
]


@given(st.dictionaries(st.sampled_from(KEYS), st.integers(0, 10**9)), st.sampled_from([None, "sum", "sides"]))
def test_no_map_is_read_as_more_than_its_entries(usage: dict[str, int], total: str | None) -> None:
    entries = sum(usage.values())
    sides = usage.get("input", 0) + usage.get("output", 0)
    given_total = {None: {}, "sum": {"total": entries}, "sides": {"total": sides}}[total]
    found = normalise(reported({**usage, **given_total}))
    assert sum(found.known.values()) <= entries
