"""How a step came to its cost: tokens × price = pico-USD, line by line, adding up to the step exactly."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from beleg.cost.buckets import BUCKETS
from beleg.cost.subject import BEGINNING, END


class Line(NamedTuple):
    """One factor of a step's cost."""

    what: str
    """A token bucket, `request`, or a unit that is no token."""
    quantity: int
    price: int
    """Micro-USD per million tokens for a bucket, else pico-USD each."""
    pico_usd: int


class Arithmetic(NamedTuple):
    """The price row that applied to a step and what it made of the step's usage."""

    price: Mapping[str, Any] | None
    """Which row of the price list; None where none applied or none was needed."""
    lines: tuple[Line, ...]
    pico_usd: int | None
    """Sum of the lines; None where the step is unpriced."""
    note: str | None
    """Why there are no lines, or why they differ from the published cost."""


CHANGED = "prices or policies have changed since the publication: run `beleg run` to restate it"


def arithmetic(step: Mapping[str, Any]) -> Arithmetic:
    """The arithmetic of one row of `steps.sql`."""
    if not step["counted"]:
        return Arithmetic(None, (), 0, f"not counted: {step['not_counted_reason']}")
    if step["unpriced_reason"] is not None:
        return Arithmetic(None, (), None, f"unpriced: {step['unpriced_reason']}")
    lines = tuple(_lines(step))
    total = sum(line.pico_usd for line in lines)
    return Arithmetic(
        _price(step) if lines else None, lines, total, None if total == step["cost_pico_usd"] else CHANGED
    )


def _lines(step: Mapping[str, Any]) -> Iterator[Line]:
    used = {bucket: step[f"{bucket}_tokens"] for bucket in BUCKETS if step[f"{bucket}_tokens"]}
    for bucket, tokens in used.items():
        price = step[bucket] or 0
        yield Line(bucket, tokens, price, tokens * price)
    if used and step["request_pico_usd"]:
        yield Line("request", 1, step["request_pico_usd"], step["request_pico_usd"])
    for unit, count in sorted((step["other_units"] or {}).items()):
        if count > 0:
            price = (step["unit_prices"] or {}).get(unit, 0)
            yield Line(unit, count, price, count * price)


def _price(step: Mapping[str, Any]) -> dict[str, Any] | None:
    if step["valid_from"] is None:
        return None
    return {
        "price_key": step["price_key"],
        "source": step["price_source"],
        "valid_from": None if step["valid_from"] == BEGINNING else step["valid_from"],
        "valid_to": None if step["valid_to"] == END else step["valid_to"],
        "min_input_tokens": step["min_input_tokens"],
        "inexact": list(step["inexact_prices"] or []),
    }
