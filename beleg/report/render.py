"""Renders the report from `beleg.duckdb` alone; the same publication gives the same bytes."""

import os
from datetime import date
from importlib.resources import files
from pathlib import Path
from typing import Any

import duckdb
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from beleg.core.errors import UsageError
from beleg.core.settings import Settings
from beleg.lake import catalog
from beleg.report import amounts, tables, view
from beleg.report.chart import chart
from beleg.report.figures import Figure, Scope, ask, scope_of

_FIGURES = (
    "headline",
    "receipt",
    "unit_costs",
    "trend",
    "cost_over_time",
    "coverage",
    "flags",
    "reconciliation",
    "versions",
    "quarantine",
)


def render(
    settings: Settings, out: Path, *, from_: date | None = None, to: date | None = None, notice: str | None = None
) -> Path:
    """Write the report of some business days (both included, default: all) to `out` and return its path.

    `notice` stands on top, for example that the data is made up. Raises UsageError where nothing was
    published yet or `from_` lies after `to`.
    """
    if from_ is not None and to is not None and from_ > to:
        raise UsageError(f"--from {from_} is after --to {to}: no day lies between them")
    with catalog.connect(settings) as con:
        html = _page(con, scope_of(con, settings.timezone, from_, to), notice)
    out.parent.mkdir(parents=True, exist_ok=True)
    beside = out.with_name(f".{out.name}.{os.getpid()}")
    beside.write_text(html, encoding="utf-8")
    return beside.replace(out)


def _page(con: duckdb.DuckDBPyConnection, scope: Scope, notice: str | None) -> str:
    figures = {name: ask(con, name, scope) for name in _FIGURES}
    return (
        _environment()
        .get_template("report.html.j2")
        .render(
            css=Markup(files("beleg.report").joinpath("templates", "style.css").read_text(encoding="utf-8")),  # noqa: S704 - our own file
            publication=ask(con, "publication").rows[0],
            scope=scope,
            notice=notice,
            figures=figures,
            **_views(figures, scope),
        )
    )


def _views(figures: dict[str, Figure], scope: Scope) -> dict[str, Any]:
    headline = figures["headline"].rows[0]
    total_pico_usd = int(headline["cost_pico_usd"] or 0)
    return {
        "headline": headline,
        "receipt": view.receipt(figures["receipt"], total_pico_usd),
        "cards": view.cards(figures["unit_costs"], figures["trend"]),
        "chart": chart(figures["cost_over_time"], scope),
        "coverage": view.coverage(figures["coverage"]),
        "flag_kinds": view.flag_kinds(figures["flags"]),
        "refused_lines": sum(row["lines"] for row in figures["quarantine"].rows),
        "tables": {
            "unpriced": tables.unpriced(figures["coverage"]),
            "flags": tables.flags(figures["flags"]),
            "reconciliation": tables.reconciliation(figures["reconciliation"]),
            "versions": tables.versions(figures["versions"]),
            "quarantine": tables.quarantine(figures["quarantine"]),
        },
    }


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("beleg.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(usd=amounts.usd, count=amounts.count)
    environment.globals["share"] = amounts.share
    return environment
