"""The tables of the report as text, so that one macro can draw them wide, folded on a phone, and on paper."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from beleg.ask.rates import Rate
from beleg.ingest.reasons import REASONS
from beleg.report import amounts
from beleg.report.figures import Figure, Row, cost_of
from beleg.report.language import Language
from beleg.report.names import flag_kind, name_of, per_of, span

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


def worded(name: str, heads: str, rows: Iterable[Cells], language: Language) -> Table:
    """A table whose label is the text `t.<name>` and whose heads are the texts `h.<head>`, `#` before numbers."""
    marked = (("#" * head.startswith("#"), head.removeprefix("#")) for head in heads.split())
    return table(language.text(f"t.{name}"), [f"{mark}{language.text(f'h.{head}')}" for mark, head in marked], rows)


def unpriced(figure: Figure, language: Language) -> Table:
    """Calls without a price, by reason and model."""
    count = language.numbers.count
    rows = (
        (r["unpriced_reason"], r["provider"], r["model"], count(r["calls"]), count(r["input_tokens"]))
        for r in figure.rows
    )
    return worded("unpriced", "reason provider model #calls #input_tokens", rows, language)


def flags(figure: Figure, language: Language) -> Table:
    """Flags by kind and workflow."""
    rows = (
        (
            flag_kind(row["kind"], language),
            name_of(row["workflow"], language),
            language.numbers.count(row["flags"]),
            span(row["first_day"], row["last_day"], language),
            *_worst(row, language),
        )
        for row in figure.rows
    )
    return worded("flags", "kind workflow #flags days #worst #allowed", rows, language)


_RISK = ("risk_level", "allowed_risk_levels")


def _worst(row: Row, language: Language) -> tuple[str | None, str | None]:
    numbers = language.numbers
    if row["worst_pico_usd"] is not None:
        return f"{numbers.small_usd(row['worst_pico_usd'])} USD", f"{numbers.small_usd(row['allowed_pico_usd'])} USD"
    if row["worst_ms"] is not None:
        return f"{numbers.count(row['worst_ms'])} ms", f"{numbers.count(row['allowed_ms'])} ms"
    observed, allowed = (None if (r := row[name]) is None else r.replace(",", ", ") for name in _RISK)
    return observed or language.text("unknown"), allowed


def reconciliation(figure: Figure, language: Language) -> Table:
    """Billed against computed cost by provider and model."""
    numbers = language.numbers
    rows = (
        (
            row["provider"],
            row["model"],
            numbers.count(row["compared_steps"]),
            numbers.share(row["equal_steps"], row["compared_steps"]),
            *(numbers.usd(row[f"{name}_pico_usd"], 6) for name in ("billed", "computed", "difference")),
            language.text("never")
            if row["first_difference"] is None
            else span(row["first_difference"], row["last_difference"], language),
        )
        for row in figure.rows
    )
    heads = "provider model #calls #equal #billed #computed #difference differs"
    return worded("reconciliation", heads, rows, language)


def cache(figure: Figure, language: Language) -> Table:
    """Hit share and savings by workflow and model."""
    numbers = language.numbers
    rows = (
        (
            name_of(row["workflow"], language),
            row["model"],
            numbers.count(row["calls"]),
            numbers.share(int(row["cache_read_tokens"]), int(row["reported_input_tokens"])),
            numbers.count(row["cache_read_tokens"]),
            numbers.small_usd(int(row["net_savings_pico_usd"])),
            numbers.count(row["unknown_savings_calls"]),
        )
        for row in figure.rows
    )
    return worded("cache", "workflow model #calls #hit_share #cached_tokens #saved #saving_unknown", rows, language)


def traffic(figure: Figure, language: Language) -> Table:
    """How wide the production runs of each workflow are."""
    numbers = language.numbers
    rows = (
        (
            row["workflow"],
            numbers.count(row["runs"]),
            numbers.mean(row["steps"], row["runs"]),
            numbers.count(row["p95_steps"]),
            numbers.share(row["repeated_runs"], row["runs"]),
            _ms(row["p95_latency_ms"], language),
            numbers.count(row["tools"]),
            row["widest_run_id"],
        )
        for row in figure.rows
    )
    return worded(
        "traffic", "workflow #runs #steps_per_run #p95_steps #repeated #p95_latency #tools widest", rows, language
    )


def _ms(milliseconds: int | None, language: Language) -> str | None:
    return None if milliseconds is None else f"{language.numbers.count(milliseconds)} ms"


def versions(figure: Figure, language: Language) -> Table:
    """Prompt versions of the workflows that had more than one."""
    by_workflow: defaultdict[str, list[Row]] = defaultdict(list)
    for row in figure.rows:
        by_workflow[row["workflow"]].append(row)
    rows = (_version(row, language) for rows in by_workflow.values() if len(rows) > 1 for row in rows)
    heads = "workflow version days #runs failed disliked corrected #unit_cost unit #p95_latency"
    return worded("versions", heads, rows, language)


def _version(row: Row, language: Language) -> Cells:
    return (
        name_of(row["workflow"], language),
        row["prompt_version"],
        span(row["first_day"], row["last_day"], language),
        language.numbers.count(row["runs"]),
        _rate(Rate(row["failed_runs"], row["ended_runs"]), language),
        _rate(Rate(row["disliked_runs"], row["judged_runs"]), language),
        _rate(Rate(row["corrected_runs"], row["runs"]), language),
        language.numbers.small_usd(amounts.ratio(cost_of(row), int(row["results"]), row["unit_per"])),
        per_of(row, language),
        _ms(row["p95_latency_ms"], language),
    )


def _rate(rate: Rate, language: Language) -> str | None:
    """A share with what it is a share of and how far it can be trusted, since few runs are judged."""
    if rate.interval is None:
        return None
    numbers = language.numbers
    low, high = (numbers.decimal(Fraction(end) * 100, 1) for end in rate.interval)
    share = numbers.share(rate.hits, rate.of)
    return language.text("rate", share=share, whole=numbers.count(rate.of), low=low, high=high)


def findings(figure: Figure, language: Language) -> Table:
    """What people corrected of different inputs, findings first; single slips and matters of taste stand apart."""
    rows = (
        (
            row["workflow"],
            row["field"] or language.text("whole_result"),
            language.word("corrected_for", row["reason"], row["reason"].replace("_", " ")),
            row["prompt_version"],
            language.word("finding", row["kind"], row["kind"]),
            language.numbers.count(row["inputs"]),
            language.numbers.count(row["people"]),
            _exact_rate(row, language),
            None if row["base_rate"] is None else _percent(row["base_rate"], language),
            None if row["trend"] is None else language.word("trend", row["trend"], row["trend"]),
            language.word("finding", row["status"], row["status"]),
        )
        for row in figure.rows
        if row["kind"] in {"finding", "watch"}
    )
    heads = "workflow field corrected_for version kind #inputs #people rate #base_rate since status"
    return worded("findings", heads, rows, language)


def _exact_rate(row: Row, language: Language) -> str:
    numbers = language.numbers
    low, high = (numbers.decimal(Fraction(row[name]) * 100, 1) for name in ("rate_low", "rate_high"))
    share = numbers.share(row["inputs"], row["of_runs"])
    return language.text("rate", share=share, whole=numbers.count(row["of_runs"]), low=low, high=high)


def _percent(share: float, language: Language) -> str:
    """A share that is no count of anything, such as that of all other fields."""
    return f"{language.numbers.decimal(Fraction(share) * 100, 1)} %"


def drift(figure: Figure, language: Language) -> Table:
    """What happened when the same thing came again."""
    numbers = language.numbers
    rows = (
        (
            row["workflow"] if row["purpose"] == "production" else f"{row['workflow']} ({row['purpose']})",
            numbers.count(row["compared_inputs"]),
            numbers.share(row["changed_inputs"], row["compared_inputs"]),
            _day(row["last_input_day"]),
            numbers.count(row["compared_outputs"]),
            numbers.share(row["changed_outputs"], row["compared_outputs"]),
            _day(row["last_output_day"]),
        )
        for row in figure.rows
    )
    heads = "workflow #compared_inputs #changed_inputs last_input #compared_outputs #changed_outputs last_output"
    return worded("drift", heads, rows, language)


def _day(day: object) -> str | None:
    return None if day is None else f"{day}"


def restatements(figure: Figure, language: Language) -> Table:
    """What changed in days that were published as complete, and why."""
    numbers = language.numbers
    rows = (
        (
            span(row["first_day"], row["last_day"], language),
            language.word("restated", row["reason"], row["reason"].replace("_", " ")),
            numbers.signed_usd(int(row["cost_pico_usd"])),
            *(numbers.signed(int(row[name])) for name in ("runs", "results", "unpriced_steps")),
            f"{row['last_restated_at']:%Y-%m-%d %H:%M}",
        )
        for row in figure.rows
    )
    return worded(
        "restatements", "days why #cost_delta #runs #results_delta #unpriced_delta restated_at", rows, language
    )


def quarantine(figure: Figure, language: Language) -> Table:
    """Refused lines by reason."""
    count = language.numbers.count
    rows = (
        (
            r["reason"],
            language.word("quarantine", r["reason"], REASONS.get(r["reason"], amounts.UNKNOWN)),
            count(r["lines"]),
            count(r["files"]),
        )
        for r in figure.rows
    )
    return worded("quarantine", "reason meaning #lines #files", rows, language)
