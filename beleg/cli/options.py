"""Options that several commands share."""

from typing import Annotated

import typer

from beleg.cli.output import CSV_HELP, JSON_HELP
from beleg.core.errors import UsageError

MOST = 2**63 - 1
"""Largest number an option takes: what a query can be given."""


def _not_with_json(context: typer.Context, asked: bool) -> bool:
    if asked and context.params.get("json"):
        raise UsageError("--json and --csv exclude each other; give one of them")
    return asked


Json = Annotated[bool, typer.Option("--json", help=JSON_HELP, is_eager=True)]
Csv = Annotated[bool, typer.Option("--csv", help=CSV_HELP, callback=_not_with_json)]
