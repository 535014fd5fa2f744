"""`beleg collect`: receives spans over OTLP/HTTP."""

import json as jsonlib
from pathlib import Path
from typing import Annotated

import typer

from beleg.cli.options import Json
from beleg.cli.output import console
from beleg.core.errors import UsageError
from beleg.core.settings import Settings


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("collect")(collect)


def collect(
    host: Annotated[
        str, typer.Option(help="Address to listen on; another than this machine's own needs a token.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 takes any that is free.")] = 4318,
    token_file: Annotated[
        Path | None, typer.Option("--token-file", help="File with the bearer token; else BELEG_COLLECT_TOKEN.")
    ] = None,
    json: Json = False,
) -> None:
    """Receive OpenTelemetry traces on a port, reduce them in the process, write receipts to the spool.

    Example: beleg collect & OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318 python app.py
    """
    try:
        from beleg.collect.app import Access
        from beleg.collect.serve import Address, listen, read_token, serve
    except ModuleNotFoundError as error:
        raise UsageError(f"the receiver needs {error.name!r}: pip install 'beleg[collect]'") from error

    def tell(url: str) -> None:
        if json:
            typer.echo(jsonlib.dumps({"url": url, "spool": str(settings.spool)}))
        else:
            console().print(f"receiving OTLP/HTTP on {url}/v1/traces, writing to {settings.spool}", soft_wrap=True)

    settings = Settings.load()
    token = read_token(token_file)
    serve(settings, listen(Address(host, port), token), Access(token), tell)
