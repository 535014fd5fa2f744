"""The 102 tools of the example do what they say, on books with something in them."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beleg.agent.example.agent import TOOLSET
from beleg.agent.example.context import Books, Company, Context, User
from beleg.agent.toolsets import Offer
from beleg.core.errors import BelegError

TEXTS = {
    r"^\d{4}-\d{2}-\d{2}$": "2026-11-30",
    r"^\d{4}-\d{2}$": "2026-11",
    r"^\d{4}-(?:\d{2}|Q[1-4])$": "2026-Q4",
    r"^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$": "DE02120300000000202051",
    r"^\d{4,8}$": "4400",
    "^[A-Z]{2}$": "DE",
}
"""A text for each pattern that the example uses."""
KINDS = {"invoice_id": "invoice", "customer_id": "customer", "transaction_id": "transaction", "receipt_id": "receipt"}
KINDS |= {"draft_id": "payment_draft", "employee_id": "employee", "client_id": "client", "client_ids": "client"}


def books() -> Books:
    made = Books()
    made.add("customer", {"name": "Ada", "address": "Ulm"})
    made.add("invoice", {"customer_id": "customer-1", "day": "2026-10-01", "due": "2026-10-15"})
    made.add("invoice_line", {"invoice_id": "invoice-2", "net": 100, "gross": 119})
    made.add("transaction", {"day": "2026-11-02", "amount": -500, "text": "Bahn"})
    made.add("receipt", {"supplier": "Bahn", "day": "2026-11-02"})
    made.add("payment_draft", {"payee": "Bahn"})
    made.add("employee", {"name": "Eve", "first_day": "2026-01-01", "gross": 300_000})
    made.add("client", {"name": "Bob"})
    made.add("client_date", {"day": "2026-11-10"})
    made.add("entry", {"number": "4400", "day": "2026-11-02", "client_id": "client-8"})
    made.add("account", {"number": "4400", "name": "Umsatz"})
    return made


def offers() -> list[Offer[Context]]:
    """Somebody for every group."""
    shared = books()
    people = [
        Context(books=shared),
        Context(company=Company(is_incorporated=True, has_employees=True), books=shared),
        Context(company=Company(is_founding=True), books=shared),
        Context(User("tax_adviser"), Company(is_incorporated=True, is_new=False), books=shared),
    ]
    return [TOOLSET.for_context(person) for person in people]


def sample(name: str, schema: dict[str, Any], rows: Books) -> Any:
    """The plainest value that a schema takes; ids are those of rows that are there."""
    if "enum" in schema or "const" in schema:
        return schema.get("const", schema.get("enum", [None])[0])
    if "anyOf" in schema:
        return sample(name, schema["anyOf"][0], rows)
    if schema.get("type") == "array":
        return [sample(name, schema["items"], rows)]
    if schema.get("type") != "string":
        return {"integer": schema.get("minimum", 1), "boolean": True}[schema["type"]]
    return rows.find(KINDS[name])[0]["id"] if name in KINDS else TEXTS.get(schema.get("pattern", ""), "Bahn")


def test_together_the_four_are_offered_all_102() -> None:
    assert {tool.name for offer in offers() for tool in offer.tools} == set(TOOLSET.tools)


@pytest.mark.parametrize("name", TOOLSET.tools)
def test_every_tool_answers_on_books_with_something_in_them(name: str) -> None:
    offer = next(offer for offer in offers() if name in offer.cohort.by_name)
    tool = offer.cohort.by_name[name]
    properties = tool.input_schema["properties"]
    arguments = {key: sample(key, schema, offer.context.books) for key, schema in properties.items()}
    assert json.dumps(offer.call(name, arguments))
    required = {key: arguments[key] for key in tool.input_schema.get("required", ())}
    assert json.dumps(offer.call(name, required))


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.floats(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@given(st.data())
def test_whatever_a_model_writes_is_answered_or_refused_on_purpose(data: st.DataObject) -> None:
    offer = data.draw(st.sampled_from(offers()))
    tool = data.draw(st.sampled_from(offer.tools))
    names = st.sampled_from(sorted(tool.input_schema["properties"]) or ["x"]) | st.sampled_from(["status", "context"])
    arguments = data.draw(st.dictionaries(names, VALUES, max_size=4))
    try:
        said = offer.call(tool.name, arguments)
    except BelegError:
        return
    refused = tool.refuse is not None and said.get("error", {}).get("code") == "refused"
    assert refused or {"status", "context"}.isdisjoint(arguments)


def test_reading_changes_nothing() -> None:
    for offer in offers():
        before = repr(offer.context.books.__dict__["_rows"])
        for tool in offer.tools:
            if tool.effect == "read":
                given_ = {
                    key: sample(key, schema, offer.context.books)
                    for key, schema in tool.input_schema["properties"].items()
                }
                offer.call(tool.name, given_)
        assert repr(offer.context.books.__dict__["_rows"]) == before
