"""`beleg report`: one HTML file for people who do not ask in SQL."""

from datetime import date
from pathlib import Path
from typing import Annotated

import typer

from beleg.cli.options import Json
from beleg.cli.output import console, print_json
from beleg.core.errors import UsageError
from beleg.core.settings import Settings


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("report")(report)


def report(
    out: Annotated[Path | None, typer.Option("--out", "-o", help="File to write; default reports/report.html.")] = None,
    first: Annotated[str | None, typer.Option("--from", help="First business day, for example 2026-03-01.")] = None,
    last: Annotated[str | None, typer.Option("--to", help="Last business day, included.")] = None,
    lang: Annotated[str, typer.Option(help="Language: en or de.")] = "en",
    json: Json = False,
) -> None:
    """Write the report of the published figures: one HTML file that needs no network.

    Example: beleg report --from 2026-03-01 --to 2026-03-31 --lang de --out march.html
    """
    made = make(Settings.load(), out, first=_day("--from", first), last=_day("--to", last), lang=lang)
    if json:
        size = made.stat().st_size
        print_json({"schema_version": 1, "report": made, "from": first, "to": last, "lang": lang, "bytes": size})
    else:
        console().print(f"{made}", soft_wrap=True)


def make(
    settings: Settings,
    out: Path | None = None,
    *,
    first: date | None = None,
    last: date | None = None,
    lang: str = "en",
) -> Path:
    """Write the report of the published figures to `out`, by default where every report lies; its path."""
    from beleg.demo.home import notice_of
    from beleg.report import render
    from beleg.report.language import language

    notice = notice_of(settings) and language(lang).text("notice.demo")
    target = out or settings.home / "reports" / "report.html"
    return render(settings, target, from_=first, to=last, notice=notice, lang=lang)


def _day(option: str, text: str | None) -> date | None:
    try:
        return None if text is None else date.fromisoformat(text)
    except ValueError as error:
        msg = f"{option} {text!r} is no day: write for example 2026-03-01"
        raise UsageError(msg) from error
