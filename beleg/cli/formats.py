"""`beleg formats`: which files can be read."""

import typer

from beleg.cli.options import Json
from beleg.cli.output import print_json, show_rows

COLUMNS = ("name", "title", "files", "yields", "cannot_know")
OWN = (
    "beleg",
    "Events in normal form",
    "what the tracer, `beleg collect` and `beleg ship` write: one JSON object per line",
    "everything that docs/data-dictionary.md lists",
    "nothing: what was measured is there",
)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("formats")(formats)


def formats(json: Json = False) -> None:
    """List the formats that `beleg ingest` reads, what each tells, and what it cannot tell.

    Any other table of calls is read by a mapping, see docs/mapping.md.

    Example: beleg formats --json
    """
    from beleg.ingest.readers.formats import formats as foreign

    rows = [OWN, *((form.name, form.title, form.files, form.yields, form.cannot_know) for form in foreign().values())]
    if json:
        print_json({"schema_version": 1, "rows": [dict(zip(COLUMNS, row, strict=True)) for row in rows]})
        return
    show_rows("", [name.replace("_", " ") for name in COLUMNS], rows)
