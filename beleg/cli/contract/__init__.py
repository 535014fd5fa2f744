"""`beleg contract`: an AI feature's definition from draft to release, and the proof of what was released."""

from collections.abc import Callable, Mapping

import typer

from beleg.cli.contract import look, proof, release, work

COMMANDS: Mapping[str, Callable[..., None]] = {
    "init": work.init,
    "status": look.status,
    "edit": work.edit,
    "lint": look.lint,
    "diff": look.diff,
    "approve": release.approve,
    "publish": release.publish,
    "rollback": release.rollback,
    "draft": work.draft,
    "history": look.history,
    "show": look.show,
    "snippet": look.snippet,
    "deprecate": release.deprecate,
    "sunset": release.sunset,
    "tool": work.tool,
    "verify": proof.verify,
    "export": proof.export,
    "push": proof.push,
}


def register(app: typer.Typer) -> None:
    """Add the commands, in the order of a feature's life."""
    noun = typer.Typer(help="The agent contract: draft, check, publish, roll back.", no_args_is_help=True)
    for name, command in COMMANDS.items():
        noun.command(name)(command)
    app.add_typer(noun, name="contract")
