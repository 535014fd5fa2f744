"""`beleg drift`: did inputs change under their keys, and does the same question get the same answer?"""

from typing import Annotated

import typer

from beleg.cli.options import MOST, Csv, Json
from beleg.cli.output import print_csv, print_json, show_rows
from beleg.core.settings import Settings

SUMMARY = (
    "workflow",
    "purpose",
    "same_key_runs",
    "retriggered_runs",
    "input_changed_runs",
    "input_changed_last_at",
    "same_input_runs",
    "output_changed_runs",
    "output_changed_last_at",
)
RUNS = (
    "run_id",
    "started_at",
    "workflow",
    "purpose",
    "tenant",
    "prompt_version",
    "model",
    "input_key",
    "input_changed",
    "key_run_id",
    "key_started_at",
    "key_input_hash",
    "input_hash",
    "output_changed",
    "answer_run_id",
    "answer_started_at",
    "answer_output_hash",
    "output_hash",
)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("drift")(drift)


def drift(
    *,
    workflow: Annotated[str | None, typer.Option(help="Only this workflow.")] = None,
    key: Annotated[str | None, typer.Option(help="Only this input_key.")] = None,
    first: Annotated[str | None, typer.Option("--from", help="First business day, for example 2026-03-01.")] = None,
    last: Annotated[str | None, typer.Option("--to", help="Last business day, included.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=MOST, help="List at most so many runs that differ.")] = 20,
    fail: Annotated[bool, typer.Option("--fail", help="Exit with 1 where anything differs.")] = False,
    json: Json = False,
    csv: Csv = False,
) -> None:
    """Compare runs with the last one of the same key, and answers to the same input, prompt and model.

    The same key with the same input is an idempotent re-trigger; with another input, something changed upstream.
    Fingerprints are compared only under one hash key. --csv prints the runs that differ.

    Example: beleg drift --workflow ocr --from 2026-03-01
    """
    from beleg.ask.drift import drift as ask
    from beleg.cost.figures import Period

    found = ask(Settings.load(), Period.parse(first, last), workflow=workflow, key=key, limit=limit)
    if json:
        print_json({"schema_version": 1, "summary": found.summary, "runs": found.runs})
    elif csv:
        print_csv(found.runs, RUNS)
    else:
        numbers = [name for name in SUMMARY if name.endswith("_runs")]
        show_rows("Compared", SUMMARY, [[row[c] for c in SUMMARY] for row in found.summary], numbers=numbers)
        shown = ("run_id", "workflow", "input_key", "what changed", "since", "before in run")
        rows = [cells for row in found.runs for cells in _changes(row)]
        show_rows(f"{len(found.runs)} runs that differ", shown, rows)
    if fail and found.runs:
        raise typer.Exit(1)


def _changes(row: dict[str, object]) -> list[list[object]]:
    """A line for each thing of a run that differs."""
    kinds = (
        ("input", row["input_changed"], row["key_run_id"]),
        ("output", row["output_changed"], row["answer_run_id"]),
    )
    named = [row["run_id"], row["workflow"], row["input_key"]]
    return [[*named, what, row["started_at"], earlier] for what, changed, earlier in kinds if changed]
