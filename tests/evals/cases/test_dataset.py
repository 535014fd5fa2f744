"""Versions of datasets: each names the one before, nothing is written twice, and every change can be told."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from beleg.core.errors import DamagedError, UsageError
from beleg.core.settings import Settings
from beleg.evals.cases import edit
from beleg.evals.cases.case import Acceptance, Case, Expectation, Provenance
from beleg.evals.cases.dataset import Dataset, Retirement, empty, latest
from beleg.evals.cases.diff import compare
from beleg.evals.cases.files import write_case
from beleg.evals.cases.verify import verify
from beleg.trace.fingerprint import fingerprint
from tests.evals.cases.support import LEAD, project


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return project(tmp_path / "project")


@pytest.fixture
def at(place: Path, tmp_path: Path) -> Settings:
    return Settings(tmp_path / "home", tmp_path / "home" / "spool", place)


def case(name: str = "a", **more: Any) -> Case:
    known: dict[str, Any] = {
        "feature": "receipts",
        "workflow": "ocr",
        "input_ref": f"ref-{name}",
        "input_hash": fingerprint(name),
        "hash_key_id": None,
        "canon_version": "jcs",
        "expected": {"/gross": Expectation(1)},
        "family": "f",
        "provenance": Provenance({"/gross": ("c1",)}, (), (Acceptance("lead", None, "2030-01-01", None),)),
    }
    return Case(**{**known, **more})


def put(before: Dataset, *cases: Case, retired: dict[str, Retirement] | None = None) -> Dataset:
    for each in cases:
        write_case(before.project, each)
    made = before.next({each.case_id: each.digest for each in cases}, retired or {})
    made.write()
    return made


def test_a_dataset_is_loaded_with_its_cases(place: Path) -> None:
    one = put(empty(place, "d", "receipts"), case("a"))
    two = put(one, case("a"), case("b"))
    assert Dataset.load(place, "d") == two
    assert {each.input_ref for each in two.cases()} == {"ref-a", "ref-b"}
    assert Dataset.load(place, "d", 1).cases() == [case("a")]
    assert (two.version, two.previous) == (2, one.digest)
    assert two.next(dict(two.members), {}) is two


def test_the_digest_is_the_fingerprint_of_the_file(place: Path) -> None:
    one = put(empty(place, "d", "receipts"), case("a"))
    assert fingerprint(json.loads(one.path.read_text())) == one.digest


@pytest.mark.parametrize("name", ["..", "a/b", "", ".hidden", "a b", "x" * 101])
def test_a_name_that_leads_elsewhere_is_refused(place: Path, name: str) -> None:
    with pytest.raises(UsageError, match="allowed: letters"):
        Dataset.load(place, name)


def test_what_there_is_not_is_told_with_what_there_is(place: Path) -> None:
    put(empty(place, "d", "receipts"), case("a"))
    with pytest.raises(UsageError, match="datasets are d"):
        Dataset.load(place, "e")
    with pytest.raises(UsageError, match="no version 7 of dataset 'd'"):
        Dataset.load(place, "d", 7)
    with pytest.raises(UsageError, match="of feature 'receipts', not of 'letters'"):
        latest(place, "d", "letters")


def test_a_version_is_never_written_twice(place: Path) -> None:
    one = put(empty(place, "d", "receipts"), case("a"))
    with pytest.raises(DamagedError, match="cannot change"):
        one.write()


def test_version_a_thousand_comes_after_999(place: Path) -> None:
    before = put(empty(place, "d", "receipts"), case("a"))
    for version in (999, 1000):
        replace(before, version=version, previous=before.digest).write()
        before = replace(before, version=version, previous=before.digest)
    assert Dataset.load(place, "d", 1000).version == 1000
    assert latest(place, "d", "receipts").version == 1000


@pytest.mark.parametrize(
    "change",
    [
        {"version": 2},
        {"name": "e"},
        {"dataset_format": 2},
        {"cases": {"x": "a" * 64}},
        {"cases": {"a" * 24: "b"}},
        {"previous": "a" * 64},
        {"retired": {"a" * 24: {"why": "", "by": "x", "at": "y"}}},
        {"cases": {"a" * 24: "a" * 64}, "retired": {"a" * 24: {"why": "x", "by": "x", "at": "y"}}},
        {"feature": None},
    ],
)
def test_a_manifest_that_is_none_is_refused_with_its_path(place: Path, change: dict[str, Any]) -> None:
    one = put(empty(place, "d", "receipts"), case("a"))
    one.path.write_text(json.dumps({**one.document(), **change}))
    with pytest.raises(DamagedError, match=r"datasets/d/v001\.json"):
        Dataset.load(place, "d")
    assert verify(place).problems


def test_what_changed_between_two_versions(place: Path) -> None:
    gone = {case("d").case_id: Retirement("deleted", "lead", "2030-01-01")}
    one = put(empty(place, "d", "receipts"), *(case(name) for name in "abcdef"))
    more = {"/gross": Expectation(1), "/net": Expectation(2)}
    two = put(
        one,
        case("a", expected=more),
        case("b", expected={"/gross": Expectation(3)}),
        case("c", family="g"),
        case("f"),
        case("new"),
        retired=gone,
    )
    found = compare(one, two)
    ids = {name: case(name).case_id for name in ("a", "b", "c", "d", "e", "new")}
    assert found.document() == {
        "bump": "major",
        "added": [ids["new"]],
        "extended": [ids["a"]],
        "edited": [ids["b"]],
        "described": [ids["c"]],
        "retired": [ids["d"]],
        "withdrawn": [ids["e"]],
    }


def test_how_much_a_change_means(place: Path) -> None:
    one = put(empty(place, "d", "receipts"), case("a"))
    more = case("a", expected={"/gross": Expectation(1), "/net": Expectation(2)})
    assert compare(one, one).bump == "none"
    assert compare(one, two := put(one, case("a", family="g"))).bump == "patch"
    assert compare(two, three := put(two, more)).bump == "minor"
    assert compare(three, four := put(three, more, case("b"))).bump == "minor"
    assert compare(four, three).bump == "major"
    assert compare(three, two).bump == "major"


def test_all_is_well_where_nothing_was_touched(place: Path) -> None:
    put(put(empty(place, "d", "receipts"), case("a")), case("a"), case("b"))
    found = verify(place)
    assert (found.cases, found.manifests, found.problems) == (2, 2, ())


def test_every_damage_is_found_at_once(place: Path) -> None:
    one = put(empty(place, "d", "receipts"), case("a"), case("b"), case("c"))
    folder = place / "evals" / "cases" / "receipts"
    changed, missing = folder / f"{case('a').digest}.json", folder / f"{case('b').digest}.json"
    changed.write_text(changed.read_text().replace("ref-a", "ref-x"))
    missing.unlink()
    two = replace(
        one, version=2, previous=one.digest, members={case("c").case_id: case("c").digest, "0" * 24: case("c").digest}
    )
    two.write()
    problems = verify(place).problems
    assert [next(p.name in each for p in (changed,)) for each in problems].count(True) == 1
    assert any(missing.name in each and "is missing" in each for each in problems)
    assert any("v002.json calls the case" in each for each in problems)
    assert len(problems) == 3
    with pytest.raises(DamagedError, match=changed.name):
        one.cases()


def test_a_version_that_is_missing_in_between_is_found(place: Path) -> None:
    one = put(empty(place, "d", "receipts"), case("a"))
    two = put(one, case("a"), case("b"))
    put(two, case("a"), case("b"), case("c"))
    two.path.unlink()
    assert [each for each in verify(place).problems if "follows version 2, which is missing" in each]
    with pytest.raises(DamagedError):
        Dataset.load(place, "d")


def test_two_branches_that_each_made_a_version_are_told_what_to_do(place: Path, tmp_path: Path) -> None:
    one = put(empty(place, "d", "receipts"), case("a"))
    theirs = tmp_path / "theirs"
    shutil.copytree(place, theirs)
    put(one, case("a"), case("ours"))
    other = put(put(replace(one, project=theirs), case("a"), case("b")), case("a"), case("b"), case("c"))
    shutil.copytree(theirs / "evals" / "cases", place / "evals" / "cases", dirs_exist_ok=True)
    shutil.copy(other.path, place / "evals" / "datasets" / "d")
    (problem,) = verify(place).problems
    assert "v003.json follows another v002.json" in problem
    assert "beleg cases add" in problem
    assert case("b").case_id in problem
    assert case("c").case_id in problem
    with pytest.raises(DamagedError, match="follows another"):
        latest(place, "d", "receipts")


def test_both_sides_of_a_merge_in_one_file_are_told_what_to_do(place: Path) -> None:
    one = put(empty(place, "d", "receipts"), case("a"))
    text = one.path.read_text()
    one.path.write_text(f"<<<<<<< HEAD\n{text}=======\n{text}>>>>>>> theirs\n")
    assert "holds both sides of a merge" in verify(place).problems[0]


def test_following_the_advice_after_a_merge_brings_both_sides_together(at: Settings, place: Path) -> None:
    one = put(empty(place, "receipts-1", "receipts"), case("a"))
    two = put(one, case("a"), case("ours"))
    write_case(place, case("theirs"))
    made = edit.add(at, [case("theirs").case_id], LEAD)
    assert made.members.keys() == {*two.members, case("theirs").case_id}
    assert not verify(place).problems


def test_a_retired_case_leaves_every_dataset_and_comes_back_when_added(at: Settings, place: Path) -> None:
    put(empty(place, "receipts-1", "receipts"), case("a"), case("b"))
    put(empty(place, "hard", "receipts"), case("a"))
    put(empty(place, "other", "receipts"), case("b"))
    made = edit.retire(at, case("a").case_id, LEAD)
    assert [(each.name, each.version) for each in made] == [("hard", 2), ("receipts-1", 2)]
    assert all(each.retired[case("a").case_id].why == LEAD.why for each in made)
    with pytest.raises(UsageError, match="no dataset holds"):
        edit.retire(at, case("a").case_id, LEAD)
    again = edit.add(at, [case("a").case_id], LEAD, dataset="hard")
    assert (again.version, list(again.members), dict(again.retired)) == (3, [case("a").case_id], {})
    assert edit.add(at, [case("a").case_id], LEAD, dataset="hard") == again
    told = [json.loads(line) for path in at.spool.iterdir() for line in path.read_bytes().splitlines()]
    assert sorted(each["decision"] for each in told) == ["accept", "retire"]
    assert all(each["labels"]["kind"] == "case" for each in told)


def test_cases_can_be_put_into_a_new_dataset_by_digest(at: Settings, place: Path) -> None:
    put(empty(place, "receipts-1", "receipts"), case("a"))
    older = case("b")
    write_case(place, older)
    write_case(place, case("b", family="g"))
    with pytest.raises(UsageError, match="the one state"):
        edit.add(at, [older.case_id], LEAD, dataset="new")
    assert edit.add(at, [older.digest, case("a").case_id], LEAD, dataset="new").members[older.case_id] == older.digest
    with pytest.raises(UsageError, match="is no case"):
        edit.add(at, ["../../etc"], LEAD)
    with pytest.raises(UsageError, match="there are: none"):
        edit.add(at, ["0" * 24], LEAD)
