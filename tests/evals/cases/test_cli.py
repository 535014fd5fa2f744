"""`beleg cases` from the first correction to a dataset, as people and machines call it."""

import json
from pathlib import Path
from typing import Any

import pytest
import typer

from beleg.cli import cases
from beleg.core.errors import UsageError
from tests.evals.cases.support import BEN, Office
from tests.invoke import run

app = typer.Typer()
cases.register(app)
app.command("other")(lambda: None)
WHY = ("--by", "lead", "--why", "seen")


@pytest.fixture
def office(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Office:
    made = Office(tmp_path)
    monkeypatch.setenv("BELEG_HOME", str(made.settings.home))
    monkeypatch.setenv("BELEG_PROJECT", str(made.project))
    monkeypatch.chdir(tmp_path)
    made.take(
        *made.run("r1"),
        *made.run("r2", input_ref=None),
        made.correction("c1", "r1", expected=5),
        made.correction("c2", "r1", expected=6, author_hash=BEN),
        made.correction("c3", "r2", "/net", 1),
    )
    return made


def answer(*words: str) -> Any:
    result = run(app, "cases", *words, "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found.pop("schema_version") == 1
    return found


def test_the_whole_way(office: Office) -> None:
    undecided = answer("pending", "--undecided")["undecided"]
    assert [each["correction_id"] for each in undecided] == ["c3", "c2", "c1"]
    accept = ("accept", "c1", *WHY, "--critical", "--family", "acme", "--slice", "country=DE")
    assert answer(*accept) == {"decision": "accept", "subjects": ["c1"], "correction": None}
    for each in ("c2", "c3"):
        answer("accept", each, *WHY)
    frozen = answer("freeze")
    assert (frozen["cases"], frozen["conflicts"], frozen["pending"], frozen["datasets"]) == (0, 1, 1, [])
    (pending,) = answer("pending")["pending"]
    assert (pending["subject"], pending["code"]) == ("c3", "no_input_ref")
    one, two = answer("conflicts")["conflicts"]
    assert (one["correction"], two["correction"], one["field"]) == ("c1", "c2", "/gross")

    answer("settle", one["case_id"], "--field", "gross", "--correction", "c1", *WHY)
    instead = answer("accept", "c3", *WHY, "--input-ref", "archive/2")["correction"]
    frozen = answer("freeze")
    assert (frozen["cases"], len(frozen["written"]), frozen["conflicts"], frozen["pending"]) == (2, 2, 0, 0)
    assert answer("list")["datasets"] == frozen["datasets"]
    listed = {each["input_ref"]: each for each in answer("list", "receipts-1")["cases"]}
    assert (listed["ref-r1"]["critical"], listed["ref-r1"]["family"]) == (True, "acme")
    shown = answer("show", one["case_id"])
    assert (shown["digest"], shown["case"]["expected"]) == (listed["ref-r1"]["digest"], {"/gross": {"value": 5}})
    assert shown["case"]["slices"] == {"country": "DE"}
    assert answer("show", shown["digest"]) == shown
    rows = office.at.ask("SELECT input_ref, critical FROM eval_cases ORDER BY 1")
    assert rows == [("archive/2", False), ("ref-r1", True)]

    (retired,) = answer("retire", one["case_id"], *WHY)["datasets"]
    assert (retired["version"], retired["cases"], retired["retired"]) == (2, 1, 1)
    assert answer("diff", "receipts-1", "1")["retired"] == [one["case_id"]]
    assert answer("freeze")["datasets"] == []
    (added,) = answer("add", one["case_id"], *WHY)["datasets"]
    assert (added["version"], added["cases"]) == (3, 2)
    with pytest.raises(UsageError, match="accepted in place of c3"):
        run(app, "cases", "reject", "c3", *WHY)
    answer("reject", instead, *WHY)
    assert answer("freeze")["datasets"][0]["retired"] == 1
    assert answer("verify") == {"cases": 2, "manifests": 4, "problems": []}


def test_people_get_words(office: Office) -> None:
    assert "accept: 1 corrections" in run(app, "cases", "accept", "c1", *WHY).stdout
    assert "in place of it: correction" in run(app, "cases", "accept", "c3", *WHY, "--expected", "null").stdout
    told = run(app, "cases", "freeze").stdout
    assert "receipts-1 is at version 1: 1 cases" in told
    assert "1 accepted subjects are in no dataset" in told
    for words in (["pending"], ["pending", "--undecided"], ["conflicts"], ["list"], ["list", "receipts-1"], ["verify"]):
        assert run(app, "cases", *words).stdout
    assert "minor: 1 cases differ" not in run(app, "cases", "diff", "receipts-1", "1", "1").stdout
    case = answer("list", "receipts-1")["cases"][0]["case_id"]
    assert '"/gross"' in run(app, "cases", "show", case).stdout


def test_import_says_what_it_did(office: Office, tmp_path: Path) -> None:
    (tmp_path / "old.csv").write_text("input_ref,input,/gross\nold/1,1,2\n")
    words = ("import", "old.csv", "--feature", "receipts", "--dataset", "old", *WHY)
    found = answer(*words)
    assert (found["rows"], len(found["changed"]), found["dataset"]["version"]) == (1, 1, 1)
    assert "1 rows, 0 cases are new" in run(app, "cases", *words).stdout


def test_damage_is_exit_code_4_and_told_with_the_file(office: Office) -> None:
    answer("accept", "c1", *WHY)
    answer("freeze")
    (path,) = (office.project / "evals" / "cases" / "receipts").iterdir()
    path.write_text("{}")
    result = run(app, "cases", "verify", "--json")
    assert result.exit_code == 4
    assert path.name in json.loads(result.stdout)["problems"][0]


WRONG = [
    ["accept", "c1", *WHY, "--expected", "119,00"],
    ["accept", "c1", *WHY, "--expected", "NaN"],
    ["accept", "c1", *WHY, "--slice", "country"],
    ["accept", "c1", *WHY, "--slice", "=DE"],
    ["accept", "nobody", *WHY],
    ["accept", "c1", "--by", "lead", "--why", " "],
    ["list", "nothing"],
    ["show", "nothing"],
    ["diff", "nothing", "1"],
    ["import", "missing.csv", "--feature", "receipts", "--dataset", "d", *WHY],
    ["import", "missing.csv", "--feature", "nothing", "--dataset", "d", *WHY],
]


def test_a_wrong_call_is_a_usage_error(office: Office) -> None:
    office.publish()
    for words in WRONG:
        with pytest.raises(UsageError):
            run(app, "cases", *words)


def test_a_missing_reason_is_a_usage_error(office: Office) -> None:
    assert run(app, "cases", "reject", "c1", "--by", "lead").exit_code == 2
