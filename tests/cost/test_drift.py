"""Fingerprints tell what changed: the input under its key, or the answer to the same input."""

from datetime import timedelta
from typing import Any

import pytest

from beleg.cost.neighbours import HORIZON_DAYS
from tests.cost.support import GPT, NOON, Lake

A, B = "a" * 64, "b" * 64
FACTS = "run_id, key_run_id, input_changed, answer_run_id, output_changed"


def keyed(lake: Lake, run: str, hours: int, input_hash: str = A, output_hash: str | None = B, **more: Any) -> None:
    """A run of the key `invoice-7` on one model."""
    at = NOON + timedelta(hours=hours)
    model = more.pop("model", GPT["model"])
    given = {"input_key": "invoice-7", "input_hash": input_hash, "prompt_version": "v1", **more}
    lake.start(run, at=at, **given)
    lake.step(run, at=at, provider="openai", model=model, output=1)
    lake.finish(run, at=at, output_hash=output_hash)


def test_the_same_key_with_the_same_input_is_a_retrigger() -> None:
    lake = Lake()
    keyed(lake, "one", 0)
    keyed(lake, "two", 1)
    assert lake.build().rows(f"SELECT {FACTS} FROM drift") == [("two", "one", False, "one", False)]


def test_the_same_key_with_another_input_is_a_change_upstream_since_then() -> None:
    lake = Lake()
    keyed(lake, "one", 0)
    keyed(lake, "two", 30, input_hash=B)
    keyed(lake, "three", 60, input_hash=B)
    lake.build()
    assert lake.rows(f"SELECT {FACTS} FROM drift") == [
        ("two", "one", True, None, None),
        ("three", "two", False, "two", False),
    ]
    assert lake.one("SELECT started_at FROM drift WHERE input_changed") == NOON + timedelta(hours=30)


def test_another_answer_to_the_same_question_shows_under_any_key() -> None:
    lake = Lake()
    keyed(lake, "one", 0, output_hash=A)
    keyed(lake, "two", 1, output_hash=B, input_key=None)
    assert lake.build().rows(f"SELECT {FACTS} FROM drift") == [("two", None, None, "one", True)]


@pytest.mark.parametrize("other", [{"prompt_version": "v2"}, {"model": "gpt-4o-mini"}])
def test_another_prompt_or_model_may_answer_differently(other: dict[str, str]) -> None:
    lake = Lake()
    keyed(lake, "one", 0, output_hash=A)
    keyed(lake, "two", 1, output_hash=B, **other)
    assert lake.build().rows(f"SELECT {FACTS} FROM drift") == [("two", "one", False, None, None)]


@pytest.mark.parametrize("apart", [{"hash_key_id": "k2"}, {"tenant": "other"}, {"workflow": "x"}, {"purpose": "eval"}])
def test_nothing_is_compared_across_hash_keys_tenants_workflows_and_purposes(apart: dict[str, str]) -> None:
    lake = Lake()
    keyed(lake, "one", 0)
    keyed(lake, "two", 1, input_hash=B, **apart)
    assert lake.build().rows(f"SELECT {FACTS} FROM drift") == []


def test_runs_more_than_the_horizon_apart_are_not_compared() -> None:
    lake = Lake()
    keyed(lake, "one", 0)
    keyed(lake, "a year later", 24 * HORIZON_DAYS)
    keyed(lake, "too late", 24 * 2 * HORIZON_DAYS + 1)
    assert lake.build().rows("SELECT run_id FROM drift") == [("a year later",)]


def test_a_run_without_an_output_neither_compares_nor_is_compared_with() -> None:
    lake = Lake()
    keyed(lake, "one", 0, output_hash=A)
    keyed(lake, "two", 1, output_hash=None)
    keyed(lake, "three", 2, output_hash=A)
    assert lake.build().rows(f"SELECT {FACTS} FROM drift") == [
        ("two", "one", False, None, None),
        ("three", "two", False, "one", False),
    ]
