"""Who agrees, who replaces whom, who is in conflict: the same whatever the order in which things are told."""

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from beleg.evals.cases.assemble import Assembled, assemble
from beleg.evals.cases.case import Acceptance, Case, Expectation, Provenance
from beleg.evals.cases.claims import Claim
from beleg.evals.cases.values import fingerprint_under

INPUT = "ab" * 32


def claim(id_: str = "c1", field: str = "/gross", value: Any = 1, author: str | None = "anna", **more: Any) -> Claim:
    said = more.pop("said", 1)
    accepted = more.pop("accepted", said)
    known = {
        "correction": id_,
        "feature": "receipts",
        "workflow": "ocr",
        "input_ref": "ref",
        "input_hash": INPUT,
        "hash_key_id": None,
        "canon_version": "jcs",
        "field": field,
        "expectation": value if isinstance(value, Expectation) else Expectation(value),
        "reason": "extraction_error",
        "author": author,
        "said_at": f"2030-01-{said:02d}",
        "runs": ("r1",),
        "acceptance": Acceptance("lead", "seen", f"2030-02-{accepted:02d}", f"review of {id_}"),
    }
    return Claim(**{**known, **more})


def of(*claims: Claim, frozen: Case | None = None) -> Assembled:
    return assemble(claims, {} if frozen is None else {frozen.case_id: frozen}, fingerprint_under)


def only(found: Assembled) -> Case:
    assert not found.conflicts
    (case,) = found.cases.values()
    return case


def hashed(value: Any) -> Expectation:
    return Expectation(hash=fingerprint_under(value, None))


def test_corrections_of_several_fields_of_one_input_make_one_case() -> None:
    case = only(of(claim("c1", "/gross", 5), claim("c2", "/net", 4, "ben", runs=("r2",), reason="mapping_bug")))
    assert dict(case.expected) == {"/gross": Expectation(5), "/net": Expectation(4)}
    assert case.provenance.said == {"/gross": ("c1",), "/net": ("c2",)}
    assert (case.provenance.runs, case.reasons) == (("r1", "r2"), ("extraction_error", "mapping_bug"))
    assert [each.review for each in case.provenance.accepted] == ["review of c1", "review of c2"]


def test_two_people_who_agree_make_one_expectation_and_the_value_is_kept() -> None:
    case = only(of(claim("c1", value=hashed(5)), claim("c2", value=5, author="ben")))
    assert case.expected["/gross"] == Expectation(5)
    assert case.provenance.said["/gross"] == ("c1", "c2")


def test_one_and_one_point_zero_are_the_same_number() -> None:
    assert not of(claim("c1", value=1), claim("c2", value=1.0, author="ben")).conflicts


def test_two_people_who_disagree_make_a_conflict_and_no_case() -> None:
    found = of(claim("c1", value=5), claim("c2", value=6, author="ben"), claim("c3", "/net", 4))
    assert not found.cases
    (conflict,) = found.conflicts
    assert conflict.field == "/gross"
    assert [word.correction for word in conflict.words] == ["c1", "c2"]


def test_nobody_knows_whether_two_unnamed_people_are_one() -> None:
    assert of(claim("c1", value=5, author=None), claim("c2", value=6, author=None, said=2)).conflicts


def test_who_says_something_else_later_has_changed_their_mind() -> None:
    case = only(of(claim("c1", value=5, said=1, accepted=9), claim("c2", value=6, said=2, accepted=8)))
    assert case.expected["/gross"] == Expectation(6)
    assert case.provenance.corrections == ("c2",)


def test_a_whole_and_its_part_must_say_the_same() -> None:
    whole = claim("c1", "", {"gross": 5, "net": 4})
    assert only(of(whole, claim("c2", "/gross", 5, "ben"))).expected.keys() == {"", "/gross"}
    assert of(whole, claim("c2", "/gross", 6, "ben")).conflicts[0].field == "/gross"
    assert of(whole, claim("c2", "/tax", 1, "ben")).conflicts[0].field == "/tax"
    assert only(of(whole, claim("c2", "/gross", 6, "anna", said=2))).expectation("gross") == Expectation(6)
    assert only(of(whole, claim("c2", "/gross", 6, "anna", said=2))).expectation("net") == Expectation(4)


def test_a_later_whole_of_the_same_person_replaces_the_part() -> None:
    case = only(of(claim("c1", "/gross", 6), claim("c2", "", {"gross": 5}, said=2)))
    assert dict(case.expected) == {"": Expectation({"gross": 5})}


def test_a_field_whose_name_begins_alike_is_no_part() -> None:
    assert not of(claim("c1", "/a", 1), claim("c2", "/ab", 2, "ben")).conflicts


def test_a_person_settles_against_all_that_was_accepted_before() -> None:
    disputed = (claim("c1", value=5), claim("c2", value=6, author="ben", accepted=2))
    case = only(of(*disputed, claim("c3", value=7, author="lead", accepted=3, settles=True)))
    assert case.expected["/gross"] == Expectation(7)
    assert case.provenance.corrections == ("c3",)
    later = claim("c4", value=8, author="carl", accepted=4)
    assert {
        w.correction
        for w in of(
            *disputed, replace(disputed[0], settles=True, acceptance=Acceptance("lead", "", "2030-02-03", "r")), later
        )
        .conflicts[0]
        .words
    } == {"c1", "c4"}


def test_who_settles_may_choose_what_its_author_took_back() -> None:
    first = claim("c1", value=5, said=1, accepted=5, settles=True)
    assert only(of(first, claim("c2", value=6, said=2, accepted=2))).expected["/gross"] == Expectation(5)


def test_the_last_given_family_and_slices_hold_and_one_critical_is_enough() -> None:
    case = only(
        of(
            claim("c1", family="a", slices={"x": "1", "y": "1"}, critical=True),
            claim("c2", "/net", 4, family="b", slices={"x": "2"}, accepted=2),
            claim("c3", "/tax", 4, accepted=3),
        )
    )
    assert (case.family, case.slices, case.critical) == ("b", {"x": "2", "y": "1"}, True)
    assert only(of(claim())).family == only(of(claim())).case_id


def test_inputs_under_different_keys_are_different_cases() -> None:
    assert len(of(claim("c1"), claim("c2", hash_key_id="k1", value=hashed(3))).cases) == 2


def test_what_an_imported_case_says_counts_as_accepted_before() -> None:
    frozen = replace(
        only(of(claim("c0", "/net", 4))),
        provenance=Provenance({"/net": ("import:abc",)}, (), (Acceptance("importer", None, "2030-01-01", None),)),
    )
    both = only(of(claim("c1", "/gross", 5), frozen=frozen))
    assert dict(both.expected) == {"/gross": Expectation(5), "/net": Expectation(4)}
    assert both.provenance.said == {"/gross": ("c1",), "/net": ("import:abc",)}
    (conflict,) = of(claim("c1", "/net", 5), frozen=frozen).conflicts
    assert [(word.correction, word.accepted_by) for word in conflict.words] == [(None, "importer"), ("c1", "lead")]
    assert only(of(claim("c1", "/net", 5, settles=True), frozen=frozen)).expected["/net"] == Expectation(5)
    assert only(of(frozen=frozen)) is frozen


claims = st.lists(
    st.builds(
        claim,
        id_=st.sampled_from(["c1", "c2", "c3", "c4", "c5"]),
        field=st.sampled_from(["", "/a", "/a/b", "/c"]),
        value=st.sampled_from([1, 2, {"a": 1}, {"a": {"b": 1}, "c": 1}]),
        author=st.sampled_from(["anna", "ben", None]),
        said=st.integers(1, 4),
        accepted=st.integers(1, 4),
        settles=st.booleans(),
        input_hash=st.sampled_from(["ab" * 32, "cd" * 32]),
        family=st.sampled_from([None, "f"]),
        critical=st.booleans(),
    ),
    max_size=6,
    unique_by=lambda each: each.correction,
)


@given(claims, st.randoms())
def test_the_order_in_which_claims_arrive_changes_nothing(given_: list[Claim], random: Any) -> None:
    found, shuffled = of(*given_), list(given_)
    random.shuffle(shuffled)
    again = of(*shuffled)
    assert {k: c.digest for k, c in again.cases.items()} == {k: c.digest for k, c in found.cases.items()}
    assert again.conflicts == found.conflicts


@given(claims)
def test_every_input_becomes_a_case_with_something_in_it_or_a_conflict(given_: list[Claim]) -> None:
    found = of(*given_)
    disputed = {each.case_id for each in found.conflicts}
    assert found.cases.keys() | disputed == {each.case_id for each in given_}
    assert not found.cases.keys() & disputed
    assert all(case.expected for case in found.cases.values())


@given(claims)
def test_freezing_what_is_frozen_again_changes_nothing(given_: list[Claim]) -> None:
    for case_id, case in of(*given_).cases.items():
        assert assemble((), {case_id: case}, fingerprint_under).cases[case_id].digest == case.digest
