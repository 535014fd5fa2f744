"""Price rows and policy rows as records for people and machines."""

from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from beleg.core.errors import UsageError
from beleg.cost.book import Call, PriceBook, book_rows
from beleg.cost.money import exact_usd_text
from beleg.cost.policy import ModelPolicies
from beleg.cost.pricelist import MAX_INPUT_TOKENS
from beleg.cost.subject import BEGINNING, END, PriceRow


def price_records(book: PriceBook, calls: Iterable[Call], on: date | None) -> list[dict[str, Any]]:
    """Prices of these calls, on one UTC day or, with None, at all times; a call without a price says why."""
    records: list[dict[str, Any]] = []
    for call in calls:
        found = book.resolve(call)
        named = {"provider": call.provider, "model": call.model}
        if found.price_key is None or found.unpriced_reason is not None:
            records.append({**named, **found._asdict(), "prices": {}})
            continue
        held = [row for row in book.rows(found.price_key) if on is None or _holds_on(row, on)]
        records += [{**named, **_record(row)} for row in held]
    return records


def inexact_records() -> list[dict[str, Any]]:
    """Book prices that are not whole micro-USD per million tokens (or pico-USD per unit) and were rounded."""
    return [_record(row) for row in book_rows() if row.step.inexact]


def policy_records(policies: ModelPolicies) -> Iterator[dict[str, Any]]:
    """Rows of `models.yaml`."""
    for row in policies.rows:
        yield {
            "provider": row.provider,
            "model": row.model,
            "valid_from": row.valid_from,
            "valid_to": row.valid_to,
            "prices": "book" if row.standard is None else "policy",
            "latency_ceiling_ms": row.latency_ceiling_ms,
            "risk_level": row.risk_level,
            "run_budget_usd": None if row.run_budget_pico_usd is None else exact_usd_text(row.run_budget_pico_usd),
        }


def parse_call(name: str, service_tier: str | None, *, batch: bool) -> Call:
    """A call to `provider/model`; raises UsageError for a name without a slash."""
    provider, slash, model = name.partition("/")
    if not slash or not model:
        msg = f"--model {name!r} must be provider/model, for example openai/gpt-5"
        raise UsageError(msg)
    return Call(provider, model, service_tier, batch or None)


def _holds_on(row: PriceRow, day: date) -> bool:
    start = datetime.combine(day, time(), UTC)
    return row.valid_from < start + timedelta(days=1) and start < row.valid_to


def _record(row: PriceRow) -> dict[str, Any]:
    step = row.step
    buckets = {name: exact_usd_text(price * 10**6) for name, price in step.buckets.items() if price is not None}
    units = {name: exact_usd_text(price) for name, price in step.units.items()}
    return {
        "price_key": row.price_key,
        "unpriced_reason": None,
        "source": row.source,
        "valid_from": None if row.valid_from == BEGINNING else row.valid_from,
        "valid_to": None if row.valid_to == END else row.valid_to,
        "utc_minutes": None if row.to_minute - row.from_minute == 24 * 60 else [row.from_minute, row.to_minute],
        "min_input_tokens": step.min_input_tokens,
        "max_input_tokens": None if step.max_input_tokens == MAX_INPUT_TOKENS else step.max_input_tokens,
        "prices": buckets,
        "unit_prices": units,
        "request_usd": exact_usd_text(step.request_pico_usd),
        "inherited": list(step.inherited),
        "inexact": list(step.inexact),
    }
