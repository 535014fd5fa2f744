"""`beleg models`: the policies of models."""

import typer

from beleg.cli.options import Csv, Json
from beleg.cli.output import console, print_csv, print_json, show_rows
from beleg.core.settings import Settings

COLUMNS = (
    "provider",
    "model",
    "valid_from",
    "valid_to",
    "prices",
    "latency_ceiling_ms",
    "risk_level",
    "run_budget_usd",
)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("models")(models)


def models(
    json: Json = False,
    csv: Csv = False,
) -> None:
    """Check models.yaml and show its rows and alias rules.

    Example: beleg models --json
    """
    from beleg.cost import listing
    from beleg.cost.policies import load_policies

    settings = Settings.load()
    policies = load_policies(settings).models
    rows = list(listing.policy_records(policies))
    aliases = [{"match": a.match, "to": a.to, "why": a.why} for a in policies.aliases]
    if json:
        print_json({"schema_version": 1, "file": str(settings.policy("models.yaml")), "rows": rows, "aliases": aliases})
        return
    if csv:
        print_csv(rows, COLUMNS)
        return
    shown = [[r[c].date() if c.startswith("valid") and r[c] else r[c] for c in COLUMNS] for r in rows]
    show_rows(f"Policies of models in {settings.policy('models.yaml')}", COLUMNS, shown)
    out = console()
    for alias in aliases:
        out.print(f"{alias['match']} is priced as {alias['to']}: {alias['why']}")
