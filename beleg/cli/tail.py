"""`beleg tail`: shows runs live in the terminal."""

import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

_POLL_S = 0.5


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("tail")(tail)


def tail(
    spool: Annotated[Path | None, typer.Option(help="Spool folder; default BELEG_SPOOL or BELEG_HOME/spool.")] = None,
    from_start: Annotated[bool, typer.Option("--from-start", help="Begin with what is already there.")] = False,
    once: Annotated[bool, typer.Option("--once", help="Stop after what is there now.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the events as JSON lines.")] = False,
) -> None:
    """Show runs, steps and later signals as they are written, of all processes.

    Example: beleg tail --from-start
    """
    from beleg.trace.settings import from_environment
    from beleg.trace.tail import Tail

    follow = Tail((spool or from_environment().spool).absolute(), from_start=from_start or once)
    try:
        while True:
            for event in follow.new_events():
                typer.echo(json.dumps(event) if as_json else describe(event))
            if once:
                return
            time.sleep(_POLL_S)
    except KeyboardInterrupt:
        return


def describe(event: Mapping[str, Any]) -> str:
    """One line for a terminal: time, run, what happened."""
    clock = str(event.get("event_time", ""))[11:23]
    run = str(event.get("run_id") or "")[-8:]
    kind = event.get("event")
    words = [kind, event.get("workflow"), event.get("name") or event.get("tool_name"), event.get("model")]
    words += [event.get("status"), event.get("exception_class"), event.get("rating"), event.get("reason")]
    tokens = sum(count for count in (event.get("buckets") or {}).values() if count is not None)
    figures = [f"{tokens} tokens"] if tokens else []
    durations = (event.get("latency_ms"), event.get("duration_ms"))
    figures.extend(f"{duration} ms" for duration in durations if duration is not None)
    return "  ".join(str(word) for word in [clock, run, *words, *figures] if word)
