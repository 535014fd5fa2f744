"""`beleg runs`: finds runs."""

from typing import Annotated

import typer

from beleg.cli.options import MOST, Csv, Json
from beleg.cli.output import console, print_csv, print_json, show_rows
from beleg.core.settings import Settings

COLUMNS = (
    "run_id",
    "started_at",
    "workflow",
    "purpose",
    "status",
    "tenant",
    "prompt_version",
    "model",
    "input_ref",
    "input_hash",
    "output_hash",
    "steps",
    "unpriced_steps",
    "latency_ms",
    "cost_usd",
)
SHOWN = ("run_id", "started_at", "workflow", "status", "prompt_version", "model", "steps", "unpriced_steps", "cost_usd")


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("runs")(runs)


def runs(
    *,
    input_hash: Annotated[str | None, typer.Option(help="Fingerprint of the input, or its first digits.")] = None,
    output_hash: Annotated[str | None, typer.Option(help="Fingerprint of the output, or its first digits.")] = None,
    ref: Annotated[str | None, typer.Option(help="input_ref: the key into your own system.")] = None,
    key: Annotated[str | None, typer.Option(help="input_key: what `the same thing again` means to you.")] = None,
    workflow: Annotated[str | None, typer.Option(help="Only this workflow.")] = None,
    version: Annotated[str | None, typer.Option(help="Only this prompt version.")] = None,
    status: Annotated[str | None, typer.Option(help="Only this status, for example failed.")] = None,
    purpose: Annotated[str | None, typer.Option(help="Only this purpose, for example production.")] = None,
    tenant: Annotated[str | None, typer.Option(help="Only this tenant.")] = None,
    label: Annotated[str | None, typer.Option(help="Only runs with this label: NAME or NAME=VALUE.")] = None,
    min_cost: Annotated[str | None, typer.Option(help="Known cost of at least so many USD, for example 0.50.")] = None,
    first: Annotated[str | None, typer.Option("--from", help="First business day, for example 2026-03-01.")] = None,
    last: Annotated[str | None, typer.Option("--to", help="Last business day, included.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=MOST, help="At most so many runs.")] = 20,
    json: Json = False,
    csv: Csv = False,
) -> None:
    """Find runs, newest first; all conditions must hold.

    Example: beleg runs --workflow ocr --status failed --from 2026-03-01 --limit 5
    """
    from beleg.ask import runs as ask
    from beleg.cost.figures import Period, shown

    wanted = ask.Wanted(
        Period.parse(first, last),
        workflow=workflow,
        purpose=purpose,
        status=status,
        tenant=tenant,
        prompt_version=version,
        input_ref=ref,
        input_key=key,
        input_hash=input_hash,
        output_hash=output_hash,
        min_usd=min_cost,
        label=label,
    )
    rows = [shown(row) for row in ask.runs(Settings.load(), wanted, limit=limit)]
    if json:
        print_json({"schema_version": 1, "currency": "USD", "rows": rows})
    elif csv:
        print_csv(rows, COLUMNS)
    else:
        numbers = ("steps", "unpriced_steps", "cost_usd")
        show_rows(f"{len(rows)} runs", SHOWN, [[row[c] for c in SHOWN] for row in rows], numbers=numbers)
        if len(rows) == limit:
            console(stderr=True).print(f"There may be more: --limit {limit} was reached.")
