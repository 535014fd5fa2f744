"""A source's own cost of each call against ours: how much differs, and which side is wrong where that is proved."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, NamedTuple

import duckdb

from beleg.core.errors import UsageError
from beleg.core.sql import query
from beleg.cost.book import Call, PriceBook
from beleg.cost.buckets import BUCKETS
from beleg.cost.figures import Period
from beleg.cost.mistakes import Compared, Prices, verdict
from beleg.cost.money import exact_usd_text
from beleg.cost.subject import PriceRow

GROUPINGS = {
    "model": ("source", "provider", "model", "verdict"),
    "day": ("business_day", "source", "provider", "model", "verdict"),
    "call": ("business_day", "source", "run_id", "step_id", "provider", "model", "verdict"),
}
"""What differences are added up by → columns of a row."""
UNPRICED = "no_price_of_ours"
_PAGE = 10_000


class _Row(NamedTuple):
    business_day: date
    source: str
    workflow: str | None
    run_id: str
    step_id: str
    provider: str | None
    model: str | None
    service_tier: str | None
    batch: bool | None
    event_time: datetime
    cost_pico_usd: int | None
    source_pico_usd: int
    convention_evidence: str | None
    is_cached_answer: bool


@dataclass
class Checked:
    """Calls of one group. Both sums are over calls that we could price as well, but for `no_price_of_ours`."""

    group: dict[str, Any]
    steps: int = 0
    source_pico_usd: int = 0
    computed_pico_usd: int | None = 0

    def add(self, row: _Row) -> None:
        """Count a call of the group."""
        self.steps += 1
        self.source_pico_usd += row.source_pico_usd
        known = self.computed_pico_usd is not None and row.cost_pico_usd is not None
        self.computed_pico_usd = (self.computed_pico_usd or 0) + (row.cost_pico_usd or 0) if known else None

    def record(self) -> dict[str, Any]:
        """For machines: money as decimal text, unknown as None."""
        ours = self.computed_pico_usd
        return {
            **{name: str(value) if isinstance(value, date) else value for name, value in self.group.items()},
            "steps": self.steps,
            "source_usd": exact_usd_text(self.source_pico_usd),
            "computed_usd": None if ours is None else exact_usd_text(ours),
            "difference_usd": None if ours is None else exact_usd_text(self.source_pico_usd - ours),
        }


@dataclass
class _Prices:
    """Which prices held for a call."""

    book: PriceBook
    _rows: dict[Call, list[PriceRow]] = field(default_factory=dict)

    def of(self, row: _Row, input_tokens: int) -> tuple[Prices, Prices]:
        """The prices of the call's context tier, and those of the lowest; empty where none is known."""
        call = Call(row.provider, row.model, row.service_tier, row.batch)
        if call not in self._rows:
            key = self.book.resolve(call).price_key
            self._rows[call] = [] if key is None else self.book.rows(key)
        minute = row.event_time.hour * 60 + row.event_time.minute
        held = [
            one for one in self._rows[call]
            if one.valid_from <= row.event_time < one.valid_to and one.from_minute <= minute < one.to_minute
        ]  # fmt: skip
        tier = [one for one in held if one.step.min_input_tokens <= input_tokens <= one.step.max_input_tokens]
        return _known(tier), _known([one for one in held if one.step.min_input_tokens == 0])


def _known(rows: list[PriceRow]) -> Prices:
    return {bucket: price for row in rows[:1] for bucket, price in row.step.buckets.items() if price is not None}


def crosscheck(
    con: duckdb.DuckDBPyConnection,
    book: PriceBook,
    period: Period,
    *,
    by: str = "model",
    timezone: str = "UTC",
    workflow: str | None = None,
) -> list[Checked]:
    """The source's cost against ours, added up by `by`; raises UsageError for a grouping that does not exist.

    Calls that agree are left out of `by="call"`.
    """
    if by not in GROUPINGS:
        msg = f"--by {by!r} is unknown; allowed are {', '.join(GROUPINGS)}"
        raise UsageError(msg)
    found: dict[tuple[Any, ...], Checked] = {}
    for row, said in _judged(con, book, {**period.parameters, "timezone": timezone, "workflow": workflow}):
        if by == "call" and said == "equal":
            continue
        named = {name: said if name == "verdict" else getattr(row, name) for name in GROUPINGS[by]}
        found.setdefault(tuple(named.values()), Checked(named)).add(row)
    return [found[key] for key in sorted(found, key=lambda key: tuple(map(str, key)))]


def _judged(con: duckdb.DuckDBPyConnection, book: PriceBook, parameters: dict[str, Any]) -> Iterator[tuple[_Row, str]]:
    """Every call that carries a cost of its source, with the verdict on it."""
    tokens = ", ".join(f"s.{bucket}_tokens" for bucket in BUCKETS)
    asked = con.execute(query("beleg.cost", "source_costs").replace("/*tokens*/", tokens), parameters)
    prices, width = _Prices(book), len(_Row._fields)
    while page := asked.fetchmany(_PAGE):
        for values in page:
            row = _Row(*values[:width])
            yield row, _verdict(row, dict(zip(BUCKETS, values[width:], strict=True)), prices)


def _verdict(row: _Row, buckets: dict[str, int | None], prices: _Prices) -> str:
    if row.cost_pico_usd is None:
        return UNPRICED
    counts = {bucket: count for bucket, count in buckets.items() if count is not None}
    outputs = ("output", "reasoning", "output_audio", "output_image")
    held, lowest = prices.of(row, sum(count for bucket, count in counts.items() if bucket not in outputs))
    return verdict(
        Compared(
            row.source_pico_usd,
            row.cost_pico_usd,
            counts,
            held,
            lowest,
            bool(row.batch),
            row.is_cached_answer,
            row.convention_evidence,
        )
    )
