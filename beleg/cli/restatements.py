"""`beleg restatements`: what changed in figures that had been published as complete."""

from typing import TYPE_CHECKING, Annotated

import typer

from beleg.cli.options import MOST, Csv, Json
from beleg.cli.output import console, print_csv, print_json, show_rows
from beleg.core.errors import UsageError
from beleg.core.settings import Settings

if TYPE_CHECKING:
    from beleg.ask.restatements import Causes

COLUMNS = (
    "business_day",
    "publication",
    "restated_at",
    "workflow",
    "purpose",
    "figure",
    "reason",
    "delta",
    "delta_usd",
    "changed_rows",
)
SHOWN = ("business_day", "publication", "workflow", "purpose", "figure", "reason", "delta", "delta_usd")
RUNS = ("business_day", "publication", "workflow", "figure", "reason", "run_id", "outcome_id", "delta")


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("restatements")(restatements)


def restatements(
    *,
    day: Annotated[str | None, typer.Option(help="Only this business day, for example 2026-03-01.")] = None,
    first: Annotated[str | None, typer.Option("--from", help="First business day.")] = None,
    last: Annotated[str | None, typer.Option("--to", help="Last business day, included.")] = None,
    workflow: Annotated[str | None, typer.Option(help="Only this workflow.")] = None,
    publication: Annotated[
        int | None, typer.Option(min=1, max=MOST, help="Only what this publication restated.")
    ] = None,
    figure: Annotated[str | None, typer.Option(help="Only this column of unit_costs, as cost_pico_usd.")] = None,
    runs: Annotated[
        bool, typer.Option("--runs", help="Also the runs and outcomes behind it, as far as known.")
    ] = False,
    fail: Annotated[bool, typer.Option("--fail", help="Exit with 1 where anything was restated.")] = False,
    json: Json = False,
    csv: Csv = False,
) -> None:
    """Show what changed in figures of days that were published as complete: by how much and why.

    `delta` is in the figure's own unit, pico-USD for money. With --runs and --csv only the runs are printed.

    Example: beleg restatements --from 2026-03-01 --figure cost_pico_usd --runs
    """
    from beleg.ask import restatements as ask
    from beleg.cost.figures import Period, shown

    if day is not None and (first is not None or last is not None):
        msg = f"--day {day} and --from or --to exclude each other; give one of them"
        raise UsageError(msg)
    wanted = ask.Wanted(Period.parse(day or first, day or last), workflow, publication, figure)
    settings = Settings.load()
    found = ask.restatements(settings, wanted)
    rows = [{"delta_usd": None, **shown(row)} for row in found]
    causes = ask.causes(settings, wanted, found) if runs else ask.Causes([], [])
    if json:
        told = {"runs": causes.runs, "runs_untold": causes.untold} if runs else {}
        print_json({"schema_version": 1, "currency": "USD", "rows": rows, **told})
    elif csv:
        print_csv(causes.runs if runs else rows, RUNS if runs else COLUMNS)
    else:
        numbers = ("delta", "delta_usd")
        show_rows(f"{len(rows)} restatements", SHOWN, [[row[c] for c in SHOWN] for row in rows], numbers=numbers)
        if runs:
            _show_runs(causes)
    if fail and rows:
        raise typer.Exit(1)


def _show_runs(causes: "Causes") -> None:
    cells = [[row[c] for c in RUNS] for row in causes.runs]
    show_rows(f"{len(cells)} runs and outcomes behind them", RUNS, cells, numbers=("delta",))
    out = console(stderr=True)
    for row in causes.untold:
        out.print(f"Publication {row['publication']}: which runs it were can no longer be told: {row['why']}.")
