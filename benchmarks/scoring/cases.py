"""Cases of receipts with answers: what was expected beside what two versions said, mostly right."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import polars as pl

from beleg.evals.scorers import resolve

SEED = 20_261_130
EXACT = ("document_type", "currency", "invoice_number", "account", "tax_key", "paid")
SCORERS = {
    **{name: resolve("exact_match") for name in EXACT},
    "gross": resolve("number?abs=0.01"),
    "tags": resolve("set_f1"),
}
TAGS = ("fuel", "hotel", "meal", "office", "postage", "rent", "train", "tools", "wages", "waste", "water", "wood")


@dataclass(frozen=True)
class Cases:
    """The same values as a frame, each field beside its `_actual`, and as records."""

    frame: pl.DataFrame
    expected: list[dict[str, Any]]
    actual: list[dict[str, Any]]


def cases(count: int) -> Cases:
    """So many cases under two versions, always the same ones."""
    dice = random.Random(SEED)
    expected = [{name: _value(name, dice) for name in SCORERS} for _ in range(2 * count)]
    actual = [{name: _answer(name, value, dice) for name, value in each.items()} for each in expected]
    columns = {name: [each[name] for each in expected] for name in SCORERS}
    answers = {f"{name}_actual": [each[name] for each in actual] for name in SCORERS}
    return Cases(pl.DataFrame({**columns, **answers}), expected, actual)


def _value(name: str, dice: random.Random) -> Any:
    made: dict[str, Callable[[], Any]] = {
        "document_type": lambda: dice.choice(("invoice", "receipt", "credit_note", "other")),
        "currency": lambda: dice.choice(("EUR", "EUR", "EUR", "CHF", "USD")),
        "invoice_number": lambda: f"RE-2026-{dice.randrange(10**6):06d}",
        "account": lambda: dice.randrange(3000, 7000),
        "tax_key": lambda: dice.choice(("0", "8", "9", "19", "94")),
        "paid": lambda: dice.random() < 0.5,
        "gross": lambda: dice.randrange(100, 10**6) / 100,
        "tags": lambda: dice.sample(TAGS, dice.randrange(6)),
    }
    return made[name]()


def _answer(name: str, value: Any, dice: random.Random) -> Any:
    """Right in nine of ten; of the wrong amounts, half are off by a unit."""
    if dice.random() < 0.9:
        return value
    if name == "gross" and dice.random() < 0.5:
        return round(value * dice.choice((100, 1000)), 2)
    return _value(name, dice)
