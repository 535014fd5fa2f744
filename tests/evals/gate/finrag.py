"""The same 50 annual reports under four prompt versions: right or wrong per model, None where it was not run."""

import csv
import json
from functools import cache
from pathlib import Path

from beleg.evals.scorers.answers import first_object, not_run
from tests.evals.gate.support import Scored

GPT, MIXTRAL, LLAMA = "gpt-4-1106-preview", "mistralai/Mixtral-8x22B-Instruct-v0.1", "meta-llama/llama-3-8b-instruct"
_LLAMA = "meta/meta-llama-3-8b-instruct"


@cache
def scores(folder: Path, version: str, model: str) -> dict[str, Scored]:
    """Report → 1, 0 or None."""
    path = folder / "finrag" / f"v1__selection_text_50_{version}_with_answers.csv"
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    column = f"ANSWER_{_LLAMA if model == LLAMA else model}"
    return {row["source_identifier"]: _score(row[column], row["ANSWER_assigned"]) for row in rows}


def _score(answer: str, truth: str) -> float | None:
    if not_run(answer):
        return None
    wanted = _number(json.loads(truth))
    return float(wanted is not None and _number(first_object(answer)) == wanted)


def _number(found: object) -> float | None:
    try:
        return float(str(found["main_question"]).replace(",", "").replace("$", ""))  # type: ignore[index]
    except (KeyError, TypeError, ValueError):
        return None


def pair(folder: Path, model: str, candidate: str, baseline: str) -> tuple[list[Scored], list[Scored]]:
    """Scores of two prompt versions in the order of the reports."""
    new, old = scores(folder, candidate, model), scores(folder, baseline, model)
    assert new.keys() == old.keys()
    return [new[name] for name in sorted(new)], [old[name] for name in sorted(old)]
