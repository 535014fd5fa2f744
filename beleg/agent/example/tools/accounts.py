"""The chart of accounts: only who keeps books by double entry has one."""

from typing import Annotated, Literal

from pydantic import Field

from beleg.agent.example.context import Context, Row
from beleg.agent.example.groups import accounts
from beleg.agent.example.values import Id, Month, Most, Name, Note, Positive, Words

Number = Annotated[
    str, Field(description="Number of an account in the chart, four to eight digits", pattern=r"^\d{4,8}$")
]


@accounts.tool(binding=False, effect="read")
def list_accounts(context: Context, words: Words | None = None, most: Most = 50) -> list[Row]:
    """Accounts of the chart with number, name, kind and balance, all or those in which the words occur."""
    return [row for row in context.books.find("account") if (words or "").lower() in str(row).lower()][:most]


@accounts.tool(binding=False, effect="read")
def get_account_entries(context: Context, number: Number, month: Month | None = None, most: Most = 50) -> list[Row]:
    """Entries on an account, of a month or all, oldest first, each with counter account and balance."""
    return [row for row in context.books.find("entry", {"number": number}) if (month or "") in row["day"]][:most]


@accounts.tool(binding=False, effect="write")
def add_account(
    context: Context, number: Number, name: Name, kind: Literal["asset", "liability", "equity", "income", "expense"]
) -> Row:
    """Add an account to the chart where none fits. Look first with `list_accounts`; numbers follow its scheme."""
    return context.books.add("account", {"number": number, "name": name, "kind": kind})


@accounts.tool(binding=False, effect="draft")
def draft_journal_entry(
    context: Context, *, debit: Number, credit: Number, amount: Positive, text: Note, receipt_id: Id | None = None
) -> Row:
    """Prepare an entry from one account to another. It counts in no report before an accountant has taken it over."""
    values = {"debit": debit, "credit": credit, "amount": amount, "text": text, "receipt_id": receipt_id}
    return context.books.add("entry_draft", values)


@accounts.tool(binding=False, effect="read")
def get_trial_balance(context: Context, month: Month) -> Row:
    """Sums and balances of all accounts at the end of a month, and by how much the two sides differ, if they do."""
    debit, credit = (context.books.total("entry_draft", side) for side in ("debit_cents", "credit_cents"))
    return {"month": month, "debit": debit, "credit": credit, "difference": debit - credit}


@accounts.tool(binding=False, effect="read")
def suggest_account(context: Context, text: Note, supplier: Name | None = None) -> list[Row]:
    """Accounts on which similar transactions of this company were kept, the most frequent first, with their share."""
    return context.books.find("entry", {"supplier": supplier, "text": text})
