"""`beleg reconcile`: what providers billed, or what the sources computed themselves, against computed cost."""

from typing import TYPE_CHECKING, Annotated

import typer

from beleg.cli.options import Csv, Json
from beleg.cli.output import print_csv, print_json, show_rows
from beleg.core.settings import Settings

if TYPE_CHECKING:
    from beleg.cost.figures import Period

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
    source: Annotated[
        bool, typer.Option("--source", help="Compare with the cost that the source of the events computed itself.")
    ] = False,
    by: Annotated[str, typer.Option(help="With --source: model, day or call.")] = "model",
    fail: Annotated[bool, typer.Option("--fail", help="Exit with 1 where a billed step differs.")] = False,
    json: Json = False,
    csv: Csv = False,
) -> None:
    """Compare what providers say they billed with what the price book computes, per provider and model.

    Amounts are compared over steps that carry both; billed steps without a price, and priced steps without
    a bill, are counted beside. With --source, the cost that Langfuse, LiteLLM and others computed takes the
    place of the bill, and each difference says which side is wrong where the arithmetic proves it.

    Example: beleg reconcile --from 2026-03-01 --to 2026-03-31
    """
    from beleg.cost import figures
    from beleg.lake import catalog

    period = figures.Period.parse(first, last)
    if source:
        _sources(period, by, workflow, fail=fail, json=json, csv=csv)
        return
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


def _sources(period: "Period", by: str, workflow: str | None, *, fail: bool, json: bool, csv: bool) -> None:
    """Show the sources' own costs against ours."""
    from beleg.cost.crosscheck import GROUPINGS, crosscheck
    from beleg.cost.pricing import Pricing
    from beleg.lake import catalog

    settings = Settings.load()
    with catalog.connect(settings) as con:
        found = crosscheck(
            con, Pricing.load(settings).book, period, by=by, timezone=settings.timezone, workflow=workflow
        )
    rows = [one.record() for one in found]
    columns = (*GROUPINGS[by], "steps", "source_usd", "computed_usd", "difference_usd")
    if json:
        print_json({"schema_version": 1, "currency": "USD", "rows": rows})
    elif csv:
        print_csv(rows, columns)
    else:
        shown = [[row[name] for name in columns] for row in rows]
        show_rows("Sources' own cost against computed, USD", columns, shown, numbers=columns[len(GROUPINGS[by]) :])
    if fail and any(row["verdict"] not in {"equal", "rounded"} for row in rows):
        raise typer.Exit(1)
