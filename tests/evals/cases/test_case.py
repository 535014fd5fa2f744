"""What a case file says, and how it is read."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import beleg
from beleg.core.errors import DamagedError
from beleg.evals.cases.case import UNKNOWN, Acceptance, Case, Expectation, Provenance, case_id_of, file_text
from beleg.evals.cases.files import case_path, read_case, write_case

CASE = Case(
    feature="receipts",
    workflow="ocr",
    input_ref="inv-1",
    input_hash="ab" * 32,
    hash_key_id=None,
    canon_version="jcs",
    expected={
        "/gross": Expectation(119.0),
        "/lines": Expectation([{"account": "4400"}]),
        "/iban": Expectation(hash="cd" * 32),
    },
    family="supplier-7",
    slices={"country": "DE"},
    critical=True,
    reasons=("extraction_error",),
    provenance=Provenance(
        {"/gross": ("c1",)}, ("r1",), (Acceptance("lead", "seen", "2030-01-01T00:00:00.000000Z", "e1"),)
    ),
)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        ("gross", Expectation(119.0)),
        ("/gross", Expectation(119.0)),
        ("lines.0.account", Expectation("4400")),
        ("/lines/0/account", Expectation("4400")),
        ("iban", Expectation(hash="cd" * 32)),
        ("/iban/country", None),
        ("lines.1.account", None),
        ("lines.-1.account", None),
        ("lines.0.account.x", None),
        ("net", None),
        ("", None),
    ],
)
def test_a_scorer_finds_what_the_case_says_of_its_field(field: str, expected: Expectation | None) -> None:
    assert CASE.expectation(field) == expected


def test_a_field_of_a_whole_result_is_looked_up_in_it() -> None:
    whole = replace(CASE, expected={"": Expectation({"gross": 5, "a/b": {"c.d": None}}), "/gross": Expectation(6)})
    assert whole.expectation("") == Expectation({"gross": 5, "a/b": {"c.d": None}})
    assert whole.expectation("gross") == Expectation(6)
    assert whole.expectation("/a~1b/c.d") == Expectation(None)
    assert whole.expectation("net") is None


def test_an_expected_null_is_a_value_and_not_unknown() -> None:
    known = Expectation(None)
    assert known.value is not UNKNOWN
    assert known.document() == {"value": None}


def test_the_name_of_the_file_is_the_fingerprint_of_its_content(tmp_path: Path) -> None:
    assert write_case(tmp_path, CASE)
    path = case_path(tmp_path, "receipts", CASE.digest)
    assert beleg.fingerprint(json.loads(path.read_text())) == path.stem == CASE.digest
    assert read_case(tmp_path, "receipts", CASE.digest) == CASE
    assert not write_case(tmp_path, CASE)


def test_layout_and_line_ends_do_not_count_but_every_value_does(tmp_path: Path) -> None:
    write_case(tmp_path, CASE)
    path = case_path(tmp_path, "receipts", CASE.digest)
    path.write_text(json.dumps(json.loads(path.read_text())).replace("\n", "\r\n"))
    assert read_case(tmp_path, "receipts", CASE.digest) == CASE
    path.write_text(path.read_text().replace("119.0", "119.1"))
    with pytest.raises(DamagedError, match=f"{CASE.digest}.json is damaged"):
        read_case(tmp_path, "receipts", CASE.digest)
    with pytest.raises(DamagedError):
        write_case(tmp_path, CASE)


@given(value=JSON)
def test_any_json_value_survives_the_file(value: Any) -> None:
    case = replace(CASE, expected={"": Expectation(value)})
    again = Case.from_document(json.loads(file_text(case.document())))
    assert again == case
    assert again.digest == case.digest


def test_the_id_stays_when_more_becomes_known_and_differs_by_key_and_feature() -> None:
    more = replace(CASE, expected={**CASE.expected, "/net": Expectation(1)})
    assert more.case_id == CASE.case_id
    assert more.digest != CASE.digest
    ids = {case_id_of(f, k, h) for f in ("a", "b") for k in (None, "k") for h in ("1" * 64, "2" * 64)}
    assert len(ids) == 8


@pytest.mark.parametrize(
    "change",
    [
        {"case_format": 2},
        {"case_id": "0" * 24},
        {"expected": {"gross": {"value": 1}}},
        {"expected": {"/gross": {"value": 1, "hash": "a" * 64}}},
        {"expected": {"/gross": {}}},
        {"expected": {"/gross": {"hash": "short"}}},
        {"expected": []},
        {"critical": "yes"},
        {"critical": 1},
        {"input_hash": "AB" * 32},
        {"slices": {"country": ""}},
        {"reasons": "extraction_error"},
        {"provenance": {"corrections": [], "runs": [], "accepted": []}},
        {"provenance": {"corrections": {}, "runs": [], "accepted": [{"by": 1}]}},
        {"feature": None},
    ],
)
def test_a_document_that_is_no_case_is_refused_with_its_name(change: dict[str, Any]) -> None:
    with pytest.raises(DamagedError, match="the file"):
        Case.from_document({**CASE.document(), **change}, "the file")
