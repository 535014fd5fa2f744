"""`beleg report`: one HTML file for people who do not ask in SQL."""

from datetime import date
from pathlib import Path
from typing import Annotated

import typer

from beleg.cli.output import JSON_HELP, console, print_json
from beleg.core.errors import UsageError
from beleg.core.settings import Settings


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("report")(report)


def report(
    out: Annotated[Path | None, typer.Option("--out", "-o", help="File to write; default reports/report.html.")] = None,
    first: Annotated[str | None, typer.Option("--from", help="First business day, for example 2026-03-01.")] = None,
    last: Annotated[str | None, typer.Option("--to", help="Last business day, included.")] = None,
    json: Annotated[bool, typer.Option("--json", help=JSON_HELP)] = False,
) -> None:
    """Write the report of the published figures: one HTML file that needs no network.

    Example: beleg report --from 2026-03-01 --to 2026-03-31 --out march.html
    """
    from beleg.demo.home import notice_of
    from beleg.report import render

    settings = Settings.load()
    target = out or settings.home / "reports" / "report.html"
    made = render(settings, target, from_=_day("--from", first), to=_day("--to", last), notice=notice_of(settings))
    if json:
        print_json({"schema_version": 1, "report": made, "from": first, "to": last, "bytes": made.stat().st_size})
    else:
        console().print(f"{made}", soft_wrap=True)


def _day(option: str, text: str | None) -> date | None:
    try:
        return None if text is None else date.fromisoformat(text)
    except ValueError as error:
        msg = f"{option} {text!r} is no day: write for example 2026-03-01"
        raise UsageError(msg) from error
