"""`beleg ship`: moves sealed spool files to a folder, an object store or an OTLP backend."""

import json
import signal
import threading
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("ship")(ship)


def ship(
    destination: Annotated[str, typer.Argument(help="Folder, fsspec URL (s3://…) or otlp+http://host:4318")],
    spool: Annotated[Path | None, typer.Option(help="Spool folder; default BELEG_SPOOL or BELEG_HOME/spool.")] = None,
    rest: Annotated[bool, typer.Option("--rest", help="Also what dead processes left open, as at shutdown.")] = False,
    every_s: Annotated[
        int | None, typer.Option("--every", min=1, max=10**9, help="Repeat every N seconds, until ended.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Move sealed spool files to where the pipeline reads them; exactly once, resumable.

    With --every it runs until SIGTERM, whatever fails meanwhile, and then ships the rest.
    Example: beleg ship /srv/beleg/inbox --rest
    """
    from beleg.trace.settings import from_environment
    from beleg.trace.ship import ShipError, destination_of
    from beleg.trace.ship import ship as ship_once

    folder = (spool or from_environment().spool).absolute()
    stop = threading.Event()
    if every_s is not None:
        for name in (signal.SIGTERM, signal.SIGINT):
            signal.signal(name, lambda *_: stop.set())
    try:
        target = destination_of(destination)
        while every_s is not None and not stop.is_set():
            try:
                _report(ship_once(folder, target), as_json=as_json)
            except ShipError as error:  # a destination that is away comes back; nothing is lost meanwhile
                typer.echo(f"{error}; tried again in {every_s} s", err=True)
            stop.wait(every_s)
        _report(ship_once(folder, target, rest=rest or every_s is not None), as_json=as_json)
    except ShipError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from error


def _report(done: Any, *, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(asdict(done)))
    else:
        typer.echo(f"shipped {done.files} files, {done.bytes} bytes; {done.left} still growing")
