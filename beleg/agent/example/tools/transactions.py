"""Transactions of the bank account and what they were for."""

from typing import Annotated, Literal

from pydantic import Field

from beleg.agent.example.context import Context, Row
from beleg.agent.example.groups import transactions
from beleg.agent.example.values import Day, Id, Most, Note, Percent, Positive, Words

Category = Annotated[
    Literal[
        "revenue", "goods", "rent", "travel", "office", "software", "advertising", "insurance", "vehicle", "private"
    ],
    Field(description="What the money was for; `private` for what is no business of the company"),
]


@transactions.tool(binding=False, effect="read")
def list_transactions(
    context: Context,
    first: Day | None = None,
    last: Day | None = None,
    category: Category | None = None,
    most: Most = 20,
) -> list[Row]:
    """Transactions between two days, both included, newest first, with counterparty, amount, text and category."""
    found = context.books.find("transaction", {"category": category})
    within = [row for row in found if (first or "") <= row["day"] <= (last or "9999")]
    return sorted(within, key=lambda row: str(row["day"]), reverse=True)[:most]


@transactions.tool(binding=False, effect="read")
def get_transaction(context: Context, transaction_id: Id) -> Row:
    """One transaction with its text as the bank gave it, category, tax rate, receipt and invoice it belongs with."""
    return context.books.one("transaction", transaction_id)


@transactions.tool(binding=False, effect="read")
def search_transactions(context: Context, words: Words, most: Most = 20) -> list[Row]:
    """Transactions in whose counterparty, text or note the words occur, newest first."""
    return [row for row in context.books.find("transaction") if words.lower() in str(row).lower()][:most]


@transactions.tool(binding=False, effect="write")
def categorize_transaction(
    context: Context, transaction_id: Id, category: Category, tax_rate: Percent | None = None, note: Note | None = None
) -> Row:
    """Say what a transaction was for, and at which tax rate. Can be changed until the year is final."""
    return context.books.change(
        "transaction", transaction_id, {"category": category, "tax_rate": tax_rate, "note": note}
    )


@transactions.tool(binding=False, effect="write")
def split_transaction(
    context: Context, transaction_id: Id, amount: Positive, category: Category, rest_category: Category
) -> list[Row]:
    """Divide a transaction into two parts with categories of their own; the parts make up the whole to the cent."""
    whole = context.books.one("transaction", transaction_id)
    part = context.books.add("transaction", {**whole, "amount": amount, "category": category})
    rest = {"amount": whole["amount"] - amount, "category": rest_category}
    return [part, context.books.change("transaction", transaction_id, rest)]


@transactions.tool(binding=False, effect="write")
def match_transaction(context: Context, transaction_id: Id, invoice_id: Id) -> Row:
    """Note that a transaction belongs with an invoice, in full or in part; another one later replaces it."""
    context.books.one("invoice", invoice_id)
    return context.books.change("transaction", transaction_id, {"invoice_id": invoice_id})
