"""Metrics divide sums, exactly, once, and before any join."""

from collections.abc import Generator
from datetime import date
from decimal import Decimal
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beleg.core import contracts
from beleg.core.settings import Settings
from beleg.cost import money
from beleg.lake import catalog, metrics
from beleg.report.figures import Scope
from beleg.report.figures import ask as ask_figure
from beleg.report.language import language
from beleg.report.view import coverage
from tests.report.support import make_database

FUNCTIONS, METRICS = metrics.load()
DAY = date(2030, 1, 7)
COST = {"business_day": DAY, "model": "m", "runs": 0, "results": 0, "steps": 1}
RESULT = {"business_day": DAY, "runs": 1, "cost_pico_usd": 0}


@pytest.fixture(scope="module")
def functions() -> Generator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as con:
        for function in FUNCTIONS:
            con.execute(f"CREATE MACRO {function.name}({', '.join(function.parameters)}) AS {function.sql}")
        yield con


def ask(settings: Settings, sql: str, **tables: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    make_database(settings, **tables)
    with duckdb.connect(str(settings.database)) as con:
        for statement in metrics.statements():
            con.execute(statement)
    with catalog.connect(settings) as con:
        return con.execute(sql).fetchall()


@given(st.integers(-(10**30), 10**30), st.integers(-(10**6), 10**6).filter(bool))
def test_division_is_exact_and_rounds_half_to_even(
    functions: duckdb.DuckDBPyConnection, numerator: int, denominator: int
) -> None:
    sql = "SELECT divide_half_even(CAST($1 AS DECIMAL(38,0)), CAST($2 AS DECIMAL(38,0)))"
    sign = 1 if denominator > 0 else -1
    expected = money.divide_half_even(sign * numerator, abs(denominator))
    assert functions.execute(sql, [numerator, denominator]).fetchall() == [(Decimal(expected),)]


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("ratio(1, 3)", "0.333333"),
        ("ratio(2, 3)", "0.666667"),
        ("ratio(5, 10000000)", "0.000000"),
        ("ratio(15, 10000000)", "0.000002"),
        ("ratio(-1, 8)", "-0.125000"),
        ("micro_usd(2500000)", "2"),
        ("micro_usd(3500000)", "4"),
        ("usd(224489204600000)", "224.489204600000"),
        ("usd(1)", "0.000000000001"),
    ],
)
def test_functions_round_once(functions: duckdb.DuckDBPyConnection, expression: str, value: str) -> None:
    ((found, kind),) = functions.execute(f"SELECT {expression}, typeof({expression})").fetchall()
    assert found == Decimal(value)
    assert kind.startswith("DECIMAL")


@pytest.mark.parametrize("expression", ["divide_half_even(1, 0)", "ratio(NULL, 2)", "ratio(2, 0)", "usd(NULL)"])
def test_unknown_and_nothing_give_unknown(functions: duckdb.DuckDBPyConnection, expression: str) -> None:
    assert functions.execute(f"SELECT {expression}").fetchall() == [(None,)]


def test_a_unit_cost_is_the_ratio_of_sums_not_the_mean_of_ratios(settings: Settings) -> None:
    rows = [
        {**COST, "cost_pico_usd": 9},
        {**RESULT, "results": 1},
        {**COST, "cost_pico_usd": 1, "prompt_version": "2"},
        {**RESULT, "results": 3, "prompt_version": "2"},
    ]
    sql = "SELECT cost_pico_usd, results, unit_cost_pico_usd FROM unit_cost()"
    assert ask(settings, sql, unit_costs=rows) == [(10, 4, 2)]


def test_a_many_to_many_join_multiplies_sums_but_no_metric(settings: Settings) -> None:
    costs = [{**COST, "cost_pico_usd": 30, "model": m} for m in ("a", "b")]
    results = [{**RESULT, "results": n} for n in (1, 5)]
    flags = [{"kind": k, "business_day": DAY, "workflow": "ocr"} for k in ("x", "y", "z")]
    fanned = ask(
        settings,
        """
        SELECT sum(u.cost_pico_usd) OVER (), m.cost_pico_usd, m.unit_cost_pico_usd
        FROM unit_costs u JOIN flags f USING (workflow) JOIN unit_cost() m USING (workflow)
        """,
        unit_costs=[*costs, *results],
        flags=flags,
    )
    assert len(fanned) == 12
    assert set(fanned) == {(180, 60, 10)}


def test_metrics_of_different_grain_meet_without_counting_twice(settings: Settings) -> None:
    """Costs lie on models, results on runs, flags on kinds: each is summed before the rows meet."""
    rows = [{**COST, "cost_pico_usd": c, "model": m} for c, m in ((7, "a"), (8, "b"))]
    flags = [{"kind": k, "business_day": DAY, "workflow": "ocr"} for k in ("x", "x", "y")]
    sql = """
        SELECT any_value(u.unit_cost_pico_usd), sum(f.flags)
        FROM unit_cost() u JOIN flag_count() f USING (workflow)
        GROUP BY workflow
        """
    assert ask(settings, sql, unit_costs=[*rows, {**RESULT, "results": 2}], flags=flags) == [(8, 3)]


def test_no_results_give_no_unit_cost(settings: Settings) -> None:
    sql = "SELECT cost_pico_usd, results, unit_cost_pico_usd FROM unit_cost()"
    assert ask(settings, sql, unit_costs=[{**COST, "cost_pico_usd": 9}]) == [(9, 0, None)]


@pytest.mark.parametrize("metric", ["unit_cost", "unit_cost_by_day", "unit_cost_by_month", "unit_cost_by_version"])
@pytest.mark.parametrize(
    ("fields", "value"),
    [
        ({"runs": 0, "steps": 0, "cost_pico_usd": 0}, None),  # outcomes where nothing ran
        ({"runs": 2, "steps": 3, "unpriced_steps": 3, "cost_pico_usd": 0}, None),
        ({"runs": 0, "steps": 3, "unpriced_steps": 2, "cost_pico_usd": 8}, 4),
        ({"runs": 2, "steps": 0, "cost_pico_usd": 0}, 0),
        ({"runs": 2, "steps": 3, "cost_pico_usd": 0}, 0),
    ],
)
def test_a_unit_cost_that_nothing_tells_is_unknown_and_a_free_one_is_zero(
    settings: Settings, metric: str, fields: dict[str, int], value: int | None
) -> None:
    rows = [{"business_day": DAY, "month": "2030-01", "results": 2, **fields}]
    assert ask(settings, f"SELECT cost_pico_usd, unit_cost_pico_usd FROM {metric}()", unit_costs=rows) == [
        (fields["cost_pico_usd"], value)
    ]
    known = money.known_cost(**{"unpriced_steps": 0, **fields})
    assert (known is None) is (value is None)


def test_price_coverage_is_of_the_calls_that_need_a_price(settings: Settings) -> None:
    """Tools that report no usage need none; usage that stands elsewhere counts there."""
    at = {"event_time": "2030-01-07T12:00:00Z", "workflow": "ocr"}
    steps: list[dict[str, Any]] = [
        {**at, "model": "a"},
        {**at, "model": "b", "priced": False},
        {**at, "kind": "tool"},
        {**at, "kind": "tool", "priced": False},
        {**at, "model": "a", "counted": False},
        {**at, "model": "a", "event_time": "2030-01-08T12:00:00Z"},
    ]
    make_database(settings, step_costs=steps)
    with duckdb.connect(str(settings.database)) as con:
        con.execute("ALTER TABLE publication ADD COLUMN timezone VARCHAR DEFAULT 'Pacific/Kiritimati'")
        for statement in metrics.statements():
            con.execute(statement)
    sql = "SELECT unpriced_calls, priced_calls, calls, price_coverage_share FROM price_coverage(to_day := '2030-01-08')"
    with catalog.connect(settings) as con:
        assert con.execute(sql).fetchall() == [(2, 1, 3, Decimal("0.333333"))]


def test_the_report_and_the_metric_say_the_same_of_price_coverage(demo: Settings) -> None:
    scope = Scope(date(2020, 1, 1), date(2040, 1, 1), "Europe/Berlin")
    with catalog.connect(demo) as con:
        (metric,) = con.execute("SELECT sum(calls), sum(unpriced_calls) FROM price_coverage()").fetchall()
        shown = coverage(ask_figure(con, "price_share", scope), ask_figure(con, "coverage", scope), language("en"))
    assert (shown.calls, shown.unpriced_calls) == (f"{metric[0]:,}", f"{metric[1]:,}")
    assert metric[1] > 0


def test_only_production_counts_and_unpriced_steps_stand_beside(settings: Settings) -> None:
    rows = [
        {**COST, "cost_pico_usd": 9, "unpriced_steps": 1, "steps": 4},
        {**COST, "cost_pico_usd": 500, "purpose": "eval"},
        {**RESULT, "results": 3},
    ]
    sql = "SELECT unpriced_steps, steps, unit_cost_pico_usd FROM unit_cost()"
    assert ask(settings, sql, unit_costs=rows) == [(1, 4, 3)]


@pytest.mark.parametrize(
    ("call", "cost"),
    [
        ("", 111),
        ("'2030-01-08'", 110),
        ("'2030-01-08', '2030-01-08'", 10),
        ("to_day := DATE '2030-01-08'", 11),
        ("from_day := '2031-01-01'", None),
    ],
)
def test_days_of_a_metric_are_both_included_and_open_where_left_out(
    settings: Settings, call: str, cost: int | None
) -> None:
    rows = [{**COST, "cost_pico_usd": 10**n, "business_day": date(2030, 1, 7 + n)} for n in range(3)]
    assert ask(settings, f"SELECT sum(cost_pico_usd) FROM cost_by_day({call})", unit_costs=rows) == [(cost,)]


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_a_metric_stands_on_columns_of_its_table_and_gives_the_types_it_says(
    metric: metrics.Metric, demo: Settings
) -> None:
    source = contracts.load(metric.table)
    expected = [(source.column(name).name, source.column(name).type) for name in metric.grain]
    expected += [(m.name, m.type) for m in metric.measures]
    expected += [(metric.value, metric.value_type)] if metric.value else []
    with catalog.connect(demo) as con:
        found = con.execute(f"DESCRIBE FROM {metric.name}()").fetchall()
        rows = con.execute(f"FROM {metric.name}()").fetchall()
    assert [(name, kind) for name, kind, *_ in found] == expected
    assert len({row[: len(metric.grain)] for row in rows}) == len(rows) > 0


@pytest.mark.parametrize(
    "metric", [m for m in METRICS if m.value and m.unit.startswith("share, 0")], ids=lambda m: m.name
)
def test_shares_lie_between_nothing_and_all(metric: metrics.Metric, demo: Settings) -> None:
    with catalog.connect(demo) as con:
        values = [v for (v,) in con.execute(f"SELECT {metric.value} FROM {metric.name}()").fetchall() if v is not None]
    assert values
    assert all(0 <= value <= 1 for value in values)


def test_parts_of_the_cost_add_up_to_the_same_total(demo: Settings) -> None:
    names = ("cost_by_workflow", "cost_by_day", "cost_by_model", "cost_by_tenant", "cost_by_team")
    with catalog.connect(demo) as con:
        totals = {con.execute(f"SELECT sum(cost_pico_usd) FROM {name}()").fetchall()[0][0] for name in names}
        totals.add(con.execute("SELECT sum(cost_pico_usd) FROM step_costs").fetchall()[0][0])
    assert len(totals) == 1
