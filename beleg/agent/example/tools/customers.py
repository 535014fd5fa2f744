"""Customers and suppliers."""

from typing import Annotated, Literal

from pydantic import Field

from beleg.agent.example.context import Context, Row
from beleg.agent.example.groups import customers
from beleg.agent.example.values import Id, Most, Name, Note, Words

Country = Annotated[
    str, Field(description="Country by its two letters (ISO 3166), for example DE", pattern="^[A-Z]{2}$")
]
VatId = Annotated[str, Field(description="VAT identification number with its country letters", max_length=20)]
Address = Annotated[str, Field(description="Street and number, postal code and place", max_length=200)]


@customers.tool(binding=False, effect="read")
def list_customers(context: Context, words: Words | None = None, most: Most = 20) -> list[Row]:
    """Customers by name, all or those in whose name, address or number the words occur."""
    found = [row for row in context.books.find("customer") if (words or "").lower() in str(row).lower()]
    return sorted(found, key=lambda row: str(row["name"]))[:most]


@customers.tool(binding=False, effect="read")
def get_customer(context: Context, customer_id: Id) -> Row:
    """One customer with address, VAT number, the agreed days until due and the sum of what is open."""
    return {**context.books.one("customer", customer_id), "invoices": len(
        context.books.find("invoice", {"customer_id": customer_id}))}  # fmt: skip


@customers.tool(binding=False, effect="write")
def add_customer(
    context: Context, *, name: Name, address: Address, country: Country = "DE", vat_id: VatId | None = None,
    kind: Literal["business", "consumer"] = "business",
) -> Row:  # fmt: skip
    """Enter a new customer. Look first with `list_customers` whether the customer is there under another spelling."""
    return context.books.add(
        "customer", {"name": name, "address": address, "country": country, "vat_id": vat_id, "kind": kind}
    )


@customers.tool(binding=False, effect="write")
def update_customer(
    context: Context, *, customer_id: Id, name: Name | None = None, address: Address | None = None,
    vat_id: VatId | None = None, note: Note | None = None,
) -> Row:  # fmt: skip
    """Correct a customer's name, address, VAT number or note; what is left out stays. Old invoices keep theirs."""
    return context.books.change(
        "customer", customer_id, {"name": name, "address": address, "vat_id": vat_id, "note": note}
    )
