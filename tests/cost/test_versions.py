"""What people said of a run counts for its prompt version, once, on the day of the run."""

from datetime import timedelta
from pathlib import Path

from tests.cost.support import GPT, NOON, Lake, policies

OUT, IN = "b" * 64, "a" * 64
PEOPLE = "judged_runs, liked_runs, disliked_runs, corrected_runs"
LATER = NOON + timedelta(days=3)


def run(lake: Lake, name: str, version: str = "v1", *, hours: int = 0, status: str = "succeeded") -> None:
    at = NOON + timedelta(hours=hours)
    lake.start(name, prompt_version=version, input_hash=IN, at=at)
    lake.step(name, **GPT, output=1, latency_ms=100 + hours, at=at)
    lake.finish(name, status=status, output_hash=OUT, units={"documents": 2}, at=at)


def test_versions_stand_apart_with_cost_and_results(tmp_path: Path) -> None:
    workflows = "workflows: {ocr: {unit: document, per: 10, result: {run_unit: documents}}}"
    lake = Lake(policies(tmp_path, workflows=workflows))
    run(lake, "a")
    run(lake, "b", status="failed")
    run(lake, "c", "v2", hours=1)
    columns = "prompt_version, runs, ended_runs, failed_runs, cost_pico_usd, results, unit_per, p95_latency_ms"
    assert lake.build().rows(f"SELECT {columns} FROM prompt_versions") == [
        ("v1", 2, 2, 1, 20_000_000, 4, 10, 100),
        ("v2", 1, 1, 0, 10_000_000, 2, 10, 101),
    ]


def test_a_person_who_changes_their_mind_counts_with_the_latest() -> None:
    lake = Lake()
    run(lake, "a")
    lake.feedback("dislike", run_id="a", author_hash=IN, at=NOON + timedelta(hours=1))
    lake.feedback("like", run_id="a", author_hash=IN, at=LATER)
    lake.feedback("dislike", run_id="a", author_hash=OUT, at=LATER)
    assert lake.build().rows(f"SELECT {PEOPLE} FROM prompt_versions") == [(1, 1, 1, 0)]


def test_a_word_bound_by_fingerprint_counts_for_the_latest_run_before_it_and_once() -> None:
    lake = Lake()
    run(lake, "a", "v1")
    run(lake, "b", "v2", hours=1)
    run(lake, "c", "v3", hours=200)
    lake.feedback("dislike", output_hash=OUT, at=LATER)
    lake.correct("mapping_bug", input_hash=IN, workflow="ocr", at=LATER)
    assert lake.build().rows(f"SELECT prompt_version, {PEOPLE}, mapping_bug_runs FROM prompt_versions ORDER BY 1") == [
        ("v1", 0, 0, 0, 0, 0),
        ("v2", 1, 0, 1, 1, 1),
        ("v3", 0, 0, 0, 0, 0),
    ]


def test_a_rejected_correction_does_not_count_unless_it_is_accepted_after_all() -> None:
    lake = Lake()
    for name, decisions in {"a": ["reject"], "b": ["reject", "accept"], "c": ["accept", "reject"], "d": []}.items():
        lake.start(name, prompt_version=f"of {name}", at=NOON)
        lake.correct("mapping_bug", run_id=name, correction_id=f"of {name}", at=LATER)
        for n, decision in enumerate(decisions):
            lake.review(f"of {name}", decision, at=LATER + timedelta(hours=n))
    lake.build()
    assert lake.rows("SELECT prompt_version, corrected_runs FROM prompt_versions ORDER BY ALL") == [
        ("of a", 0),
        ("of b", 1),
        ("of c", 0),
        ("of d", 1),
    ]


def test_a_run_counts_once_under_each_of_its_reasons_and_replaced_corrections_do_not_count() -> None:
    lake = Lake()
    run(lake, "a")
    lake.correct("mapping_bug", run_id="a", correction_id="one", at=LATER)
    lake.correct("extraction_error", run_id="a", supersedes="one", at=LATER)
    lake.correct("extraction_error", run_id="a", field="/total", at=LATER)
    lake.correct("user_preference", run_id="a", at=LATER)
    reasons = "corrected_runs, mapping_bug_runs, extraction_error_runs, unsupported_case_runs, user_preference_runs"
    assert lake.build().rows(f"SELECT {reasons} FROM prompt_versions") == [(1, 0, 1, 0, 1)]


def test_what_is_said_counts_on_the_day_of_the_run() -> None:
    lake = Lake()
    run(lake, "a")
    run(lake, "later", hours=72)
    lake.feedback("like", run_id="a", at=LATER)
    rows = lake.build().rows("SELECT CAST(business_day AS VARCHAR), liked_runs FROM prompt_versions")
    assert rows == [("2026-06-15", 1), ("2026-06-18", 0)]
