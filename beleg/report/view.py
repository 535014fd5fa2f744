"""Turns figures into what the template shows; every decision about wording and rounding is made in Python."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from beleg.report import amounts
from beleg.report.figures import Figure, Row, cost_of
from beleg.report.language import Language
from beleg.report.names import flag_kind, name_of, per_of
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


def cards(unit_costs: Figure, trend: Figure, language: Language) -> list[Card]:
    """One card per workflow, dearest first."""
    weeks: defaultdict[str, list[Row]] = defaultdict(list)
    for row in trend.rows:
        weeks[row["workflow"]].append(row)
    return [_card(row, weeks[row["workflow"]], language) for row in unit_costs.rows]


def _card(row: Row, weeks: Sequence[Row], language: Language) -> Card:
    numbers, workflow = language.numbers, name_of(row["workflow"], language)
    per, cost_pico_usd = row["unit_per"], cost_of(row)
    line = [amounts.ratio(cost_of(w), int(w["results"]), per) for w in weeks]
    known = [value for value in line if value is not None]
    return Card(
        workflow=workflow,
        unit_cost=numbers.small_usd(amounts.ratio(cost_pico_usd, int(row["results"]), per)),
        per=per_of(row, language),
        change=numbers.change(known[0], known[-1]) if len(known) > 1 else None,
        spark=sparkline(line, language.text("spark_label", workflow=workflow)),
        cost=numbers.usd(cost_pico_usd),
        results=numbers.count(row["results"]) if per else amounts.UNKNOWN,
        runs=numbers.count(row["runs"]),
        failed=numbers.share(row["failed_runs"], row["ended_runs"]),
        unpriced_steps=row["unpriced_steps"],
    )


@dataclass(frozen=True)
class Receipt:
    """Exact amounts, (label, amount), whose sum is the total, to the last digit."""

    lines: list[tuple[str, str]]
    total: str


def receipt(figure: Figure, total_pico_usd: int, language: Language) -> Receipt:
    """The receipt of the period."""
    amounts_pico_usd = [*(int(row["cost_pico_usd"]) for row in figure.rows), total_pico_usd]
    *lines, total = language.numbers.exact_usd(amounts_pico_usd)
    labels = [_receipt_label(row, language) for row in figure.rows]
    return Receipt(list(zip(labels, lines, strict=True)), total)


def _receipt_label(row: Row, language: Language) -> str:
    purpose = row["purpose"]
    if purpose is None or purpose == "production":
        return name_of(row["line"], language)
    return language.text("purpose_runs", purpose=language.word("purpose", purpose, purpose))


def apart(figure: Figure, language: Language) -> dict[str, str]:
    """How much of what people corrected is no pattern: single slips, and matters of taste."""
    kinds = Counter(row["kind"] for row in figure.rows)
    return {"slips": language.numbers.count(kinds["slip"]), "preferences": language.numbers.count(kinds["preference"])}


@dataclass(frozen=True)
class Coverage:
    """How much of the cost is known."""

    share: str
    calls: str
    unpriced_calls: str
    meter_permille: int
    """Rounded down: a single unknown call leaves a gap."""


def coverage(price_share: Figure, gaps: Figure, language: Language) -> Coverage:
    """Price coverage of the calls that need a price: every model call, others where they report usage."""
    calls = price_share.rows[0]["model_calls"] + sum(row["other_calls"] for row in gaps.rows)
    unpriced = sum(row["calls"] for row in gaps.rows)
    return Coverage(
        share=language.numbers.share(calls - unpriced, calls),
        calls=language.numbers.count(calls),
        unpriced_calls=language.numbers.count(unpriced),
        meter_permille=(calls - unpriced) * _METER_PERMILLE // calls if calls else 0,
    )


def flag_kinds(figure: Figure, language: Language) -> list[tuple[str, int]]:
    """Flags per kind in words, most first."""
    kinds: Counter[str] = Counter()
    for row in figure.rows:
        kinds[flag_kind(row["kind"], language)] += row["flags"]
    return sorted(kinds.items(), key=lambda item: (-item[1], item[0]))
