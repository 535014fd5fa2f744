"""`beleg agent audit`: every verb that each role's agent has, and whether one of them binds somebody."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from beleg.cli.options import Json
from beleg.cli.output import console, print_json, show_rows
from beleg.core.errors import UsageError

if TYPE_CHECKING:
    from beleg.agent.verbs import Audit


def register(agent: typer.Typer) -> None:
    """Add the command."""
    agent.command("audit")(audit)


def audit(
    target: Annotated[str, typer.Argument(help="MODULE:NAME of a beleg.agent.verbs.Roles. The module is run.")],
    *,
    snapshot: Annotated[
        Path | None, typer.Option(help="Folder of the committed vocabulary: fail on any change.")
    ] = None,
    write: Annotated[bool, typer.Option("--write", help="Write the vocabulary into --snapshot instead.")] = False,
    json: Json = False,
) -> None:
    """List the vocabulary of every role and what of it may bind; exit 1 on what nobody has reviewed.

    Example: beleg agent audit beleg.agent.example.agent:ROLES --snapshot vocabulary/
    """
    from beleg.agent.verbs import audit as look
    from beleg.agent.verbs import snapshot as snapshots
    from beleg.agent.verbs.roles import load_roles

    if write and snapshot is None:
        raise UsageError("--write needs --snapshot FOLDER to write into")
    result = look(load_roles(target))
    if snapshot is not None and write:
        snapshots.write(result, snapshot)
    changes = snapshots.differences(result, snapshot) if snapshot is not None else []
    if json:
        print_json(_document(result, changes))
    else:
        _show(result, changes)
    if not result.passed or changes:
        raise typer.Exit(1)


def _show(result: "Audit", changes: list[str]) -> None:
    tools = [[role, tool.name, tool.effect, tool.group] for role, each in result.roles.items() for tool in each.tools]
    show_rows("Vocabulary", ("role", "tool", "effect", "group"), tools)
    found = [
        [
            each.verdict,
            each.tool,
            each.kind,
            each.place,
            each.word,
            f"{each.review.by}: {each.review.why}" if each.review else None,
        ]
        for each in result.findings
    ]
    show_rows(
        f"{len(result.failures)} of {len(found)} findings fail",
        ("verdict", "tool", "kind", "place", "word", "review"),
        found,
    )
    claims = [[each.basis, each.standing, each.says] for each in result.claims]
    show_rows("On what it rests that nothing binds", ("basis", "standing", "claim"), claims)
    for said in changes:
        console(stderr=True).print(said)


def _document(result: "Audit", changes: list[str]) -> dict[str, Any]:
    return {
        "schema_version": 1,
        "passed": result.passed and not changes,
        "roles": {
            role: [{"tool": tool.name, "effect": tool.effect, "digest": tool.digest} for tool in cohort.tools]
            for role, cohort in result.roles.items()
        },
        "findings": [
            {
                "tool": each.tool,
                "kind": each.kind,
                "place": each.place,
                "word": each.word,
                "verdict": each.verdict,
                "by": each.review.by if each.review else None,
                "why": each.review.why if each.review else None,
            }
            for each in result.findings
        ],
        "claims": [{"basis": each.basis, "standing": each.standing, "says": each.says} for each in result.claims],
        "not_followed": {tool: list(each.unknown) for tool, each in result.reached.items() if each.unknown},
        "changes": changes,
    }
