"""OTLP files: JSON and protobuf, whole and in frames, torn and hostile; real recordings with their known answers."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest
import zstandard
from google.protobuf.json_format import Parse
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from beleg import fingerprint
from beleg.ingest.limits import Limits
from beleg.ingest.readers.events import Maker
from beleg.ingest.readers.files import WHOLE_BYTES, File
from beleg.ingest.readers.formats import recognise
from beleg.ingest.readers.head import Head
from beleg.ingest.readers.naming import Naming
from beleg.ingest.readers.otlp import Tree, from_protobuf, items_of
from beleg.ingest.readers.otlp.files import recognises
from beleg.ingest.readers.otlp.span import attributes_of
from beleg.ingest.readers.otlp.wire import MESSAGE_BYTES
from beleg.ingest.sources import find_sources
from beleg.ingest.stage import Staged
from tests.ingest.readers.otlp_spans import TRACE, agent, attributes, request, span, usage
from tests.ingest.readers.samples import otlp as sample
from tests.ingest.readers.support import Home, assert_adds_up, events, json_lines, refusals, stage, write

RUN = [span(3, 2, "chat", given=usage(100, 20)), span(2, 1, "helper", given=agent()), span(1, None, "POST /ask")]
REQUEST = request(*RUN)


def protobuf(content: dict[str, Any]) -> bytes:
    """The request as protobuf. Its JSON mapping has ids in base64, where OTLP/JSON has hex."""
    text = json.loads(json.dumps(content))
    for resource in text["resourceSpans"]:
        for scope in resource["scopeSpans"]:
            for one in scope["spans"]:
                for name in ("traceId", "spanId", "parentSpanId"):
                    one[name] = base64.b64encode(bytes.fromhex(one[name])).decode()
    message = Parse(json.dumps(text), ExportTraceServiceRequest())
    return bytes(message.SerializeToString())


def frame(data: bytes) -> bytes:
    return len(data).to_bytes(4) + data


def taken(tmp_path: Path, content: Any, name: str = "traces.json") -> list[dict[str, Any]]:
    staged = stage(tmp_path / "staged", write(tmp_path, name, content))
    assert_adds_up(staged)
    assert staged.quarantined == 0
    return events(staged)


def told(staged: Staged) -> list[dict[str, Any]]:
    """The events, without the guesses of a run's start that the root outranks as soon as it comes."""
    return [event for event in events(staged) if "revision" not in event]


WRITTEN = {
    "document": json.dumps(REQUEST).encode(),
    "indented document": json.dumps(REQUEST, indent=2).encode(),
    "lines": json_lines(request(RUN[0]), request(RUN[1]), request(RUN[2])),
    "lines with carriage returns": json_lines(REQUEST).replace(b"\n", b"\r\n"),
    "protobuf": protobuf(REQUEST),
    "protobuf joined": protobuf(request(*RUN[:2])) + protobuf(request(RUN[2])),
    "frames": frame(protobuf(request(*RUN[:2]))) + frame(protobuf(request(RUN[2]))),
    "frames of json": frame(json.dumps(REQUEST).encode()),
    "zstd frames of protobuf": frame(zstandard.compress(protobuf(REQUEST))),
    "zstd frames of json": frame(zstandard.compress(json.dumps(REQUEST).encode())),
    "zstd file": zstandard.compress(json_lines(REQUEST)),
}


@pytest.mark.parametrize("way", WRITTEN)
def test_the_same_spans_give_the_same_events_however_they_are_written(tmp_path: Path, way: str) -> None:
    path = write(tmp_path, "traces.bin.pb", WRITTEN[way])
    (source,) = find_sources([path])
    found = recognise(source)
    assert found is not None
    assert found.name == "otlp"
    staged = stage(tmp_path / "a", path)
    assert (staged.quarantined, staged.pending) == (0, 0)
    expected = stage(tmp_path / "b", write(tmp_path, "expected.json", WRITTEN["document"]))
    assert told(staged) == told(expected)
    assert len(told(staged)) == 4


def test_document_too_large_to_be_parsed_is_read_span_by_span(tmp_path: Path) -> None:
    filler = "x" * (WHOLE_BYTES // 4)
    spans = [span(n, 1, "chat", given=usage(n, 1, **{"gen_ai.input.messages": filler})) for n in range(2, 8)]
    big = request(*spans, span(1, None, "root"), scope="strands", resource={"service.name": "big"})
    staged = stage(tmp_path / "s", write(tmp_path, "big.json", big))
    assert_adds_up(staged)
    steps, (started,) = events(staged, "step"), events(staged, "run_started")
    assert [step["buckets"]["input_uncached"] for step in steps] == [2, 3, 4, 5, 6, 7]
    assert started["event_time"] == "2026-05-28T20:26:40.001000Z"


def test_step_tells_model_tokens_latency_and_fingerprints(tmp_path: Path) -> None:
    given = usage(100, 20, **{"gen_ai.response.id": "chatcmpl-0123456789abcdef", "gen_ai.input.messages": "hello"})
    call = span(2, 1, "chat", ms=40, given=given)
    root = span(1, None, "root", given={"session.id": "s-1"}, ms=90, status={"code": 2, "message": "no"})
    found = {event["event"]: event for event in taken(tmp_path, request(call, root))}
    step, started, finished = found["step"], found["run_started"], found["run_finished"]
    assert (step["kind"], step["provider"], step["model"], step["latency_ms"]) == (
        "model", "openai", "gpt-4o-mini-2024-07-18", 40,
    )  # fmt: skip
    assert step["call_key"] == "chatcmpl-0123456789abcdef"
    assert step["input_hash"] == "5aa762ae383fbb727af3c7a36d4940a5b8c40a989452d2304fc958ff3f354e7a"  # of "hello"
    assert (started["run_id"], started["conversation_id"], started["workflow"]) == (TRACE, "s-1", "otlp")
    assert (finished["status"], finished["duration_ms"]) == ("failed", 90)


@pytest.mark.parametrize(
    ("value", "tokens"),
    [
        ({"intValue": "7"}, 7),
        ({"intValue": 7}, 7),
        ({"doubleValue": 7.0}, 7),
        ({"doubleValue": "7"}, 7),
        ({"stringValue": "7"}, 7),
        ({"doubleValue": None}, None),
        ({"doubleValue": "NaN"}, None),
        ({"intValue": None}, None),
        ({"boolValue": True}, None),
        ({"arrayValue": {"values": [{"intValue": "7"}]}}, None),
        ({}, None),
        (None, None),
    ],
)
def test_token_count_is_read_in_every_form_an_attribute_may_have(
    tmp_path: Path, value: Any, tokens: int | None
) -> None:
    one = span(1, None, "chat", given={**usage(0, 2)})
    one["attributes"] = [a for a in one["attributes"] if a["key"] != "gen_ai.usage.input_tokens"]
    one["attributes"].append({"key": "gen_ai.usage.input_tokens", "value": value})
    (step,) = [event for event in taken(tmp_path, request(one)) if event["event"] == "step"]
    assert step["buckets"].get("input_uncached") == tokens


def test_nested_values_have_the_fingerprint_of_what_they_hold(tmp_path: Path) -> None:
    messages = [{"role": "user", "parts": [{"content": "hello", "n": 1, "x": 1.5, "ok": True}]}]
    as_value = span(1, None, "chat", given=usage(1, 1, **{"gen_ai.input.messages": messages}))
    (step,) = [event for event in taken(tmp_path, request(as_value)) if event["event"] == "step"]
    assert step["input_hash"] == fingerprint(messages)


@pytest.mark.parametrize("way", ["upper", "base64"])
def test_ids_are_the_same_in_hex_of_either_case_and_in_base64(tmp_path: Path, way: str) -> None:
    one = span(0xABCDEF, 1, given=usage(1, 1))
    for name in ("traceId", "spanId", "parentSpanId"):
        one[name] = one[name].upper() if way == "upper" else base64.b64encode(bytes.fromhex(one[name])).decode()
    (step,) = [event for event in taken(tmp_path, request(one)) if event["event"] == "step"]
    assert (step["run_id"], step["step_id"]) == (TRACE, f"{TRACE}-0000000000abcdef")


BROKEN: list[tuple[Any, str]] = [
    ({**RUN[0], "traceId": "zz"}, "unreadable_item"),
    ({**RUN[0], "traceId": ""}, "no_id"),
    ({**RUN[0], "traceId": "0" * 32}, "no_id"),
    ({**RUN[0], "spanId": 7}, "unreadable_item"),
    ({**RUN[0], "spanId": None}, "no_id"),
    ({**RUN[0], "parentSpanId": "1"}, "unreadable_item"),
    ({**RUN[0], "startTimeUnixNano": None}, "no_time"),
    ({**RUN[0], "startTimeUnixNano": "soon"}, "no_time"),
    ({**RUN[0], "startTimeUnixNano": "9" * 30}, "no_time"),
    ({**RUN[0], "attributes": {}}, "unreadable_item"),
    ({**RUN[0], "attributes": ["x"]}, "unreadable_item"),
    ({**RUN[0], "attributes": [{"key": "x", "value": {"intValue": "many"}}]}, "unreadable_item"),
    ({**RUN[0], "attributes": [{"key": "x", "value": {"arrayValue": {"values": 5}}}]}, "unreadable_item"),
    ({**RUN[0], "attributes": [{"key": "x", "value": {"bytesValue": "?"}}]}, "unreadable_item"),
    ({**RUN[0], "status": "bad"}, "unreadable_item"),
    ({**RUN[0], "events": [5]}, "unreadable_item"),
    ({**RUN[0], "flags": "many"}, "unreadable_item"),
    (span(3, 2, given=usage(-1, 2)), "contradicted_usage"),
    ("a span", "unreadable_item"),
    (None, "unreadable_item"),
    ([], "unreadable_item"),
]


@pytest.mark.parametrize(("broken", "reason"), BROKEN)
def test_span_that_cannot_be_read_is_refused_alone(tmp_path: Path, broken: Any, reason: str) -> None:
    staged = stage(tmp_path / "s", write(tmp_path, "t.json", request(broken, span(5, 1, given=usage(1, 1)), RUN[2])))
    assert_adds_up(staged)
    assert refusals(staged) == [(1, reason)]
    assert staged.accepted_by_event == {"step": 1, "run_started": 1, "run_finished": 1}


@pytest.mark.parametrize(
    "content",
    [
        {"resourceSpans": 5},
        {"resourceSpans": ["x"]},
        {"resourceSpans": [{"scopeSpans": 5}]},
        {"resourceSpans": [{"scopeSpans": [5]}]},
        {"resourceSpans": [{"scopeSpans": [{"spans": 5}]}]},
        {"resourceSpans": [{"resource": 5, "scopeSpans": []}]},
        {"resourceSpans": [{"resource": {"attributes": [5]}, "scopeSpans": []}]},
    ],
)
def test_request_of_another_shape_is_one_refused_item(tmp_path: Path, content: Any) -> None:
    staged = stage(tmp_path / "s", write(tmp_path, "t.json", json_lines(REQUEST, content)))
    assert_adds_up(staged)
    assert [reason for _, reason in refusals(staged)] == ["unreadable_item"]
    assert staged.accepted == 4


@pytest.mark.parametrize("content", [{}, {"resourceSpans": None}, {"resourceSpans": []}, {"resourceLogs": [5]}])
def test_line_of_another_signal_and_an_empty_one_tell_nothing(tmp_path: Path, content: Any) -> None:
    staged = stage(tmp_path / "s", write(tmp_path, "t.json", json_lines(REQUEST, content)))
    assert (staged.accepted, staged.quarantined) == (4, 0)


@pytest.mark.parametrize(
    ("depth", "reason"), [(300, None), (330, "unreadable_item"), (1_000, "not_json"), (20_000, "not_json")]
)
def test_deep_nesting_stops_nothing(tmp_path: Path, depth: int, reason: str | None) -> None:
    one = span(9, 1, given=usage(1, 1, **{"gen_ai.input.messages": "DEEP"}))
    deep = '{"arrayValue":{"values":[' * depth + '{"stringValue":"x"}' + "]}}" * depth
    lines = json.dumps(request(one)).replace('{"stringValue": "DEEP"}', deep), json.dumps(REQUEST)
    staged = stage(tmp_path / "s", write(tmp_path, "t.json", "\n".join(lines) + "\n"))
    assert_adds_up(staged)
    assert [found for _, found in refusals(staged)] == ([] if reason is None else [reason])
    assert staged.accepted_by_event["run_finished"] == 1


def test_refused_span_may_be_nested_as_deep_as_json_goes(tmp_path: Path) -> None:
    deep = "[" * 1_010 + "]" * 1_010
    text = json.dumps(request({**RUN[0], "traceId": "DEEP"}, *RUN)).replace('"DEEP"', deep)
    staged = stage(tmp_path / "s", write(tmp_path, "t.json", text))
    assert refusals(staged) == [(1, "unreadable_item")]


def test_large_document_that_only_nests_is_refused_in_no_time(tmp_path: Path) -> None:
    text = '{"resourceSpans": [{"scopeSpans": [{"spans": [' + "[" * (WHOLE_BYTES + 1)
    staged = stage(tmp_path / "s", write(tmp_path, "t.json", text))
    assert (staged.accepted, staged.quarantined) == (0, 1)


# -- torn, damaged and hostile binary files ------------------------------------------------------------

FRAMES = frame(protobuf(request(*RUN[:2]))) + frame(protobuf(request(RUN[2])))


@given(cut=st.integers(0, len(FRAMES) - 1))
def test_frames_cut_anywhere_keep_what_came_before(cut: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("cut")
    path = write(folder, "t.pb", FRAMES[:cut])
    staged = stage(folder / "s", path, form="otlp")
    assert_adds_up(staged)
    first = len(frame(protobuf(request(*RUN[:2]))))
    assert staged.accepted_by_event.get("step", 0) == (2 if cut >= first else 0)
    assert staged.pending == (1 if cut not in (0, first) and path.stat().st_size > 64 else staged.pending)


@given(data=st.data())
def test_bytes_changed_anywhere_crash_nothing(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    whole = bytearray(data.draw(st.sampled_from(sorted(WRITTEN.items())))[1])
    for _ in range(data.draw(st.integers(1, 4))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    folder = tmp_path_factory.mktemp("changed")
    assert_adds_up(stage(folder / "s", write(folder, "t.json", bytes(whole)), form="otlp"))


def test_damaged_message_is_refused_and_the_next_one_read(tmp_path: Path) -> None:
    damaged = frame(b"\x0a\xff\x01" + b"\x00" * 40)
    staged = stage(tmp_path / "s", write(tmp_path, "t.pb", FRAMES + damaged + FRAMES))
    assert_adds_up(staged)
    assert [reason for _, reason in refusals(staged)] == ["unreadable_item"]
    assert staged.accepted_by_event["step"] == 4


def test_message_that_claims_to_be_larger_than_allowed_is_passed_over(tmp_path: Path) -> None:
    content = FRAMES + (MESSAGE_BYTES + 1).to_bytes(4) + b"\0" * (MESSAGE_BYTES + 1) + FRAMES
    staged = stage(tmp_path / "s", write(tmp_path, "t.pb", content))
    assert [reason for _, reason in refusals(staged)] == ["document_too_large"]
    assert staged.accepted_by_event["step"] == 4


def test_zstd_bomb_in_a_frame_is_refused(tmp_path: Path) -> None:
    bomb = frame(zstandard.compress(b"{" + b" " * (MESSAGE_BYTES + 1)))
    assert len(bomb) < 100_000
    staged = stage(tmp_path / "s", write(tmp_path, "t.pb", FRAMES + bomb))
    assert [reason for _, reason in refusals(staged)] == ["unreadable_item"]
    assert staged.accepted_by_event["step"] == 2


@pytest.mark.parametrize(
    "content",
    [b"", b"\n", b"\n{}\n", b"\n\n\n\n\n\n\n\n\n\n\n\n\n\n", b"hello\n", b"\x00\x00\x00\x05hello", b"PAR1\x00\x00",
     b"\x1f\x8b\x08", b'{"a": 1}', b'[{"resourceSpans": []}]',
     b"\x0a\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80", bytes(range(256))],
)  # fmt: skip
def test_other_files_are_not_taken_for_otlp(tmp_path: Path, content: bytes) -> None:
    path = write(tmp_path, "other.bin", content)
    for source in find_sources([path]):
        assert not recognises(Head(File(source)))


@given(content=st.binary(max_size=300))
def test_no_bytes_break_the_recognition(content: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = write(tmp_path_factory.mktemp("bytes"), "t.bin", content)
    for source in find_sources([path]):
        recognises(Head(File(source, Limits())))


# -- the receiver's entrance ---------------------------------------------------------------------------


def test_request_in_memory_gives_an_item_for_each_span() -> None:
    found = list(items_of(REQUEST, Maker("otlp"), Naming(), Tree()))
    assert [len(item.events) for item in found] == [1, 1, 2]
    decoded = list(items_of(from_protobuf(protobuf(REQUEST)), Maker("otlp"), Naming(), Tree()))
    assert [item.events for item in decoded] == [item.events for item in found]


def test_protobuf_keeps_every_kind_of_value() -> None:
    given = {"s": "x", "b": True, "i": 2**60, "d": 1.5, "l": ["a", 1], "k": {"x": {"y": [1.5]}}, "none": [{}]}
    content = request(span(1, None, given=given))
    found = from_protobuf(protobuf(content))["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["attributes"]
    assert attributes_of(found) == attributes_of(attributes(given)) == given


# -- real recordings -----------------------------------------------------------------------------------

TRUTH = {  # response id → input, cache read, cache write, output of the recorded answer
    "chatcmpl-BNi3xzj4EEAzo6vce1IwHwie9IRhH": (1_149, 0, 0, 315),
    "chatcmpl-BNi420iFNtIOHzy8Gq2fVS5utTus7": (125, 1_024, 0, 353),
    "chatcmpl-DPTOzx6TaK1TmO5rGH15bxujDHfRD": (1_149, 0, 0, 297),
    "chatcmpl-DPTP5Tqa7FwC2pSU9rDAjbDWzb8hl": (1_149, 0, 0, 339),
    "chatcmpl-ASYMU9Ntix7ePttk0MSuerJstef6U": (75, 0, 0, 51),
    "chatcmpl-ASYMVzdmBGDbUoHFmt6R16tdtZUzR": (99, 0, 0, 25),
    "msg_01EF3r8zYyZntM4Sg9a5kc6k": (4, 0, 1_163, 187),
    "msg_01YGB3PuEANUSkLuzemhtNVF": (4, 1_163, 0, 202),
}
LOSES_THE_CACHE = {("otel-openai-v2", "chatcmpl-BNi420iFNtIOHzy8Gq2fVS5utTus7")}
"""Calls whose cached tokens the instrumentation does not export: no reader can know them."""


@pytest.mark.parametrize("instrumentation", ["openinference", "traceloop", "otel-openai-v2"])
def test_recorded_calls_have_the_tokens_of_their_answers(test_data: Path, tmp_path: Path, instrumentation: str) -> None:
    seen = set()
    for number, path in enumerate(sorted((test_data / "otlp").glob(f"{instrumentation}.*"))):
        staged = stage(tmp_path / str(number), path)
        assert (staged.quarantined, staged.pending) == (0, 0)
        for step in events(staged, "step"):
            identity, buckets = step["response_id"], step["buckets"]
            names = ("input_uncached", "cache_read", "cache_write", "output")
            found = tuple(buckets.get(name, 0) for name in names)
            seen.add(identity)
            assert step["usage_check"] == "ok"
            if (instrumentation, identity) in LOSES_THE_CACHE:
                assert "cache_read" not in buckets
                assert found == (1_149, 0, 0, 353)
            else:
                assert found == TRUTH[identity]
    assert seen >= {identity for identity in TRUTH if identity.startswith("chatcmpl-BNi")}


def test_recorded_calls_cost_what_the_provider_would_bill(test_data: Path, tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.take(*sorted((test_data / "otlp").glob("traceloop.*")))
    priced = home.rows("SELECT model, sum(cost_pico_usd)::BIGINT AS cost FROM step_costs WHERE counted GROUP BY model")
    costs = {row["model"]: row["cost"] for row in priced}
    inputs = 3 * 1_149 + 125 + 75 + 99
    assert costs["gpt-4o-mini-2024-07-18"] == inputs * 150_000 + 1_024 * 75_000 + (315 + 353 + 297 + 339 + 76) * 600_000
    anthropic = 8 * 3_000_000 + 1_163 * (300_000 + 3_750_000) + (187 + 202) * 15_000_000
    assert costs["claude-3-5-sonnet-20240620"] == anthropic


def test_call_seen_by_three_instrumentations_counts_once(test_data: Path, tmp_path: Path) -> None:
    """N7: two instrumentations on one call are two spans, and one call."""
    home = Home(tmp_path)
    home.take(*sorted((test_data / "otlp").glob("*prompt_caching.otlp.json")))
    rows = home.rows(
        "SELECT count(*) AS calls, count(*) FILTER (counted) AS counted FROM step_costs WHERE model LIKE 'gpt%'"
    )
    assert [(row["calls"], row["counted"]) for row in rows] == [(12, 4)]
    (cached,) = home.one("SELECT sum(cache_read_tokens)::BIGINT FROM step_costs WHERE counted AND model LIKE 'gpt%'")
    assert cached == 1_024


def test_sample_is_read_without_a_refusal_and_leaves_no_mark(tmp_path: Path) -> None:
    mark = "Das steht in keiner Tabelle 4711"
    staged = stage(tmp_path / "s", write(tmp_path, sample.NAME, sample.sample(mark)))
    assert (staged.quarantined, staged.ignored) == (0, 0)
    assert "4711" not in json.dumps(events(staged))
