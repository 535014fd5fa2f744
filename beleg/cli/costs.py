"""`beleg costs`: what the runs cost, and what a business result costs."""

from typing import Annotated

import typer

from beleg.cli.options import Csv, Json
from beleg.cli.output import console, print_csv, print_json, show_rows
from beleg.core.settings import Settings


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("costs")(costs)


def costs(
    *,
    by: Annotated[
        str,
        typer.Option(
            help="Grouping, joined by commas: workflow, purpose, day, month, tenant, team, prompt_version, "
            "provider, model."
        ),
    ] = "workflow,purpose",
    first: Annotated[str | None, typer.Option("--from", help="First business day, for example 2026-03-01.")] = None,
    last: Annotated[str | None, typer.Option("--to", help="Last business day, included.")] = None,
    workflow: Annotated[str | None, typer.Option(help="Only this workflow.")] = None,
    tenant: Annotated[str | None, typer.Option(help="Only this tenant.")] = None,
    json: Json = False,
    csv: Csv = False,
) -> None:
    """Show what the runs cost and what a business result costs.

    The unit cost is that of production, failed runs included, over the results that came out.
    Steps without a known price are counted beside every amount and missing in it.

    Example: beleg costs --by workflow,month --from 2026-01-01 --to 2026-03-31
    """
    from beleg.cost import figures
    from beleg.lake import catalog

    period = figures.Period.parse(first, last)
    groups = [name.strip() for name in by.split(",") if name.strip()]
    with catalog.connect(Settings.load()) as con:
        lines = figures.costs(con, groups, period, workflow=workflow, tenant=tenant)
    records = [line.record() for line in lines]
    summed = figures.total(lines)
    if json:
        print_json({"schema_version": 1, "currency": "USD", "by": groups, "rows": records, "total": summed})
        return
    columns = [*groups, "cost_usd", "unpriced_steps", "steps", "runs", "failed_runs", "results"]
    if csv:
        print_csv(records, [*columns, "unit", "unit_per", "unit_cost_usd", "cost_exact_usd"])
        return
    shown = [[*(r[c] for c in columns), r["unit_cost_usd"], x.unit_label] for r, x in zip(records, lines, strict=True)]
    numbers = [*columns[len(groups) :], "unit cost usd"]
    show_rows("Costs at list prices, USD", [*columns, "unit cost usd", "per"], shown, numbers=numbers)
    console().print(f"Total {summed['cost_usd']} USD; {summed['unpriced_steps']} of {summed['steps']} steps unpriced.")
