"""The `beleg` command: one module per noun, no logic of its own.

Exit codes: 0 good, 1 the thing asked about failed, 2 usage, 3 inconclusive, 4 damaged input or store.
"""

import importlib
import os
import sys
from typing import Annotated

import typer

from beleg.core.errors import BelegError

NOUNS = (
    "ingest",
    "costs",
    "runs",
    "explain",
    "drift",
    "versions",
    "flags",
    "reconcile",
    "prices",
    "models",
    "quarantine",
    "sql",
    "report",
    "demo",
    "fingerprint",
    "ship",
    "tail",
)
"""Modules of `beleg.cli`, in the order `beleg --help` shows them."""

app = typer.Typer(
    name="beleg",
    help="A receipt for every run of an AI agent: what ran and what it cost, never the data itself.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        typer.echo(f"beleg {version('beleg')}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Options of the command as a whole."""


for _noun in NOUNS:
    importlib.import_module(f"beleg.cli.{_noun}").register(app)


def main() -> None:
    """Run the command; errors raised on purpose become a message and their exit code."""
    try:
        app()
    except BelegError as error:
        typer.echo(f"beleg: {error}", err=True)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        # The reader of the pipe has gone, for example `| head`; there is no one left to tell.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)


if __name__ == "__main__":
    main()
