"""`beleg sql` and `beleg open`: the analyst's door."""

from typing import TYPE_CHECKING, Annotated

import typer

from beleg.cli.options import Csv, Json
from beleg.cli.output import console, print_csv, print_json, show_rows
from beleg.core.errors import UsageError
from beleg.core.settings import Settings

if TYPE_CHECKING:
    import duckdb


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("sql")(sql)
    app.command("open")(open_)


def sql(
    query: Annotated[str, typer.Argument(help="One query, for example 'SELECT * FROM unit_costs LIMIT 5'.")],
    json: Json = False,
    csv: Csv = False,
) -> None:
    """Ask the published figures in SQL, read-only; nothing else of the machine can be read.

    Example: beleg sql "SELECT workflow, sum(cost_pico_usd) FROM unit_costs GROUP BY 1"
    """
    import duckdb

    from beleg.lake import catalog

    with catalog.connect(Settings.load()) as con:
        try:
            result = con.execute(_reading(con, query))
            columns = [d[0] for d in result.description or []]
            rows = result.fetchall()
        except duckdb.Error as error:
            msg = f"the query failed: {error}"
            raise UsageError(msg) from error
    if (json or csv) and len(set(columns)) < len(columns):
        msg = f"two columns have the same name ({', '.join(columns)}): name them apart with AS"
        raise UsageError(msg)
    if json:
        print_json([dict(zip(columns, row, strict=True)) for row in rows])
    elif csv:
        print_csv([dict(zip(columns, row, strict=True)) for row in rows], columns)
    else:
        show_rows("", columns, rows)


def _reading(con: "duckdb.DuckDBPyConnection", query: str) -> "duckdb.Statement":
    """The one statement of a query; raises UsageError for none, several, or one that does more than read.

    DuckDB lets whoever may read a folder write into it with COPY, so reading is decided by the statement.
    """
    import duckdb

    statements = con.extract_statements(query)
    if len(statements) != 1:
        msg = f"one query is asked for, this is {len(statements)}: call `beleg sql` for each"
        raise UsageError(msg)
    if statements[0].type != duckdb.StatementType.SELECT:
        msg = f"only a query that reads is allowed, not {statements[0].type.name}; begin it with SELECT or WITH"
        raise UsageError(msg)
    return statements[0]


def open_(json: Json = False) -> None:
    """Say how to connect to the figures with the DuckDB command, Python or Harlequin.

    Example: beleg open
    """
    settings = Settings.load()
    if not settings.database.exists():
        msg = f"{settings.database} does not exist yet: run `beleg ingest PATH` or `beleg run` first"
        raise UsageError(msg)
    ways = {
        "duckdb": f'duckdb -readonly "{settings.database}"',
        "python": f'duckdb.connect("{settings.database}", read_only=True)',
        "harlequin": f'harlequin -r "{settings.database}"',
    }
    if json:
        print_json({"database": str(settings.database), **ways})
        return
    out = console()
    out.print(f"The figures are in {settings.database}; DuckDB 1.5 and newer open it.")
    for name, way in ways.items():
        out.print(f"  {name:<10} {way}", soft_wrap=True)
    out.print("What is in it: FROM data_dictionary; metrics: FROM metric_definitions, for example FROM unit_cost()")
