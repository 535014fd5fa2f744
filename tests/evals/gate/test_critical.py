"""Critical cases and slices: no average makes up for them."""

from dataclasses import replace
from datetime import date

import pytest

from beleg.core.errors import UsageError
from beleg.evals.gate.judge import judge
from beleg.evals.gate.policy import KnownFailing
from tests.evals.gate.support import EXACT, LINES, Side, case, codes, counts, judged, plan, results, rules

CRITICAL = {0: {"critical": True}}
UNTIL = KnownFailing(case(0).case_id, EXACT.name, "Rita Risk", "Smudged.", date(2030, 3, 1))


def test_one_critical_case_blocks_whatever_got_better() -> None:
    found = judged(*counts(1, 80, 119, 0), facts=CRITICAL)
    assert (found.verdict, codes(found)) == ("fail", ["critical_case"])
    assert judged(*counts(1, 80, 119, 0)).verdict == "pass"


def test_a_critical_case_that_no_criterion_judges_is_no_pass() -> None:
    criterion = EXACT
    chosen = [case(number, critical=number == 0) for number in range(200)]
    asked = plan(criterion, cases=chosen)
    asked = replace(asked, planned={criterion.name: frozenset(each.case_id for each in chosen[1:])})
    made = [each for each in results(asked, [1.0] * 200, [1.0] * 200) if each.case_id != chosen[0].case_id]
    found = judge(asked, made, rules(criterion), ())
    assert (found.verdict, codes(found)) == ("inconclusive", ["critical_unjudged"])


def test_every_repetition_must_pass() -> None:
    candidate: Side = [[1.0, 0.0, 1.0]] + [[1.0] * 3] * 199
    found = judged(candidate, [[1.0] * 3] * 200, facts=CRITICAL, repetitions=3)
    assert (found.verdict, codes(found)) == ("fail", ["critical_case"])
    assert found.critical[0].passed == 2


@pytest.mark.parametrize("tier", [1, 2, 3])
def test_a_critical_case_without_a_result_blocks(tier: int) -> None:
    found = judged([None] + [1.0] * 199, [1.0] * 200, facts=CRITICAL, tier=tier)  # type: ignore[arg-type]
    assert found.verdict == "fail"
    assert "critical_case" in codes(found)


def test_a_score_passes_from_the_threshold() -> None:
    criterion = replace(LINES, threshold=0.8)
    sides = [0.8] + [0.9] * 199, [0.8] + [0.9] * 199
    assert judged(*sides, criterion=criterion, facts=CRITICAL).verdict == "pass"
    assert judged([0.79, *sides[0][1:]], sides[1], criterion=criterion, facts=CRITICAL).verdict == "fail"


def test_known_failing_needs_an_exception_by_name_that_has_not_ended() -> None:
    sides = [0.0] + [1.0] * 199, [0.0] + [1.0] * 199
    assert judged(*sides, facts=CRITICAL).verdict == "fail"
    found = judged(*sides, facts=CRITICAL, known_failing=(UNTIL,))
    assert (found.verdict, codes(found)) == ("pass", ["known_failing"])
    assert "Rita Risk" in found.reasons[0].sentence
    late = judged(*sides, facts=CRITICAL, known_failing=(replace(UNTIL, until=date(2030, 2, 28)),))
    assert (late.verdict, codes(late)) == ("fail", ["exception_expired"])


def test_an_exception_excuses_no_regression() -> None:
    found = judged([0.0] + [1.0] * 199, [1.0] * 200, facts=CRITICAL, known_failing=(UNTIL,))
    assert (found.verdict, codes(found)) == ("fail", ["critical_case"])
    first = judged([0.0] + [1.0] * 199, None, facts=CRITICAL, known_failing=(UNTIL,))
    assert first.verdict == "fail"


def sliced(worse: int) -> dict[int, dict[str, dict[str, str]]]:
    """The first cases, those that got worse among them, are in German."""
    return {number: {"slices": {"lang": "de" if number < worse + 100 else "en"}} for number in range(1000)}


def test_a_required_slice_must_pass_by_itself() -> None:
    candidate, baseline = counts(12, 12, 976, 0)
    facts = sliced(12)
    assert judged(candidate, baseline, facts=facts).verdict == "pass"
    found = judged(candidate, baseline, facts=facts, required_slices=("lang=de",))
    assert found.verdict != "pass"
    assert "slice_not_passed" in codes(found)


def test_a_required_slice_without_a_case_is_refused() -> None:
    with pytest.raises(UsageError, match="lang=fr; slices are lang=de, lang=en"):
        judged(*counts(0, 0, 1000, 0), facts=sliced(0), required_slices=("lang=fr",))


def test_watched_slices_tell_a_regression_after_correction_and_block_nothing() -> None:
    found = judged(*counts(9, 9, 982, 0), facts=sliced(9))
    worse = {each.name: each.regression_shown(found.alpha) for each in found.slices}
    assert found.verdict == "pass"
    assert worse == {"lang=de": False, "lang=en": False}
    candidate, baseline = counts(20, 40, 940, 0)
    facts = {number: {"slices": {"lang": "de" if number < 20 else "en"}} for number in range(1000)}
    told = judged(candidate, baseline, facts=facts)
    assert {each.name: each.regression_shown(told.alpha) for each in told.slices} == {"lang=de": True, "lang=en": False}
    assert told.verdict == "pass"
