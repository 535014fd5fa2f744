"""Invoices to customers: prepared here, sent out by a person."""

from typing import Annotated

from pydantic import Field

from beleg.agent.example.context import Context, Row
from beleg.agent.example.groups import APP, invoices
from beleg.agent.example.values import Cents, Day, Id, Most, Note, Percent, Words
from beleg.agent.verbs import Link, link_tool

Quantity = Annotated[int, Field(description="How many units, in thousandths: 1500 is one and a half", ge=1)]


@invoices.tool(binding=False, effect="read")
def list_invoices(context: Context, customer_id: Id | None = None, most: Most = 20) -> list[Row]:
    """Invoices, oldest first, of one customer or of all, each with number, day, total and what is still open."""
    return context.books.find("invoice", {"customer_id": customer_id})[:most]


@invoices.tool(binding=False, effect="read")
def get_invoice(context: Context, invoice_id: Id) -> Row:
    """One invoice with its lines, totals by tax rate, due day, reminders so far and what has come in for it."""
    invoice = context.books.one("invoice", invoice_id)
    return {**invoice, "lines": context.books.find("invoice_line", {"invoice_id": invoice_id})}


@invoices.tool(binding=False, effect="draft")
def draft_invoice(context: Context, customer_id: Id, day: Day, due: Day | None = None, note: Note | None = None) -> Row:
    """Prepare an invoice without lines. It can be changed until a person decides about it in the app."""
    context.books.one("customer", customer_id)
    return context.books.add("invoice", {"customer_id": customer_id, "day": day, "due": due, "note": note})


@invoices.tool(binding=False, effect="draft")
def add_invoice_line(
    context: Context, *, invoice_id: Id, text: Note, quantity: Quantity, unit_price: Cents, tax_rate: Percent = 19
) -> Row:
    """Add a line to a draft: what was delivered, how much of it, the net price of a unit and the tax rate."""
    context.books.one("invoice", invoice_id)
    net = quantity * unit_price // 1000
    line = {
        "invoice_id": invoice_id,
        "text": text,
        "net": net,
        "tax_rate": tax_rate,
        "gross": net * (100 + tax_rate) // 100,
    }
    return context.books.add("invoice_line", line)


@invoices.tool(binding=False, effect="read")
def find_overdue_invoices(context: Context, today: Day) -> list[Row]:
    """Invoices whose due day has passed without the whole amount having come in, the longest overdue first."""
    late = [row for row in context.books.find("invoice") if row.get("due", "9999") < today and not row.get("paid_on")]
    return sorted(late, key=lambda row: str(row["due"]))


@link_tool(invoices, hosts=[APP])
def get_invoice_link(context: Context, invoice_id: Id) -> Link:
    """Address of the page on which the user sees a draft as its recipient would, and decides about it."""
    lines = context.books.find("invoice_line", {"invoice_id": invoice_id})
    return Link(f"https://{APP}/invoices/{invoice_id}/preview", bool(lines), () if lines else ("lines",))


@invoices.tool(binding=False, effect="read")
def search_invoices(context: Context, words: Words, most: Most = 20) -> list[Row]:
    """Invoices in whose number, note or lines the words occur; use it when the user remembers only a part."""
    found = [row for row in context.books.find("invoice") if words.lower() in str(row).lower()]
    return found[:most]
