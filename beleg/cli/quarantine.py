"""`beleg quarantine`: the refused lines; why, where, and another try."""

from pathlib import Path
from typing import Annotated, Any

import typer

from beleg.cli.options import MOST, Csv, Json
from beleg.cli.output import console, print_csv, print_json, show_rows
from beleg.core.settings import Settings

Reason = Annotated[str | None, typer.Option(help="Only this reason, for example duplicate_key.")]
_ID_LENGTH = 12
FIELDS = ("id", "file", "line_number", "byte_offset", "length", "reason", "detail", "mapping", "recorded_at")


def register(app: typer.Typer) -> None:
    """Add the commands."""
    noun = typer.Typer(help="Refused lines: why, where, and another try.", no_args_is_help=True)
    noun.command("list")(list_)
    noun.command("show")(show)
    noun.command("retry")(retry)
    app.add_typer(noun, name="quarantine")


def list_(
    reason: Reason = None,
    file: Annotated[Path | None, typer.Option(help="Only lines of this file.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=MOST, help="Lines to list, once a reason or a file is given.")] = 50,
    json: Json = False,
    csv: Csv = False,
) -> None:
    """Count the refused lines by reason, or list those of one reason or file.

    Example: beleg quarantine list --reason schema
    """
    from beleg.ingest import quarantine

    settings = Settings.load()
    if reason is None and file is None:
        _counts(quarantine.counts(settings), json=json, csv=csv)
        return
    rows = quarantine.load(settings, reason=reason, file=file and file.resolve(), limit=limit)
    if json:
        print_json({"schema_version": 1, "lines": [{"id": _id(row), **row} for row in rows]})
        return
    if csv:
        print_csv([{"id": _id(row), **row} for row in rows], FIELDS)
        return
    lines = [(_id(row), _position(row), row["reason"], row["detail"]) for row in rows]
    show_rows("Refused lines, open", ["id", "file:line", "reason", "detail"], lines)


def _counts(counts: list[dict[str, Any]], *, json: bool, csv: bool) -> None:
    from beleg.ingest.reasons import REASONS

    if json:
        print_json({"schema_version": 1, "reasons": counts})
        return
    columns = ["reason", "open", "resolved", "files", "meaning"]
    if csv:
        print_csv(counts, columns[:-1])
        return
    lines = [[*(row[name] for name in columns[:-1]), REASONS.get(row["reason"], "")] for row in counts]
    show_rows("Refused lines", columns, lines, numbers=columns[1:4])
    console().print(f"{sum(row['open'] for row in counts)} open. `beleg quarantine list --reason REASON` lists them.")


def show(
    line: Annotated[str, typer.Argument(metavar="ID", help="Id from `list`: the beginning of the line's SHA-256.")],
    json: Json = False,
) -> None:
    """Show where a refused line stands and why, and the line itself while its source still holds it.

    The line is read from its source each time; Beleg keeps no copy.

    Example: beleg quarantine show 3f9a2b6c01de
    """
    from beleg.ingest import quarantine

    row, there = quarantine.find(Settings.load(), line.lower())
    text = None if there is None else _printable(there)
    if json:
        print_json({"schema_version": 1, **row, "line": text, "line_is_from": "source" if text is not None else None})
        return
    out = console()
    for name in ("file", "line_number", "byte_offset", "length", "reason", "detail", "status", "resolution", "mapping"):
        out.print(f"{name:>12}  {'—' if row[name] is None else row[name]}", soft_wrap=True, markup=False)
    if text is None:
        out.print("The source no longer holds exactly this line (or it is too long to show); Beleg keeps no copy.")
        return
    out.print("The line, read from its source just now:")
    out.print(text, soft_wrap=True, markup=False)


def retry(reason: Reason = None, json: Json = False) -> None:
    """Judge the open lines again, after their source, schema or mapping was mended, and publish.

    Example: beleg quarantine retry --reason unknown_shape
    """
    from dataclasses import asdict

    from beleg import flow
    from beleg.ingest.retry import retry as try_again
    from beleg.lake.exclusive import exclusive

    settings = Settings.load()
    with exclusive(settings):
        done = try_again(settings, reason=reason)
    if done.accepted or done.mended:
        flow.publish(settings)
    if json:
        print_json({"schema_version": 1, **asdict(done)})
        return
    console().print(
        f"tried {done.tried:,} lines: {done.accepted:,} accepted, {done.mended:,} mended in their source, "
        f"{done.refused:,} still refused, {done.gone:,} without their source"
    )


def _printable(line: bytes) -> str:
    """The line without control characters: it comes from outside and must not steer the terminal."""
    text = line.decode("utf-8", "backslashreplace")
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _id(row: dict[str, Any]) -> str:
    occurrence = f":{row['occurrence']}" if row["occurrence"] > 1 else ""
    return str(row["line_sha256"])[:_ID_LENGTH] + occurrence


def _position(row: dict[str, Any]) -> str:
    return f"{Path(row['file']).name}:{row['line_number']}"
