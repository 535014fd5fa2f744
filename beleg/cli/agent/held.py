"""`beleg agent held`: what a model holds in its head for each cohort, and the file that a budget needs."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from beleg.cli.options import Json
from beleg.cli.output import console, print_json, show_rows
from beleg.core.errors import UsageError

if TYPE_CHECKING:
    from beleg.agent.toolsets import Cohort
    from beleg.contract.surroundings import Offered, Surroundings
    from beleg.contract.tokens import Estimate

COLUMNS = ("cohort", "tools", "tool tokens", "index", "largest body", "held", "low", "high")


def register(agent: typer.Typer) -> None:
    """Add the command."""
    agent.command("held")(held)


def held(
    target: Annotated[str, typer.Argument(help="MODULE:NAME of a beleg.agent.verbs.Roles. The module is run.")],
    *,
    playbooks: Annotated[Path | None, typer.Option(help="Folder with a folder for each playbook.")] = None,
    family: Annotated[
        str | None, typer.Option(help="Family of models to count in; default: that of the roles.")
    ] = None,
    file: Annotated[
        Path | None, typer.Option(help="A feature's surroundings.json: fail where it is not what is offered now.")
    ] = None,
    write: Annotated[bool, typer.Option("--write", help="Write --file instead.")] = False,
    json: Json = False,
) -> None:
    """Count tools, index and largest playbook of each cohort; the contract adds its instructions and its budget.

    Example: beleg agent held my_agent:ROLES --file contracts/features/copilot/surroundings.json --write
    """
    from beleg.agent.adapters.contract import surroundings
    from beleg.agent.playbooks import Playbooks
    from beleg.agent.verbs.roles import load_roles

    if write and file is None:
        raise UsageError("--write needs --file PATH to write to")
    roles = load_roles(target)
    cohorts = {each.name: each for each in map(roles.toolset.cohort_of, roles.contexts.values())}
    books = None if playbooks is None else Playbooks.load(playbooks)
    counted = surroundings(cohorts.values(), family or roles.family, books)
    rows = {name: _parts(cohorts[name], each, counted.family) for name, each in counted.cohorts.items()}
    if json:
        print_json(_document(counted, rows))
    else:
        _show(counted, rows)
    if file is not None:
        _settle(counted, file, write=write)


def _parts(cohort: "Cohort", offered: "Offered", family: str) -> "dict[str, Estimate]":
    from beleg.agent.toolsets.account import tools_tokens

    return {"tools": tools_tokens(cohort.tools, family), "index": offered.index, "body": offered.body}


def _settle(counted: "Surroundings", file: Path, *, write: bool) -> None:
    """Write the file, or exit 1 where it says something else."""
    if write:
        file.write_bytes(counted.to_bytes())
    elif not file.exists() or file.read_bytes() != counted.to_bytes():
        console(stderr=True).print(f"{file} is not what the agent offers now: count it anew with --write")
        raise typer.Exit(1)


def _whole(parts: "dict[str, Estimate]") -> "Estimate":
    return parts["tools"] + parts["index"] + parts["body"]


def _show(counted: "Surroundings", rows: "dict[str, dict[str, Estimate]]") -> None:
    shown = [
        [
            name,
            len(counted.cohorts[name].tools),
            *(each.tokens for each in parts.values()),
            *(getattr(_whole(parts), figure) for figure in ("tokens", "low", "high")),
        ]
        for name, parts in rows.items()
    ]
    show_rows(f"Held beside the instructions, in tokens of {counted.family}", COLUMNS, shown, numbers=COLUMNS[1:])


def _document(counted: "Surroundings", rows: "dict[str, dict[str, Estimate]]") -> dict[str, Any]:
    cohorts = {
        name: {
            "offered_tools": len(counted.cohorts[name].tools),
            **{part: vars(tokens) for part, tokens in parts.items()},
            "held": vars(_whole(parts)),
        }
        for name, parts in rows.items()
    }
    return {"schema_version": 1, "family": counted.family, "cohorts": cohorts}
