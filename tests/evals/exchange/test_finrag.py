"""Real answers: 50 annual reports, four versions of a prompt, six models; the counts that are known of them."""

import csv
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from beleg.contract.model import Criterion, Evals
from beleg.evals.cases.case import Case, Expectation
from beleg.evals.exchange.take import Delivery, Taken, take
from beleg.evals.results import Result
from beleg.evals.scoring.journal import Journal
from beleg.trace.fingerprint import fingerprint
from tests.contract.client.released import FEATURE
from tests.evals.scoring.house import House

SCORER = "number:main_question?strip=%24"
MODELS = {
    "claude": "claude-3-opus-20240229",
    "dbrx": "databricks/dbrx-instruct",
    "gpt-4": "gpt-4-1106-preview",
    "llama-70b": "meta/meta-llama-3-70b-instruct",
    "llama-8b": "meta/meta-llama-3-8b-instruct",
    "mixtral": "mistralai/Mixtral-8x22B-Instruct-v0.1",
}
OLD, MILLIONS, BARE, HINT = (
    "rev22_millions_no_hint",
    "rev23_millions_no_hint",
    "rev23_thousands_no_hint",
    "rev23_thousands_hint",
)
RIGHT = {
    "gpt-4": {MILLIONS: 43, BARE: 39, HINT: 47, OLD: 30},
    "mixtral": {MILLIONS: 31, BARE: 41, HINT: 30, OLD: 30},
}
"""Right answers of 50, as the notes on the data count them."""


@dataclass
class Judged:
    """All 24 columns, each taken in as answers of a version of its own."""

    results: dict[tuple[str, str], dict[str, Result]] = field(default_factory=dict)
    """(model, prompt) → filing → what the scorer says."""
    taken: dict[tuple[str, str], Taken] = field(default_factory=dict)
    notes: dict[str, Counter[str]] = field(default_factory=dict)
    """Prompt → the scorer's words for misses."""

    def right(self, model: str, prompt: str) -> dict[str, bool]:
        return {filing: each.score == 1 for filing, each in self.results[model, prompt].items()}

    def better_and_worse(self, model: str, before: str, after: str) -> tuple[int, int]:
        one, other = self.right(model, before), self.right(model, after)
        pairs = [(one[filing], other[filing]) for filing in one]
        return pairs.count((False, True)), pairs.count((True, False))


def filings(folder: Path, prompt: str) -> list[dict[str, str]]:
    path = folder / "finrag" / f"v1__selection_text_50_{prompt}_with_answers.csv"
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def as_case(row: Mapping[str, str]) -> Case:
    """The filing is the input; what was asked of it is the version's, the truth is its assigned number."""
    filing = row["source_identifier"]
    return Case(
        feature=FEATURE,
        workflow="ocr",
        input_ref=filing,
        input_hash=fingerprint(filing),
        hash_key_id=None,
        canon_version="1",
        expected={"/main_question": Expectation(json.loads(row["ANSWER_assigned"])["main_question"])},
        family=filing,
    )


def as_answers(folder: Path, prompt: str, found: list[dict[str, str]]) -> Path:
    path = folder / f"{prompt}.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["input_ref", *MODELS])
        writer.writerows(
            [row["source_identifier"], *(row[f"ANSWER_{each}"] for each in MODELS.values())] for row in found
        )
    return path


@pytest.fixture
def judged(house: House, test_data: Path) -> Judged:
    house.draft(evals=Evals("finrag", (Criterion("revenue", SCORER, "binary", 0.5),)))
    made = Judged()
    for prompt in (OLD, MILLIONS, BARE, HINT):
        found = filings(test_data, prompt)
        dataset = house.freeze(map(as_case, found), prompt)
        path = as_answers(house.root, prompt, found)
        versions = {fingerprint([model, prompt]): model for model in MODELS}
        for digest, model in versions.items():
            delivery = Delivery(path, "csv", FEATURE, dataset.name, None, digest, model, first_object=True)
            made.taken[model, prompt] = take(house.settings, house.registry, delivery)
        refs = {case.case_id: case.input_ref for case in dataset.cases()}
        made.notes[prompt] = Counter()
        for entry in Journal(house.settings, FEATURE, dataset.digest).entries.values():
            result = next(each for each in entry.results if each.scorer == SCORER)
            made.results.setdefault((versions[result.digest], prompt), {})[refs[result.case_id]] = result
            made.notes[prompt][entry.notes.get(SCORER, "")] += 1
    return made


def test_counts_are_those_that_are_known(judged: Judged) -> None:
    assert {len(each) for each in judged.results.values()} == {50}
    assert len(judged.results) == 24
    counted = {
        model: {prompt: sum(judged.right(model, prompt).values()) for prompt in known} for model, known in RIGHT.items()
    }
    assert counted == RIGHT
    assert judged.better_and_worse("gpt-4", BARE, HINT) == (8, 0)
    assert judged.better_and_worse("gpt-4", MILLIONS, OLD) == (0, 13)
    assert judged.better_and_worse("mixtral", BARE, HINT) == (1, 12)
    # What was not run is missing, not wrong.
    for prompt in (OLD, MILLIONS, BARE, HINT):
        assert judged.taken["llama-8b", prompt].missing == 50
        assert {each.status for each in judged.results["llama-8b", prompt].values()} == {"missing"}
    for prompt in (BARE, HINT):
        misses = {note: count for note, count in judged.notes[prompt].items() if note not in {"", "no_result"}}
        assert misses["unit_error_1000"] > sum(misses.values()) / 2
