"""`beleg prune`: removes events older than their retention."""

from dataclasses import asdict
from typing import Annotated

import typer

from beleg.cli.options import Json
from beleg.cli.output import console, print_json, show_rows
from beleg.core.settings import Settings

SHOWN = ("table", "before", "days", "rows", "size_bytes")


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("prune")(prune)


def prune(
    *,
    older_than: Annotated[str | None, typer.Option(help="Age instead of the policy's, for example 400d.")] = None,
    table: Annotated[str | None, typer.Option(help="Only this table, for example artifacts.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what it would remove, and remove nothing.")] = False,
    json: Json = False,
) -> None:
    """Remove events older than contracts/policies/retention.yaml says; their figures stay.

    Days without their events are sealed: what comes for them later changes no figure. Files leave the disk
    a day later, with all that were replaced.

    Example: beleg prune --older-than 400d --table artifacts --dry-run
    """
    from beleg.retention.policy import parse_age
    from beleg.retention.prune import prune as do

    age = None if older_than is None else parse_age(older_than)
    found = do(Settings.load(), older_than_days=age, table=table, dry_run=dry_run)
    if json:
        print_json({"schema_version": 1, "dry_run": dry_run, "tables": [asdict(made) for made in found]})
        return
    rows = [[getattr(made, name) for name in SHOWN] for made in found]
    numbers = ("days", "rows", "size_bytes")
    show_rows(f"{'Would remove' if dry_run else 'Removed'} from {len(rows)} tables", SHOWN, rows, numbers=numbers)
    if not found:
        console(stderr=True).print("Nothing is older than its retention; retention.yaml says how long tables are kept.")
