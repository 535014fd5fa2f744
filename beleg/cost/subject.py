"""What one price key stands for, written down as integer rows that SQL can join.

Which dated price is active and which variant a service tier or batch selects is genai-prices' own
answer, asked once for each interval between two changes.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from itertools import groupby, pairwise
from typing import NamedTuple

from genai_prices.data import providers
from genai_prices.types import (
    ConditionalPrice,
    ModelInfo,
    ModelPrice,
    Provider,
    StartDateConstraint,
    TimeOfDateConstraint,
)

from beleg.cost.policy import ModelRow
from beleg.cost.pricelist import PriceList, Source, Step, steps

BEGINNING = datetime(1, 1, 1, tzinfo=UTC)
END = datetime(9999, 12, 31, tzinfo=UTC)

DAY_MINUTES = 24 * 60


@dataclass(frozen=True)
class PriceRow:
    """Integer prices of one key within dates, a daily window and a range of input lengths."""

    price_key: str
    valid_from: datetime
    valid_to: datetime
    """Exclusive."""
    from_minute: int
    """Minute of the UTC day at which a daily window opens; 0 without one."""
    to_minute: int
    """Exclusive; 1440 without a window."""
    source: Source
    step: Step


@dataclass(frozen=True)
class Subject:
    """What a price key stands for: policy rows, a model of the book, or both."""

    rows: tuple[ModelRow, ...]
    provider: Provider | None
    model: ModelInfo | None
    service_tier: str | None
    batch: bool

    @property
    def context(self) -> dict[str, str]:
        """The call as genai-prices' price context."""
        tier = {"service_tier": self.service_tier} if self.service_tier else {}
        return tier | ({"processing": "batch"} if self.batch else {})

    @property
    def is_own_model(self) -> bool:
        """False for a model that the provider resells: its seller's variants do not hold for it."""
        return self.provider is not None and any(m is self.model for m in self.provider.models)


def variant_gap(subject: Subject) -> str | None:
    """Why no price can exist for the call's service tier or batch, None where one may."""
    gap = "no_price_for_batch" if subject.batch else f"no_price_for_service_tier:{subject.service_tier}"
    if not subject.context or any(r.price_list(subject.service_tier, batch=subject.batch) for r in subject.rows):
        return None
    offered = (subject.model.price_variants or ()) if subject.model and subject.is_own_model else ()
    named = [set(variant.when.items()) for variant in offered]
    return None if all(any({item} == when for when in named) for item in subject.context.items()) else gap


def key_of(subject: Subject) -> str:
    """A name for people that is different for whatever is priced differently."""
    names = ["/".join(subject.rows[0].name)] if subject.rows else []
    if subject.provider and subject.model:
        owner = "" if subject.is_own_model else f"{_owner(subject.model)}/"
        names.append(f"{subject.provider.id}/{owner}{subject.model.id}")
    name = names[-1] if names[0] == names[-1].lower() else " else ".join(names)
    tier = f" tier={subject.service_tier}" if subject.service_tier else ""
    return f"{name}{tier}{' batch' if subject.batch else ''}"


def _owner(model: ModelInfo) -> str:
    return next(p.id for p in providers if any(m is model for m in p.models))


class _Window(NamedTuple):
    """A price list and the minutes of the UTC day at which it holds."""

    from_minute: int
    to_minute: int
    prices: PriceList


def expand(key: str, subject: Subject) -> Iterator[PriceRow]:
    """The rows of a key, ascending in time; equal neighbours are one row."""
    days = {datetime.combine(d, time(), UTC) for d in _start_dates(subject.model)}
    policy_edges = {edge for row in subject.rows for edge in (row.valid_from, row.valid_to) if edge is not None}
    periods = pairwise([BEGINNING, *sorted(days | policy_edges), END])
    dated = [(start, end, list(_windows(subject, start))) for start, end in periods]
    for windows, group in groupby(dated, key=lambda period: period[2]):
        held = list(group)
        for window in windows:
            for step in steps(window.prices):
                minutes = (window.from_minute, window.to_minute)
                yield PriceRow(key, held[0][0], held[-1][1], *minutes, window.prices.source, step)


def _windows(subject: Subject, start: datetime) -> Iterator[_Window]:
    """The price lists of a day from `start` on."""
    row = next((r for r in subject.rows if r.standard is not None and r.covers(start)), None)
    if row is not None:
        own = row.price_list(subject.service_tier, batch=subject.batch)
        lists = [(0, DAY_MINUTES, own)]
    else:
        edges = [0, *_minutes(subject.model), DAY_MINUTES]
        lists = [(low, high, _book_list(subject, start, low)) for low, high in pairwise(edges)]
    for prices, group in groupby(lists, key=lambda window: window[2]):
        held = list(group)
        if prices is not None:
            yield _Window(held[0][0], held[-1][1], prices)


def _book_list(subject: Subject, start: datetime, minute: int) -> PriceList | None:
    """The book's list at a minute of the day of `start`; None where it has none for the call's variant."""
    if subject.model is None:
        return None
    instant = datetime.combine(start.date(), time(minute // 60, minute % 60), UTC)
    if subject.context and not _variant_active(subject, instant):
        return None
    context = subject.context if subject.is_own_model else None
    return PriceList.from_book(subject.model.get_prices(instant, context))


def _variant_active(subject: Subject, instant: datetime) -> bool:
    if subject.model is None or not subject.is_own_model:
        return False
    active = [
        set(variant.when.items())
        for variant in subject.model.price_variants or ()
        if variant.constraint is None or variant.constraint.active(instant)
    ]
    return all({item} in active for item in subject.context.items())


def _constraints(model: ModelInfo | None) -> Iterator[StartDateConstraint | TimeOfDateConstraint]:
    if model is None:
        return
    dated: list[ConditionalPrice] = [] if isinstance(model.prices, ModelPrice) else model.prices
    for held in (*dated, *(model.price_variants or ())):
        if held.constraint is not None:
            yield held.constraint


def _start_dates(model: ModelInfo | None) -> set[date]:
    return {c.start_date for c in _constraints(model) if isinstance(c, StartDateConstraint)}


def _minutes(model: ModelInfo | None) -> list[int]:
    """Minutes of the UTC day at which a daily window opens or closes."""
    windows = [c for c in _constraints(model) if isinstance(c, TimeOfDateConstraint)]
    edges = (edge for window in windows for edge in (window.start_time, window.end_time))
    return sorted({edge.hour * 60 + edge.minute for edge in edges} - {0})
