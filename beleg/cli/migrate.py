"""`beleg migrate`: a lake of an earlier release becomes one of this release."""

from typing import Annotated

import typer

from beleg.cli.options import Json
from beleg.cli.output import console, print_json
from beleg.core.settings import Settings


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("migrate")(migrate)


def migrate(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be done.")] = False,
    json: Json = False,
) -> None:
    """Bring the lake to the format of this release; make a backup first. Killed in the middle, run it again.

    Example: beleg migrate --dry-run
    """
    from dataclasses import asdict

    from beleg.lake import migrate as lake

    settings = Settings.load()
    done = lake.plan(settings) if dry_run else lake.migrate(settings)
    if json:
        print_json({"schema_version": 1, "dry_run": dry_run, **asdict(done)})
        return
    out = console()
    if done.nothing:
        out.print(f"nothing to do: {settings.lake} has format {done.after}, which this release writes")
        return
    would = "would be done" if dry_run else "done"
    for number, what in enumerate(done.steps, start=done.before or 0):
        out.print(f"format {number} to {number + 1}: {what}: {would}")
    for table, names in done.columns.items():
        out.print(f"table {table} gains {', '.join(names)}, unknown in earlier rows: {would}")
    for table in done.marts:
        out.print(f"mart {table} has other columns now and is computed anew by the next `beleg run`: {would}")
    if dry_run:
        out.print("make a backup first: `beleg backup TARGET`, then `beleg migrate`")
