"""LangSmith: real payloads of its SDKs with their known counts, all exports of runs, and what went wrong elsewhere."""

import io
import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from beleg.ingest.readers import files
from beleg.ingest.readers.langsmith_usage import reported
from beleg.trace.usage import normalise
from tests.ingest.readers.samples.langsmith import ROOT, run, tree
from tests.ingest.readers.support import Home, assert_adds_up, events, json_lines, refusals, stage, write

CALL = "22222222-2222-4222-8222-222222222222"


def steps(tmp_path: Path, content: Any, name: str = "runs.jsonl") -> list[dict[str, Any]]:
    """The steps of a file of runs, none of which is refused."""
    staged = stage(tmp_path / "staged", write(tmp_path, name, content))
    assert_adds_up(staged)
    assert refusals(staged) == []
    return events(staged, "step")


def call(outputs: Any, identity: str = CALL, **metadata: Any) -> dict[str, Any]:
    made = run(identity, "llm", "call", parent=ROOT)
    return made | {"outputs": outputs, "extra": {"metadata": {"ls_provider": "openai", **metadata}}}


def usage(inputs: int, outputs: int, **details: dict[str, int]) -> dict[str, Any]:
    return {"input_tokens": inputs, "output_tokens": outputs, "total_tokens": inputs + outputs, **details}


def flat(run_: dict[str, Any]) -> list[dict[str, Any]]:
    """The runs of a tree, each alone."""
    alone = {name: value for name, value in run_.items() if name != "child_runs"}
    return [alone, *(inner for child in run_["child_runs"] for inner in flat(child))]


# -- real payloads ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("langsmith_js_wrap_openai_reasoning", ("o1-mini-2024-09-12", 43, 941, 960, 8_411_700_000, None, 10_439)),
        ("langsmith_py_wrap_openai_", ("gpt-4o-mini-2024-07-18", 9, 9, 0, 6_750_000, None, 1_118)),
        (
            "langsmith_py_wrap_openai_stream_no_usage",
            ("gpt-4o-mini-2024-07-18", None, None, None, None, "missing_usage", 927),
        ),
    ],
)
def test_real_payloads_of_the_sdks(tmp_path: Path, test_data: Path, name: str, expected: tuple[Any, ...]) -> None:
    home = Home(tmp_path)
    home.take(test_data / "langsmith" / f"{name}.json")
    found = home.one(
        "SELECT model, input_uncached_tokens, output_tokens, reasoning_tokens, cost_pico_usd, unpriced_reason, "
        "latency_ms FROM step_costs"
    )
    assert found == expected
    assert home.one("SELECT count(*), min(status) FROM runs_finished") == (1, "succeeded")


def test_a_patch_without_id_is_joined_by_its_order(tmp_path: Path, test_data: Path) -> None:
    content = (test_data / "langsmith" / "langsmith_js_wrap_openai_reasoning.json").read_bytes()
    (step,) = steps(tmp_path, content, "batch.json")
    assert step["step_id"] == step["run_id"] == "e954b8e3-c337-4a05-bf0a-ca2baac3ba48"
    assert (step["event_time"], step["call_key"]) == (
        "2024-10-13T07:05:38.291000Z",
        "chatcmpl-AHmxWXSp7oUeT2kkt7kuhLOmfLKDJ",
    )


def test_a_post_and_its_patch_in_two_files_give_the_run_once_in_either_order(tmp_path: Path, test_data: Path) -> None:
    batch = json.loads((test_data / "langsmith" / "langsmith_py_wrap_openai_.json").read_bytes())
    post = write(tmp_path, "post.json", {"post": batch["post"], "patch": []})
    patch = write(tmp_path, "patch.json", {"post": [], "patch": batch["patch"]})
    for number, order in enumerate(([post, patch], [patch, post])):
        home = Home(tmp_path / f"home{number}")
        for path in order:
            home.take(path)
        found = home.one("SELECT count(*), max(kind), max(output_tokens), max(latency_ms) FROM steps")
        assert found == (1, "model", 9, 1_118)


# -- exports ------------------------------------------------------------------------------------------


def as_parquet(runs: list[dict[str, Any]]) -> bytes:
    """Runs as the bulk export writes them: times as such, objects as JSON in texts."""
    rows = [{name: json.dumps(v) if isinstance(v, dict | list) else v for name, v in one.items()} for one in runs]
    for row in rows:
        row |= {name: datetime.fromisoformat(row[name]) for name in ("start_time", "end_time")}
    columns = dict.fromkeys(name for row in rows for name in row)
    buffer = io.BytesIO()
    parquet.write_table(pa.table({name: pa.array([row.get(name) for row in rows]) for name in columns}), buffer)
    return buffer.getvalue()


EXPORTS = {
    "nested.json": json.dumps(tree("call")).encode(),
    "list.json": json.dumps([tree("call")]).encode(),
    "page.json": json.dumps({"runs": flat(tree("call")), "cursors": {}}).encode(),
    "lines.jsonl": json_lines(*flat(tree("call"))),
    "bulk.parquet": as_parquet(flat(tree("call"))),
    "batch.json": json.dumps({"post": flat(tree("call")), "patch": []}).encode(),
}


@pytest.mark.parametrize("name", EXPORTS)
def test_every_export_tells_the_same_steps(tmp_path: Path, name: str) -> None:
    found = steps(tmp_path, EXPORTS[name], name)
    assert found == steps(tmp_path / "other", EXPORTS["lines.jsonl"], "lines.jsonl")
    assert [(step["kind"], step["status"]) for step in found] == [
        ("other", "succeeded"), ("model", "succeeded"), ("tool", "failed"), ("retrieval", "succeeded"),
    ]  # fmt: skip
    assert [step.get("parent_step_id") for step in found] == [None, ROOT, ROOT, ROOT]


@pytest.mark.parametrize("name", ["list.json", "page.json"])
def test_a_document_too_large_for_memory_tells_the_same_steps(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = steps(tmp_path / "whole", EXPORTS[name], name)
    monkeypatch.setattr(files, "WHOLE_BYTES", 500)
    assert steps(tmp_path, EXPORTS[name], name) == whole


def test_a_chain_counts_its_calls_and_not_its_own_sum(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.take(write(tmp_path, "runs.json", [tree("call")]))
    assert home.one("SELECT sum(cost_pico_usd), count(*) FILTER (not_counted_reason = 'rollup') FROM step_costs") == (
        1_675_000_000,
        1,
    )
    assert home.one("SELECT raw_usage['source_cost_pico_usd'] FROM steps WHERE kind = 'model'") == (1_675_000_000,)


def test_runs_in_any_order_and_split_give_the_same_tables(tmp_path: Path) -> None:
    runs = flat(tree("call"))
    parts = [write(tmp_path, f"part{number}.jsonl", json_lines(one)) for number, one in enumerate(runs)]
    whole = write(tmp_path, "whole.json", [tree("call")])
    tables = []
    for number, paths in enumerate(([whole], [*reversed(parts)], [*parts, whole, whole])):
        home = Home(tmp_path / f"home{number}")
        for path in paths:
            home.take(path)
        told = "SELECT * EXCLUDE (ingest_id) FROM"
        tables.append([home.rows(f"{told} {t} ORDER BY event_id") for t in ("runs_started", "runs_finished", "steps")])
    assert tables[0] == tables[1] == tables[2]
    assert [len(table) for table in tables[0]] == [1, 1, 4]


def test_a_run_nested_deeper_than_python_recurses_is_read_or_refused(tmp_path: Path) -> None:
    deep: dict[str, Any] = run("id-0", "chain", "call", parent=None)
    for number in range(1, 300):
        deep = run(f"id-{number}", "chain", "call", parent=None) | {"child_runs": [deep]}
    assert len(steps(tmp_path, [deep], "runs.json")) == 300


def test_runs_without_id_or_time_are_refused_alone(tmp_path: Path) -> None:
    good, nameless, timeless = (run(f"id-{number}", "tool", "call", parent=ROOT) for number in range(3))
    nameless |= {"id": None}
    timeless |= {"start_time": "soon"}
    staged = stage(tmp_path / "staged", write(tmp_path, "runs.jsonl", json_lines(good, nameless, timeless)))
    assert_adds_up(staged)
    assert refusals(staged) == [(2, "no_id"), (3, "no_time")]


def test_rules_name_the_run_by_project_tag_and_session(tmp_path: Path) -> None:
    naming = """
naming: 1
rules:
  - {when: {project: "support-*"}, workflow: answer, tenant: {from: metadata.customer}, environment: staging}
"""
    home = Home(tmp_path, naming=naming)
    extra = {"metadata": {"customer": "acme", "thread_id": "thread-1"}}
    home.take(write(tmp_path, "runs.json", [tree("call") | {"session_name": "support-eu", "extra": extra}]))
    told = home.one("SELECT workflow, tenant, environment, conversation_id FROM runs_started")
    assert told == ("answer", "acme", "staging", "thread-1")


# -- usage --------------------------------------------------------------------------------------------


ANTHROPIC = {"cache_read": 60, "cache_creation": 0, "ephemeral_5m_input_tokens": 7, "ephemeral_1h_input_tokens": 3}
WRITTEN = {"cache_read": 60, "cache_creation": 10}
PRIORITY = {"priority_cache_read": 60, "priority": 40}
PRIORITY_OUT = {"priority_reasoning": 20, "priority": 30}
GEMINI = {"cache_read": 200_000, "cache_read_over_200k": 50_000}
BESIDE = {**usage(100, 50, output_token_details={"reasoning": 20}), "total_tokens": 170}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (usage(100, 50, input_token_details=WRITTEN), (30, 60, 10, None, None, 50, None)),
        (usage(100, 50, input_token_details=ANTHROPIC), (30, 60, None, 7, 3, 50, None)),
        (usage(100, 50, output_token_details={"reasoning": 20}), (100, None, None, None, None, 30, 20)),
        (BESIDE, (100, None, None, None, None, 50, 20)),
        (usage(300_100, 50, input_token_details=GEMINI), (50_100, 250_000, None, None, None, 50, None)),
        (
            usage(100, 50, input_token_details=PRIORITY, output_token_details=PRIORITY_OUT),
            (40, 60, None, None, None, 30, 20),
        ),
    ],
)
def test_the_details_of_a_usage(given: dict[str, Any], expected: tuple[int | None, ...]) -> None:
    names = ("input_uncached", "cache_read", "cache_write", "cache_write_5m", "cache_write_1h", "output", "reasoning")
    found = normalise(reported(given, "openai"))
    assert found.usage_check == "ok"
    assert tuple(found.buckets[name] for name in names) == expected


@pytest.mark.parametrize("given", ["aws", "amazon_bedrock"])
def test_bedrock_usage_without_its_cached_tokens_is_told_by_arithmetic(tmp_path: Path, given: str) -> None:
    told = {"input_tokens": 3, "output_tokens": 442, "total_tokens": 445, "input_token_details": {"cache_read": 7_917}}
    (step,) = steps(tmp_path, json_lines(call({"usage_metadata": told}, ls_provider=given)))
    assert (step["buckets"], step["provider"]) == ({"input_uncached": 3, "cache_read": 7_917, "output": 442}, "aws")


def test_the_service_tier_is_told_by_the_names_of_the_details(tmp_path: Path) -> None:
    flex = usage(100, 50, input_token_details={"flex_cache_read": 60, "flex": 40})
    found = steps(tmp_path, json_lines(call({"usage_metadata": flex}), call({"usage_metadata": usage(1, 1)}, "id-2")))
    assert [step.get("service_tier") for step in found] == ["flex", None]


@pytest.mark.parametrize(
    "outputs",
    [
        {"usage_metadata": usage(100, 50)},
        {"generations": [[{"message": {"kwargs": {"usage_metadata": usage(100, 50)}}}]]},
        {"generations": [{"message": {"usage_metadata": usage(100, 50)}}]},
        {"message": {"usage_metadata": usage(100, 50)}},
        {"usage": {"prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 150}},
        json.dumps({"usage_metadata": usage(100, 50)}),
    ],
)
def test_usage_is_found_wherever_a_library_left_it(tmp_path: Path, outputs: Any) -> None:
    (step,) = steps(tmp_path, json_lines(call(outputs)))
    assert {name: n for name, n in step["buckets"].items() if n} == {"input_uncached": 100, "output": 50}


def test_the_counts_of_the_server_are_read_where_the_answer_has_none(tmp_path: Path) -> None:
    told = call({"text": "hi"}) | {"prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 150}
    told["prompt_token_details"] = {"cache_read": 60}
    nothing = call({"text": "hi"}, "id-2") | {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
    found = steps(tmp_path, json_lines(told, nothing))
    assert [step.get("buckets") for step in found] == [{"input_uncached": 40, "cache_read": 60, "output": 50}, None]


def test_c17_the_cached_tokens_of_the_responses_api_are_read_from_its_own_body(tmp_path: Path) -> None:
    told = usage(1_149, 20, input_tokens_details={"cached_tokens": 1_024})
    body = {"id": "resp_0123456789abcdef", "model": "gpt-4o", "usage": told}
    (step,) = steps(tmp_path, json_lines(call(body)))
    assert step["buckets"] == {"input_uncached": 125, "cache_read": 1_024, "output": 20}
    assert step["call_key"] == "resp_0123456789abcdef"


def test_c18_a_cost_that_no_call_can_have_is_left_out(tmp_path: Path) -> None:
    rows = [
        call({"usage_metadata": usage(100_000, 50_000)}, f"id-{cost}") | {"total_cost": cost}
        for cost in ("150000", "0.75")
    ]
    found = [step["raw_usage"].get("source_cost_pico_usd") for step in steps(tmp_path, json_lines(*rows))]
    assert found == [None, 750_000_000_000]


def test_c21_an_answer_from_the_clients_own_cache_costs_nothing(tmp_path: Path) -> None:
    home = Home(tmp_path)
    outputs = {"usage_metadata": usage(100, 50), "model": "gpt-4o"}
    home.take(write(tmp_path, "runs.jsonl", json_lines(call(outputs), call(outputs, "id-2", cache_hit=True))))
    assert home.one("SELECT sum(cost_pico_usd), count(*) FILTER (unpriced_reason IS NULL) FROM step_costs") == (
        750_000_000,
        2,
    )


def test_the_ids_of_langchain_are_no_response_ids(tmp_path: Path) -> None:
    message = {
        "id": "run--019a-0123456789",
        "usage_metadata": usage(1, 1),
        "response_metadata": {"model_name": "gpt-4o"},
    }
    (step,) = steps(tmp_path, json_lines(call({"generations": [[{"message": {"kwargs": message}}]]})))
    assert (step.get("response_id"), step["model"]) == (None, "gpt-4o")


def test_t4_times_are_utc_whether_text_without_a_zone_or_milliseconds(tmp_path: Path) -> None:
    one = call({}) | {"start_time": "2026-03-05T23:30:00.123456", "end_time": "2026-03-05T23:30:01.123456"}
    two = call({}, "id-2") | {"start_time": 1_772_753_400_123, "end_time": 1_772_753_401_123}
    found = [(step["event_time"], step["latency_ms"]) for step in steps(tmp_path, json_lines(one, two))]
    assert found == [("2026-03-05T23:30:00.123456Z", 1_000), ("2026-03-05T23:30:00.123000Z", 1_000)]
