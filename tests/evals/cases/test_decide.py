"""What a person decides is written down at once and whole, or refused with words on what would be right."""

import json
from pathlib import Path
from typing import Any

import pytest

from beleg import flow
from beleg.core.errors import UsageError
from beleg.evals.cases import decide
from beleg.evals.cases.decide import Wish
from beleg.evals.cases.freeze import freeze
from beleg.evals.cases.pen import Person
from beleg.evals.findings import findings
from beleg.trace.fingerprint import fingerprint
from tests.evals.cases.support import ANNA, BEN, LEAD, Office


@pytest.fixture
def office(tmp_path: Path) -> Office:
    made = Office(tmp_path)
    made.take(*made.run("r1"), made.correction("c1", "r1", expected=5))
    return made


def spooled(office: Office) -> list[dict[str, Any]]:
    return [
        json.loads(line) for path in office.settings.spool.glob("*.jsonl") for line in path.read_bytes().splitlines()
    ]


def test_a_decision_is_one_event_that_the_schema_takes(office: Office) -> None:
    wish = Wish(critical=True, family="acme", slices={"country": "DE"})
    assert decide.accept(office.settings, "c1", LEAD, wish, pen=office.pen()).subjects == ("c1",)
    (event,) = spooled(office)
    assert (event["subject"], event["decision"], event["by"], event["why"]) == ("c1", "accept", LEAD.by, LEAD.why)
    assert event["labels"] == {"critical": "true", "family": "acme", "slice.country": "DE"}
    assert flow.ingest(office.settings).quarantined == 0


def test_another_value_is_a_correction_of_the_person_who_gave_it(office: Office) -> None:
    made = decide.accept(office.settings, "c1", LEAD, Wish(expected=6), pen=office.pen())
    correction, review = spooled(office)
    assert (correction["supersedes"], correction["expected"], correction["run_id"]) == ("c1", 6, "r1")
    assert correction["author_hash"] == fingerprint(LEAD.by)
    assert review["subject"] == correction["correction_id"] == made.correction


def test_another_reference_leaves_the_words_to_their_author(office: Office) -> None:
    decide.accept(office.settings, "c1", LEAD, Wish(input_ref="archive/1"), pen=office.pen())
    correction, _ = spooled(office)
    assert (correction["input_ref"], correction["expected"], correction["author_hash"]) == ("archive/1", 5, ANNA)


def test_a_person_may_add_to_what_was_accepted_and_start_afresh_after_a_rejection(office: Office) -> None:
    decide.accept(office.settings, "c1", LEAD, Wish(critical=True), pen=office.pen())
    decide.accept(office.settings, "c1", LEAD, Wish(family="acme"), pen=office.pen())
    office.ingest()
    (case,) = freeze(office.settings).cases
    assert (case.critical, case.family) == (True, "acme")
    decide.reject(office.settings, "c1", LEAD, pen=office.pen())
    decide.accept(office.settings, "c1", LEAD, Wish(family="other"), pen=office.pen())
    office.ingest()
    (case,) = freeze(office.settings).cases
    assert (case.critical, case.family) == (False, "other")


REFUSED = [
    Wish(family="two words"),
    Wish(family=""),
    Wish(slices={"country": "a" * 257}),
    Wish(slices={"a country": "DE"}),
    Wish(slices={f"s{n}": "1" for n in range(31)}),
    Wish(input_ref="an invoice of Frau Beispiel"),
    Wish(input_ref="r" * 513),
    Wish(expected=float("nan")),
    Wish(expected="\ud800"),
    Wish(expected="x" * 17_000),
]


def test_what_cannot_be_kept_is_refused_and_nothing_is_written(office: Office) -> None:
    for wish in REFUSED:
        with pytest.raises(UsageError):
            decide.accept(office.settings, "c1", LEAD, wish)
    assert not spooled(office)


def test_a_word_on_what_was_replaced_is_refused(office: Office) -> None:
    made = decide.accept(office.settings, "c1", LEAD, Wish(expected=6), pen=office.pen())
    office.ingest()
    for call in (decide.accept, decide.reject):
        with pytest.raises(UsageError, match=f"{made.correction} was accepted in place of c1"):
            call(office.settings, "c1", LEAD)


@pytest.mark.parametrize(
    ("by", "why"),
    [("", "x"), (" ", "x"), ("x", ""), ("x" * 201, "x"), ("x", "y" * 1001), ("a\nb", "x"), ("x", "a\x1b[2Jb")],
)
def test_who_decides_says_who_and_why_on_one_line(by: str, why: str) -> None:
    with pytest.raises(UsageError, match="write 1 to"):
        Person(by, why)


def test_what_the_lake_does_not_know_cannot_be_decided_on(office: Office) -> None:
    office.publish()
    for call in (decide.accept, decide.reject):
        with pytest.raises(UsageError, match="no correction or finding 'c9'"):
            call(office.settings, "c9", LEAD)


def test_an_id_that_two_corrections_bear_is_refused(office: Office) -> None:
    office.take({**office.correction("c1", "r1", expected=7), "source": "other"})
    with pytest.raises(UsageError, match="several corrections"):
        decide.accept(office.settings, "c1", LEAD)


def test_a_finding_means_all_its_corrections(office: Office) -> None:
    office.take(*(e for n in range(5) for e in (*office.run(f"f{n}"), office.correction(f"f{n}", f"f{n}", "/iban", n))))
    office.publish()
    (finding,) = [each for each in findings(office.settings) if each["field"] == "/iban"]
    with pytest.raises(UsageError, match="is a finding"):
        decide.accept(office.settings, finding["finding_id"], LEAD, Wish(expected=1))
    made = decide.accept(office.settings, finding["finding_id"], LEAD, Wish(critical=True), pen=office.pen())
    assert made.subjects == tuple(f"f{n}" for n in range(5))
    office.ingest()
    found = freeze(office.settings)
    assert len(found.cases) == 5
    assert all(case.critical for case in found.cases)
    assert not found.pending
    office.publish()
    (finding,) = [each for each in findings(office.settings) if each["field"] == "/iban"]
    assert finding["status"] == "accepted"
    decide.reject(office.settings, finding["finding_id"], Person("ben", "the form changed"), pen=office.pen())
    office.ingest()
    assert not freeze(office.settings).cases


def test_what_comes_later_is_not_accepted_with_a_finding(office: Office) -> None:
    office.take(*(e for n in range(4) for e in (*office.run(f"f{n}"), office.correction(f"f{n}", f"f{n}", "/iban", n))))
    office.publish()
    (finding,) = [each for each in findings(office.settings) if each["field"] == "/iban"]
    decide.accept(office.settings, finding["finding_id"], LEAD, pen=office.pen())
    office.take(*office.run("late"), office.correction("late", "late", "/iban", 9, author_hash=BEN))
    assert len(freeze(office.settings).cases) == 4
