"""Reviews across clients: only tax advisers have more than one."""

from typing import Annotated, Literal

from pydantic import Field

from beleg.agent.example.context import Context, Row
from beleg.agent.example.groups import review
from beleg.agent.example.values import Day, Id, Month, Most, Note, Words

Client = Annotated[str, Field(description="Client by the id that `list_clients` gives", max_length=40)]
Severity = Annotated[Literal["hint", "question", "error"], Field(description="How much it matters")]


@review.tool(binding=False, effect="read")
def list_clients(context: Context, words: Words | None = None, most: Most = 50) -> list[Row]:
    """The adviser's clients with legal form, last reviewed month, open remarks and next day at the tax office."""
    return [row for row in context.books.find("client") if (words or "").lower() in str(row).lower()][:most]


@review.tool(binding=False, effect="read")
def get_client_summary(context: Context, client_id: Client, month: Month) -> Row:
    """One client's month at a glance: turnover, costs, VAT, what is missing, what differs from the months before."""
    return {**context.books.one("client", client_id), "month": month}


@review.tool(binding=False, effect="read")
def compare_clients(context: Context, client_ids: list[Client], month: Month) -> list[Row]:
    """Figures of several clients side by side for a month: turnover, margin, VAT, open receipts; to find outliers."""
    return [{**context.books.one("client", each), "month": month} for each in client_ids]


@review.tool(binding=False, effect="read")
def find_unusual_entries(context: Context, client_id: Client, month: Month, most: Most = 20) -> list[Row]:
    """Entries of a client that stand out: rare account, odd tax rate, round sum, same amount twice, weekend."""
    return [row for row in context.books.find("entry", {"client_id": client_id}) if month in row["day"]][:most]


@review.tool(binding=False, effect="write")
def add_remark(context: Context, client_id: Client, text: Note, severity: Severity, entry_id: Id | None = None) -> Row:
    """Leave a remark on a client's month or on one entry. Colleagues in the office see it; the client does not."""
    values = {"client_id": client_id, "text": text, "severity": severity, "entry_id": entry_id}
    return context.books.add("remark", values)


@review.tool(binding=False, effect="read")
def list_remarks(context: Context, client_id: Client | None = None, severity: Severity | None = None) -> list[Row]:
    """Remarks of the office, on one client or on all, newest first, with who wrote them and what became of them."""
    return context.books.find("remark", {"client_id": client_id, "severity": severity})


@review.tool(binding=False, effect="read")
def list_client_dates(context: Context, until: Day, most: Most = 50) -> list[Row]:
    """Days by which something is due for any client, soonest first, with what is still missing for each."""
    return [row for row in context.books.find("client_date") if row["day"] <= until][:most]
