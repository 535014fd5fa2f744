"""What must hold of any results."""

from dataclasses import replace

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from beleg.core.errors import DamagedError
from beleg.evals.gate.document import evidence_bytes
from beleg.evals.gate.judge import Report, judge
from beleg.evals.gate.pairing import Stopped
from beleg.evals.results import Result
from tests.evals.gate.support import CANDIDATE, EXACT, LINES, cases, counts, judged, plan, results, rules

COUNTS = st.tuples(*(st.integers(0, 8) for _ in range(2)), st.integers(0, 40), st.integers(0, 8))
SCORES = st.lists(st.tuples(st.integers(0, 10), st.integers(0, 10)), min_size=2, max_size=40)
SEVERITY = {"fail": 0, "inconclusive": 1, "pass": 2}
LENIENT = replace(EXACT, threshold=1e-9)


def bounds(found: Report) -> tuple[float, float, float]:
    compared = found.criteria[0].comparison
    assert compared is not None
    assert compared.assessed is not None
    return compared.assessed.estimate, compared.assessed.interval.lower, compared.assessed.interval.upper


@settings(max_examples=25)
@given(COUNTS)
def test_swapping_the_sides_mirrors_estimate_and_interval(of: tuple[int, int, int, int]) -> None:
    assume(sum(of))
    candidate, baseline = counts(*of)
    here, there = bounds(judged(candidate, baseline)), bounds(judged(baseline, candidate))
    assert here == pytest.approx((-there[0], -there[2], -there[1]), abs=1e-6)


@settings(max_examples=25)
@given(SCORES)
def test_swapping_the_sides_mirrors_scores_too(pairs: list[tuple[int, int]]) -> None:
    candidate, baseline = ([pair[side] / 10 for pair in pairs] for side in (0, 1))
    here = bounds(judged(candidate, baseline, criterion=LINES))
    there = bounds(judged(baseline, candidate, criterion=LINES))
    assert here == pytest.approx((-there[0], -there[2], -there[1]), abs=1e-6)


@settings(max_examples=25)
@given(COUNTS, st.booleans())
def test_an_agreeing_case_never_turns_a_pass_into_a_fail(of: tuple[int, int, int, int], right: bool) -> None:
    assume(sum(of))
    before = judged(*counts(*of), criterion=LENIENT)
    worse, better, both, neither = of
    after = judged(*counts(worse, better, both + right, neither + (not right)), criterion=LENIENT)
    assert not (before.verdict == "pass" and after.verdict == "fail")


ASKED = plan(EXACT, cases=cases(70))
GOOD = results(ASKED, *counts(0, 3, 60, 7))
RULES = rules(EXACT)


@settings(max_examples=15)
@given(st.permutations(GOOD))
def test_the_order_of_results_changes_no_byte(shuffled: list[Result]) -> None:
    assert evidence_bytes(judge(ASKED, shuffled, RULES)) == evidence_bytes(judge(ASKED, GOOD, RULES))


@settings(max_examples=15)
@given(st.permutations(ASKED.cases), st.data())
def test_the_order_of_cases_changes_no_byte(shuffled: list[object], data: st.DataObject) -> None:
    asked = replace(ASKED, cases=tuple(shuffled))  # type: ignore[arg-type]
    assert evidence_bytes(judge(asked, GOOD, RULES)) == evidence_bytes(judge(ASKED, GOOD, RULES))


TIGHT = plan(EXACT, cases=cases(59))
JUST = results(TIGHT, [1.0] * 59, [1.0] * 59)


def test_the_set_of_the_next_test_passes_without_a_case_to_spare() -> None:
    assert judge(TIGHT, JUST, RULES).verdict == "pass"


@given(st.sampled_from(JUST), st.sampled_from(["lost", "doubled", "stale", "failed"]))
def test_a_lost_doubled_stale_or_failed_case_never_passes(one: Result, how: str) -> None:
    others = [each for each in JUST if each is not one]
    changed = {
        "lost": others,
        "doubled": [*JUST, one],
        "stale": [*others, replace(one, status="stale", score=None)],
        "failed": [*others, replace(one, status="failed", score=None)],
    }[how]
    try:
        verdict = judge(TIGHT, changed, RULES).verdict
    except (Stopped, DamagedError):
        return
    # A baseline that is missing counts as right, which it was.
    assert verdict != "pass" or one.digest != CANDIDATE


@settings(max_examples=30)
@given(COUNTS, st.integers(0, 3))
def test_losing_results_never_helps(of: tuple[int, int, int, int], lost: int) -> None:
    candidate, baseline = counts(*of)
    assume(sum(of) > lost)
    before = judged(candidate, baseline, criterion=LENIENT)
    after = judged([*[None] * lost, *candidate[lost:]], baseline, criterion=LENIENT)
    assert not (after.verdict == "pass" and before.verdict != "pass")
