"""Turns figures into what the template shows; every decision about wording and rounding is made in Python."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from beleg.report import amounts
from beleg.report.figures import Figure, Row
from beleg.report.names import NO_START, name_of, per_of
from beleg.report.svg import sparkline

_METER_PERMILLE = 1000


@dataclass(frozen=True)
class Card:
    """What one result of a workflow costs."""

    workflow: str
    unit_cost: str
    per: str
    change: str | None
    """Last seven days against the first seven with results."""
    spark: Markup
    cost: str
    results: str
    runs: str
    failed: str
    unpriced_steps: int


def cards(unit_costs: Figure, trend: Figure) -> list[Card]:
    """One card per workflow, dearest first."""
    weeks: defaultdict[str, list[Row]] = defaultdict(list)
    for row in trend.rows:
        weeks[row["workflow"]].append(row)
    return [_card(row, weeks[row["workflow"]]) for row in unit_costs.rows]


def _card(row: Row, weeks: Sequence[Row]) -> Card:
    per, cost_pico_usd = row["unit_per"], int(row["production_pico_usd"])
    line = [amounts.ratio(int(w["cost_pico_usd"]), int(w["results"]), per) for w in weeks]
    known = [value for value in line if value is not None]
    return Card(
        workflow=name_of(row["workflow"]),
        unit_cost=amounts.small_usd(amounts.ratio(cost_pico_usd, int(row["results"]), per)),
        per=per_of(row),
        change=amounts.change(known[0], known[-1]) if len(known) > 1 else None,
        spark=sparkline(line, f"Unit cost of {name_of(row['workflow'])}, seven days up to each day"),
        cost=amounts.usd(cost_pico_usd),
        results=amounts.count(row["results"]) if per else amounts.UNKNOWN,
        runs=amounts.count(row["runs"]),
        failed=amounts.share(row["failed_runs"], row["runs"]),
        unpriced_steps=row["unpriced_steps"],
    )


@dataclass(frozen=True)
class Receipt:
    """Exact amounts, (label, amount), whose sum is the total, to the last digit."""

    lines: list[tuple[str, str]]
    total: str


def receipt(figure: Figure, total_pico_usd: int) -> Receipt:
    """The receipt of the period."""
    *lines, total = amounts.exact_usd([*(int(row["cost_pico_usd"]) for row in figure.rows), total_pico_usd])
    return Receipt(list(zip(map(_receipt_label, figure.rows), lines, strict=True)), total)


def _receipt_label(row: Row) -> str:
    if row["purpose"] == "production":
        return name_of(row["line"])
    return NO_START if row["purpose"] is None else f"{row['purpose']} runs"


@dataclass(frozen=True)
class Coverage:
    """How much of the cost is known."""

    share: str
    calls: str
    unpriced_calls: str
    meter_permille: int
    """Rounded down: a single unknown call leaves a gap."""


def coverage(figure: Figure) -> Coverage:
    """Price coverage of the calls that need a price."""
    calls = sum(row["calls"] for row in figure.rows)
    unpriced = sum(row["calls"] for row in figure.rows if row["unpriced_reason"] is not None)
    return Coverage(
        share=amounts.share(calls - unpriced, calls),
        calls=amounts.count(calls),
        unpriced_calls=amounts.count(unpriced),
        meter_permille=(calls - unpriced) * _METER_PERMILLE // calls if calls else 0,
    )


def flag_kinds(figure: Figure) -> list[tuple[str, int]]:
    """Flags per kind in words, most first."""
    kinds: Counter[str] = Counter()
    for row in figure.rows:
        kinds[row["kind"].replace("_", " ")] += row["flags"]
    return sorted(kinds.items(), key=lambda item: (-item[1], item[0]))
