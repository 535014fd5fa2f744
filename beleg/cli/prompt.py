"""`beleg prompt`: prompts as data, for workflows without a contract."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from beleg.cli.contract import place
from beleg.cli.contract import show as shown
from beleg.cli.contract.place import By, Why
from beleg.cli.options import Json
from beleg.cli.output import print_json, show_rows
from beleg.core.errors import UsageError

Workflow = Annotated[str, typer.Argument(help="The workflow, as traces name it.")]
Version = Annotated[str, typer.Argument(help="A version that was added.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    noun = typer.Typer(help="Prompts as data, for workflows without a contract.", no_args_is_help=True)
    commands: dict[str, Callable[..., None]] = {
        "list": list_,
        "add": add,
        "activate": activate,
        "deactivate": deactivate,
        "history": history,
    }
    for name, command in commands.items():
        noun.command(name)(command)
    app.add_typer(noun, name="prompt")


def list_(
    workflow: Annotated[str | None, typer.Argument(help="Its versions; default: all workflows.")] = None,
    json: Json = False,
) -> None:
    """List workflows with prompts, or the versions of one.

    Example: beleg prompt list dunning
    """
    registry = place.registry()
    names = registry.workflows() if workflow is None else [workflow]
    rows = []
    for name in names:
        head = registry.prompt_head(name)
        active = head and head.active and head.active.version
        for each in registry.prompt_releases(name):
            at, by = each.published_at, each.published_by
            rows.append([name, each.version, each.version == active, each.digest[:12], at, by, each.note])
    columns = ("workflow", "version", "active", "digest", "added_at", "by", "note")
    if json:
        print_json({"schema_version": 1, "prompts": [dict(zip(columns, row, strict=True)) for row in rows]})
        return
    show_rows("Prompts", columns, [[*row[:2], "yes" if row[2] else None, *row[3:]] for row in rows])


def add(
    workflow: Workflow,
    file: Annotated[str, typer.Argument(help="A text file, or - for standard input.")],
    *,
    version: Annotated[str | None, typer.Option(help="Its name; default: the next number.")] = None,
    note: Annotated[str, typer.Option(help="What is new.")] = "",
    by: By = None,
    json: Json = False,
) -> None:
    """Add an immutable text; it is not active by that.

    Example: beleg prompt add dunning prompts/dunning.md --note "friendlier"
    """
    from beleg.contract.promotion import add_prompt

    made = add_prompt(place.registry(), workflow, _text(file), by=place.person(by), version=version, note=note)
    if json:
        print_json({"schema_version": 1, "workflow": workflow, "version": made.version, "digest": made.digest})
        return
    shown.say(
        f"added {workflow} {made.version}; it becomes active with: beleg prompt activate {workflow} {made.version}"
    )


def _text(file: str) -> str:
    try:
        return sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{file} is not UTF-8: byte {error.start}; save it as UTF-8") from error


def activate(workflow: Workflow, version: Version, why: Why, by: By = None, json: Json = False) -> None:
    """Make a version the active one: `beleg.prompt` returns it within the time its cache lives.

    Example: beleg prompt activate dunning 3 --why "fewer complaints in the test group"
    """
    from beleg.contract.promotion import activate_prompt

    activate_prompt(place.registry(), workflow, version, by=place.person(by), why=why)
    _told(workflow, version, json=json)


def deactivate(workflow: Workflow, why: Why, by: By = None, json: Json = False) -> None:
    """Make none active: the prompt baked into the code is used.

    Example: beleg prompt deactivate dunning --why "wrong law cited"
    """
    from beleg.contract.promotion import deactivate_prompt

    deactivate_prompt(place.registry(), workflow, by=place.person(by), why=why)
    _told(workflow, None, json=json)


def _told(workflow: str, version: str | None, *, json: bool) -> None:
    if json:
        print_json({"schema_version": 1, "workflow": workflow, "active": version})
        return
    shown.say(f"{workflow}: {f'{version} is active' if version else 'the prompt baked into the code is used'}")


def history(workflow: Workflow, json: Json = False) -> None:
    """Who added, activated and deactivated what, when and why.

    Example: beleg prompt history dunning
    """
    rows = [
        [e.epoch, e.verb, (e.head.get("active") or {}).get("version"), e.at, e.by, e.why]
        for e in place.registry().prompt_shelf(workflow).history()
    ]
    columns = ("epoch", "verb", "active", "at", "by", "why")
    if json:
        print_json(
            {"schema_version": 1, "workflow": workflow, "entries": [dict(zip(columns, r, strict=True)) for r in rows]}
        )
        return
    show_rows(f"History of {workflow}", columns, rows, numbers=("epoch",))
