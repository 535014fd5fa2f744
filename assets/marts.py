"""The marts: one asset for each, made from its table contract; only touched days are computed."""

import base64
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import dagster as dg

from assets.common import OWNERS, RETRIES, WRITER, Result, asked_days, look, plain_failures, specs, tell_days
from beleg import flow
from beleg.core.contracts import load
from beleg.core.settings import Settings
from beleg.cost.build import STANDS_ON
from beleg.cost.money import micro_usd
from beleg.report.plot import cost_plot
from beleg.work import queries_digest
from pipelines.partitions import DAYS
from pipelines.resources import Installation

ALONG = {"run_costs": ("run_lookup",)}
"""Mart → tables made along with it."""
MARTS = {name: below or ("events",) for name, below in STANDS_ON.items() if name not in ALONG["run_costs"]}
"""Mart → assets it is computed from."""


def _mart(name: str, upstream: Sequence[str]) -> dg.AssetsDefinition:
    """The asset of one mart."""
    contract, tables = load(name), (name, *ALONG.get(name, ()))
    columns = [dg.TableColumn(c.name, c.type, description=c.description) for c in contract.columns]

    @dg.asset(
        name=name,
        deps=upstream,
        partitions_def=DAYS,
        backfill_policy=dg.BackfillPolicy.single_run(),
        group_name="marts",
        kinds={"deltalake", "duckdb", "sql"},
        owners=OWNERS,
        pool=WRITER,
        retry_policy=RETRIES,
        code_version=queries_digest()[:12],
        check_specs=specs(name, tables),
        description=f"{contract.description}\n\nGrain: {contract.grain}.",
        metadata={"dagster/column_schema": dg.TableSchema(columns)},
    )
    def mart(context: dg.AssetExecutionContext, installation: Installation) -> Result:
        settings = installation.settings()
        with plain_failures():
            built = flow.build(settings, name, days=asked_days(context), as_of=installation.instant())
        figures = FIGURES.get(name, _no_figures)(settings, built.days)
        rows = {day: {"dagster/partition_row_count": n} for day, n in built.rows_by_day.items()}
        told = tell_days(
            context,
            {day: {**of_day, **rows.get(day, {})} for day, of_day in figures.items()},
            **{"dagster/row_count": built.rows},
            **_totals(figures),
            **(PLOTS.get(name, _no_plot)(settings) if built.days else {}),
        )
        return told._replace(check_results=look(settings, name, tables, built.days))

    return mart


def _no_figures(_settings: Settings, days: Sequence[str]) -> dict[str, dict[str, Any]]:
    return {day: {} for day in days}


def _cost_figures(settings: Settings, days: Sequence[str]) -> dict[str, dict[str, Any]]:
    """UTC day → its calls, their cost and what is unpriced, which is no cost of zero."""
    costs = flow.daily_costs(settings, days) if days else {}
    nothing = flow.DayCost(0, 0, 0)
    return {day: _shown(costs.get(day, nothing)) for day in days}


def _shown(cost: flow.DayCost) -> dict[str, Any]:
    return {
        "calls": cost.calls,
        "cost_micro_usd": micro_usd(cost.cost_pico_usd),
        **_unpriced(cost.calls, cost.unpriced_calls),
    }


def _unpriced(calls: int, unpriced: int) -> dict[str, Any]:
    """Of no calls there is no share."""
    return {"unpriced_calls": unpriced, **({"unpriced_share": unpriced / calls} if calls else {})}


def _totals(figures: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The figures of all computed days together; of a run without any there is nothing to plot."""
    if not any(figures.values()):
        return {}
    calls, unpriced, cost = (
        sum(of_day[name] for of_day in figures.values()) for name in ("calls", "unpriced_calls", "cost_micro_usd")
    )
    return {"calls": calls, "cost_micro_usd": cost, **_unpriced(calls, unpriced)}


def _no_plot(_settings: Settings) -> dict[str, Any]:
    return {}


def _cost_plot(settings: Settings) -> dict[str, Any]:
    """Cost per business day and workflow, as a picture in Dagster's own pages."""
    svg = base64.b64encode(cost_plot(settings).encode()).decode()
    return {"cost_plot": dg.MetadataValue.md(f"![cost per day](data:image/svg+xml;base64,{svg})")}


FIGURES: Mapping[str, Callable[[Settings, Sequence[str]], dict[str, dict[str, Any]]]] = {
    "step_costs": _cost_figures,
    "unit_costs": _cost_figures,
}
"""Mart → figures of each day it was computed for."""
PLOTS: Mapping[str, Callable[[Settings], dict[str, Any]]] = {"unit_costs": _cost_plot}
"""Mart → a picture of it."""
marts = [_mart(name, upstream) for name, upstream in MARTS.items()]
