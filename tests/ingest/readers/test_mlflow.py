"""MLflow: real traces with their known counts, every version of trace and span, and what went wrong elsewhere."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from beleg.ingest.readers import files
from tests.ingest.readers.samples.mlflow import TRACE, info, span, spans, trace
from tests.ingest.readers.support import Home, assert_adds_up, events, json_lines, refusals, stage, write

USAGE = {
    "input_tokens": 10_500,
    "output_tokens": 0,
    "total_tokens": 10_500,
    "cache_read_input_tokens": 10_000,
    "cache_creation_input_tokens": 300,
}
HAIKU = {"mlflow.llm.model": "claude-haiku-4-5-20251001", "mlflow.llm.provider": "anthropic"}


def staged_steps(tmp_path: Path, content: Any, name: str = "traces.json") -> list[dict[str, Any]]:
    """The steps of a file of traces, nothing of which is refused."""
    staged = stage(tmp_path / "staged", write(tmp_path, name, content))
    assert_adds_up(staged)
    assert refusals(staged) == []
    return events(staged, "step")


def calls(*attributes: dict[str, Any]) -> dict[str, Any]:
    """A trace of calls, one for each set of attributes."""
    made = [span(f"00000000000000b{n}", None, "call", "CHAT_MODEL", given) for n, given in enumerate(attributes)]
    for one in made:
        for name in ("gen_ai.prompt", "call"):
            one["attributes"].pop(name)
    return {"info": info("call"), "data": {"spans": made}}


# -- real traces --------------------------------------------------------------------------------------


def test_real_calls_with_prompt_caching_cost_what_their_buckets_say(tmp_path: Path, test_data: Path) -> None:
    home = Home(tmp_path)
    report = home.take(test_data / "mlflow")
    assert (report.ingest.quarantined, report.ingest.accepted) == (0, 6)
    found = home.rows(
        "SELECT input_uncached_tokens, cache_read_tokens, cache_write_tokens, output_tokens, cost_pico_usd, "
        "unpriced_reason FROM step_costs ORDER BY event_time"
    )
    assert [tuple(row.values()) for row in found] == [
        (4, 0, 1_163, 187, 4 * 3_000_000 + 1_163 * 3_750_000 + 187 * 15_000_000, None),
        (4, 1_163, 0, 202, 4 * 3_000_000 + 1_163 * 300_000 + 202 * 15_000_000, None),
    ]
    assert home.rows("SELECT run_id, duration_ms FROM runs_finished ORDER BY 1") == [
        {"run_id": "tr-280a9c28e12b1a7e613118608ef8a416", "duration_ms": 8},
        {"run_id": "tr-711baf7832034b71c5c9fc124e9861f3", "duration_ms": 13},
    ]


def test_the_usage_of_a_real_span_is_read_the_same_without_the_answer(tmp_path: Path, test_data: Path) -> None:
    traces = json.loads((test_data / "mlflow" / "mlflow.anthropic.prompt_caching.traces.json").read_bytes())
    for one in traces:
        del one["data"]["spans"][0]["attributes"]["mlflow.spanOutputs"]
    found = staged_steps(tmp_path, traces)
    assert [(step["buckets"]["input_uncached"], step["convention_evidence"]) for step in found] == [(4, "identity")] * 2


# -- versions and exports -----------------------------------------------------------------------------


def as_v3(one: dict[str, Any]) -> dict[str, Any]:
    """A span of version 3: its ids are bytes in base64."""

    def encoded(value: str | None) -> str | None:
        return None if value is None else base64.b64encode(bytes.fromhex(value)).decode()

    ids = {"span_id": encoded(one["span_id"]), "parent_span_id": encoded(one["parent_span_id"])}
    return {**one, **ids, "trace_id": encoded(TRACE.removeprefix("tr-"))}


def as_v2(one: dict[str, Any]) -> dict[str, Any]:
    """A span of version 2: a context, other names for times and status."""
    return {
        "name": one["name"],
        "context": {"span_id": f"0x{one['span_id']}", "trace_id": f"0x{TRACE.removeprefix('tr-')}"},
        "parent_id": one["parent_span_id"] and f"0x{one['parent_span_id']}",
        "start_time": one["start_time_unix_nano"],
        "end_time": one["end_time_unix_nano"],
        "status_code": one["status"]["code"].removeprefix("STATUS_CODE_"),
        "status_message": "call",
        "attributes": one["attributes"],
        "events": one["events"],
    }


INFO_V2 = {
    "request_id": TRACE,
    "experiment_id": "17",
    "timestamp_ms": 1_772_704_800_000,
    "execution_time_ms": 1_500,
    "status": "OK",
    "request_metadata": {"mlflow.trace_schema.version": "2"},
    "tags": {"mlflow.traceName": "call"},
}


def dumped(told: dict[str, Any], *told_spans: Any) -> bytes:
    return json.dumps({"info": told, "data": {"spans": told_spans}}).encode()


EXPORTS = {
    "v4.json": dumped(info("call"), *spans("call")),
    "v3.json": dumped(info("call"), *map(as_v3, spans("call"))),
    "v2.json": dumped(INFO_V2, *map(as_v2, spans("call"))),
    "located.json": dumped(info("call") | {"trace_id": f"trace:/catalog.schema/{TRACE[3:]}"}, *spans("call")),
    "list.json": json.dumps([trace("call")]).encode(),
    "search.json": json.dumps({"traces": [trace("call")], "next_page_token": "x"}).encode(),
    "lines.jsonl": json_lines(trace("call")),
    "spans.json": json.dumps({"spans": spans("call")}).encode(),
    "texts.json": dumped(info("call"), *map(json.dumps, spans("call"))),
}


@pytest.mark.parametrize("name", EXPORTS)
def test_every_version_and_export_tells_the_same_steps_and_run(tmp_path: Path, name: str) -> None:
    staged = stage(tmp_path / "staged", write(tmp_path, name, EXPORTS[name]))
    assert_adds_up(staged)
    found = events(staged, "step")
    assert found == staged_steps(tmp_path / "other", EXPORTS["v4.json"])
    assert [(step["kind"], step["status"], step.get("exception_class")) for step in found] == [
        ("other", "succeeded", None), ("model", "succeeded", None), ("tool", "failed", "ValueError"),
    ]  # fmt: skip
    (start,), (end,) = events(staged, "run_started"), events(staged, "run_finished")
    assert (start["run_id"], start["event_time"]) == (TRACE, "2026-03-05T10:00:00.000000Z")
    assert (end["status"], end["duration_ms"], end["event_time"]) == ("succeeded", 1_500, "2026-03-05T10:00:01.500000Z")


@pytest.mark.parametrize("name", ["v4.json", "list.json", "spans.json", "search.json"])
def test_a_document_too_large_for_memory_tells_the_same_steps(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "WHOLE_BYTES", 500)
    found = staged_steps(tmp_path, EXPORTS[name], name)
    monkeypatch.undo()
    assert found == staged_steps(tmp_path / "other", EXPORTS["v4.json"])


@pytest.mark.parametrize(
    "given", [{"execution_duration": "1.500s"}, {"execution_duration_ms": 1_500}, {"execution_duration": "1500"}]
)
def test_the_length_of_a_trace_in_all_its_spellings(tmp_path: Path, given: dict[str, Any]) -> None:
    told = {name: value for name, value in info("call").items() if name != "execution_duration"}
    staged = stage(tmp_path / "staged", write(tmp_path, "t.json", {"info": told | given, "data": {"spans": []}}))
    assert [event["duration_ms"] for event in events(staged, "run_finished")] == [1_500]


def test_a_trace_in_progress_has_no_end(tmp_path: Path) -> None:
    told = info("call") | {"state": "IN_PROGRESS"}
    staged = stage(tmp_path / "staged", write(tmp_path, "t.json", {"info": told, "data": {"spans": []}}))
    assert dict(staged.accepted_by_event) == {"run_started": 1}


def test_traces_and_spans_without_id_or_time_are_refused_alone(tmp_path: Path) -> None:
    good, nameless, timeless = spans("call")
    del nameless["span_id"], timeless["start_time_unix_nano"]
    content = [{"info": info("call") | {"trace_id": None}, "data": {"spans": [good, nameless, timeless]}}]
    staged = stage(tmp_path / "staged", write(tmp_path, "t.json", content))
    assert_adds_up(staged)
    assert refusals(staged) == [(1, "no_id"), (3, "no_id"), (4, "no_time")]
    assert len(events(staged, "step")) == 1


def test_rules_name_the_run_by_experiment_tag_and_linked_prompt(tmp_path: Path) -> None:
    naming = 'naming: 1\nrules: [{when: {project: "17"}, workflow: ocr, tenant: {from: metadata.customer}}]\n'
    home = Home(tmp_path, naming=naming)
    told = info("call")
    told["tags"] = {"customer": "acme", "mlflow.linkedPrompts": json.dumps([{"name": "extract", "version": "7"}])}
    told["trace_metadata"] = {"mlflow.trace.session": "session-1"}
    home.take(write(tmp_path, "t.json", {"info": told, "data": {"spans": spans("call")}}))
    found = home.one("SELECT workflow, tenant, prompt_version, conversation_id FROM runs_started")
    assert found == ("ocr", "acme", "7", "session-1")


# -- what went wrong elsewhere ------------------------------------------------------------------------


def test_c14_cached_tokens_that_the_import_dropped_are_read_from_the_attributes(tmp_path: Path) -> None:
    home = Home(tmp_path)
    dropped = {"input_tokens": 10_500, "output_tokens": 0, "total_tokens": 10_500}
    attributes = {
        "openinference.span.kind": "LLM",
        "llm.token_count.prompt": 10_500,
        "llm.token_count.completion": 0,
        "llm.token_count.prompt_details.cache_read": 10_000,
        "llm.token_count.prompt_details.cache_write": 300,
    }
    home.take(write(tmp_path, "t.json", calls({"mlflow.chat.tokenUsage": dropped, **attributes, **HAIKU})))
    assert home.one("SELECT cost_pico_usd FROM step_costs") == (1_575_000_000,)


def test_c15_cache_reads_and_writes_are_priced_apart(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.take(write(tmp_path, "t.json", calls({"mlflow.chat.tokenUsage": USAGE, **HAIKU})))
    found = home.one(
        "SELECT input_uncached_tokens, cache_read_tokens, cache_write_tokens, cost_pico_usd FROM step_costs"
    )
    assert found == (200, 10_000, 300, 1_575_000_000)


def test_input_without_its_cached_tokens_as_before_2026_is_told_by_arithmetic(tmp_path: Path) -> None:
    apart = {"input_tokens": 4, "output_tokens": 202, "total_tokens": 206, "cache_read_input_tokens": 1_163}
    summed = {**apart, "total_tokens": 1_369}
    given = ({"mlflow.chat.tokenUsage": usage, **HAIKU} for usage in (apart, summed))
    found = staged_steps(tmp_path, calls(*given))
    assert [step["buckets"] for step in found] == [{"input_uncached": 4, "cache_read": 1_163, "output": 202}] * 2


def test_what_contradicts_itself_goes_to_quarantine_alone(tmp_path: Path) -> None:
    wrong = {"input_tokens": 4, "output_tokens": 202, "total_tokens": 206, "cache_read_input_tokens": 1_163}
    openai = {"mlflow.llm.provider": "openai", "mlflow.llm.model": "gpt-4o"}
    content = calls({"mlflow.chat.tokenUsage": wrong, **openai}, {"mlflow.chat.tokenUsage": USAGE, **openai})
    staged = stage(tmp_path / "staged", write(tmp_path, "t.json", content))
    assert_adds_up(staged)
    assert [reason for _, reason in refusals(staged)] == ["contradicted_usage"]
    assert len(events(staged, "step")) == 1


def test_n1_n2_wrappers_at_any_distance_that_repeat_the_usage_of_calls_add_nothing(tmp_path: Path) -> None:
    home = Home(tmp_path)
    usage = {"mlflow.chat.tokenUsage": USAGE}
    outer = span("00000000000000c1", None, "call", "CHAIN", usage)
    agent = span("00000000000000c2", "00000000000000c1", "call", "AGENT", usage)
    between = span("00000000000000c3", "00000000000000c2", "call", "CHAIN", {})
    one = span("00000000000000c4", "00000000000000c3", "call", "CHAT_MODEL", usage | HAIKU)
    home.take(write(tmp_path, "t.json", {"info": info("call"), "data": {"spans": [one, between, agent, outer]}}))
    found = home.one("SELECT sum(cost_pico_usd), count(*) FILTER (not_counted_reason = 'rollup') FROM step_costs")
    assert found == (1_575_000_000, 2)


def test_n3_the_sum_that_the_server_keeps_with_the_trace_is_not_counted(tmp_path: Path) -> None:
    home = Home(tmp_path)
    told = info("call")
    told["trace_metadata"] |= {"mlflow.trace.cost": json.dumps({"total_cost": 99.0})}
    home.take(write(tmp_path, "t.json", {"info": told, "data": {"spans": spans("call")}}))
    assert home.one("SELECT sum(cost_pico_usd) FROM step_costs") == (1_675_000_000,)


def test_n4_tokens_and_cost_come_from_the_same_spans(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.take(write(tmp_path, "t.json", trace("call")))
    counted = "SELECT sum(total_input_tokens), sum(output_tokens), sum(cost_pico_usd), count(*) FROM step_costs"
    found = home.one(f"{counted} WHERE counted AND total_input_tokens > 0")
    assert found == (10_500, 20, 1_675_000_000, 1)


def test_c18_a_cost_that_no_call_can_have_is_left_out(tmp_path: Path) -> None:
    usage = {"mlflow.chat.tokenUsage": USAGE, **HAIKU}
    costs = ({"mlflow.llm.cost": {"total_cost": cost}} for cost in (10_500, 0.001575, -1, "many"))
    found = staged_steps(tmp_path, calls(*({**usage, **cost} for cost in costs)))
    assert [step["raw_usage"].get("source_cost_pico_usd") for step in found] == [None, 1_575_000_000, None, None]


def test_a_written_answer_that_looks_like_usage_is_no_usage(tmp_path: Path) -> None:
    text = {"usage": {"prompt_tokens": 9_999_999, "completion_tokens": 1}, "id": "order-1"}
    (step,) = staged_steps(tmp_path, calls({"mlflow.chat.tokenUsage": USAGE, "mlflow.spanOutputs": text, **HAIKU}))
    assert step["buckets"]["input_uncached"] == 200
