"""The report's tables on what surrounds agents: tools offered and used, and why the prompt cache missed."""

from beleg.report.figures import Figure, Row
from beleg.report.language import Language
from beleg.report.names import name_of
from beleg.report.tables import Cells, Table, worded


def tool_surface(figure: Figure, language: Language) -> Table:
    """Runs of each workflow against the width of their tool surface; nothing where no workflow has tools."""
    used = any(row["tools"] or row["tools_called"] for row in figure.rows)
    rows = (_surface(row, language) for row in figure.rows if used)
    heads = "workflow #runs #tools_offered #tools_called #idle_tools #held #tool_tax #idle_tax"
    return worded("tool_surface", heads, rows, language)


def _surface(row: Row, language: Language) -> Cells:
    numbers = language.numbers
    known = row["offers"] and row["offers"] > row["untaxed_offers"]
    return (
        row["workflow"],
        numbers.count(row["runs"]),
        numbers.mean(int(row["offered_tools"]), int(row["offered_runs"])),
        numbers.count(row["tools_called"]),
        numbers.count(row["idle_tools"]) if row["tools"] else None,
        numbers.mean(int(row["held_tokens"]), int(row["held_requests"])) if row["held_requests"] else None,
        numbers.small_usd(int(row["tax_pico_usd"])) if known else None,
        numbers.small_usd(int(row["idle_tax_pico_usd"])) if known else None,
    )


def cache_misses(figure: Figure, language: Language) -> Table:
    """Requests that missed, the dearest cause first."""
    numbers = language.numbers
    rows = (
        (
            name_of(row["workflow"], language),
            language.word("cause", row["cause"], row["cause"].replace("_", " ")),
            row["detail"],
            numbers.count(row["requests"]),
            numbers.share(int(row["requests"]), int(row["of_requests"])),
            numbers.count(row["missed_tokens"]),
            numbers.small_usd(int(row["lost_pico_usd"])) if row["requests"] > row["unknown_loss_requests"] else None,
            row["example_run_id"],
        )
        for row in figure.rows
    )
    heads = "workflow cause detail #calls #share #missed_tokens #lost example"
    return worded("cache_misses", heads, rows, language)
