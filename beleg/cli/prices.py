"""`beleg prices`: what holds for which model, and what a change would restate."""

from datetime import UTC, date, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from beleg.cli.options import Csv, Json
from beleg.cli.output import console, print_csv, print_json, show_rows
from beleg.core.errors import UsageError
from beleg.core.settings import Settings

SHOWN = ("input_uncached", "cache_read", "cache_write", "cache_write_1h", "output", "reasoning")
FIELDS = (
    "provider",
    "model",
    "price_key",
    "valid_from",
    "valid_to",
    "min_input_tokens",
    "max_input_tokens",
    "source",
    "unpriced_reason",
)
RESTATED = (
    "business_day",
    "workflow",
    "steps",
    "before_usd",
    "after_usd",
    "difference_usd",
    "unpriced_before",
    "unpriced_after",
)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("prices")(prices)


def prices(
    *,
    model: Annotated[str | None, typer.Option(help="provider/model; default: every model that was called.")] = None,
    on: Annotated[str | None, typer.Option(help="UTC day the prices hold on; default today.")] = None,
    history: Annotated[bool, typer.Option("--history", help="Prices of all times.")] = False,
    tier: Annotated[str | None, typer.Option(help="Service tier, for example flex.")] = None,
    batch: Annotated[bool, typer.Option("--batch", help="Batch prices.")] = False,
    inexact: Annotated[bool, typer.Option("--inexact", help="List book prices that had to be rounded.")] = False,
    what_if: Annotated[
        Path | None, typer.Option(help="A changed models.yaml: show what it would restate, apply nothing.")
    ] = None,
    json: Json = False,
    csv: Csv = False,
) -> None:
    """Show prices in USD per million tokens, and what a changed models.yaml would restate.

    Example: beleg prices --model openai/gpt-5 --on 2026-03-01
    """
    from beleg.cost import listing, whatif
    from beleg.cost.book import Call
    from beleg.cost.pricing import Pricing
    from beleg.lake import catalog

    settings = Settings.load()
    if what_if is not None:
        with catalog.connect(settings) as con:
            _restated([row.record() for row in whatif.restated(con, settings, what_if)], json=json, csv=csv)
        return
    book = Pricing.load(settings).book
    day = None if history else _day(on)
    if inexact:
        records = listing.inexact_records()
    elif model is not None:
        records = listing.price_records(book, [listing.parse_call(model, tier, batch=batch)], day)
    else:
        with catalog.connect(settings) as con:
            query = (
                "SELECT DISTINCT provider, model, coalesce($tier, service_tier), $batch OR batch FROM steps "
                "WHERE model IS NOT NULL ORDER BY ALL"
            )
            called = con.execute(query, {"tier": tier, "batch": batch or None}).fetchall()
        records = listing.price_records(book, [Call(*row) for row in called], day)
    if json:
        print_json({"schema_version": 1, "currency": "USD", "digest": book.digest, "rows": records})
        return
    if csv:
        print_csv([_flat(record) for record in records], (*FIELDS, *SHOWN))
        return
    _show(records, "no model was called yet" if model is None else f"no price of {model} holds on {day}: try --history")


def _show(records: list[dict[str, Any]], why_none: str) -> None:
    """Print prices, and for each call without one why; never an empty table."""
    out = console()
    if not records:
        out.print(f"Nothing to show: {why_none}")
    known = [_row(record) for record in records if record["unpriced_reason"] is None]
    if known:
        columns = ["price key", "from", "to", "input tokens", *SHOWN, "units", "source", "inexact"]
        show_rows("USD per million tokens", columns, known, numbers=SHOWN)
    for record in records:
        if record["unpriced_reason"] is not None:
            out.print(f"{record['provider']}/{record['model']} has no price: {record['unpriced_reason']}")


def _flat(record: dict[str, Any]) -> dict[str, Any]:
    return {name: record.get(name) for name in FIELDS} | {name: record["prices"].get(name) for name in SHOWN}


def _row(record: dict[str, Any]) -> list[Any]:
    low, high = record["min_input_tokens"], record["max_input_tokens"]
    return [
        record["price_key"],
        record["valid_from"] and record["valid_from"].date(),
        record["valid_to"] and record["valid_to"].date(),
        f"{low} to {'any' if high is None else high}",
        *(record["prices"].get(name) for name in SHOWN),
        ", ".join(f"{name} {usd}" for name, usd in record["unit_prices"].items()) or None,
        record["source"],
        ", ".join(record["inexact"]) or None,
    ]


def _restated(rows: list[dict[str, Any]], *, json: bool, csv: bool) -> None:
    if json:
        print_json({"schema_version": 1, "currency": "USD", "rows": rows})
    elif csv:
        print_csv(rows, RESTATED)
    elif not rows:
        console().print("Nothing would be restated.")
    else:
        shown = [[row[c] for c in RESTATED] for row in rows]
        show_rows("What would be restated, USD", RESTATED, shown, numbers=RESTATED[2:])


def _day(text: str | None) -> date:
    try:
        return date.fromisoformat(text) if text else datetime.now(UTC).date()
    except ValueError as error:
        msg = f"--on {text!r} is no day: write for example 2026-03-01"
        raise UsageError(msg) from error
