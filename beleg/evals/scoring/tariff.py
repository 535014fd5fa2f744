"""The price of one step, as the lake prices it (`contracts/tables/step_costs.sql`), while a run still goes on."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from beleg.cost.book import Call, PriceBook
from beleg.cost.buckets import BUCKETS
from beleg.cost.subject import PriceRow

Step = Mapping[str, Any]
"""A `step` event."""


class Tariff:
    """Prices steps with the price book and policies of the installation."""

    def __init__(self, book: PriceBook) -> None:
        self._book = book
        self._rows: dict[Call, list[PriceRow]] = {}

    def pico_usd(self, step: Step) -> int | None:
        """What a step cost, exact; None where that is unknown.

        A failed request that reports no usage adds nothing: it is the lake that counts it as unpriced.
        """
        tokens = {name: count for name, count in (step.get("buckets") or {}).items() if count}
        units = {name: count for name, count in (step.get("other_units") or {}).items() if count}
        if not tokens and not units:
            unreported = step["kind"] == "model" and not step.get("buckets") and step["status"] == "succeeded"
            return None if unreported else 0
        row = self._row(step, input_tokens(step))
        return None if row is None else _sum(row, tokens, units)

    def _row(self, step: Step, tokens_in: int) -> PriceRow | None:
        call = Call(step.get("provider"), step.get("model"), step.get("service_tier"), step.get("batch"))
        if call not in self._rows:
            found = self._book.resolve(call)
            priced = found.price_key is not None and found.unpriced_reason is None
            self._rows[call] = self._book.rows(found.price_key) if priced and found.price_key else []
        at = datetime.fromisoformat(step["event_time"]).astimezone(UTC)
        fitting = (row for row in self._rows[call] if _holds(row, at, tokens_in))
        return next(fitting, None)


def input_tokens(step: Step) -> int:
    """Tokens that went in, cached ones included."""
    return sum(count or 0 for name, count in (step.get("buckets") or {}).items() if _is_input(name))


def output_tokens(step: Step) -> int:
    """Tokens that came out, reasoning included."""
    return sum(count or 0 for name, count in (step.get("buckets") or {}).items() if not _is_input(name))


def _is_input(bucket: str) -> bool:
    return BUCKETS[bucket]["direction"] == "input"


def _holds(row: PriceRow, at: datetime, tokens_in: int) -> bool:
    return (
        row.valid_from <= at < row.valid_to
        and row.from_minute <= at.hour * 60 + at.minute < row.to_minute
        and row.step.min_input_tokens <= tokens_in <= row.step.max_input_tokens
    )


def _sum(row: PriceRow, tokens: Mapping[str, int], units: Mapping[str, int]) -> int | None:
    """Integers throughout: tokens times micro-USD per million are pico-USD."""
    total = row.step.request_pico_usd if tokens else 0
    for name, count in tokens.items():
        price = row.step.buckets[name]
        if price is None:
            return None
        total += count * price
    for name, count in units.items():
        if name not in row.step.units:
            return None
        total += count * row.step.units[name]
    return total
