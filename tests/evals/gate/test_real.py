"""Real pairs with known answers: the verdicts are what the counts allow, no more."""

import csv
from dataclasses import replace
from pathlib import Path

import pytest

from tests.evals.gate.finrag import GPT, LLAMA, MIXTRAL, pair
from tests.evals.gate.support import EXACT, Scored, codes, judged

LOW = replace(EXACT, threshold=0.2)


def agents(folder: Path) -> tuple[list[Scored], list[Scored]]:
    """Tasks on which both were run."""
    with (folder / "paired" / "resolved_gpt5_vs_claude45.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["gpt5"] and row["claude_sonnet_4_5"]]
    return [float(row["gpt5"]) for row in rows], [float(row["claude_sonnet_4_5"]) for row in rows]


def test_two_agents_on_729_tasks(test_data: Path) -> None:
    gpt5, claude = agents(test_data)
    found = judged(claude, gpt5, criterion=LOW)
    compared = found.criteria[0].comparison
    assert compared is not None
    assert (compared.worse, compared.better, len(found.plan.cases)) == (59, 113, 729)
    assert compared.mcnemar_p == pytest.approx(4.7e-5, rel=0.02)
    assert found.verdict == "pass"
    (swapped,) = judged(gpt5, claude, criterion=LOW).criteria
    assert swapped.verdict == "inconclusive"  # 7.4 points worse, and 5 would be allowed
    assert swapped.p_inferior_holm is not None
    assert swapped.p_inferior_holm < 1e-4


KNOWN = {
    (GPT, "rev23_thousands_hint", "rev23_thousands_no_hint"): ((0, 8), 0.0078, "pass"),
    (GPT, "rev22_millions_no_hint", "rev23_millions_no_hint"): ((13, 0), 0.00024, "fail"),
    (MIXTRAL, "rev23_thousands_hint", "rev23_thousands_no_hint"): ((12, 1), 0.0034, "fail"),
}


@pytest.mark.parametrize("which", KNOWN, ids="-".join)
def test_prompt_versions_on_50_reports(test_data: Path, which: tuple[str, str, str]) -> None:
    counts, mcnemar, verdict = KNOWN[which]
    sides = pair(test_data, *which)
    run = [[each or 0.0 for each in side] for side in sides]  # what was not run counted as wrong, as the counts do
    found = judged(run[0], run[1], criterion=LOW)
    compared = found.criteria[0].comparison
    assert compared is not None
    assert (compared.worse, compared.better) == counts
    assert compared.mcnemar_p == pytest.approx(mcnemar, rel=0.02)
    assert found.verdict == verdict
    told = judged(*sides, criterion=LOW)
    gaps = any(None in side for side in sides)
    assert told.verdict == ("inconclusive" if gaps else verdict)


def test_a_model_that_never_ran_is_no_pass(test_data: Path) -> None:
    sides = pair(test_data, LLAMA, "rev23_thousands_hint", "rev23_thousands_no_hint")
    assert set(sides[0]) == {None}
    found = judged(*sides, criterion=LOW)
    assert found.verdict == "inconclusive"
    assert "missing_too_many" in codes(found)
    assert found.missing == 50
