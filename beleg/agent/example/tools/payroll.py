"""Employees and wages: only for who employs somebody. Wages are paid by a person."""

from typing import Annotated, Literal

from pydantic import Field

from beleg.agent.example.context import Context, Row
from beleg.agent.example.groups import APP, payroll
from beleg.agent.example.values import Day, Id, Month, Name, Note, Positive
from beleg.agent.verbs import Link, link_tool

TaxClass = Annotated[int, Field(description="Wage tax class, 1 to 6", ge=1, le=6)]
Hours = Annotated[int, Field(description="Agreed hours a week", ge=1, le=60)]


@payroll.tool(binding=False, effect="read")
def list_employees(context: Context, at: Day | None = None) -> list[Row]:
    """Employees with first and last day, hours a week, gross wage and health insurer; those of a day, or all."""
    return [row for row in context.books.find("employee") if at is None or row["first_day"] <= at]


@payroll.tool(binding=False, effect="read")
def get_payslip(context: Context, employee_id: Id, month: Month) -> Row:
    """One employee's payslip of a month: gross, wage tax, shares of social insurance, net, and what changed."""
    gross = int(context.books.one("employee", employee_id)["gross"])
    return {"employee_id": employee_id, "month": month, "gross": gross, "social": gross // 5, "net": gross * 65 // 100}


@payroll.tool(binding=False, effect="draft")
def draft_employee(
    context: Context, *, name: Name, first_day: Day, gross: Positive, hours: Hours, tax_class: TaxClass,
    kind: Literal["regular", "mini_job", "student"] = "regular",
) -> Row:  # fmt: skip
    """Prepare the data of a new employee. The insurer hears of it only once a person has checked it in the app."""
    values = {
        "name": name,
        "first_day": first_day,
        "gross": gross,
        "hours": hours,
        "tax_class": tax_class,
        "kind": kind,
    }
    return context.books.add("employee", values)


@payroll.tool(binding=False, effect="draft")
def note_absence(
    context: Context, *, employee_id: Id, first: Day, last: Day, kind: Literal["sick", "holiday", "parental", "unpaid"],
    note: Note | None = None,
) -> Row:  # fmt: skip
    """Note from when to when, both included, an employee is absent and why; counts in the payslip of that month."""
    values = {"employee_id": employee_id, "first": first, "last": last, "kind": kind, "note": note}
    return context.books.add("absence", values)


@payroll.tool(binding=False, effect="read")
def check_payroll(context: Context, month: Month) -> Row:
    """What stands in the way of a month's wages: data that are missing, hours not entered, limits that are passed."""
    loose = [row["id"] for row in context.books.find("employee") if not row.get("insurer")]
    return {"month": month, "without_insurer": loose, "complete": not loose}


@link_tool(payroll, hosts=[APP])
def get_payroll_link(context: Context, month: Month) -> Link:
    """Address of the page on which the user sees all payslips of a month with their sums, and decides about them."""
    loose = [row for row in context.books.find("employee") if not row.get("insurer")]
    return Link(f"https://{APP}/payroll/{month}/preview", not loose, ("insurer",) if loose else ())
