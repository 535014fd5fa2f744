"""`beleg agent playbooks`: are they all found, do they name tools that exist, and what do they cost."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from beleg.cli.options import MOST, Json
from beleg.cli.output import console, print_json, show_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from beleg.agent.finding import Finding
    from beleg.agent.playbooks import Account
    from beleg.contract.tokens import Estimate

Folder = Annotated[Path, typer.Argument(metavar="FOLDER", help="Folder with a folder for each playbook.")]
Family = Annotated[str, typer.Option(help="Family of models to count tokens in.")]
COLUMNS = ("severity", "rule", "where", "what", "fix")


def register(agent: typer.Typer) -> None:
    """Add the commands."""
    noun = typer.Typer(no_args_is_help=True, help="Playbooks: one index in the prompt, one body on demand.")
    noun.command("lint")(lint)
    noun.command("account")(account)
    agent.add_typer(noun, name="playbooks")


def lint(
    folder: Folder,
    *,
    roles: Annotated[
        str | None,
        typer.Option(help="MODULE:NAME of a beleg.agent.verbs.Roles: checks tools for each role. It is run."),
    ] = None,
    index_tokens: Annotated[
        int, typer.Option(min=1, max=MOST, help="What the index may cost, in estimated tokens.")
    ] = 500,
    body_tokens: Annotated[
        int, typer.Option(min=1, max=MOST, help="What one body may cost, in estimated tokens.")
    ] = 5_000,
    family: Family = "o200k",
    json: Json = False,
) -> None:
    """Check playbooks; exit code 1 where one has an error. Nothing in them is run.

    Example: beleg agent playbooks lint playbooks --roles beleg.agent.example.agent:ROLES
    """
    from beleg.agent import playbooks as library

    found = library.Playbooks.load(folder)
    cohorts, declared = (None, ()) if roles is None else _tools(roles)
    findings = library.lint(
        found, cohorts, declared=declared, index_tokens=index_tokens, body_tokens=body_tokens, family=family
    )
    show_findings(findings, json=json, playbooks=len(found.all))


def account(folder: Folder, *, family: Family = "o200k", json: Json = False) -> None:
    """Account for playbooks in tokens: index, bodies, and what inlining them all would cost.

    Example: beleg agent playbooks account playbooks --family claude
    """
    from beleg.agent import playbooks as library

    found = library.account(library.Playbooks.load(folder), family)
    if json:
        print_json(_document(found))
        return
    rows = [
        [name, *_row(tokens)] for name, tokens in (("index", found.index), *found.bodies, ("inlined", found.inlined))
    ]
    show_rows(f"Playbooks, in tokens of {family}", ("what", "tokens", "low", "high"), rows, numbers=("tokens",))
    for factor, what in ((found.index_factor, "while none is open"), (found.open_factor, "while the largest is open")):
        if factor is not None:
            console().print(f"{factor:.1f} times less than inlined, {what}")


def show_findings(findings: "Sequence[Finding]", *, json: bool, **more: Any) -> None:
    """Print findings, worst first; exit code 1 where one is an error."""
    order = {"error": 0, "warning": 1, "info": 2}
    findings = sorted(findings, key=lambda each: order[each.severity])
    if json:
        print_json({"schema_version": 1, **more, "findings": [each.to_dict() for each in findings]})
    else:
        rows = [[each.severity, each.rule, each.place, each.sentence, each.fix] for each in findings]
        show_rows(f"{len(findings)} findings", COLUMNS, rows)
    if any(each.severity == "error" for each in findings):
        raise typer.Exit(1)


def _tools(target: str) -> tuple[dict[str, Any], tuple[Any, ...]]:
    """What each role is offered, and everything that is declared."""
    from beleg.agent.verbs.roles import load_roles

    found = load_roles(target)
    offered = {name: found.toolset.for_context(context).tools for name, context in found.contexts.items()}
    return offered, tuple(found.toolset.tools.values())


def _row(tokens: "Estimate") -> list[int]:
    return [tokens.tokens, tokens.low, tokens.high]


def _document(found: "Account") -> dict[str, Any]:
    def told(tokens: "Estimate") -> dict[str, Any]:
        return {"tokens": tokens.tokens, "low": tokens.low, "high": tokens.high, "tokenizer": tokens.tokenizer}

    return {
        "schema_version": 1,
        "family": found.family,
        "index": told(found.index),
        "bodies": {name: told(tokens) for name, tokens in found.bodies},
        "inlined": told(found.inlined),
        "index_factor": found.index_factor,
        "open_factor": found.open_factor,
    }
