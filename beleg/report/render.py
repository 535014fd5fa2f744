"""Renders the report from `beleg.duckdb` alone; the same publication gives the same bytes."""

from datetime import date
from pathlib import Path
from typing import Any

import duckdb
from jinja2 import Environment

from beleg.core.errors import UsageError
from beleg.core.files import replace_text
from beleg.core.settings import Settings
from beleg.lake import catalog
from beleg.report import agents, tables, view
from beleg.report.chart import chart
from beleg.report.figures import Figure, Scope, ask, scope_of
from beleg.report.language import Language, language
from beleg.report.page import css, environment

_FIGURES = (
    "headline",
    "receipt",
    "unit_costs",
    "trend",
    "cost_over_time",
    "price_share",
    "coverage",
    "flags",
    "reconciliation",
    "cache",
    "traffic",
    "tool_surface",
    "cache_misses",
    "versions",
    "findings",
    "drift",
    "restatements",
    "quarantine",
)

_TABLES = {
    "coverage": tables.unpriced,
    "flags": tables.flags,
    "reconciliation": tables.reconciliation,
    "cache": tables.cache,
    "traffic": tables.traffic,
    "tool_surface": agents.tool_surface,
    "cache_misses": agents.cache_misses,
    "versions": tables.versions,
    "findings": tables.findings,
    "drift": tables.drift,
    "restatements": tables.restatements,
    "quarantine": tables.quarantine,
}
"""Sections that are one table: figure of the same name → how it is shown."""


def render(
    settings: Settings,
    out: Path,
    *,
    from_: date | None = None,
    to: date | None = None,
    notice: str | None = None,
    lang: str = "en",
) -> Path:
    """Write the report of some business days (both included, default: all) to `out` and return its path.

    `notice` stands on top, for example that the data is made up; `lang` is `en` or `de`. Raises UsageError
    where nothing was published yet, `from_` lies after `to`, or the language is another.
    """
    if from_ is not None and to is not None and from_ > to:
        raise UsageError(f"--from {from_} is after --to {to}: no day lies between them")
    spoken = language(lang)
    with catalog.connect(settings) as con:
        html = _page(con, scope_of(con, settings.timezone, from_, to), notice, spoken)
    replace_text(out, html)
    return out


def _page(con: duckdb.DuckDBPyConnection, scope: Scope, notice: str | None, language: Language) -> str:
    figures = {name: ask(con, name, scope) for name in _FIGURES}
    return (
        _environment(language)
        .get_template("report.html.j2")
        .render(
            css=css(),
            publication=ask(con, "publication").rows[0],
            scope=scope,
            notice=notice,
            figures=figures,
            **_views(figures, scope, language),
        )
    )


def _views(figures: dict[str, Figure], scope: Scope, language: Language) -> dict[str, Any]:
    headline = figures["headline"].rows[0]
    total_pico_usd = int(headline["cost_pico_usd"] or 0)
    return {
        "headline": headline,
        "receipt": view.receipt(figures["receipt"], total_pico_usd, language),
        "cards": view.cards(figures["unit_costs"], figures["trend"], language),
        "chart": chart(figures["cost_over_time"], scope, language),
        "coverage": view.coverage(figures["price_share"], figures["coverage"], language),
        "flag_kinds": view.flag_kinds(figures["flags"], language),
        "apart": view.apart(figures["findings"], language),
        "refused_lines": sum(row["lines"] for row in figures["quarantine"].rows),
        "tables": {name: make(figures[name], language) for name, make in _TABLES.items()},
    }


def _environment(language: Language) -> Environment:
    # Macros of an imported template see globals, not the variables of the page.
    made = environment()
    made.filters.update(usd=language.numbers.usd, count=language.numbers.count)
    made.globals.update(t=language.text, lang=language.code, share=language.numbers.share)
    return made
