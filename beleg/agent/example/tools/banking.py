"""Bank accounts: balances and proposals. Money is moved by a person, in the app."""

from typing import Annotated

from pydantic import Field

from beleg.agent.example.context import Context, Row
from beleg.agent.example.groups import APP, banking
from beleg.agent.example.values import Day, Id, Month, Name, Positive
from beleg.agent.verbs import Link, link_tool

Iban = Annotated[str, Field(description="IBAN without blanks", pattern=r"^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$")]


@banking.tool(binding=False, effect="read")
def list_bank_accounts(context: Context) -> list[Row]:
    """The company's bank accounts with bank, IBAN, balance, and when it was last read from the bank."""
    return context.books.find("bank_account")


@banking.tool(binding=False, effect="read")
def get_cash_forecast(context: Context, month: Month) -> Row:
    """Expected balance at the end of a month: today's, open invoices by due day, known bills, taxes that become due."""
    return {
        "month": month,
        "balance": context.books.total("bank_account", "balance"),
        "open_invoices": context.books.total("invoice", "open"),
        "bills": context.books.total("bill", "amount"),
    }


@banking.tool(binding=False, effect="draft")
def draft_payment(
    context: Context, *, payee: Name, iban: Iban, amount: Positive, day: Day, bill_id: Id | None = None
) -> Row:
    """Prepare a payment for a bill. No money moves: the user finds it in the app and decides there."""
    values = {"payee": payee, "iban": iban, "amount": amount, "day": day, "bill_id": bill_id}
    return context.books.add("payment_draft", values)


@link_tool(banking, hosts=[APP])
def get_payment_link(context: Context, draft_id: Id) -> Link:
    """Address of the page on which the user sees a prepared payment beside its bill, and decides about it."""
    context.books.one("payment_draft", draft_id)
    return Link(f"https://{APP}/payments/{draft_id}/preview", ready=True)
