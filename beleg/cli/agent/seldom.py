"""`beleg agent seldom`: tools that are offered often and called seldom."""

from typing import Annotated

import typer

from beleg.cli.options import Json
from beleg.cli.output import print_json, show_rows
from beleg.core.settings import Settings

COLUMNS = ("tool", "requests", "calls", "tokens", "tokens per call", "what it comes to")


def register(agent: typer.Typer) -> None:
    """Add the command."""
    agent.command("seldom")(seldom)


def seldom(
    target: Annotated[str, typer.Argument(help="MODULE:NAME of a beleg.agent.verbs.Roles. The module is run.")],
    *,
    first: Annotated[str | None, typer.Option("--from", help="First business day, for example 2026-03-01.")] = None,
    last: Annotated[str | None, typer.Option("--to", help="Last business day, included.")] = None,
    json: Json = False,
) -> None:
    """List tools that fewer than one in a thousand requests call, with what each call costs; the dearest first.

    Rare is no reason to drop a tool: those that say why they are kept are not listed.

    Example: beleg agent seldom my_agent:ROLES --from 2026-09-01
    """
    from beleg.agent.toolsets.seldom import seldom as found_in
    from beleg.agent.verbs.roles import load_roles
    from beleg.ask.uses import uses
    from beleg.cost.figures import Period

    tools = load_roles(target).toolset.tools
    found = found_in(uses(Settings.load(), Period.parse(first, last)), tools)
    kept = {name: tool.keep for name, tool in tools.items() if tool.keep is not None}
    if json:
        rows = [{**vars(each), "tokens_per_call": each.tokens_per_call, "sentence": each.sentence} for each in found]
        print_json({"schema_version": 1, "tools": rows, "kept": kept})
        return
    shown = [[e.tool, e.requests, e.calls, e.tokens, e.tokens_per_call, e.sentence] for e in found]
    show_rows("Offered often, called seldom", COLUMNS, shown, numbers=COLUMNS[1:5])
