"""What other tools have shown wrong, by their own reports: none of it happens here."""

import pytest

from beleg.evals.gate.document import evidence
from beleg.evals.gate.planning import planned
from tests.evals.gate.support import Side, codes, counts, judged


def test_pairs_are_compared_as_pairs() -> None:
    """220 items, 10 against 1 discordant: an unpaired test sees nothing, the pairs show it (lm-evaluation-harness)."""
    found = judged(*counts(1, 10, 150, 59))
    compared = found.criteria[0].comparison
    assert compared is not None
    assert compared.mcnemar_p == pytest.approx(0.0117, abs=1e-3)
    assert compared.assessed is not None
    assert compared.assessed.p_superior < 0.05


def test_the_paired_difference_its_interval_correction_and_power_are_in_the_evidence() -> None:
    """What was asked for and closed elsewhere (inspect_ai)."""
    found = evidence(planned(judged(*counts(2, 3, 45, 0))))["criteria"][0]
    compared = found["against_baseline"]
    assert compared["lower"] < compared["estimate"] < compared["upper"]
    assert compared["p_inferior_holm"] is not None
    assert found["cases_needed"] > 50


def test_repeated_answers_are_no_further_cases() -> None:
    """20 cases of 10 answers each are 20 cases, whatever a cache made of the repeats (promptfoo)."""
    right: Side = [[1.0] * 10] * 20
    found = judged(right, right, repetitions=10)
    assert found.verdict == "inconclusive"
    assert "too_few_cases" in codes(found)
    assert judged([1.0] * 200, [1.0] * 200).verdict == "pass"


def test_an_average_hides_no_case_that_always_fails() -> None:
    """A threshold over all answers is met while one case fails every time (promptfoo)."""
    candidate: Side = [[0.0] * 3] + [[1.0] * 3] * 199
    found = judged(candidate, [[1.0] * 3] * 200, repetitions=3)
    (moved,) = (each["moved"] for each in evidence(found)["criteria"])
    assert found.verdict == "pass"
    assert moved["worse_cases"] == [
        {"case_id": found.plan.cases[0].case_id, "candidate": [0.0] * 3, "baseline": [1.0] * 3}
    ]
    assert judged(candidate, [[1.0] * 3] * 200, repetitions=3, facts={0: {"critical": True}}).verdict == "fail"


def test_a_case_that_begins_to_flicker_is_seen() -> None:
    """3 of 3 became 2 of 3, which a majority vote hides (friday-studio)."""
    candidate: Side = [[1.0, 0.0, 1.0]] + [[1.0] * 3] * 199
    found = judged(candidate, [[1.0] * 3] * 200, repetitions=3)
    (moved,) = (each["moved"] for each in evidence(found)["criteria"])
    assert (moved["worse"], moved["better"]) == (1, 0)
    assert moved["worse_cases"][0]["candidate"] == [1.0, 0.0, 1.0]
