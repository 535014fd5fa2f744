"""`beleg agent flows`: does the stored record alone know how far a flow is."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from beleg.cli.agent.playbooks import show_findings
from beleg.cli.options import Json
from beleg.core.errors import UsageError

if TYPE_CHECKING:
    from beleg.agent.flows import Flow


def register(agent: typer.Typer) -> None:
    """Add the command."""
    noun = typer.Typer(no_args_is_help=True, help="Long flows: progress is computed, never remembered.")
    noun.command("lint")(lint)
    noun.callback()(_noun)
    agent.add_typer(noun, name="flows")


def _noun() -> None:
    """Long flows: progress is computed, never remembered."""


def lint(
    target: Annotated[str, typer.Argument(help="MODULE:NAME of a beleg.agent.flows.Flow, or of several.")],
    *,
    playbooks: Annotated[Path | None, typer.Option(help="Folder with the playbooks that walk through them.")] = None,
    json: Json = False,
) -> None:
    """Check flows and their playbooks; exit code 1 where one has an error. The module is run.

    Example: beleg agent flows lint beleg.agent.example.flows:FLOWS
    """
    from beleg.agent import flows as library
    from beleg.agent.playbooks import Playbooks

    books = () if playbooks is None else Playbooks.load(playbooks).all
    found = [finding for flow in _flows(target) for finding in library.lint(flow, (), books)]
    show_findings(found, json=json)


def _flows(target: str) -> "tuple[Flow, ...]":
    from importlib import import_module

    from beleg.agent.flows import Flow

    module, _, name = target.partition(":")
    try:
        found = getattr(import_module(module), name or "FLOWS", None)
    except (ImportError, ValueError) as error:
        raise UsageError(f"{module!r} cannot be imported ({error}): give MODULE:NAME") from error
    flows = found if isinstance(found, tuple | list) else (found,)
    if not flows or not all(isinstance(each, Flow) for each in flows):
        raise UsageError(f"{target} is a {type(found).__name__}: give MODULE:NAME of one Flow, or a tuple of them")
    return tuple(flows)
