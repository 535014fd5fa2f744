"""Faults that users of other tools reported, each with its input and the right value, from span to price.

The ids are those of the research on observability, section 2.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from beleg import fingerprint
from beleg.ingest.readers.events import Maker
from beleg.ingest.readers.naming import Naming
from beleg.ingest.readers.otlp import Tree, items_of
from beleg.trace.keys import Key, KeyRing
from tests.ingest.readers.otlp_spans import agent, request, span, usage
from tests.ingest.readers.support import Home, events, json_lines, stage, write

Json = dict[str, Any]
SONNET = {
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "anthropic",
    "gen_ai.response.model": "claude-sonnet-4-5",
}
HAIKU = {**SONNET, "gen_ai.response.model": "claude-haiku-4-5"}
G = "gen_ai.usage."


def gen_ai(base: Mapping[str, Any], **counts: int) -> Json:
    """A call in OpenTelemetry's names; `cache_read` and the like as they are called there."""
    names = {"input": "input_tokens", "output": "output_tokens", "read": "cache_read.input_tokens",
             "write": "cache_creation.input_tokens", "total": "total_tokens"}  # fmt: skip
    return {**base, **{f"{G}{names.get(name, name)}": count for name, count in counts.items()}}


OPENROUTER = {**SONNET, "gen_ai.provider.name": "openai", "gen_ai.response.model": "gpt-4o-mini-2024-07-18"}
GEMINI = {**SONNET, "gen_ai.provider.name": "gcp.gemini", "gen_ai.response.model": "gemini-2.5-pro"}
CLAUDE_37 = {**SONNET, "gen_ai.response.model": "claude-3-7-sonnet-20250219"}
OPENINFERENCE = {"openinference.span.kind": "LLM", "llm.provider": "anthropic", "llm.model_name": "claude-sonnet-4-5"}
L = "llm.token_count."

ROWS: dict[str, tuple[Json, Json, int | None]] = {
    # id → attributes, buckets, cost in pico-USD (None where the row is about tokens alone)
    "c1": (gen_ai(OPENROUTER, input=17_903, read=17_817, output=9, total=17_912),
           {"input_uncached": 86, "cache_read": 17_817, "output": 9}, None),
    "c3": ({**OPENROUTER, f"{G}input_tokens": 5_000, f"{G}output_tokens": 10, f"{G}input_cached_tokens": 4_096},
           {"input_uncached": 904, "cache_read": 4_096, "output": 10}, 904 * 150_000 + 4_096 * 75_000 + 10 * 600_000),
    "c4": ({**gen_ai(SONNET, input=11_935, read=5_758, output=1), f"{G}cache_write.input_tokens": 6_174},
           {"input_uncached": 3, "cache_read": 5_758, "cache_write": 6_174, "output": 1}, None),
    "c6": ({**gen_ai(CLAUDE_37, input=3, read=0, write=12_304, output=550)},
           {"input_uncached": 3, "cache_read": 0, "cache_write": 12_304, "output": 550}, 54_399_000_000),
    "c7": (gen_ai(GEMINI, input=262_960, read=257_955, output=1_744),
           {"input_uncached": 5_005, "cache_read": 257_955, "output": 1_744}, 103_161_250_000),
    "c8": (gen_ai(HAIKU, input=10_000, read=9_000, output=0),
           {"input_uncached": 1_000, "cache_read": 9_000, "output": 0}, 1_900_000_000),
    "c10": ({**OPENINFERENCE, f"{L}prompt": 3, f"{L}completion": 442, f"{L}total": 8_712,
             f"{L}prompt_details.cache_read": 7_917, f"{L}prompt_details.cache_write": 350},
            {"input_uncached": 3, "cache_read": 7_917, "cache_write": 350, "output": 442}, 10_326_600_000),
    "c12": ({**SONNET, f"{G}input_tokens": 4_299, f"{G}output_tokens": 631, f"{G}total_tokens": 58_291,
             f"{G}cache_read_input_tokens": 35_574, f"{G}cache_write_input_tokens": 17_787},
            {"input_uncached": 4_299, "cache_read": 35_574, "cache_write": 17_787, "output": 631}, None),
    "c14": ({**OPENINFERENCE, f"{L}prompt": 10_000, f"{L}completion": 0, f"{L}prompt_details.cache_read": 9_900},
            {"input_uncached": 100, "cache_read": 9_900, "output": 0}, 100 * 3_000_000 + 9_900 * 300_000),
    "c15": (gen_ai(HAIKU, input=10_500, read=10_000, write=300, output=0),
            {"input_uncached": 200, "cache_read": 10_000, "cache_write": 300, "output": 0}, 1_575_000_000),
    "c17": ({"openinference.span.kind": "LLM", "llm.provider": "openai", "llm.model_name": "gpt-4o-mini-2024-07-18",
             f"{L}prompt": 2_000, f"{L}completion": 5,
             "output.value": json.dumps({"id": "resp_0123456789abcdef", "usage": {
                 "input_tokens": 2_000, "input_tokens_details": {"cached_tokens": 1_920},
                 "output_tokens": 5, "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 2_005}})},
            {"input_uncached": 80, "cache_read": 1_920, "output": 5, "reasoning": 0},
            80 * 150_000 + 1_920 * 75_000 + 5 * 600_000),
    "c18": ({**gen_ai(HAIKU, input=149_000, output=1_000), "gen_ai.usage.cost": 150_000},
            {"input_uncached": 149_000, "output": 1_000}, 149_000 * 1_000_000 + 1_000 * 5_000_000),
    "c18b": ({**OPENINFERENCE, f"{L}prompt": 900, f"{L}completion": 300, f"{L}prompt_details.cache_input": 900,
              "llm.cost.completion_details.output": 300.0},
             {"input_uncached": 900, "output": 300}, 900 * 3_000_000 + 300 * 15_000_000),
    "c20": ({**gen_ai(GEMINI, input=1_000, output=200, total=4_200), f"{G}reasoning_tokens": 3_000},
            {"input_uncached": 1_000, "output": 200, "reasoning": 3_000}, 1_000 * 1_250_000 + 3_200 * 10_000_000),
    "c21": ({**gen_ai(HAIKU, input=100, output=10), "gen_ai.response.cache_hit": True},
            {"input_uncached": 0, "output": 0}, 0),
    "c24-stream": ({**SONNET, "gen_ai.provider.name": "aws.bedrock", "gen_ai.response.model": "openai.gpt-5.6",
                    "gen_ai.request.stream": True, f"{G}input_tokens": 4_995, f"{G}output_tokens": 19,
                    f"{G}cache_write.input_tokens": 4_993, f"{G}total_tokens": 10_007},
                   {"input_uncached": 2, "cache_write": 4_993, "output": 19}, None),
    "c24": ({**SONNET, "gen_ai.provider.name": "aws.bedrock", "gen_ai.response.model": "openai.gpt-5.6",
             f"{G}input_tokens": 2, f"{G}output_tokens": 19, f"{G}cache_write.input_tokens": 4_993,
             f"{G}total_tokens": 5_014},
            {"input_uncached": 2, "cache_write": 4_993, "output": 19}, None),
    "c25": (gen_ai(HAIKU, input=17_111, read=17_102, output=0),
            {"input_uncached": 9, "cache_read": 17_102, "output": 0}, 1_719_200_000),
}  # fmt: skip


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """All rows as calls of one installation, and a thousand small calls more."""
    folder = tmp_path_factory.mktemp("rows")
    spans = [span(n, given=given, trace=f"{n:032x}") for n, (given, _, _) in enumerate(ROWS.values(), 1)]
    small = [span(n, given=usage(7, 0), trace=f"{n:032x}") for n in range(1_001, 2_001)]
    made = Home(folder)
    made.take(write(folder, "t.json", json_lines(request(*spans), request(*small))))
    return made


@pytest.mark.parametrize("row", ROWS)
def test_row(row: str, tmp_path: Path) -> None:
    given, buckets, _ = ROWS[row]
    (step,) = events(stage(tmp_path / "s", write(tmp_path, "t.json", request(span(1, given=given)))), "step")
    assert (step["buckets"], step["usage_check"]) == (buckets, "ok")


@pytest.mark.parametrize("row", [row for row, (_, _, cost) in ROWS.items() if cost is not None])
def test_cost_of_row(row: str, home: Home) -> None:
    trace = f"{list(ROWS).index(row) + 1:032x}"
    assert home.one(f"SELECT unpriced_reason, cost_pico_usd FROM step_costs WHERE run_id = '{trace}'") == (
        None,
        ROWS[row][2],
    )


def test_c18_count_in_the_place_of_a_cost_is_no_cost(tmp_path: Path) -> None:
    for row in ("c18", "c18b"):
        given, _, _ = ROWS[row]
        (step,) = events(stage(tmp_path / row, write(tmp_path, f"{row}.json", request(span(1, given=given)))), "step")
        assert "source_cost_pico_usd" not in step["raw_usage"]
        assert "billed_pico_usd" not in step


def test_c28_cost_is_rounded_once_and_not_for_each_call(home: Home) -> None:
    (cost,) = home.one("SELECT sum(cost_pico_usd)::BIGINT FROM step_costs WHERE total_input_tokens = 7")
    assert cost == 1_050_000_000


def counted(tmp_path: Path, *requests: Json) -> list[tuple[str, int]]:
    home = Home(tmp_path)
    home.take(write(tmp_path, "t.json", json_lines(*requests)))
    rows = home.rows("SELECT right(step_id, 2) AS id, total_input_tokens AS n FROM step_costs WHERE counted ORDER BY 1")
    return [(row["id"], row["n"]) for row in rows if row["n"]]


def test_n1_wrapper_agent_and_calls_that_all_carry_usage_count_once(tmp_path: Path) -> None:
    total = usage(300, 3)
    spans = [
        span(4, 3, given=usage(100, 1)), span(5, 3, given=usage(200, 2)), span(3, 2, given=agent(**total)),
        span(2, 1, given=agent(**total)), span(1, given={**total, "gen_ai.operation.name": "invoke_workflow"}),
    ]  # fmt: skip
    assert counted(tmp_path, request(*spans)) == [("04", 100), ("05", 200)]


def test_n2_agent_far_above_its_calls_counts_nothing(tmp_path: Path) -> None:
    calls = [span(n + 10, n, given=usage(4_223, 1)) for n in (3, 4)]
    between = [span(n, 2, "thread") for n in (3, 4)]
    spans = [*calls, *between, span(2, 1, "executor"), span(1, given=agent(**usage(8_446, 2)))]
    assert counted(tmp_path, request(*spans)) == [("0d", 4_223), ("0e", 4_223)]


def test_n5_usage_of_an_agent_counts_where_its_calls_report_none(tmp_path: Path) -> None:
    silent = {name: value for name, value in usage(0, 0).items() if not name.startswith(G)}
    spans = [span(2, 1, given=silent), span(1, given=agent(**usage(500, 5)))]
    assert counted(tmp_path, request(*spans)) == [("01", 500)]


def test_n6_outer_span_of_the_ai_sdk_repeats_the_inner_one(tmp_path: Path) -> None:
    given = {
        "ai.usage.inputTokens": 100,
        "ai.usage.outputTokens": 5,
        "ai.model.id": "gpt-4o-mini",
        "ai.model.provider": "openai.chat",
    }
    spans = [span(2, 1, "ai.generateText.doGenerate", given=given), span(1, None, "ai.generateText", given=given)]
    assert counted(tmp_path, request(*spans, scope="ai")) == [("02", 100)]


def test_n7_two_instrumentations_side_by_side_or_nested_are_one_call(tmp_path: Path) -> None:
    same = {"gen_ai.response.id": "chatcmpl-0123456789abcdef"}
    beside = [span(2, 1, given=usage(100, 5, **same)), span(3, 1, given=usage(100, 5, **same)), span(1)]
    nested = [span(12, 11, given=usage(70, 5), trace="b" * 32), span(11, 10, given=usage(70, 5), trace="b" * 32),
              span(10, trace="b" * 32)]  # fmt: skip
    assert counted(tmp_path, request(*beside, *nested)) == [("02", 100), ("0c", 70)]


@pytest.mark.parametrize("response_id", ["chatcmpl-213", ""])
def test_n10_n11_ids_that_come_again_or_are_empty_drop_no_call(tmp_path: Path, response_id: str) -> None:
    calls = [span(n, 1, given=usage(n, 1, **{"gen_ai.response.id": response_id})) for n in (2, 3)]
    assert counted(tmp_path, request(*calls, span(1))) == [("02", 2), ("03", 3)]


def test_n14_spans_that_are_sent_again_count_once(tmp_path: Path) -> None:
    one = request(span(2, 1, given=usage(10, 1)), span(1))
    home = Home(tmp_path)
    home.take(write(tmp_path, "a.json", json_lines(one, one)))
    home.take(write(tmp_path, "b.json", json_lines(one)))
    assert home.one("SELECT count(*), sum(total_input_tokens)::BIGINT FROM step_costs") == (1, 10)
    assert home.one("SELECT count(*) FROM runs_started") == (1,)


def only_step(given: Json, maker: Maker | None = None, **more: Any) -> Json:
    items = items_of(request(span(1, given=given, **more)), maker or Maker("otlp"), Naming(), Tree())
    return next(event for item in items for event in item.events if event["event"] == "step")


def test_p1_payload_of_foreign_instrumentations_is_hashed_and_not_stored() -> None:
    step = only_step(usage(1, 1, **{"gen_ai.input.messages": "Max Mustermann, IBAN DE89"}))
    assert step["input_hash"] == fingerprint("Max Mustermann, IBAN DE89")
    assert "Mustermann" not in json.dumps(step)


def test_p3_file_inside_an_attribute_is_no_burden() -> None:
    step = only_step(usage(1, 1, **{"gen_ai.input.messages": "JVBERi0x" * 1_000_000}))
    assert len(json.dumps(step)) < 2_000


RAISED = {"name": "exception", "attributes": [
    {"key": "exception.type", "value": {"stringValue": "openai.RateLimitError"}},
    {"key": "exception.message", "value": {"stringValue": "quota of Max Mustermann"}},
]}  # fmt: skip


@pytest.mark.parametrize(("raised", "expected"), [([RAISED], "openai.RateLimitError"), ([], None)])
def test_p4_of_an_exception_its_class_alone_is_kept(raised: list[Json], expected: str | None) -> None:
    step = only_step(usage(1, 1), events=raised, status={"code": 2, "message": "quota of Max Mustermann"})
    assert (step["status"], step.get("exception_class")) == ("failed", expected)
    assert "Mustermann" not in json.dumps(step)


def test_p5_fingerprint_with_a_key_cannot_be_confirmed_by_guessing() -> None:
    key = Key("k1", b"0123456789abcdef0123456789abcdef")
    keyed = Maker("otlp", KeyRing({"k1": key}, active="k1"))
    step = only_step(usage(1, 1, **{"gen_ai.input.messages": "yes"}), keyed)
    assert step["input_hash"] == fingerprint("yes", key=key) != fingerprint("yes")
