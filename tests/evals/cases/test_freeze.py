"""From events in a real lake to files: what is frozen, what is not and why, and what changes that."""

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from beleg.core.errors import DamagedError, UsageError
from beleg.evals.cases import decide
from beleg.evals.cases.case import Expectation
from beleg.evals.cases.dataset import Dataset
from beleg.evals.cases.decide import Wish
from beleg.evals.cases.freeze import Frozen, freeze, look
from beleg.evals.cases.pen import Person
from beleg.evals.cases.table import tabulate
from beleg.evals.cases.verify import verify
from beleg.lake.snapshot import Snapshot
from beleg.trace.fingerprint import fingerprint
from tests.evals.cases.support import BEN, LEAD, Office
from tests.events import event


@pytest.fixture
def office(tmp_path: Path) -> Office:
    return Office(tmp_path)


def accepted(office: Office, *ids: str, wish: Wish | None = None) -> Frozen:
    for id_ in ids:
        decide.accept(office.settings, id_, LEAD, wish, pen=office.pen())
    office.ingest()
    return freeze(office.settings)


def reasons(found: Frozen) -> dict[str, str]:
    return {each.subject: each.code for each in found.pending}


def test_what_a_person_accepted_becomes_a_case_in_the_dataset_of_the_draft(office: Office) -> None:
    office.take(
        *office.run("r1", labels={"country": "DE"}, canon_version="jcs"),
        *office.run("r2"),
        office.correction("c1", "r1", "/gross", 119.0),
        office.correction("c2", "r1", "/net", 100.0, author_hash=BEN, reason="mapping_bug"),
        office.correction("c3", "r2", "/gross", 5),
    )
    found = accepted(office, "c1", "c2")
    (case,) = Dataset.load(office.project, "receipts-1").cases()
    assert found.written == (case.digest,)
    assert dict(case.expected) == {"/gross": Expectation(119.0), "/net": Expectation(100.0)}
    assert (case.feature, case.workflow, case.input_ref) == ("receipts", "ocr", "ref-r1")
    assert (case.input_hash, case.canon_version, case.slices) == (fingerprint("r1"), "jcs", {"country": "DE"})
    assert case.provenance.runs == ("r1",)
    assert [(each.by, each.why) for each in case.provenance.accepted] == [(LEAD.by, LEAD.why)] * 2
    before = office.files()
    again = freeze(office.settings)
    assert (again.written, again.datasets, office.files()) == ((), (), before)


def test_more_about_the_same_input_is_a_new_version_and_the_old_file_stays(office: Office) -> None:
    office.take(
        *office.run("r1"),
        *office.run("r2", document="r1"),
        office.correction("c1", "r1", expected=5),
        office.correction("c2", "r2", "/net", 4),
    )
    accepted(office, "c1")
    first = office.files()
    accepted(office, "c2", wish=Wish(critical=True, family="acme", slices={"form": "paper"}))
    (case,) = Dataset.load(office.project, "receipts-1").cases()
    assert (case.provenance.runs, case.critical, case.family) == (("r1", "r2"), True, "acme")
    assert case.slices == {"form": "paper"}
    assert first.items() <= office.files().items()
    one, two = (Dataset.load(office.project, "receipts-1", version) for version in (1, 2))
    assert (two.previous, two.members.keys()) == (one.digest, one.members.keys())


def test_why_something_accepted_is_no_case(office: Office) -> None:
    nowhere = {"run_id": None, "output_hash": "ee" * 32}
    office.take(
        *office.run("r1", input_ref=None),
        *office.run("r2", input_hash=None),
        *office.run("r3", workflow="chat"),
        *office.run("r4"),
        *office.run("r5", document="r4"),
        office.correction("no-ref", "r1", expected=1),
        office.correction("no-hash", "r2", expected=1),
        office.correction("no-feature", "r3", expected=1, workflow="chat"),
        office.correction("no-value", "r4"),
        event(
            "correction",
            "lost",
            "2024-01-01T10:00:00Z",
            correction_id="lost",
            field="/a",
            **{k: v for k, v in nowhere.items() if v},
        ),
        office.correction("wrong-run", "r4", expected=1, input_hash="dd" * 32),
        office.correction("no-pointer", "r4", field="gross", expected=1),
        event("review", "stranger", "2024-01-01T10:00:00Z", subject="nobody-knows"),
    )
    found = accepted(office, "no-ref", "no-hash", "no-feature", "no-value", "lost", "wrong-run", "no-pointer")
    assert reasons(found) == {
        "no-ref": "no_input_ref",
        "no-hash": "no_input_hash",
        "no-feature": "no_feature",
        "no-value": "no_expected",
        "lost": "unbound",
        "wrong-run": "fingerprints_differ",
        "no-pointer": "bad_field",
        "nobody-knows": "unknown",
    }
    assert all(each.reason and each.by for each in found.pending)
    assert not any("cases" in name for name in office.files())


def test_a_person_supplies_what_a_correction_lacks(office: Office) -> None:
    office.take(
        *office.run("r1", input_ref=None),
        *office.run("r2"),
        office.correction("c1", "r1", expected=5),
        office.correction("c2", "r2"),
    )
    made = [
        decide.accept(office.settings, "c1", LEAD, Wish(input_ref="archive/7"), pen=office.pen()),
        decide.accept(office.settings, "c2", LEAD, Wish(expected=None), pen=office.pen()),
    ]
    office.ingest()
    found = freeze(office.settings)
    assert not found.pending
    assert {case.input_ref: case.expectation("gross") for case in found.cases} == {
        "archive/7": Expectation(5),
        "ref-r2": Expectation(None),
    }
    assert {case.provenance.corrections for case in found.cases} == {(each.correction,) for each in made}


def test_a_fingerprint_that_fits_several_runs_of_one_input_makes_one_case(office: Office) -> None:
    same = {"input_hash": "aa" * 32, "input_ref": "ref"}
    office.take(
        *office.run("r1", **same),
        *office.run("r2", **same),
        office.correction("c1", "r1", expected=5, run_id=None, input_hash="aa" * 32),
    )
    (case,) = accepted(office, "c1").cases
    assert case.provenance.runs == ("r1", "r2")


def test_one_that_fits_runs_of_several_inputs_is_listed(office: Office) -> None:
    def run(name: str) -> list[dict[str, Any]]:
        *before, end = office.run(name)
        return [*before, {**end, "output_hash": "bb" * 32}]

    office.take(*run("r1"), *run("r2"), office.correction("c1", "r1", expected=5, run_id=None, output_hash="bb" * 32))
    assert reasons(accepted(office, "c1")) == {"c1": "ambiguous"}


def test_people_who_disagree_keep_the_case_out_until_one_settles_it(office: Office) -> None:
    office.take(
        *office.run("r1"),
        *office.run("r2"),
        office.correction("c1", "r1", expected=5),
        office.correction("c2", "r1", expected=6, author_hash=BEN),
        office.correction("c3", "r2", expected=1),
    )
    accepted(office, "c1", "c3")
    found = accepted(office, "c2")
    (conflict,) = found.conflicts
    assert (conflict.field, [word.correction for word in conflict.words]) == ("/gross", ["c1", "c2"])
    dataset = Dataset.load(office.project, "receipts-1")
    assert len(dataset.members) == 1
    assert not dataset.retired
    with pytest.raises(UsageError, match="no conflict on '/net'"):
        decide.settle(office.settings, conflict.case_id, "net", LEAD, correction="c1")
    with pytest.raises(UsageError, match="no side of that conflict"):
        decide.settle(office.settings, conflict.case_id, "gross", LEAD, correction="c3")
    with pytest.raises(UsageError, match="either"):
        decide.settle(office.settings, conflict.case_id, "gross", LEAD)
    decide.settle(office.settings, conflict.case_id, "gross", LEAD, correction="c2", pen=office.pen())
    office.ingest()
    settled = freeze(office.settings)
    assert not settled.conflicts
    assert Dataset.load(office.project, "receipts-1").case(conflict.case_id).expectation("gross") == Expectation(6)


def test_a_conflict_can_be_settled_with_another_value(office: Office) -> None:
    office.take(
        *office.run("r1"),
        office.correction("c1", "r1", "", {"gross": 5}),
        office.correction("c2", "r1", "/gross", 6, author_hash=BEN),
    )
    (conflict,) = accepted(office, "c1", "c2").conflicts
    made = decide.settle(office.settings, conflict.case_id, "/gross", LEAD, expected=7, pen=office.pen())
    office.ingest()
    (case,) = freeze(office.settings).cases
    assert (case.expectation("gross"), case.expected[""]) == (Expectation(7), Expectation({"gross": 5}))
    assert case.provenance.corrections == tuple(sorted(("c1", made.correction or "")))


def test_what_is_turned_down_later_is_retired_with_the_reason(office: Office) -> None:
    office.take(*office.run("r1"), office.correction("c1", "r1", expected=5), office.correction("c2", "r1", "/net", 4))
    (case,) = accepted(office, "c1", "c2").cases
    decide.reject(office.settings, "c2", Person("ben", "misread"), pen=office.pen())
    office.ingest()
    assert dict(freeze(office.settings).cases[0].expected) == {"/gross": Expectation(5)}
    decide.reject(office.settings, "c1", Person("ben", "wrong document"), pen=office.pen())
    office.ingest()
    freeze(office.settings)
    dataset = Dataset.load(office.project, "receipts-1")
    assert (dataset.version, dict(dataset.members)) == (3, {})
    assert (dataset.retired[case.case_id].why, dataset.retired[case.case_id].by) == ("wrong document", "ben")
    found = accepted(office, "c1")
    assert reasons(found) == {"c1": "retired"}
    assert Dataset.load(office.project, "receipts-1").version == 3


def test_an_accepted_correction_replaces_what_it_supersedes_over_any_chain(office: Office) -> None:
    office.take(
        *office.run("r1"),
        office.correction("c1", "r1", expected=5),
        office.correction("c2", "r1", expected=6, supersedes="c1", author_hash=BEN),
        office.correction("c3", "r1", expected=7, supersedes="c2", author_hash="33" * 32),
    )
    assert accepted(office, "c1").cases[0].expectation("gross") == Expectation(5)
    (case,) = accepted(office, "c3").cases
    assert (case.expectation("gross"), case.provenance.corrections) == (Expectation(7), ("c3",))


def test_corrections_that_name_each_other_replace_neither(office: Office) -> None:
    at = {"event_time": "2024-01-01T10:00:00Z"}
    one = {**office.correction("c1", "r1", expected=5, supersedes="c2"), **at}
    two = {**office.correction("c2", "r1", expected=6, supersedes="c1", author_hash=BEN), **at}
    office.take(*office.run("r1"), one, two)
    assert accepted(office, "c1", "c2").conflicts


def test_what_was_pruned_from_the_lake_stays_frozen(office: Office) -> None:
    office.take(
        *office.run("r1"),
        office.correction("c1", "r1", expected=5),
        office.correction("c2", "r1", "/net", 4),
        *office.run("r2"),
        office.correction("c3", "r2", expected=1),
    )
    accepted(office, "c1", "c2", "c3")
    before = office.files()
    lake = office.settings.lake
    for name in ("corrections", "reviews", "bindings", "runs_started"):
        (lake / name).rename(lake / f".gone-{name}")
    assert (freeze(office.settings).datasets, office.files()) == ((), before)


def test_a_forgotten_half_of_a_case_stays_and_the_other_half_still_follows_people(office: Office) -> None:
    office.take(*office.run("r1"), office.correction("c1", "r1", expected=5))
    accepted(office, "c1")
    old = office.settings.home.rename(office.settings.home.with_name("old"))
    assert old.exists()
    office.take(*office.run("r9", document="r1"), office.correction("c9", "r9", "/net", 4))
    (case,) = accepted(office, "c9").cases
    assert dict(case.expected) == {"/gross": Expectation(5), "/net": Expectation(4)}
    assert case.provenance.corrections == ("c1", "c9")
    decide.reject(office.settings, "c9", LEAD, pen=office.pen())
    office.ingest()
    assert dict(freeze(office.settings).cases[0].expected) == {"/gross": Expectation(5)}


def test_a_hashed_workflow_keeps_fingerprints_alone(office: Office) -> None:
    office.take(
        *office.run("r1", workflow="dunning"),
        office.correction("c1", "r1", expected_hash=fingerprint("Frau Beispiel"), workflow="dunning"),
    )
    decide.accept(office.settings, "c1", LEAD, Wish(expected="Herr Muster"), pen=office.pen())
    office.ingest()
    (case,) = freeze(office.settings).cases
    assert case.expected == {"/gross": Expectation(hash=fingerprint("Herr Muster"))}
    assert case.feature == "letters"


def test_a_keyed_input_makes_a_case_under_its_key(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = {"active": "k2", "keys": {"k1": "11" * 32, "k2": "22" * 32}}
    monkeypatch.setenv("BELEG_HASH_KEYS", json.dumps(keys))
    office.take(*office.run("r1", workflow="dunning", hash_key_id="k1"), office.correction("c1", "r1"))
    decide.accept(office.settings, "c1", LEAD, Wish(expected="right"), pen=office.pen())
    office.ingest()
    (case,) = freeze(office.settings).cases
    assert (case.hash_key_id, case.expected["/gross"].hash) == ("k1", fingerprint("right", key="k1"))


def test_the_run_tells_which_of_two_features_it_belongs_to(tmp_path: Path) -> None:
    office = Office(tmp_path, a=("ocr", "a-1"), b=("ocr", None))
    office.take(
        *office.run("r1"),
        *office.run("r2", feature="b"),
        *office.run("r3", feature="a"),
        *(office.correction(f"c{n}", f"r{n}", expected=n) for n in (1, 2, 3)),
    )
    found = accepted(office, "c1", "c2", "c3")
    by_feature = {case.feature: case for case in found.cases}
    assert by_feature.keys() == {"a", "b"}
    assert reasons(found) == {"c1": "several_features", by_feature["b"].case_id: "no_dataset"}
    assert [dataset.name for dataset in found.datasets] == ["a-1"]


def test_families_and_slices_follow_the_policy(office: Office) -> None:
    policy = office.project / "evals" / "policies" / "cases.yaml"
    policy.parent.mkdir()
    policy.write_text("defaults: {family: 'input_key:/'}\nfeatures:\n  receipts: {slices: [country]}\n")
    office.take(
        *office.run("r1", input_key="acme/7", labels={"country": "DE", "release": "9"}),
        office.correction("c1", "r1", expected=5),
    )
    (case,) = accepted(office, "c1").cases
    assert (case.family, case.slices) == ("acme", {"country": "DE"})


@pytest.mark.parametrize(
    "text",
    [
        "defaults: {family: colour}",
        "defaults: {family: 'label:'}",
        "features: {a: {slices: [1]}}",
        "other: 1",
        "defaults: {family: 'tenant:x'}",
    ],
)
def test_a_policy_that_says_nothing_allowed_is_refused(office: Office, text: str) -> None:
    policy = office.project / "evals" / "policies" / "cases.yaml"
    policy.parent.mkdir()
    policy.write_text(text)
    with pytest.raises(UsageError, match=r"cases\.yaml"):
        look(office.settings)


def test_what_its_source_changed_after_it_was_accepted_is_not_taken_over(office: Office) -> None:
    correction = office.correction("c1", "r1", expected=5)
    office.take(*office.run("r1"), correction)
    accepted(office, "c1")
    before = office.files()
    office.take({**correction, "expected": 6, "revision": "2024-03-01T10:00:00Z"})
    found = freeze(office.settings)
    assert (reasons(found), found.datasets, office.files()) == ({"c1": "revised"}, (), before)
    office.take(event("review", "again", "2024-03-02T10:00:00Z", subject="c1"))
    assert freeze(office.settings).cases[0].expectation("gross") == Expectation(6)


def test_a_hostile_value_stops_nothing_else(office: Office) -> None:
    deep: Any = 1
    for _ in range(250):
        deep = [deep]
    values = {"deep": deep, "long": 10**5000, "huge": 1e308, "mark": {"$beleg": ["x", 1]}, "text": "\u2028</script>"}
    events: list[dict[str, Any]] = []
    for n, (name, value) in enumerate(values.items()):
        review = event("review", f"of {name}", "2024-01-02T10:00:00Z", subject=name)
        events += [*office.run(f"r{n}"), office.correction(name, f"r{n}", expected=value), review]
    sys.set_int_max_str_digits(6000)
    office.take(*events)
    sys.set_int_max_str_digits(4300)
    found = freeze(office.settings)
    kept = {one for case in found.cases for one in case.provenance.corrections}
    assert kept | set(reasons(found)) == set(values)
    assert {"huge", "mark", "text"} <= kept
    assert not verify(office.project).problems


def test_looking_writes_nothing_and_freezing_needs_a_project(office: Office) -> None:
    office.take(*office.run("r1"), office.correction("c1", "r1", expected=5))
    decide.accept(office.settings, "c1", LEAD, pen=office.pen())
    office.ingest()
    before = office.files()
    assert look(office.settings).datasets
    assert office.files() == before
    with pytest.raises(UsageError, match="BELEG_PROJECT"):
        freeze(replace(office.settings, project=None))


def test_nothing_is_built_on_a_file_that_was_changed(office: Office) -> None:
    office.take(*office.run("r1"), office.correction("c1", "r1", expected=5), office.correction("c2", "r1", "/net", 4))
    accepted(office, "c1")
    (path,) = (office.project / "evals" / "cases" / "receipts").glob("*.json")
    path.write_text(path.read_text().replace("5", "6"))
    with pytest.raises(DamagedError, match=path.name):
        accepted(office, "c2")
    assert not (office.project / "evals/datasets/receipts-1/v002.json").exists()


def test_the_table_shows_what_datasets_hold_and_never_a_value(office: Office) -> None:
    office.take(
        *office.run("r1"),
        office.correction("c1", "r1", expected="SECRET-GROSS"),
        *office.run("r2"),
        office.correction("c2", "r2", expected=1),
    )
    accepted(office, "c1", "c2")
    decide.reject(office.settings, "c2", Person("ben", "wrong"), pen=office.pen())
    office.ingest()
    freeze(office.settings)
    assert tabulate(office.settings) == 2
    office.publish()
    rows = office.at.ask("SELECT input_ref, state, dataset_version, fields, retired_by FROM eval_cases ORDER BY 1")
    assert rows == [("ref-r1", "in", 2, ["/gross"], None), ("ref-r2", "retired", 2, ["/gross"], "ben")]
    assert "SECRET" not in str(office.at.ask("SELECT * FROM eval_cases"))
    version = Snapshot.latest(office.settings).versions["eval_cases"]
    tabulate(office.settings)
    assert Snapshot.latest(office.settings).versions["eval_cases"] == version


@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(order=st.permutations(range(6)), cuts=st.integers(1, 3))
def test_events_in_any_order_and_number_of_files_freeze_the_same(
    order: list[int], cuts: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    office = Office(tmp_path_factory.mktemp("office"))
    review = {"why": "seen", "by": "lead"}
    parts = [
        office.run("r1"),
        office.run("r2"),
        [office.correction("c1", "r1", expected=5)],
        [office.correction("c2", "r2", expected=6)],
        [event("review", "e1", "2024-01-02T10:00:00Z", subject="c1", **review)],
        [event("review", "e2", "2024-01-02T11:00:00Z", subject="c2", **review, labels={"critical": "true"})],
    ]
    fixed = {"c1": "2024-01-01T10:00:00Z", "c2": "2024-01-01T11:00:00Z"}
    shuffled = [
        {**each, "event_time": fixed.get(each["event_id"], each["event_time"])} for n in order for each in parts[n]
    ]
    size = -(-len(shuffled) // cuts)
    for start in range(0, len(shuffled), size):
        office.take(*shuffled[start : start + size])
    freeze(office.settings)
    files = office.files()
    assert fingerprint({name: data.decode() for name, data in files.items()}) == _expected_files(files)


_seen: list[str] = []


def _expected_files(files: dict[str, bytes]) -> str:
    """What the first order gave: every other one must give the same bytes."""
    _seen.append(fingerprint({name: data.decode() for name, data in files.items()}))
    assert len(files) == 3
    return _seen[0]
