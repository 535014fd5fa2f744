"""Cases that exist already come in whole or not at all, their inputs as fingerprints alone."""

import json
from pathlib import Path

import pytest

from beleg.core.errors import BelegError, UsageError
from beleg.core.settings import Settings
from beleg.evals.cases import edit
from beleg.evals.cases.case import Expectation
from beleg.evals.cases.dataset import Dataset
from beleg.evals.cases.freeze import freeze
from beleg.evals.cases.imports import Imported, import_cases
from beleg.trace.fingerprint import fingerprint
from tests.evals.cases.support import LEAD, Office, project
from tests.evals.cases.test_freeze import accepted


@pytest.fixture
def at(tmp_path: Path) -> Settings:
    return Settings(tmp_path / "home", tmp_path / "home" / "spool", project(tmp_path / "project"))


def take(at: Settings, name: str, text: str, *, feature: str = "receipts", dataset: str = "receipts-1") -> Imported:
    path = at.spool.parent.parent / name
    path.write_text(text, encoding="utf-8")
    return import_cases(at, path, feature, dataset, LEAD)


CSV = '''\
input_ref,input,/gross,/name,family,critical,slice.country,reason
inv-1,"{""text"": ""SECRET""}",119.0,"""4400""",acme,yes,DE,mapping_bug
inv-2,"{""text"": ""OTHER""}",,Müller,,,,
'''


def test_a_sheet_becomes_cases(at: Settings) -> None:
    made = take(at, "old.csv", CSV)
    one, two = sorted(made.dataset.cases(), key=lambda each: each.input_ref)
    assert one.input_hash == fingerprint({"text": "SECRET"})
    assert dict(one.expected) == {"/gross": Expectation(119.0), "/name": Expectation("4400")}
    assert (one.family, one.critical, one.slices, one.reasons) == ("acme", True, {"country": "DE"}, ("mapping_bug",))
    assert (one.provenance.accepted[0].by, one.provenance.corrections[0][:7]) == (LEAD.by, "import:")
    assert (dict(two.expected), two.family, two.critical) == ({"/name": Expectation("Müller")}, two.case_id, False)
    assert (made.rows, len(made.changed)) == (2, 2)


def test_the_same_file_again_changes_nothing_and_a_longer_one_adds(at: Settings) -> None:
    first = take(at, "old.csv", CSV)
    assert take(at, "old.csv", CSV).dataset == first.dataset
    more = CSV + 'inv-3,"3",1,,,,,\n'
    made = take(at, "old.csv", more)
    assert (made.dataset.version, len(made.changed), len(made.dataset.members)) == (2, 1, 3)
    assert first.dataset.members.items() <= made.dataset.members.items()


def test_json_lines_with_a_whole_result_and_a_fingerprint(at: Settings) -> None:
    rows = [
        {"input_ref": "a", "input_hash": "ab" * 32, "hash_key_id": "k1", "expected": {"gross": 5, "net": None}},
        {"input_ref": "b", "input": {"n": 1}, "expected": None},
    ]
    made = take(at, "old.jsonl", "\n".join(map(json.dumps, rows)) + "\n")
    one, two = sorted(made.dataset.cases(), key=lambda each: each.input_ref)
    assert (one.hash_key_id, one.expectation("net")) == ("k1", Expectation(None))
    assert two.expected == {"": Expectation(None)}


def test_a_workflow_that_hashes_keeps_no_value(at: Settings) -> None:
    made = take(at, "old.csv", CSV, feature="letters", dataset="letters-1")
    assert {known.hash for case in made.dataset.cases() for known in case.expected.values()} == {
        fingerprint(119.0),
        fingerprint("4400"),
        fingerprint("Müller"),
    }


def test_an_input_is_hashed_under_the_active_key(at: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BELEG_HASH_KEYS", json.dumps({"active": "k1", "keys": {"k1": "11" * 32}}))
    (case, _) = sorted(take(at, "old.csv", CSV).dataset.cases(), key=lambda each: each.input_ref)
    assert (case.hash_key_id, case.input_hash) == ("k1", fingerprint({"text": "SECRET"}, key="k1"))


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.csv", "input_ref,input\nr,1\n", "says nothing of what is right"),
        ("a.csv", "input_ref,expected\nr,1\n", "either input or input_hash"),
        ("a.csv", "input_ref,input,input_hash,expected\nr,1,%s,1\n" % ("a" * 64), "either input or input_hash"),
        ("a.csv", "input_ref,input_hash,expected\nr,XY,1\n", "no fingerprint"),
        ("a.csv", "input,expected\n1,1\n", "input_ref is no word"),
        ("a.csv", "input_ref,input,expected\nan invoice,1,1\n", "input_ref is no word"),
        ("a.csv", "input_ref,input,expected,colour\nr,1,1,red\n", "'colour' is no column"),
        ("a.csv", "input_ref,input,expected,/a~b\nr,1,1,2\n", "is no column"),
        ("a.csv", "input_ref,input,expected\nr,1\n", "fewer cells"),
        ("a.csv", "input_ref,input,expected\nr,1,1,1\n", "fewer cells"),
        ("a.csv", "input_ref,input,expected,critical\nr,1,1,maybe\n", "true or false"),
        ("a.csv", "input_ref,input,expected,reason\nr,1,1,bad\n", "extraction_error"),
        ("a.csv", "input_ref,input,hash_key_id,expected\nr,1,k9,1\n", "'k9' is not in BELEG_HASH_KEYS"),
        ("a.csv", "input_ref,input,expected\nr,1,1\nr,1,2\n", "line 2, 3: 'the result' contradicts"),
        ("a.csv", "input_ref,input,expected\nr,1,%s\n" % ("x" * 17_000), "at most 16384"),
        ("a.csv", 'input_ref,input,expected\nr,1,"2\n', "line"),
        ("a.jsonl", '{"input_ref": "r", "input": 1, "expected": NaN}\n', "line 1"),
        ("a.jsonl", '{"input_ref": "r", "input": 1, "expected": 1e999}\n', "cannot be kept"),
        ("a.jsonl", '{"input_ref": "r", "input_ref": "s"}\n', "twice"),
        ("a.jsonl", "[1]\n", "line 1"),
        ("a.jsonl", '{"input_ref": 5, "input": 1, "expected": 1}\n', "input_ref is no word"),
        ("a.jsonl", '{"input_ref": "r", "input_hash": ["x"], "expected": 1}\n', "no fingerprint"),
        ("a.jsonl", '{{"input_ref": "r", "input": {}1{}, "expected": 1}}\n'.format("[" * 5000, "]" * 5000), "line 1"),
        ("a.csv", "input_ref,input,expected,expected\nr,1,1,2\n", "'expected' twice"),
        ("a.txt", "x", "neither .csv nor .jsonl"),
    ],
)
def test_a_bad_row_is_named_by_its_line_and_nothing_comes_in(at: Settings, name: str, text: str, said: str) -> None:
    with pytest.raises(BelegError, match=said):
        take(at, name, text)
    assert at.project is not None
    assert not list((at.project / "evals").rglob("*.json"))


def test_messages_show_no_value(at: Settings) -> None:
    with pytest.raises(UsageError) as told:
        take(at, "a.csv", "input_ref,input,expected,critical\nSECRET 1,SECRET-2,SECRET-3,SECRET-4\n")
    assert "SECRET" not in str(told.value)


def test_a_file_that_contradicts_what_is_frozen_is_refused(at: Settings) -> None:
    made = take(at, "old.csv", CSV)
    with pytest.raises(UsageError, match=r"line 2: '/gross' contradicts"):
        take(at, "new.csv", CSV.replace("119.0", "120.0"))
    assert at.project is not None
    assert Dataset.load(at.project, "receipts-1") == made.dataset


def test_a_retired_case_does_not_come_back_by_import(at: Settings) -> None:
    made = take(at, "old.csv", CSV)
    edit.retire(at, made.changed[0], LEAD)
    with pytest.raises(UsageError, match="was retired"):
        take(at, "old.csv", CSV)


def test_corrections_add_to_imported_cases_and_conflict_with_them(tmp_path: Path) -> None:
    office = Office(tmp_path)
    take(office.settings, "old.csv", 'input_ref,input,/net\nold/1,"""r1""",4\n')
    office.take(*office.run("r1"), office.correction("c1", "r1", "/gross", 5), office.correction("c2", "r1", "/net", 3))
    (case,) = accepted(office, "c1").cases
    assert dict(case.expected) == {"/gross": Expectation(5), "/net": Expectation(4)}
    assert freeze(office.settings).datasets == ()
    (conflict,) = accepted(office, "c2").conflicts
    assert (conflict.field, conflict.words[0].correction, conflict.words[0].accepted_by) == ("/net", None, LEAD.by)


def test_an_empty_file_is_no_rows_and_a_line_separator_in_a_cell_is_no_line(at: Settings) -> None:
    empty = take(at, "a.csv", "")
    assert (empty.rows, empty.dataset.version, empty.changed) == (0, 0, ())
    (case,) = take(at, "b.csv", 'input_ref,input,/name\nr,1,"a\u2028b\nc"\n').dataset.cases()
    assert case.expectation("name") == Expectation("a\u2028b\nc")
