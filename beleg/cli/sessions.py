"""What `beleg ingest` shows after it read the logs of coding agents: their cost by session and project."""

from typing import Any

from beleg.ask.sessions import Sessions, Spent
from beleg.cli.output import console, printable, show_rows
from beleg.cost.money import usd_text

_MOST_PROJECTS = 20
_COLUMNS = ("agent", "project", "sessions", "calls", "cache share", "cost usd", "per session usd")


def show(found: Sessions) -> None:
    """Print the projects, their sum, and what has no price."""
    shown = found.projects[:_MOST_PROJECTS]
    rows = [_row(one.agent, one.project, one) for one in shown]
    if len(found.projects) > 1:
        rows.append(_row("all", None, found.total))
    show_rows("Sessions of coding agents at list prices", _COLUMNS, rows, numbers=_COLUMNS[2:])
    out = console()
    if len(found.projects) > len(shown):
        out.print(f"{len(found.projects) - len(shown):,} further projects: `beleg costs --by team`")
    for row in found.unpriced:
        model = printable(row["model"] or "a model that is not named")
        out.print(f"{row['calls']:,} calls of {row['agent']} to {model} have no price: {row['reason']}")
    if found.unpriced:
        out.print("their cost is missing above; `beleg models --unpriced` shows rows to fill in")


def _row(agent: str | None, project: str | None, spent: Spent) -> list[Any]:
    each, share = spent.per_session_pico_usd, spent.cache_share
    return [
        agent,
        project,
        f"{spent.sessions:,}",
        f"{spent.calls:,}",
        None if share is None else f"{share:.1%}",
        usd_text(spent.cost_pico_usd),
        None if each is None else usd_text(each),
    ]
