"""Cases whose expected values are hashed."""

import json

import pytest
from hypothesis import given

from beleg.evals.scorers import resolve
from beleg.trace.fingerprint import Fingerprint, full_fingerprint
from beleg.trace.keys import key_ring
from tests.evals.scorers.test_builtin import JSON

RING = json.dumps({"active": "k2", "keys": {"k1": "11" * 16, "k2": "22" * 16}})


def known(value: object, key_id: str | None) -> Fingerprint:
    return full_fingerprint(value, None if key_id is None else key_ring().key(key_id))


@pytest.mark.parametrize("key_id", [None, "k1", "k2"])
def test_a_hash_tells_right_from_wrong_under_its_own_key(monkeypatch: pytest.MonkeyPatch, key_id: str | None) -> None:
    monkeypatch.setenv("BELEG_HASH_KEYS", RING)
    scorer, expected = resolve("exact_match:gross"), known(12, key_id)
    scores = [scorer.score(None, answer, expected_hash=expected) for answer in ({"gross": 12.0}, {"gross": "12"}, {})]
    assert [(each.value, each.note) for each in scores] == [(1, None), (0, "different"), (0, "missing")]


def test_a_hashed_null_says_that_nothing_should_stand_there() -> None:
    scorer, expected = resolve("exact_match:due"), known(None, None)
    assert scorer.score(None, {}, expected_hash=expected).value == 1
    assert scorer.score(None, {"due": "2026-08-14"}, expected_hash=expected).value == 0


def test_a_destroyed_key_makes_no_answer_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BELEG_HASH_KEYS", RING)
    gone = Fingerprint("0" * 64, "jcs", "k0")
    score = resolve("exact_match").score(None, 1, expected_hash=gone)
    assert (score.value, score.status, score.note) == (None, "failed", "unknown_hash_key")


@pytest.mark.parametrize("spec", ["number", "text", "set_f1", "record?a=1", "exact_match?ignore=a"])
def test_other_scorers_need_the_value(spec: str) -> None:
    score = resolve(spec).score(None, {"a": 1}, expected_hash=known({"a": 1}, None))
    assert (score.status, score.note) == ("failed", "needs_the_expected_value")


def test_no_answer_is_missing_under_a_hash_too() -> None:
    assert resolve("exact_match").score(None, None, expected_hash=known(1, None)).status == "missing"


@given(JSON, JSON)
def test_hash_and_value_say_the_same(expected: object, actual: object) -> None:
    scorer = resolve("exact_match:x")
    by_value = scorer.score({"x": expected}, {"x": actual})
    by_hash = scorer.score(None, {"x": actual}, expected_hash=known(expected, None))
    assert by_hash.value == by_value.value
