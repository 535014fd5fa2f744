"""The `beleg` command: one module per noun, no logic of its own.

Exit codes: 0 good, 1 the thing asked about failed, 2 usage, 3 inconclusive, 4 damaged input or store.
"""

import contextlib
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
    "restatements",
    "prices",
    "models",
    "quarantine",
    "sql",
    "report",
    "correct",
    "findings",
    "cases",
    "eval",
    "gate",
    "contract",
    "prompt",
    "agent",
    "init",
    "backup",
    "migrate",
    "prune",
    "forget",
    "demo",
    "fingerprint",
    "formats",
    "collect",
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
        _fail(str(error), error.exit_code)
    except SystemExit:
        # click swallows a closed pipe, for example `| head`, and calls it a failure; it is none.
        if type(sys.stdout).__name__ == "PacifyFlushWrapper":
            os._exit(0)
        raise
    except RecursionError:
        _fail("the input is nested too deeply", 2)
    except OSError as error:
        _fail(f"{error.filename or 'output'}: {error.strerror or error}", 4)
    except Exception as error:
        if type(error).__module__.partition(".")[0] not in {"duckdb", "_duckdb"}:
            raise
        _fail(f"the store cannot be read: {error}", 4)


def _fail(message: str, code: int) -> None:
    with contextlib.suppress(OSError):
        typer.echo(f"beleg: {message}", err=True)
    sys.exit(code)


if __name__ == "__main__":
    main()
