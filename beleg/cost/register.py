"""Hands prices and policies to SQL: the temporary tables that the marts' queries join."""

from collections.abc import Iterable, Sequence
from typing import Any

import duckdb
import pyarrow as pa

from beleg.cost.book import Call, PriceBook
from beleg.cost.buckets import BUCKETS
from beleg.cost.caching import cache_rule
from beleg.cost.policies import Policies
from beleg.cost.subject import BEGINNING, END, PriceRow

_TABLES = {
    "price_keys": (
        "provider VARCHAR, model VARCHAR, service_tier VARCHAR, batch BOOLEAN, price_key VARCHAR, "
        "unpriced_reason VARCHAR"
    ),
    "price_rows": (
        "price_key VARCHAR, valid_from TIMESTAMP WITH TIME ZONE, valid_to TIMESTAMP WITH TIME ZONE, "
        "from_minute BIGINT, to_minute BIGINT, min_input_tokens BIGINT, max_input_tokens BIGINT, "
        + "".join(f"{bucket} BIGINT, " for bucket in BUCKETS)
        + "unit_prices MAP(VARCHAR, BIGINT), request_pico_usd BIGINT, price_source VARCHAR, inexact BOOLEAN, "
        "inexact_prices VARCHAR[], inherited_prices VARCHAR[]"
    ),
    "model_policies": (
        "price_key VARCHAR, valid_from TIMESTAMP WITH TIME ZONE, valid_to TIMESTAMP WITH TIME ZONE, "
        "latency_ceiling_ms BIGINT, risk_level VARCHAR, run_budget_pico_usd BIGINT"
    ),
    "workflow_policies": (
        "workflow VARCHAR, unit VARCHAR, unit_per BIGINT, result_from VARCHAR, result_kind VARCHAR, "
        "abandon_after INTERVAL, allowed_risk_levels VARCHAR"
    ),
    "cache_rules": (
        "provider VARCHAR, model VARCHAR, lifetime INTERVAL, long_lifetime INTERVAL, increment_tokens BIGINT, "
        "minimum_tokens BIGINT, has_breakpoints BOOLEAN"
    ),
    "budgets": "workflow VARCHAR, scope VARCHAR, period VARCHAR, tenant VARCHAR, budget_pico_usd BIGINT",
}


def register_prices(con: duckdb.DuckDBPyConnection, book: PriceBook) -> None:
    """Create what prices steps, for the calls that occur in `steps`, replacing earlier ones."""
    query = "SELECT DISTINCT provider, model, service_tier, batch FROM steps ORDER BY ALL"
    register_calls(con, book, [Call(*row) for row in con.execute(query).fetchall()])


def register_policies(con: duckdb.DuckDBPyConnection, policies: Policies) -> None:
    """Create `workflow_policies` and `budgets`, which do not depend on the calls."""
    _fill(con, "workflow_policies", _workflow_rows(policies))
    _fill(con, "budgets", _budget_rows(policies))


def register_cache_rules(con: duckdb.DuckDBPyConnection) -> None:
    """Create `cache_rules` for the calls that occur in `step_costs`."""
    query = "SELECT DISTINCT provider, model FROM step_costs WHERE kind = 'model' ORDER BY ALL"
    rows = (cache_rule(*call) for call in con.execute(query).fetchall())
    _fill(con, "cache_rules", [row for row in rows if row is not None])


def register_calls(con: duckdb.DuckDBPyConnection, book: PriceBook, calls: Iterable[Call]) -> None:
    """Create `price_keys`, `price_rows` and `model_policies` for these calls."""
    resolved = {call: book.resolve(call) for call in calls}
    keys = sorted({found.price_key for found in resolved.values() if found.price_key is not None})
    _fill(con, "price_keys", [[*call, *found] for call, found in resolved.items()])
    _fill(con, "price_rows", [price_values(row) for key in keys for row in book.rows(key)])
    _fill(con, "model_policies", [row for key in keys for row in _model_rows(book, key)])


def price_values(row: PriceRow) -> list[Any]:
    """A price row in the column order of `price_rows`."""
    step = row.step
    return [
        row.price_key,
        row.valid_from,
        row.valid_to,
        row.from_minute,
        row.to_minute,
        step.min_input_tokens,
        step.max_input_tokens,
        *(step.buckets[bucket] for bucket in BUCKETS),
        dict(step.units),
        step.request_pico_usd,
        row.source,
        bool(step.inexact),
        list(step.inexact),
        list(step.inherited),
    ]


def _model_rows(book: PriceBook, key: str) -> list[list[Any]]:
    return [
        [
            key,
            max(row.valid_from, BEGINNING),
            row.valid_to or END,
            row.latency_ceiling_ms,
            row.risk_level,
            row.run_budget_pico_usd,
        ]
        for row in book.policy_rows(key)
    ]


def _workflow_rows(policies: Policies) -> list[list[Any]]:
    """One row per workflow and one without a name, which holds for all others."""
    default = [None, None, None, None, None, policies.workflows.abandon_after, None]
    return [default] + [
        [
            w.workflow,
            w.unit,
            w.unit_per,
            w.result_from,
            w.result_kind,
            w.abandon_after,
            None if w.risk_levels is None else ",".join(w.risk_levels),
        ]
        for w in policies.workflows.workflows
    ]


def _budget_rows(policies: Policies) -> list[list[Any]]:
    return [
        [w.workflow, b.scope, b.period, b.tenant, b.budget_pico_usd]
        for w in policies.workflows.workflows
        for b in w.budgets
    ]


def _fill(con: duckdb.DuckDBPyConnection, table: str, rows: Sequence[Sequence[Any]]) -> None:
    con.execute(f"CREATE OR REPLACE TEMP TABLE {table} ({_TABLES[table]})")
    # One Arrow table: a row by itself takes DuckDB milliseconds to insert.
    schema = con.table(table).to_arrow_table().schema
    filled = pa.Table.from_pylist([dict(zip(schema.names, row, strict=True)) for row in rows], schema=schema)
    con.register("filling", filled)
    con.execute(f"INSERT INTO {table} SELECT * FROM filling")
    con.unregister("filling")
