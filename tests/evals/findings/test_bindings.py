"""To which run a word belongs, why another is bound to none, and what no longer holds."""

import random
from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from tests.cost.support import NOON, Lake

IN, OUT, OTHER, ANNA = "a" * 64, "b" * 64, "c" * 64, "d" * 64
LATER = NOON + timedelta(days=3)
BOUND = "how, run_id, candidates, is_counted"


def run(lake: Lake, name: str, *, hours: int = 0, out: str = OUT, **fields: Any) -> None:
    at = NOON + timedelta(hours=hours)
    lake.start(name, at=at, **{"input_hash": IN, "prompt_version": "v1", **fields})
    lake.finish(name, output_hash=out, at=at)


def bindings(lake: Lake, columns: str = BOUND) -> list[tuple[Any, ...]]:
    return lake.build().rows(f"SELECT {columns} FROM bindings ORDER BY event_time, run_id")


@pytest.mark.parametrize(
    ("named", "how"),
    [
        ({"run_id": "a"}, "run_id"),
        ({"run_id": "a", "input_hash": OTHER}, "run_id"),
        ({"input_hash": IN, "output_hash": OUT}, "input_and_output"),
        ({"output_hash": OUT}, "output"),
        ({"input_hash": IN}, "input"),
        ({"input_hash": IN, "workflow": "ocr", "tenant": "acme"}, "input"),
    ],
)
def test_a_word_is_bound_by_what_it_names(named: dict[str, str], how: str) -> None:
    lake = Lake()
    run(lake, "a", tenant="acme")
    lake.correct("mapping_bug", at=LATER, **named)
    assert bindings(lake) == [(how, "a", 1, True)]


def test_input_and_output_tell_apart_what_either_alone_does_not() -> None:
    lake = Lake()
    run(lake, "a", hours=1, out=OTHER)
    run(lake, "b", hours=2)
    run(lake, "c", hours=3, input_hash=OTHER)
    lake.correct("mapping_bug", input_hash=IN, output_hash=OUT, at=LATER)
    assert bindings(lake) == [("input_and_output", "b", 1, True)]


def test_several_runs_that_fit_are_all_listed_and_the_word_counts_once_for_the_latest_before_it() -> None:
    lake = Lake()
    for number in range(3):
        run(lake, f"r{number}", hours=number)
    run(lake, "after", hours=100)
    lake.feedback("dislike", output_hash=OUT, at=LATER)
    assert bindings(lake) == [("output", "r0", 3, False), ("output", "r1", 3, False), ("output", "r2", 3, True)]
    assert lake.one("SELECT sum(disliked_runs) FROM prompt_versions") == 1


def test_a_result_that_many_runs_had_lists_the_latest_hundred() -> None:
    lake = Lake()
    for number in range(230):
        run(lake, f"r{number:03}", hours=number)
    lake.feedback("like", output_hash=OUT, at=NOON + timedelta(hours=149))
    lake.feedback("like", output_hash=OUT, at=NOON + timedelta(hours=5, minutes=1))
    found = lake.build().rows(
        "SELECT candidates, count(*), min(run_id), max(run_id), max(run_id) FILTER (is_counted) FROM bindings "
        "GROUP BY event_id, candidates ORDER BY candidates"
    )
    assert found == [(6, 6, "r000", "r005", "r005"), (150, 100, "r050", "r149", "r149")]


def test_a_run_that_starts_in_the_instant_of_the_word_fits_and_one_a_microsecond_later_does_not() -> None:
    lake = Lake()
    run(lake, "a", hours=1)
    lake.start("b", at=NOON + timedelta(hours=1, microseconds=1), input_hash=IN)
    lake.feedback("like", input_hash=IN, at=NOON + timedelta(hours=1))
    assert bindings(lake) == [("input", "a", 1, True)]


@pytest.mark.parametrize(
    ("named", "why"),
    [
        ({"run_id": "nobody"}, "unknown_run"),
        ({"run_id": "tomorrow"}, "after_the_word"),
        ({"run_id": "in a week"}, "unknown_run"),
        ({"run_id": "a", "tenant": "umbrella"}, "other_tenant"),
        ({"run_id": "a", "workflow": "dunning"}, "other_workflow"),
        ({"output_hash": OTHER}, "no_such_fingerprint"),
        ({"input_hash": "9" * 64}, "after_the_word"),
        ({"input_hash": IN, "tenant": "umbrella"}, "other_tenant"),
        ({"input_hash": IN, "workflow": "dunning"}, "other_workflow"),
        ({"input_hash": IN, "output_hash": OTHER}, "no_such_fingerprint"),
        ({"input_hash": IN, "output_hash": "8" * 64}, "other_result"),
        ({"input_hash": IN, "output_hash": "7" * 64}, "other_key"),
    ],
)
def test_a_word_that_is_bound_to_nothing_says_why(named: dict[str, str], why: str) -> None:
    lake = Lake()
    run(lake, "a", tenant="acme")
    run(lake, "b", tenant="acme", input_hash="6" * 64, out="8" * 64)
    run(lake, "c", tenant="acme", input_hash="5" * 64, out="7" * 64, hash_key_id="k2")
    run(lake, "tomorrow", hours=24, input_hash="9" * 64)
    run(lake, "in a week", hours=170)
    lake.correct("mapping_bug", at=NOON + timedelta(hours=1), **named)
    assert bindings(lake, "how, run_id, candidates, is_counted, unbound_reason") == [(None, None, 0, False, why)]


def test_tenants_never_meet_though_their_fingerprints_are_equal() -> None:
    lake = Lake()
    run(lake, "a", tenant="acme")
    run(lake, "b", tenant="umbrella", hours=1)
    lake.correct("mapping_bug", input_hash=IN, output_hash=OUT, tenant="acme", at=LATER)
    assert bindings(lake) == [("input_and_output", "a", 1, True)]


@pytest.mark.parametrize(
    ("hashes", "agree"),
    [
        ({}, None),
        ({"output_hash": OUT}, True),
        ({"output_hash": OTHER}, False),
        ({"input_hash": IN, "output_hash": OTHER}, False),
    ],
)
def test_fingerprints_beside_an_id_are_compared_and_change_nothing(hashes: dict[str, str], agree: bool | None) -> None:
    lake = Lake()
    run(lake, "a", hash_key_id="k1")
    lake.correct("mapping_bug", run_id="a", at=LATER, **hashes)
    assert bindings(lake, f"{BOUND}, fingerprints_agree, hash_key_id") == [("run_id", "a", 1, True, agree, "k1")]


def holding(lake: Lake) -> list[str]:
    return [name for (name,) in lake.build().rows("SELECT correction_id FROM bindings WHERE holds ORDER BY ALL")]


def test_of_a_chain_of_corrections_the_last_holds() -> None:
    lake = Lake()
    run(lake, "a")
    for number, name in enumerate("xyz"):
        before = {"supersedes": "xyz"[number - 1]} if number else {}
        lake.correct("mapping_bug", run_id="a", correction_id=name, at=LATER + timedelta(hours=number), **before)
    assert holding(lake) == ["z"]
    assert lake.rows("SELECT correction_id, superseded_by FROM bindings ORDER BY 1") == [
        ("x", "y"),
        ("y", "z"),
        ("z", None),
    ]


def test_corrections_in_a_circle_do_not_replace_each_other_away() -> None:
    lake = Lake()
    run(lake, "a")
    lake.correct("mapping_bug", run_id="a", correction_id="x", supersedes="y", at=LATER)
    lake.correct("mapping_bug", run_id="a", correction_id="y", supersedes="x", at=LATER + timedelta(hours=1))
    lake.correct("mapping_bug", run_id="a", correction_id="me", supersedes="me", at=LATER)
    lake.correct("mapping_bug", run_id="a", correction_id="p", supersedes="q", at=LATER)
    lake.correct("mapping_bug", run_id="a", correction_id="q", supersedes="p", at=LATER)
    assert holding(lake) == ["me", "p", "q", "y"]


def test_another_source_replaces_nothing() -> None:
    lake = Lake()
    run(lake, "a")
    lake.correct("mapping_bug", run_id="a", correction_id="x", at=LATER)
    lake.correct("mapping_bug", run_id="a", correction_id="y", supersedes="x", source="elsewhere", at=LATER)
    assert holding(lake) == ["x", "y"]


def test_a_person_who_corrects_the_same_field_of_the_same_run_again_has_changed_their_mind() -> None:
    lake = Lake()
    run(lake, "a")
    said = {"run_id": "a", "author_hash": ANNA}
    lake.correct("mapping_bug", correction_id="first", field="/x", at=LATER, **said)
    lake.correct(
        "extraction_error", correction_id="again", field="/x", event_id="last", at=LATER + timedelta(hours=1), **said
    )
    lake.correct("mapping_bug", correction_id="other field", field="/y", at=LATER, **said)
    lake.correct("mapping_bug", correction_id="other person", field="/x", run_id="a", author_hash=OTHER, at=LATER)
    lake.correct("mapping_bug", correction_id="nobody", field="/x", run_id="a", at=LATER)
    assert holding(lake) == ["again", "nobody", "other field", "other person"]
    assert lake.one("SELECT changed_to FROM bindings WHERE correction_id = 'first'") == "last"
    columns = "corrected_runs, mapping_bug_runs, extraction_error_runs"
    assert lake.rows(f"SELECT {columns} FROM prompt_versions") == [(1, 1, 1)]


def test_what_a_person_rejected_stays_and_does_not_hold() -> None:
    lake = Lake()
    run(lake, "a")
    lake.correct("mapping_bug", run_id="a", correction_id="x", at=LATER)
    lake.review("x", "accept", at=LATER)
    lake.review("x", "reject", at=LATER + timedelta(hours=1))
    assert bindings(lake, "decision, holds, is_counted") == [("reject", False, True)]
    assert lake.one("SELECT sum(corrected_runs) FROM prompt_versions") == 0


def test_a_review_and_a_word_of_one_id_do_not_meet_where_the_kinds_differ() -> None:
    lake = Lake()
    run(lake, "a")
    lake.feedback("like", run_id="a", event_id="same", at=LATER)
    lake.correct("mapping_bug", run_id="a", event_id="same", correction_id="x", at=LATER)
    assert sorted(bindings(lake, "kind, how")) == [("correction", "run_id"), ("feedback", "run_id")]


def test_the_order_of_delivery_does_not_matter() -> None:
    def filled(seed: int) -> list[tuple[Any, ...]]:
        lake = Lake()
        tenants = ("t", None)
        steps: list[Any] = [partial(run, lake, f"r{n}", hours=n, tenant=tenants[n % 2]) for n in range(6)]
        for number in range(8):
            named = ({"output_hash": OUT}, {"run_id": f"r{number % 6}"}, {"input_hash": IN, "tenant": "t"})[number % 3]
            more: dict[str, Any] = {
                "author_hash": ANNA,
                "event_id": f"c{number}",
                "correction_id": f"c{number}",
                "at": LATER + timedelta(hours=number % 3),
            }
            steps.append(partial(lake.correct, "mapping_bug", **named, **more))
        random.Random(seed).shuffle(steps)
        for step in steps:
            step()
        return lake.build().rows("SELECT * FROM bindings")

    assert filled(1) == filled(2) == filled(3)
