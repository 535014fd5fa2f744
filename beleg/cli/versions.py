"""`beleg versions`: how the prompt versions of a workflow fared."""

from typing import Annotated, Any

import typer

from beleg.cli.options import Csv, Json
from beleg.cli.output import console, print_csv, print_json, show_rows
from beleg.core.settings import Settings

NUMBERS = ("runs", "failed", "disliked", "corrected", "unit cost usd", "p95 ms")


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("versions")(versions)


def versions(
    workflow: Annotated[str, typer.Argument(help="The workflow, for example ocr.")],
    *,
    purpose: Annotated[str, typer.Option(help="production, eval, test or demo.")] = "production",
    first: Annotated[str | None, typer.Option("--from", help="First business day, for example 2026-03-01.")] = None,
    last: Annotated[str | None, typer.Option("--to", help="Last business day, included.")] = None,
    json: Json = False,
    csv: Csv = False,
) -> None:
    """Compare the prompt versions of a workflow: failures, dislikes, corrections, unit cost, latency.

    Rates carry Wilson intervals at 95 %. Dislikes are of the runs that anyone judged. Observational, not a test.

    Example: beleg versions ocr --from 2026-03-01
    """
    from beleg.ask.versions import CAVEAT
    from beleg.ask.versions import versions as ask
    from beleg.cost.figures import Period

    found = ask(Settings.load(), workflow, Period.parse(first, last), purpose=purpose)
    records = [version.record() for version in found]
    if json:
        head = {"schema_version": 1, "currency": "USD", "workflow": workflow, "purpose": purpose, "note": CAVEAT}
        print_json({**head, "confidence": 0.95, "versions": records})
        return
    if csv:
        rows = [_flat(record) for record in records]
        print_csv(rows, tuple(rows[0]))
        return
    columns = ("prompt_version", "last_day", *NUMBERS, "per")
    rows_shown = [
        [
            *(record[c] for c in ("prompt_version", "last_day", "runs")),
            *(_rate(record["rates"][name]) for name in ("failed", "disliked", "corrected")),
            record["unit_cost_usd"],
            record["p95_latency_ms"],
            record["unit"] and f"{record['unit_per']} {record['unit']}",
        ]
        for record in records
    ]
    show_rows(f"Prompt versions of {workflow}, {purpose}", columns, rows_shown, numbers=NUMBERS)
    out = console()
    for record in records:
        _print_reasons(out, record)
    out.print(CAVEAT)


def _print_reasons(out: Any, record: dict[str, Any]) -> None:
    from beleg.ask.versions import REASONS

    told = [f"{name} {_rate(rate)}" for name in REASONS if (rate := record["rates"][name])["count"]]
    if told:
        out.print(f"{record['prompt_version'] or '—'} corrected for: {'; '.join(told)}", markup=False)


def _rate(rate: dict[str, Any]) -> str | None:
    """For example `3/20 = 15.0 % (5.2–36.0)`; None without trials."""
    if rate["share"] is None:
        return None
    share, low, high = (f"{100 * rate[name]:.1f}" for name in ("share", "low", "high"))
    return f"{rate['count']}/{rate['of']} = {share} % ({low}–{high})"


def _flat(record: dict[str, Any]) -> dict[str, Any]:
    """Rates as columns: failed_count, failed_of, failed_share, failed_low, failed_high, and so on."""
    rates = {f"{name}_{part}": v for name, rate in record["rates"].items() for part, v in rate.items()}
    return {**{name: value for name, value in record.items() if name != "rates"}, **rates}
