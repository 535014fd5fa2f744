"""`beleg models`: the policies of models, and what is left without a price."""

from typing import Annotated, Any

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


UNPRICED = ("provider", "model", "service_tier", "batch", "unpriced_reason", "steps", "tokens", "since", "until")


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("models")(models)


def models(
    unpriced: Annotated[
        bool, typer.Option("--unpriced", help="What has no price, with rows of models.yaml to fill in.")
    ] = False,
    json: Json = False,
    csv: Csv = False,
) -> None:
    """Check models.yaml and show its rows and alias rules, or what has no price.

    Example: beleg models --unpriced
    """
    from beleg.cost import listing
    from beleg.cost.policies import load_policies

    settings = Settings.load()
    if unpriced:
        _unpriced(settings, json=json, csv=csv)
        return
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


def _unpriced(settings: Settings, *, json: bool, csv: bool) -> None:
    from beleg.cost.unpriced import unpriced
    from beleg.lake import catalog

    with catalog.connect(settings) as con:
        rows = [found.record() for found in unpriced(con)]
    if json:
        print_json({"schema_version": 1, "rows": rows})
    elif csv:
        print_csv(rows, UNPRICED)
    elif not rows:
        console().print("Every call has a price.")
    else:
        shown = [[r[c].date() if c in {"since", "until"} else r[c] for c in UNPRICED] for r in rows]
        show_rows("Calls without a price", UNPRICED, shown, numbers=("steps", "tokens"))
        _show_policy([row["policy_row"] for row in rows if row["policy_row"] is not None], settings)


def _show_policy(rows: list[dict[str, Any]], settings: Settings) -> None:
    """Print the rows as YAML to paste; the reasons that none of them mends stand in docs/prices.md."""
    import yaml

    out = console()
    if rows:
        out.print(
            f"To price them, fill in USD per million tokens and add to models: in {settings.policy('models.yaml')}"
        )
        out.print(yaml.safe_dump(rows, sort_keys=False, default_flow_style=None, width=120))
