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
    "proxy": [tool("call_tool"), tool("use_tool"), tool("rpc"), tool("helper", tool_name=TEXT)],
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


CHOICE = {"enum": ["check", "submit"]}


def of(**schema: Any) -> Any:
    """A harmless tool with this input schema."""
    return replace(tool("vat_return", "Prepares the return."), input_schema={"type": "object", **schema})


@pytest.mark.parametrize(
    "looks",
    [
        of(properties={"mode": CHOICE}),
        of(properties={"mode": {"oneOf": [{"const": "check"}, {"const": "submit"}]}}),
        of(properties={"mode": {"anyOf": [CHOICE, {"type": "null"}]}}),
        of(properties={"mode": {"allOf": [{"type": "string"}, {"if": CHOICE}]}}),
        of(properties={"modes": {"type": "array", "items": CHOICE}}),
        of(properties={"modes": {"type": "array", "prefixItems": [CHOICE]}}),
        of(properties={"mode": {"$ref": "#/$defs/m"}}, **{"$defs": {"m": CHOICE}}),
        of(properties={"submit": {"$ref": "#/$defs/flag"}}, **{"$defs": {"flag": {"type": "boolean"}}}),
        of(properties={"pay_now": {"$ref": "#/$defs/a~1b"}}, **{"$defs": {"a/b": {"type": "boolean"}}}),
        of(patternProperties={"^m$": CHOICE}),
        of(patternProperties={"^(submit|check)$": {"type": "string"}}),
        of(additionalProperties=CHOICE),
        of(propertyNames=CHOICE),
        of(properties={"mode": {"type": "string", "pattern": "^(check|submit)$"}}),
        of(properties={"mode": {"type": "string", "description": "check or submit"}}),
        of(properties={"mode": {"type": "string", "title": "Check or submit"}}),
        of(properties={"mode": {"type": "string", "default": "submit"}}),
        of(properties={"mode": {"type": "string", "examples": ["submit"]}}),
        of(properties={"mode": {"const": {"do": ["submit"]}}}),
        of(properties={"live": {"type": "boolean"}}),
        of(properties={"test": {"type": "boolean", "description": "false files it for real"}}),
        of(properties={"later": {"type": "boolean", "description": "false files it for real"}}),
        of(properties={"submit": {"type": ["boolean", "null"]}}),
        of(properties={"submit": {"enum": [True, False]}}),
        of(properties={"submit": {}}),
        of(properties={"submit": True}),
        of(properties={"submit": {"type": "integer", "maximum": 1}}),
        of(properties={"send_letter": {"anyOf": [{"type": "boolean"}, {"type": "null"}]}}),
        of(properties={"send_letter": {"enum": [0, 1]}}),
        of(properties={"sofort_zahlen": {"type": "boolean"}}),
        of(properties={"method": {"const": "submit"}}),
        of(required=["submit"]),
    ],
    ids=lambda each: str(each.input_schema)[:90],
)
def test_choice_and_switch_are_seen_wherever_they_stand_in_the_schema(looks: Any) -> None:
    assert signs(looks)


@pytest.mark.parametrize(
    "said",
    [
        "Überträgt die Voranmeldung an das Finanzamt.",
        "Gibt die Zahlung frei.",
        "Gibt z. B. die Zahlung frei und merkt sich das.",
        "Weist den Betrag zur Zahlung an.",
        "Schickt die Erklärung ab.",
        "Schickt die Erkla\u0308rung ab",
        "Löst die Zahlung aus.",
        "Führt die Überweisung aus.",
        "Übermittlung der Steuererklärung an ELSTER.",
        "Prüft. Versand von Rechnungen.",
        "Beantragt eine Fristverlängerung.",
        "Begleicht eine Rechnung.",
        "Lodges the return with the tax office.",
        "Hands in the return",
        "Disburses the amount",
        "Writes off the receivable.",
        "Submission of the return.",
    ],
)
def test_sentence_that_tells_of_a_binding_act_is_seen(said: str) -> None:
    assert signs(tool("voranmeldung", said))


NAMES = """
    elster_uebertragung sammelueberweisung rechnungsversand zahlungsanweisung zahlungsanweisungen beantragen begleichen
    settle_invoice disburse lodge_return dispatch_letter forward_document apply_payment execute_order register_company
    hand_in submitReturn SubmitVAT submitVAT2 VATSubmit vatsubmit autosubmit resubmit_return paybill initiate_payment
    get_payment_and_execute create_payment_list payments_list_create finalize send2bank
    s\u200bubmit sub\u00admit subm\u0456t \u0455ubmit \u03c1\u0430\u0443 PA\u0423_invoice s\u0323ubmit \ufeffpay
"""


@pytest.mark.parametrize("name", NAMES.split(), ids=ascii)
def test_name_of_a_binding_act_is_seen_however_it_is_written(name: str) -> None:
    assert signs(tool(name, "x"))


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
        tool("list_payments", "Reads payments.", order_number={"type": "string", "description": "Number of the order"}),
        tool("payment_draft", "Drafts a payment."),
        tool("get_payday", pay_period={"type": "string"}, pay_day={"type": "integer", "maximum": 31}),
        tool("get_payday", pay_period={"anyOf": [{"type": "string"}, {"type": "null"}]}),
        tool("lies_belege", "Gibt an, ob ein Beleg vorliegt. Zeigt nur an. Weist auf Lücken hin."),
        tool("kennzahlen", "Stellt Daten zusammen und führt sie auf. Löst Konten auf."),
        tool("get_submissions", "Reads what was submitted."),
        tool("lies_freigaben", "Liest, welche Freigabe fehlt."),
        of(anyOf=[{"required": ["pay_period"]}], properties={"pay_period": {"type": "string"}}),
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


@pytest.mark.parametrize(
    "reference", ["#", "#/", "#/$defs/a", "#/$defs/none", "#/properties/x", "other.json#/a", "#/a/0"]
)
def test_any_reference_is_followed_once(reference: str) -> None:
    schema = {"properties": {"x": {"$ref": reference}}, "$defs": {"a": {"$ref": "#/$defs/a"}}, "a": [{}]}
    assert signs(of(**schema)) == ()


def test_words_beyond_what_is_looked_through_are_a_sign() -> None:
    found = signs(of(properties={f"p{n}": {"description": "x" * 19_000} for n in range(20)}))
    assert [(each.kind, each.place) for each in found] == [("size", "input_schema")]
    assert "size" in {each.kind for each in signs(of(properties={"p": {"description": " " * 30_000 + "submits"}}))}


def test_deep_and_long_tools_are_looked_through() -> None:
    deep: dict[str, Any] = {}
    for _ in range(10_000):
        deep = {"properties": {"a": deep}}
    assert signs(replace(tool("a", "send " * 1_000_000), input_schema=deep))
