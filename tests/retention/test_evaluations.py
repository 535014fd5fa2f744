"""Forgetting reaches what evaluations keep, and the frozen cases of the project."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from beleg.core.settings import Settings
from beleg.evals.cases import files
from beleg.evals.cases.case import Case, Expectation, Provenance
from beleg.evals.cases.edit import frozen
from beleg.lake.engine import connect
from beleg.lake.forgotten import Forgotten, Kind
from beleg.lake.publication import append_fact
from beleg.retention import evaluations

MINE, OTHER = "1" * 64, "2" * 64


@pytest.fixture
def there(settings: Settings, tmp_path: Path) -> Settings:
    project = tmp_path / "project"
    (project / "evals").mkdir(parents=True)
    made = replace(settings, project=project)
    folder = made.home / "evals" / "receipts" / ("a" * 16)
    folder.mkdir(parents=True)
    for name, case in cases().items():
        files.write_case(project, case)
        with (folder / "journal.jsonl").open("a") as journal, (folder / "answers.jsonl").open("a") as answers:
            journal.write(json.dumps({"results": [{"case_id": case.case_id, "run_id": f"eval-{name}"}]}) + "\n")
            answers.write(json.dumps({"answered": ["d", case.case_id, "v", 1], "answer": name}) + "\n")
    return made


def case(reference: str, input_hash: str, run: str) -> Case:
    return Case(
        feature="receipts",
        workflow="ocr",
        input_ref=reference,
        input_hash=input_hash,
        hash_key_id=None,
        canon_version="1",
        expected={"/total": Expectation(1)},
        family="f",
        provenance=Provenance(runs=(run,)),
    )


def cases() -> dict[str, Case]:
    return {"mine": case("doc-1", MINE, "r1"), "other": case("doc-2", OTHER, "r2")}


def bury(settings: Settings, kind: Kind, value: str, runs: tuple[str, ...]) -> None:
    """As `forget` does before."""
    Forgotten.load(settings).bury(kind, value)
    forgotten = Forgotten.load(settings)
    if runs:
        with connect(settings.home / "scratch") as con:
            con.execute(f"CREATE TABLE starts AS SELECT unnest({list(runs)}) AS run_id, '{value}' AS {kind}")
            known = forgotten._runs
            known.mkdir(parents=True, exist_ok=True)
            con.execute(f"COPY (SELECT run_id FROM starts) TO '{known / 'r.parquet'}'")
    append_fact(settings.ledger / "forgets.jsonl", {"kind": kind, "at": "2026-11-30T12:00:00Z"})


@pytest.mark.parametrize(("kind", "value", "runs"), [("ref", "doc-1", ()), ("tenant", "acme", ("r1",))])
def test_lines_about_forgotten_cases_go_and_so_do_their_files(
    there: Settings, kind: Kind, value: str, runs: tuple[str, ...]
) -> None:
    bury(there, kind, value, runs)
    taken, words = evaluations.clean(there, kind, value, runs)
    folder = next((there.home / "evals" / "receipts").iterdir())
    known = cases()
    assert taken == 2
    assert known["mine"].case_id not in (folder / "journal.jsonl").read_text()
    assert "mine" not in (folder / "answers.jsonl").read_text()
    assert "other" in (folder / "answers.jsonl").read_text()
    assert "1 frozen cases are retired and deleted" in words[0]
    assert there.project is not None
    assert [each.input_ref for each in frozen(there.project)] == ["doc-2"]
    assert evaluations.clean(there, kind, value, runs) == (0, ())


def test_a_persons_word_does_not_take_away_the_answers_to_a_case(there: Settings) -> None:
    assert evaluations.clean(there, "person", "beef" * 16, ("r1",)) == (0, ())


def test_the_evaluations_of_a_forgotten_run_go_whatever_the_case(there: Settings) -> None:
    assert evaluations.clean(there, "person", "beef" * 16, ("eval-other",))[0] == 1


def test_a_line_that_cannot_be_read_goes_too(there: Settings) -> None:
    folder = next((there.home / "evals" / "receipts").iterdir())
    with (folder / "answers.jsonl").open("a") as answers:
        answers.write('{"answered": ["d"\n')
    assert evaluations.clean(there, "ref", "doc-2", ())[0] == 3


def test_without_a_project_there_are_journals_only(there: Settings) -> None:
    assert evaluations.clean(replace(there, project=None), "ref", "doc-1", ()) == (0, ())
