"""The state of a record: pure, total, and about relations between fields too."""

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beleg.agent.example.flows import FLOWS
from beleg.agent.example.flows.founding import FOUNDING
from beleg.agent.flows import Field, Flow, Invariant, Section
from beleg.agent.flows.flow import MOST_SHOWN
from beleg.contract.tokens import estimate
from beleg.core.errors import UsageError

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
NAMES = sorted(
    {name for flow in FLOWS for name in flow.fields} | {"operations_status", "roadmap_marks", "nominal_cents"}
)
RECORDS = st.dictionaries(st.sampled_from(NAMES), JSON, max_size=12)


def founding() -> dict[str, Any]:
    """A record with everything in it."""
    person = {"birth_date": "1990-01-01", "address": "Weg 1, Berlin"}
    return {
        "legal_form": "gmbh",
        "company_name": "Nordlicht",
        "business_purpose": "Light",
        "registered_office": "Weg 1, Berlin",
        "shareholders": [
            {"name": "Ada", **person, "nominal_cents": 15_000_00},
            {"name": "Bo", **person, "nominal_cents": 10_000_00},
        ],
        "managing_director": "Ada",
        "share_capital_cents": 25_000_00,
        "contribution": "cash_full",
        "bank_name": "Bank",
        "account_holder": "Nordlicht",
        "notary_city": "Berlin",
        "possible_dates": ["2026-03-02"],
        "interpreter_needed": False,
    }


def test_an_empty_record_has_not_started_and_lists_what_each_section_asks_for() -> None:
    state = FOUNDING.state({}).to_dict()
    assert state["status"] == "not_started"
    assert list(state["sections"]) == ["company", "shareholders", "capital", "bank", "notary"]
    assert state["sections"]["capital"] == {"complete": False, "missing": ["share_capital_cents", "contribution"]}


def test_a_full_record_is_complete() -> None:
    state = FOUNDING.state(founding())
    assert state.complete
    assert state.status == "complete"
    assert not state.markers


def test_zero_and_no_are_answers_and_blanks_are_none() -> None:
    flow = Flow(name="f", sections=(Section(name="s", fields=tuple(Field(name=n) for n in "abcd")),))
    assert flow.state({"a": 0, "b": False, "c": "  ", "d": []}).sections["s"].missing == ("c", "d")


def test_what_is_missing_in_a_part_is_named_with_its_number() -> None:
    record = founding()
    del record["shareholders"][1]["address"]
    assert FOUNDING.state(record).sections["shareholders"].missing == ("shareholders[1].address",)


def test_a_field_that_depends_on_another_is_asked_for_only_then() -> None:
    record = founding() | {"interpreter_needed": True}
    assert FOUNDING.state(record).sections["notary"].missing == ("interpreter_language",)


def test_an_invariant_is_judged_only_once_its_fields_are_given() -> None:
    record = founding()
    del record["shareholders"][0]["nominal_cents"]
    state = FOUNDING.state(record)
    assert not state.markers
    assert not state.complete


def test_a_later_edit_reopens_a_section() -> None:
    record = founding()
    assert FOUNDING.state(record).sections["capital"].complete
    record["share_capital_cents"] = 25_000_01
    assert FOUNDING.state(record).sections["capital"].missing == ("nominalSumMismatch",)


def test_a_long_list_of_missing_things_is_cut_and_counted() -> None:
    state = FOUNDING.state({"shareholders": [{}] * 100}).to_dict()
    section = state["sections"]["shareholders"]
    assert len(section["missing"]) == MOST_SHOWN
    assert section["more"] == 401 - MOST_SHOWN


@pytest.mark.parametrize("flow", FLOWS, ids=lambda flow: flow.name)
def test_the_state_costs_less_than_400_tokens_when_it_is_largest(flow: Flow) -> None:
    assert len(flow.sections) == 5
    assert estimate(json.dumps(flow.state({}).to_dict()), "o200k").tokens < 400


@given(RECORDS)
def test_any_record_has_a_state_the_same_each_time_and_stays_as_it_was(record: dict[str, Any]) -> None:
    before = copy.deepcopy(record)
    for flow in FLOWS:
        first = json.dumps(flow.state(record).to_dict())
        assert json.dumps(flow.state(copy.deepcopy(record)).to_dict()) == first
    assert record == before


@given(RECORDS, st.randoms())
def test_the_order_in_which_a_record_was_filled_does_not_show(record: dict[str, Any], random: Any) -> None:
    items = list(record.items())
    random.shuffle(items)
    for flow in FLOWS:
        assert flow.state(dict(items)).to_dict() == flow.state(record).to_dict()


def test_an_invariant_that_raises_does_not_hold() -> None:
    record = founding()
    record["shareholders"][0]["nominal_cents"] = "a lot"
    assert FOUNDING.state(record).markers["nominalSumMismatch"]["unreadable"] == "TypeError"


def test_a_flow_whose_names_clash_or_whose_invariant_looks_elsewhere_is_no_flow() -> None:
    one = Field(name="a")
    with pytest.raises(UsageError, match="twice"):
        Flow(name="f", sections=(Section(name="s", fields=(one, one)),))
    invariant = Invariant(marker="m", fields=("b",), violated=lambda _: None)
    with pytest.raises(UsageError, match="no section asks"):
        Flow(name="f", sections=(Section(name="s", fields=(one,), invariants=(invariant,)),))
    with pytest.raises(UsageError, match="operational"):
        Flow(name="f", sections=(Section(name="s", fields=(one,)),), operational=frozenset({"a"}))
