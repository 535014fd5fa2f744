"""Later signals: feedback, corrections, outcomes, bound by id or by fingerprint."""

import datetime as dt
from typing import Any

import pytest

import beleg
from beleg.testing import capture
from beleg.trace.policy import PolicyError
from tests.trace.schemas import assert_valid

HASH = "ab" * 32


def test_feedback_is_bound_by_id_or_fingerprint_and_its_author_is_hashed() -> None:
    with capture() as captured:
        beleg.feedback("run-1", rating="like", author="jane@example.com")
        beleg.feedback(rating="dislike", output_hash=HASH, workflow="ocr", tenant="acme")
    first, second = captured.of("feedback")
    for event in captured.events:
        assert_valid(event)
    assert (first["run_id"], first["rating"]) == ("run-1", "like")
    assert first["author_hash"] == beleg.fingerprint("jane@example.com")
    assert (second["output_hash"], second["workflow"], second["tenant"]) == (HASH, "ocr", "acme")
    captured.assert_no_trace_of("jane")


def test_correction_hashes_the_expected_value_unless_the_workflow_stores_values() -> None:
    shape = {"type": "string", "maxLength": 10}
    with capture(stored_values={"categorisation": shape}, strict=False) as captured:
        first = beleg.correct("r", field="/account", reason="mapping_bug", expected="4711")
        beleg.correct("r", field="/account", reason="mapping_bug", expected="4711", workflow="categorisation")
        beleg.correct(
            "r", field="", reason="mapping_bug", expected="far too long", workflow="categorisation", supersedes=first
        )
    hashed, stored, too_long = captured.of("correction")
    for event in captured.events:
        assert_valid(event)
    assert (hashed["expected_hash"], hashed["correction_id"]) == (beleg.fingerprint("4711"), first)
    assert stored["expected"] == "4711"
    assert too_long["expected_hash"] == beleg.fingerprint("far too long")
    assert too_long["supersedes"] == first


def test_outcome_repeated_under_its_own_id_is_the_same_event() -> None:
    when = dt.datetime(2030, 1, 2, 3, tzinfo=dt.timezone(dt.timedelta(hours=2)))
    with capture() as captured:
        for _ in range(2):
            assert (
                beleg.outcome("vat", "filed_return", outcome_id="o-1", run_ids=["a", None], occurred_at=when) == "o-1"
            )
        beleg.outcome("vat", "filed_return", 0, retracts="o-1", run_ids="run-1")
    first, second, third = captured.of("outcome")
    for event in captured.events:
        assert_valid(event)
    assert first == second
    assert (first["occurred_at"], first["run_ids"]) == ("2030-01-02T01:00:00.000000Z", ["a"])
    assert (third["retracts"], third["run_ids"]) == ("o-1", ["run-1"])


def test_signal_about_a_run_that_was_never_traced_does_nothing() -> None:
    with capture() as captured:
        assert beleg.feedback(None, rating="like") is None
        assert beleg.correct(None, field="", reason="mapping_bug", expected=1) is None
    assert captured.events == []


@pytest.mark.parametrize(
    "send",
    [
        lambda: beleg.feedback("r", rating="great"),
        lambda: beleg.feedback("r", rating="like", input_hash="xyz"),
        lambda: beleg.correct("r", field="account", reason="mapping_bug"),
        lambda: beleg.correct("r", field="/a", reason="wrong"),
        lambda: beleg.outcome("vat", "filed_return", -1),
        lambda: beleg.outcome("vat", "filed_return", 1, occurred_at=dt.datetime(2030, 1, 1)),  # noqa: DTZ001
    ],
)
def test_signal_that_cannot_be_recorded_is_counted_and_gives_no_id(send: Any) -> None:
    with capture(strict=False) as captured:
        assert send() is None
    assert sum(captured.faults.faults.values()) == 1
    assert captured.events == []
    with capture(), pytest.raises(PolicyError):
        send()
