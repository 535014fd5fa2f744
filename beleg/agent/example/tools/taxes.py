"""Taxes: figures and dates. What goes to the tax office goes there from the app."""

from typing import Annotated, Literal

from pydantic import Field

from beleg.agent.example.context import Context, Row
from beleg.agent.example.groups import APP, taxes
from beleg.agent.example.values import Month, Year
from beleg.agent.verbs import Link, link_tool

Period = Annotated[
    str, Field(description="Month as YYYY-MM or quarter as YYYY-Qn", pattern=r"^\d{4}-(?:\d{2}|Q[1-4])$")
]


@taxes.tool(binding=False, effect="read")
def get_vat_figures(context: Context, period: Period) -> Row:
    """VAT of a period by line of the advance return: turnover by rate, tax on it, input tax, and what remains due."""
    lines = context.books.find("invoice_line")
    tax = sum(line["gross"] - line["net"] for line in lines)
    return {"period": period, "turnover": sum(line["net"] for line in lines), "tax": tax}


@taxes.tool(binding=False, effect="read")
def list_tax_dates(context: Context, year: Year) -> list[Row]:
    """Days by which something is due at the tax office in a year, for this company and its legal form."""
    quarterly = [f"{year}-{month:02d}-10" for month in (1, 4, 7, 10)]
    kinds = ("vat", "corporate_tax") if context.company.is_incorporated else ("vat", "income_tax")
    return [{"day": day, "kind": kind} for day in quarterly for kind in kinds]


@taxes.tool(binding=False, effect="read")
def estimate_income_tax(context: Context, year: Year, other_income_cents: int = 0) -> Row:
    """Rough income tax of a year from what is known so far and other income; never more than an estimate."""
    profit = context.books.total("transaction", "amount") + other_income_cents
    return {"year": year, "profit": profit, "estimate": max(0, profit) * 30 // 100}


@taxes.tool(binding=False, effect="read")
def check_vat_period(context: Context, period: Period, scheme: Literal["agreed", "received"] = "agreed") -> Row:
    """What stands in the way of a VAT return: transactions without a category, receipts without a rate, odd rates."""
    loose = [row["id"] for row in context.books.find("transaction") if not row.get("category")]
    return {"period": period, "scheme": scheme, "without_category": loose, "complete": not loose}


@link_tool(taxes, hosts=[APP])
def get_vat_return_link(context: Context, month: Month) -> Link:
    """Address of the page on which the user sees the VAT return of a month line by line, and decides about it."""
    loose = [row for row in context.books.find("transaction") if not row.get("category")]
    return Link(f"https://{APP}/vat/{month}/preview", not loose, ("category",) if loose else ())
