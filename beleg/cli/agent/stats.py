"""`beleg agent stats`: what the tools, playbooks and prompt layout of agents cost, and whether they are used."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from beleg.cli.options import MOST, Json
from beleg.cli.output import console, print_json, show_rows
from beleg.core.settings import Settings

if TYPE_CHECKING:
    from beleg.ask.agent import Stats, Tool
    from beleg.ask.desk import Record

SURFACE = ("workflow", "runs", "tools offered", "at most", "called", "tokens a request", "tax, USD", "untaxed requests")
TOOLS = ("workflow", "tool", "requests", "calls", "failed", "tokens a call", "last called", "USD a month")
HELD = ("workflow", "version", "cohort", "requests", "tools", "instructions", "index", "body", "held", "most")
PLAYBOOKS = ("workflow", "playbook", "openings", "requests", "tool calls", "failed", "cost, USD", "unpriced")
MISSES = ("workflow", "cause", "detail", "requests", "missed tokens", "lost, USD", "for example")
LAYOUTS = ("workflow", "prompt", "layout", "from", "to", "requests", "of input", "of warm requests", "lost, USD")


def register(agent: typer.Typer) -> None:
    """Add the command."""
    agent.command("stats")(stats)


def stats(
    *,
    workflow: Annotated[str | None, typer.Option(help="Only this workflow.")] = None,
    days: Annotated[int, typer.Option(min=1, max=MOST, help="Business days up to the last with any run.")] = 30,
    json: Json = False,
) -> None:
    """Tell of production runs: tools offered and used, tokens held, playbooks, and why the prompt cache missed.

    Example: beleg agent stats --workflow chat_copilot --days 14
    """
    from beleg.ask.agent import stats as ask

    found = ask(Settings.load(), days=days, workflow=workflow)
    if json:
        print_json(_document(found))
    else:
        _show(found)


def _show(found: "Stats") -> None:
    span = f"{found.period.first} to {found.period.last}"
    show_rows(f"Runs and tool surface, {span}", SURFACE, list(map(_surface, found.surface)), numbers=SURFACE[1:])
    used = [_tool(each) for each in found.tools if not each.is_idle]
    show_rows("Tools, by what their definitions cost", TOOLS, used, numbers=(*TOOLS[2:6], TOOLS[7]))
    idle = [_tool(each) for each in found.tools if each.is_idle]
    show_rows("Offered and never called: keep (say why), defer or merge", TOOLS, idle, numbers=(*TOOLS[2:6], TOOLS[7]))
    show_rows("Tokens held in a request, on average", HELD, list(map(_held, found.held)), numbers=HELD[3:])
    show_rows("Playbooks", PLAYBOOKS, list(map(_playbook, found.playbooks)), numbers=PLAYBOOKS[2:])
    show_rows("Prompt cache, request by request", MISSES, list(map(_miss, found.misses)), numbers=MISSES[3:6])
    show_rows("Read from the cache, by layout", LAYOUTS, list(map(_layout, found.layouts)), numbers=LAYOUTS[5:])
    if not found.tools and not found.held:
        console(stderr=True).print(
            "No run names a toolset or calls a tool: docs/agent/analytics.md says what to trace."
        )


def _surface(row: "Record") -> list[Any]:
    from beleg.ask.agent import mean

    return [
        row["workflow"],
        row["runs"],
        mean(row["offered_tools"], row["offered_runs"]),
        row["max_tools_offered"],
        row["max_tools_called"],
        mean(row["sent_tokens"], row["offering_requests"]),
        _usd(row["tax_pico_usd"]) if row["offering_requests"] else None,
        row["untaxed_requests"],
    ]


def _tool(tool: "Tool") -> list[Any]:
    row = tool.sums
    counts = (row["offering_requests"], row["calls"], row["failed_calls"])
    return [
        row["workflow"],
        row["tool_name"],
        *counts,
        tool.tokens_per_call,
        row["last_called"],
        _usd(tool.month_pico_usd),
    ]


def _held(row: "Record") -> list[Any]:
    from beleg.ask.agent import mean

    version = " ".join(part for part in (row["feature"], row["contract_version"]) if part) or None
    return [
        row["workflow"],
        version,
        row["cohort"],
        row["requests"],
        mean(row["tool_tokens"], row["counted_tool_requests"]),
        mean(row["instruction_tokens"], row["layout_requests"]),
        mean(row["index_tokens"], row["layout_requests"]),
        mean(row["body_tokens"], row["measured_body_requests"]),
        mean(row["held_tokens"], row["held_requests"]),
        row["max_held_tokens"],
    ]


def _playbook(row: "Record") -> list[Any]:
    names = ("workflow", "playbook", "openings", "requests", "tool_calls", "failed_tool_calls")
    return [*(row[name] for name in names), _usd(row["cost_pico_usd"]), row["unpriced_requests"]]


def _miss(row: "Record") -> list[Any]:
    names = ("workflow", "cause", "detail", "requests", "missed_tokens")
    known = row["requests"] > row["unknown_loss_requests"]
    return [*(row[name] for name in names), _usd(row["lost_pico_usd"]) if known else None, row["example_run_id"]]


def _layout(row: "Record") -> list[Any]:
    digest = row["layout_hash"] and row["layout_hash"][:12]
    shares = (_share(row["cache_read_tokens"], row["input_tokens"]), _share(row["hit_requests"], row["warm_requests"]))
    names = ("first_day", "last_day", "requests")
    return [
        row["workflow"],
        row["prompt_version"],
        digest,
        *(row[n] for n in names),
        *shares,
        _usd(row["lost_pico_usd"]),
    ]


def _share(part: Any, whole: Any) -> str | None:
    return f"{int(part) / int(whole):.1%}" if whole else None


def _usd(pico: Any) -> str | None:
    from beleg.cost.money import usd_text

    return None if pico is None else usd_text(int(pico))


def _document(found: "Stats") -> dict[str, Any]:
    from beleg.cost.figures import shown

    def plain(rows: "list[Record]") -> list[dict[str, Any]]:
        return [shown({name: _whole(value) for name, value in row.items()}) for row in rows]

    tools = [
        {
            **plain([each.sums])[0],
            "days_offered": each.days if each.sums["offering_requests"] else None,
            "is_idle": each.is_idle,
            "tokens_per_call": each.tokens_per_call,
            "month_usd": _usd(each.month_pico_usd),
        }
        for each in found.tools
    ]
    lists = {name: plain(getattr(found, name)) for name in ("surface", "held", "playbooks", "misses", "layouts")}
    period = {"from": found.period.first, "to": found.period.last}
    return {"schema_version": 1, "currency": "USD", **period, **lists, "tools": tools}


def _whole(value: Any) -> Any:
    """A DECIMAL(38,0) as the whole number it is."""
    from decimal import Decimal

    return int(value) if isinstance(value, Decimal) else value
