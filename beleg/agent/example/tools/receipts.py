"""Receipts: what was photographed or scanned, and what it belongs with."""

from beleg.agent.example.context import Context, Row
from beleg.agent.example.groups import receipts
from beleg.agent.example.values import Cents, Day, Id, Month, Most, Name, Percent


@receipts.tool(binding=False, effect="read")
def list_receipts(context: Context, supplier: Name | None = None, most: Most = 20) -> list[Row]:
    """Receipts, of one supplier or of all, with day, total, tax and the transaction each belongs with."""
    return context.books.find("receipt", {"supplier": supplier})[:most]


@receipts.tool(binding=False, effect="read")
def get_receipt(context: Context, receipt_id: Id) -> Row:
    """One receipt as it was read: supplier, day, lines, totals by tax rate, and how sure the reading is of each."""
    return context.books.one("receipt", receipt_id)


@receipts.tool(binding=False, effect="read")
def find_missing_receipts(context: Context, month: Month) -> list[Row]:
    """Transactions of a month that need a receipt and have none, the largest first; private ones need none."""
    rows = context.books.find("transaction")
    open_rows = [
        r for r in rows if r["day"].startswith(month) and not r.get("receipt_id") and r.get("category") != "private"
    ]
    return sorted(open_rows, key=lambda row: int(row["amount"]))


@receipts.tool(binding=False, effect="write")
def correct_receipt(
    context: Context,
    *,
    receipt_id: Id,
    supplier: Name | None = None,
    day: Day | None = None,
    gross: Cents | None = None,
    tax_rate: Percent | None = None,
) -> Row:
    """Put right what was misread on a receipt; what is left out stays. The picture itself is never changed."""
    values = {"supplier": supplier, "day": day, "gross": gross, "tax_rate": tax_rate}
    return context.books.change("receipt", receipt_id, values)


@receipts.tool(binding=False, effect="write")
def match_receipt(context: Context, receipt_id: Id, transaction_id: Id) -> Row:
    """Note that a receipt belongs with a transaction; the category of the receipt goes along where none is set."""
    context.books.one("receipt", receipt_id)
    return context.books.change("transaction", transaction_id, {"receipt_id": receipt_id})
