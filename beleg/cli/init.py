"""`beleg init`: a project of one's own."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from beleg.cli.options import Json
from beleg.cli.output import console, print_json

if TYPE_CHECKING:
    from beleg.project.init import Report


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("init")(init)


def init(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of the project.")],
    force: Annotated[bool, typer.Option("--force", help="Add missing files to a folder that holds something.")] = False,
    diff: Annotated[
        bool, typer.Option("--diff", help="Show where files of a project differ from this release's.")
    ] = False,
    json: Json = False,
) -> None:
    """Write a ready project: wiring for Dagster, policies, notebooks, commands. Overwrites nothing, ever.

    A second time it lists what differs from the files of this release.

    Example: beleg init agents
    """
    from dataclasses import asdict

    from beleg.project import init as project

    done = project.init(folder, force=force)
    if json:
        print_json({"schema_version": 1, **asdict(done)})
        return
    _tell(done)
    if diff:
        for path in done.differing:
            console().print(project.diff(done.folder, path), soft_wrap=True)


def _tell(done: "Report") -> None:
    out = console()
    for word, paths in (("created", done.created), ("differs", done.differing), ("missing", done.missing)):
        for path in paths:
            out.print(f"{word}  {path}", soft_wrap=True)
    if done.created:
        out.print(
            f"\n{done.folder} is ready: `cd {done.folder}`, then `beleg run`; README.md tells the rest", soft_wrap=True
        )
    elif not (done.differing or done.missing):
        out.print(f"{done.folder} is as this release would write it", soft_wrap=True)
    else:
        out.print("--diff shows the differences, --force adds what is missing; what is yours stays", soft_wrap=True)
