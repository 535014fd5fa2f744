"""The marts' queries stay within the subset that DuckDB and Spark answer alike."""

import re

import pytest
import sqlglot
from sqlglot import exp

from beleg.core.contracts import load, mart_sql, of_kind
from beleg.cost.build import MONTH_LANES

MARTS = [contract.table for contract in of_kind("mart")]

INEXACT = re.compile(
    r"\b(date_diff|datediff|quantile\w*|median|avg|epoch\w*|asof|double|float|real|hugeint)\b", re.IGNORECASE
)


@pytest.mark.parametrize("mart", MARTS)
def test_a_query_is_one_select_in_the_order_of_its_contract(mart: str) -> None:
    (statement,) = sqlglot.parse(mart_sql(mart), read="duckdb")
    assert isinstance(statement, exp.Select)
    assert statement.named_selects == [column.name for column in load(mart).columns]
    ordered = statement.args["order"].expressions
    assert tuple(key.this.name for key in ordered) == load(mart).order_by


@pytest.mark.parametrize("mart", MARTS)
def test_a_query_holds_nothing_that_engines_compute_differently(mart: str) -> None:
    (statement,) = sqlglot.parse(mart_sql(mart), read="duckdb")
    assert statement is not None
    assert not list(statement.find_all(exp.Div))
    code = re.sub(r"--.*", "", mart_sql(mart))
    assert not INEXACT.search(code)


@pytest.mark.parametrize("mart", MARTS)
def test_a_query_can_be_written_for_spark(mart: str) -> None:
    (text,) = sqlglot.transpile(
        mart_sql(mart), read="duckdb", write="spark", unsupported_level=sqlglot.ErrorLevel.RAISE
    )
    assert sqlglot.parse_one(text, read="spark") is not None


@pytest.mark.parametrize("mart", MARTS)
def test_every_sum_that_is_stored_is_cast(mart: str) -> None:
    """A bare sum is HUGEINT, which Parquet holds as DOUBLE."""
    (statement,) = sqlglot.parse(mart_sql(mart), read="duckdb")
    assert statement is not None
    for total in statement.find_all(exp.Sum):
        assert total.find_ancestor(exp.Cast) is not None, total.sql()


@pytest.mark.parametrize("mart", MARTS)
def test_money_is_named_with_its_unit(mart: str) -> None:
    for column in load(mart).columns:
        if column.unit == "pico-USD":
            assert column.name.endswith("_pico_usd")
            assert column.type in ("BIGINT", "DECIMAL(38,0)")


def test_marts_made_at_the_same_time_do_not_stand_on_each_other() -> None:
    lanes = [[mart for stage in lane for mart in stage] for lane in MONTH_LANES]
    for lane in lanes:
        others = {mart for other in lanes if other != lane for mart in other}
        for mart in lane:
            assert not others & set(re.findall(r"\b(?:FROM|JOIN)\s+(\w+)", mart_sql(mart))), mart
