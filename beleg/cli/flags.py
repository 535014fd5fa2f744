"""`beleg flags`: what exceeded its policy."""

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from beleg.cli.options import Csv, Json
from beleg.cli.output import print_csv, print_json, show_rows
from beleg.core.errors import UsageError
from beleg.core.settings import Settings

COLUMNS = (
    "business_day",
    "kind",
    "workflow",
    "tenant",
    "run_id",
    "model",
    "observed_usd",
    "allowed_usd",
    "observed_ms",
    "allowed_ms",
    "observed_risk_level",
    "allowed_risk_levels",
    "unpriced_steps",
)

KINDS = (
    *("run_budget", "latency_ceiling", "risk_level", "risk_unclassified"),
    *("workflow_budget_day", "workflow_budget_month", "tenant_budget_day", "tenant_budget_month"),
)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("flags")(flags)


def flags(
    *,
    first: Annotated[str | None, typer.Option("--from", help="First business day, for example 2026-03-01.")] = None,
    last: Annotated[str | None, typer.Option("--to", help="Last business day, included.")] = None,
    kind: Annotated[str | None, typer.Option(help="Only this kind, for example run_budget.")] = None,
    workflow: Annotated[str | None, typer.Option(help="Only this workflow.")] = None,
    fail: Annotated[bool, typer.Option("--fail", help="Exit with 1 where there is any flag.")] = False,
    json: Json = False,
    csv: Csv = False,
) -> None:
    """List runs over budget or latency ceiling, risk levels not allowed, budgets of workflows and tenants.

    A flag stops nothing. Where steps are unpriced, the true cost is higher than the observed one.

    Example: beleg flags --from 2026-03-01 --kind workflow_budget_day
    """
    from beleg.cost import figures
    from beleg.lake import catalog

    period = figures.Period.parse(first, last)
    with catalog.connect(Settings.load()) as con:
        rows = figures.flags(con, period, kind=_known(kind), workflow=workflow)
    if json:
        print_json({"schema_version": 1, "currency": "USD", "rows": rows})
    elif csv:
        print_csv(rows, COLUMNS)
    else:
        columns = ("day", "kind", "workflow", "tenant", "run", "model", "observed", "allowed", "unpriced")
        numbers = ("observed", "allowed", "unpriced")
        show_rows(f"{len(rows)} flags", columns, [_shown(row) for row in rows], numbers=numbers)
    if fail and rows:
        raise typer.Exit(1)


def _known(kind: str | None) -> str | None:
    """The kind as asked for; a typo must not look like an answer without flags."""
    if kind is not None and kind not in KINDS:
        msg = f"--kind {kind!r} is no kind of flag; kinds are {', '.join(KINDS)}"
        raise UsageError(msg)
    return kind


def _shown(row: Mapping[str, Any]) -> list[Any]:
    """A row with what was observed and allowed in the unit of its kind."""
    named = [row[name] for name in ("business_day", "kind", "workflow", "tenant", "run_id", "model")]
    return [*named, _with_unit(row, "observed"), _with_unit(row, "allowed"), row["unpriced_steps"]]


def _with_unit(row: Mapping[str, Any], side: str) -> str | None:
    if row[f"{side}_usd"] is not None:
        return f"{row[f'{side}_usd']} USD"
    if row[f"{side}_ms"] is not None:
        return f"{row[f'{side}_ms']} ms"
    level: str | None = row["observed_risk_level" if side == "observed" else "allowed_risk_levels"]
    return level
