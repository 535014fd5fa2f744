"""The tables of the report as text, so that one macro can draw them wide, folded on a phone, and on paper."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date

from beleg.ingest.reasons import REASONS
from beleg.report import amounts
from beleg.report.figures import Figure, Row
from beleg.report.names import name_of, per_of

Cells = Sequence[str | None]


@dataclass(frozen=True)
class Head:
    """Head of a column."""

    label: str
    number: bool = False
    """True where the column is right-aligned."""


@dataclass(frozen=True)
class Table:
    """Rows under heads; the first cell of a row names it."""

    label: str
    heads: tuple[Head, ...]
    rows: tuple[tuple[str, ...], ...]


def table(label: str, heads: Sequence[str], rows: Iterable[Cells]) -> Table:
    """A table from heads, those of numbers marked by a leading `#`; None is shown as a dash."""
    made = tuple(Head(head.removeprefix("#"), head.startswith("#")) for head in heads)
    shown = tuple(tuple(amounts.UNKNOWN if cell is None else cell for cell in row) for row in rows)
    return Table(label, made, shown)


def unpriced(figure: Figure) -> Table:
    """Calls without a price, by reason and model."""
    rows = (
        (
            row["unpriced_reason"],
            row["provider"],
            row["model"],
            amounts.count(row["calls"]),
            amounts.count(row["input_tokens"]),
        )
        for row in figure.rows
        if row["unpriced_reason"] is not None
    )
    return table("Calls without a price", ["Reason", "Provider", "Model", "#Calls", "#Input tokens"], rows)


def flags(figure: Figure) -> Table:
    """Flags by kind and workflow."""
    rows = (
        (
            row["kind"].replace("_", " "),
            name_of(row["workflow"]),
            amounts.count(row["flags"]),
            _span(row["first_day"], row["last_day"]),
            *_worst(row),
        )
        for row in figure.rows
    )
    return table("Flags by kind and workflow", ["Kind", "Workflow", "#Flags", "Days", "#Worst", "#Allowed"], rows)


def _worst(row: Row) -> tuple[str | None, str | None]:
    if row["worst_pico_usd"] is not None:
        return f"{amounts.small_usd(row['worst_pico_usd'])} USD", f"{amounts.small_usd(row['allowed_pico_usd'])} USD"
    if row["worst_ms"] is not None:
        return f"{amounts.count(row['worst_ms'])} ms", f"{amounts.count(row['allowed_ms'])} ms"
    allowed = row["allowed_risk_levels"]
    return row["risk_level"] or "unknown", None if allowed is None else allowed.replace(",", ", ")


def reconciliation(figure: Figure) -> Table:
    """Billed against computed cost by provider and model."""
    heads = ["Provider", "Model", "#Calls", "#Equal", "#Billed, USD", "#Computed, USD", "#Difference, USD", "Differs"]
    rows = (
        (
            row["provider"],
            row["model"],
            amounts.count(row["compared_steps"]),
            amounts.share(row["equal_steps"], row["compared_steps"]),
            *(amounts.usd(row[f"{name}_pico_usd"], 6) for name in ("billed", "computed", "difference")),
            "never" if row["first_difference"] is None else _span(row["first_difference"], row["last_difference"]),
        )
        for row in figure.rows
    )
    return table("Billed against computed cost", heads, rows)


def versions(figure: Figure) -> Table:
    """Prompt versions of the workflows that had more than one."""
    by_workflow: defaultdict[str, list[Row]] = defaultdict(list)
    for row in figure.rows:
        by_workflow[row["workflow"]].append(row)
    rows = (_version(row) for rows in by_workflow.values() if len(rows) > 1 for row in rows)
    heads = ["Workflow", "Version", "Days", "#Runs", "#Failed", "#USD a run", "#Unit cost, USD", "Unit"]
    return table("Prompt versions of production runs", heads, rows)


def _version(row: Row) -> Cells:
    cost_pico_usd, runs = int(row["production_pico_usd"]), row["runs"]
    return (
        name_of(row["workflow"]),
        row["prompt_version"],
        _span(row["first_day"], row["last_day"]),
        amounts.count(runs),
        amounts.share(row["failed_runs"], runs),
        amounts.small_usd(amounts.ratio(cost_pico_usd, runs, 1)),
        amounts.small_usd(amounts.ratio(cost_pico_usd, int(row["results"]), row["unit_per"])),
        per_of(row),
    )


def quarantine(figure: Figure) -> Table:
    """Refused lines by reason."""
    rows = (
        (row["reason"], REASONS.get(row["reason"]), amounts.count(row["lines"]), amounts.count(row["files"]))
        for row in figure.rows
    )
    return table("Refused lines by reason", ["Reason", "Meaning", "#Lines", "#Files"], rows)


def _span(first: date, last: date) -> str:
    return f"{first}" if first == last else f"{first} to {last}"
