"""`beleg reconcile`: billed against computed cost."""

from typing import Annotated

import typer

from beleg.cli.options import Csv, Json
from beleg.cli.output import print_csv, print_json, show_rows
from beleg.core.settings import Settings

COLUMNS = (
    "provider",
    "model",
    "steps",
    "compared_steps",
    "equal_steps",
    "compared_billed_usd",
    "compared_computed_usd",
    "difference_usd",
    "billed_unpriced_steps",
    "billed_unpriced_usd",
    "unbilled_priced_steps",
    "unbilled_computed_usd",
)

TITLES = (
    "provider",
    "model",
    "steps",
    "compared",
    "equal",
    "billed",
    "computed",
    "difference",
    "no price",
    "their bill",
    "no bill",
    "their cost",
)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("reconcile")(reconcile)


def reconcile(
    *,
    first: Annotated[str | None, typer.Option("--from", help="First business day, for example 2026-03-01.")] = None,
    last: Annotated[str | None, typer.Option("--to", help="Last business day, included.")] = None,
    workflow: Annotated[str | None, typer.Option(help="Only this workflow.")] = None,
    fail: Annotated[bool, typer.Option("--fail", help="Exit with 1 where a billed step differs.")] = False,
    json: Json = False,
    csv: Csv = False,
) -> None:
    """Compare what providers say they billed with what the price book computes, per provider and model.

    Amounts are compared over steps that carry both; billed steps without a price, and priced steps without
    a bill, are counted beside.

    Example: beleg reconcile --from 2026-03-01 --to 2026-03-31
    """
    from beleg.cost import figures
    from beleg.lake import catalog

    period = figures.Period.parse(first, last)
    with catalog.connect(Settings.load()) as con:
        rows = figures.reconcile(con, period, workflow=workflow)
    if json:
        print_json({"schema_version": 1, "currency": "USD", "rows": rows})
    elif csv:
        print_csv(rows, COLUMNS)
    else:
        shown = [[row[c] for c in COLUMNS] for row in rows]
        show_rows("Billed against computed, USD", TITLES, shown, numbers=TITLES[2:])
    if fail and any(row["equal_steps"] != row["compared_steps"] for row in rows):
        raise typer.Exit(1)
