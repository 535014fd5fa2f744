"""What may be stored: one module decides, and planted texts never reach the spool."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import beleg
from beleg.testing import capture
from beleg.trace import policy, shapes
from beleg.trace.otel import BelegSpanProcessor

MARK = "PLANTED secret of Ms Müller, IBAN DE02"


class Leaky(Exception):
    def __init__(self) -> None:
        super().__init__(MARK)


def _trace_with_marks_everywhere() -> None:
    message = {"role": "user", "content": MARK}
    answer = {
        "id": MARK,
        "model": MARK,
        "provider": MARK,
        "service_tier": MARK,
        "choices": [{"message": message}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, MARK: 3, "details": {MARK: 4}, "note": MARK},
    }
    words: dict[str, Any] = dict.fromkeys(
        ("input_ref", "input_key", "tenant", "team", "environment", "conversation_id", "prompt_version"), MARK
    )
    named_by_payload = type(MARK, (Exception,), {})
    for error in (Leaky(), named_by_payload(MARK)):
        with (  # noqa: PT012 - the block is what is tested
            pytest.raises(type(error)),
            beleg.traced_agent_run(
                workflow=MARK, input_payload=message, labels={"region": MARK, MARK: "x"}, purpose=MARK, **words
            ) as trace,
        ):
            with trace.step(MARK, input_payload=message, model=MARK, region=MARK, playbook=MARK) as step:
                step.record(answer)
                step.set_output(MARK)
            with trace.tool(MARK, input_payload={MARK: MARK}):
                pass
            trace.units(1, MARK)
            trace.artifact(MARK, {"text": MARK})
            trace.artifact("leak-total", {"net": MARK})
            trace.artifact("leak-total", {MARK: 1})
            trace.set_output({MARK: [MARK]}, response=answer)
            beleg.feedback(trace.run_id, rating="like", author=MARK)
            beleg.feedback(trace.run_id, rating=MARK)
            beleg.correct(trace.run_id, field="/a", reason="mapping_bug", expected=MARK, author=MARK)
            beleg.correct(trace.run_id, field="/" + MARK, reason=MARK, expected=MARK)
            beleg.outcome(MARK, MARK, 1, run_ids=[MARK])
            raise error


def _assert_clean(spool: Path) -> None:
    written = b"".join(path.read_bytes() for path in spool.glob("*"))
    assert b'"run_started"' in written
    for part in ("PLANTED", "secret", "Müller", "DE02"):
        assert part.encode() not in written
        assert json.dumps(part)[1:-1].encode() not in written


def test_texts_planted_everywhere_reach_no_file(spool: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BELEG_LABELS", "region")
    beleg.register_shape("leak-total", {"type": "object", "properties": {"net": {"type": "integer"}}})
    _trace_with_marks_everywhere()
    _assert_clean(spool)
    assert beleg.health().lost == {}


def test_texts_planted_in_foreign_spans_reach_no_file(spool: Path) -> None:
    from types import SimpleNamespace

    attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": MARK,
        "gen_ai.provider.name": MARK,
        "gen_ai.input.messages": MARK,
        "gen_ai.output.messages": MARK,
        "input.value": MARK,
        "error.type": MARK,
        "gen_ai.tool.name": MARK,
        "gen_ai.conversation.id": MARK,
        "gen_ai.workflow.name": MARK,
        MARK: MARK,
    }
    span = SimpleNamespace(
        name=MARK,
        attributes=attributes,
        context=SimpleNamespace(trace_id=1, span_id=2),
        parent=None,
        start_time=1_893_456_000 * 10**9,
        end_time=1_893_456_001 * 10**9,
        status=SimpleNamespace(status_code=SimpleNamespace(name="ERROR"), description=MARK),
        events=[SimpleNamespace(name="exception", attributes={"exception.message": MARK})],
        instrumentation_scope=SimpleNamespace(name=MARK),
    )
    processor = BelegSpanProcessor()
    processor.on_start(span)
    processor.on_end(span)
    _assert_clean(spool)


@pytest.mark.parametrize(
    "word", ["invoice-42", "s3://b/k.pdf", "gpt-4o", "Prüfung", "a" * 20, "x@y.de", "[1]", "a=b&c"]
)
def test_words_and_keys_may_be_stored(word: str) -> None:
    assert policy.word("field", word, 20) == word


@pytest.mark.parametrize(
    "text", ["", "two words", "a\nb", 'quo"te', "a" * 21, "tab\t", "\ud800", "\x00", "\u2028", 5, None]
)
def test_free_text_may_not_and_the_message_does_not_show_it(text: Any) -> None:
    with pytest.raises(policy.PolicyError) as refused:
        policy.word("field", text, 20)
    assert not text or not isinstance(text, str) or text not in str(refused.value)


@given(st.text(max_size=300))
def test_what_passes_as_a_word_has_no_blank_and_can_be_encoded(text: str) -> None:
    if policy.is_word(text, 256):
        assert not any(c.isspace() for c in text)
        assert text.encode()


def test_label_needs_to_be_on_the_list() -> None:
    given = {"region": "eu", "customer": "x"}
    with capture(labels=["region"], strict=False) as captured, beleg.traced_agent_run(workflow="w", labels=given):
        pass
    assert captured.only_run().started["labels"] == {"region": "eu"}
    assert captured.faults.faults == {"refused_label": 1}


@pytest.mark.parametrize(
    "shape",
    [
        {"type": "object", "properties": {"text": {"type": "string"}}},
        {"type": "object", "properties": {"text": {"type": "string", "maxLength": 100_000}}},
        {"type": "object", "properties": {"any": {}}},
        {"type": "object", "patternProperties": {".*": {"type": "integer"}}},
        {"type": "object", "properties": {"list": {"type": "array", "items": {"type": "string"}}}},
        {"type": "array", "items": {"type": "integer"}},
        {"type": "text"},
    ],
)
def test_shape_that_could_let_a_document_through_is_refused(shape: dict[str, Any]) -> None:
    with pytest.raises(policy.PolicyError):
        shapes.register_shape("open", shape)


SHAPE = {
    "type": "object",
    "required": ["net"],
    "properties": {
        "net": {"type": "integer", "minimum": 0, "maximum": 10},
        "code": {"type": ["string", "null"], "maxLength": 3, "pattern": "^[A-Z]+$"},
        "lines": {"type": "array", "maxItems": 2, "items": {"type": "number"}},
        "ok": {"type": "boolean"},
    },
}


@pytest.mark.parametrize(
    "value",
    [{"net": 10, "code": "ABC", "lines": [1.5, 2], "ok": True}, {"net": 0, "code": None}],
)
def test_value_of_the_shape_passes(value: Any) -> None:
    shapes.check_value(value, SHAPE)


@pytest.mark.parametrize(
    "value",
    [
        {}, {"net": 11}, {"net": -1}, {"net": "5"}, {"net": True}, {"net": 1.5}, {"net": 1, "other": 2},
        {"net": 1, "code": "ABCD"}, {"net": 1, "code": "ab"}, {"net": 1, "lines": [1, 2, 3]},
        {"net": 1, "lines": ["x"]},
        {"net": 1, "lines": [float("nan")]}, [], None, "text", {"net": 1, "ok": 1},
    ],
)  # fmt: skip
def test_value_of_another_shape_does_not(value: Any) -> None:
    with pytest.raises(policy.PolicyError):
        shapes.check_value(value, {**SHAPE, "properties": {**SHAPE["properties"], "lines": {  # type: ignore[dict-item]
            "type": "array", "maxItems": 2, "items": {"type": "number", "minimum": 0}}}})  # fmt: skip


def test_artifact_above_the_size_limit_is_refused() -> None:
    wide = {
        "type": "object",
        "properties": {"n": {"type": "array", "maxItems": 900, "items": {"type": "string", "maxLength": 100}}},
    }
    shapes.register_shape("wide", wide)
    with capture(strict=False) as captured, beleg.traced_agent_run(workflow="w") as trace:
        trace.artifact("wide", {"n": ["x" * 100] * 200})
        trace.artifact("wide", {"n": ["x" * 100] * 100})
    assert len(captured.only_run().artifacts) == 1
    assert captured.faults.faults == {"artifact": 1}


@pytest.mark.parametrize("value", ["https://user:password@host/path", "postgres://u:p@db", "x=s3://key@bucket/a"])
def test_an_address_that_carries_a_password_is_no_word(value: str) -> None:
    assert not policy.is_word(value, 200)
    assert not policy.is_key(value, 200)


@pytest.mark.parametrize(
    "value", ["s3://bucket/key?versionId=3", "claude-3@20240229", "https://host/a@b", "a@b.example"]
)
def test_other_addresses_and_versions_are_words(value: str) -> None:
    assert policy.is_word(value, 200)
