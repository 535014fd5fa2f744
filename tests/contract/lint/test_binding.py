"""Tools that look binding are seen in German and English, by name, description, parameters, choices and switches."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beleg.contract.binding import signs
from tests.contract.lint.support import tool

TEXT = {"type": "string"}
SWITCH = {"type": "boolean"}
# One or more for each of the seventeen kinds of universal verb, and verbs that bind outright.
LOOKS = {
    "act": [
        tool("submit_return"),
        tool("submitReturn"),
        tool("ustva_einreichen"),
        tool("set_note", "Überweist den Betrag an den Lieferanten."),
        tool("set_note", "Pays the invoice."),
        tool("review_write", kind={"enum": ["comment", "approve"]}),
        tool("issue_write", state={"const": "cancel"}),
        tool("create_payment"),
        tool("neue_überweisung"),
        tool("neue_u\u0308berweisung"),
        tool("helper", "\uff33\uff45\uff4e\uff44\uff53 the letter."),
        tool("set", nested={"type": "object", "properties": {"deep": {"enum": ["stornieren"]}}}),
    ],
    "size": [
        tool("helper", "x" * 30_000),
        tool("helper", **{f"a{n}": TEXT for n in range(3_000)}),
    ],
    "shell": [tool("run_bash"), tool("helper", command=TEXT)],
    "code": [tool("python_interpreter"), tool("helper", script=TEXT)],
    "http": [tool("call_api"), tool("helper", headers=TEXT)],
    "fetch": [tool("fetch_url"), tool("helper", url=TEXT)],
    "browser": [tool("browser_click"), tool("helper", xpath=TEXT)],
    "message": [tool("email_customer"), tool("helper", recipients=TEXT)],
    "query": [tool("run_sql"), tool("helper", statement=TEXT)],
    "file_write": [tool("write_file"), tool("helper", file_path=TEXT)],
    "trigger": [tool("run_workflow"), tool("helper", run_at=TEXT)],
    "proxy": [tool("call_tool"), tool("helper", tool_name=TEXT)],
    "credentials": [tool("get_token"), tool("helper", otp=TEXT)],
    "crud": [tool("update_record"), tool("helper", status=TEXT), tool("helper", fields={"type": "object"})],
    "multiplexed": [
        tool("helper", method={"enum": ["read", "list"]}),
        tool("helper", dry_run=SWITCH),
        tool("helper", sendNow=SWITCH),
    ],
    "settings": [tool("grant_access"), tool("helper", bank_account=TEXT)],
    "rendered": [tool("render_html"), tool("helper", redirect_to=TEXT)],
    "bridge": [tool("act_as_user"), tool("helper", on_behalf_of=TEXT)],
    "time": [tool("standing_order_draft"), tool("helper", effective_at=TEXT)],
}


@pytest.mark.parametrize(("kind", "looks"), [(k, each) for k, many in LOOKS.items() for each in many])
def test_each_kind_of_universal_verb_is_seen(kind: str, looks: Any) -> None:
    assert kind in {each.kind for each in signs(looks)}


def test_all_seventeen_kinds_are_known() -> None:
    assert len(LOOKS) == 2 + 17


@pytest.mark.parametrize(
    "harmless",
    [
        tool("get_payment_status", "Liest, ob eine Zahlung eingegangen ist.", invoice_number=TEXT),
        tool("list_open_items", "Liest offene Posten.", customer=TEXT, amount_cents={"type": "integer"}),
        tool("search_bookings", "Finds bookings by text.", query=TEXT),
        tool("lookup_supplier", "Reads a supplier.", name=TEXT),
        tool("compute_vat_boxes", "Rechnet Kennzahlen aus. Liest nur.", period=TEXT),
        tool("list_submissions", "Lists past submissions.", only_open=SWITCH),
        tool("suggest_payment", "Suggests which payment belongs to an invoice."),
        tool("zahlung_lesen", "Liest eine Zahlung."),
        tool("read_message", "Reads a message that has arrived."),
    ],
    ids=lambda each: each.name,
)
def test_reading_is_not_binding(harmless: Any) -> None:
    assert signs(harmless) == ()


def test_each_sign_is_named_once_with_its_place() -> None:
    found = signs(tool("send_mail", "Sends. Sends again.", to=TEXT))
    assert len(found) == len(set(found))
    assert ("act", "name", "send") in {(each.kind, each.place, each.word) for each in found}
    assert ("message", "to", "to") in {(each.kind, each.place, each.word) for each in found}


@given(
    st.recursive(
        st.none() | st.text(max_size=5) | st.integers(),
        lambda i: st.lists(i) | st.dictionaries(st.sampled_from(["properties", "enum", "const", "type", "a"]), i),
        max_leaves=20,
    )
)
def test_any_input_schema_is_looked_through(schema: Any) -> None:
    assert isinstance(signs(replace(tool("a"), input_schema={"properties": {"x": schema}, "enum": schema})), tuple)


def test_deep_and_long_tools_are_looked_through() -> None:
    deep: dict[str, Any] = {}
    for _ in range(10_000):
        deep = {"properties": {"a": deep}}
    assert signs(replace(tool("a", "send " * 1_000_000), input_schema=deep))
