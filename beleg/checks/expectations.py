"""The rules as a Great Expectations suite: the verdict of a second, well-known judge, and one for pandas.

Great Expectations takes seconds to import, so it is imported where it is asked. The suite expects zero in
one column a rule. Over a scan that is one row of counts, over a small table one row of zeros and ones for
each of its own: the same suite serves both.
"""

import logging
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import duckdb

from beleg.checks.rules import Rule, rules
from beleg.checks.scan import Finding
from beleg.core.contracts import TableContract
from beleg.lake.engine import identifier

if TYPE_CHECKING:
    import great_expectations as gx
    import pandas as pd


def judge(subject: str, findings: Sequence[Finding]) -> tuple[str, frozenset[str]]:
    """The verdict of Great Expectations over the counts of one scan; what could not be compared is left out."""
    import pandas as pd

    counts = {f.rule: [f.violations] for f in findings if f.violations is not None}
    severities = {f.rule: f.severity for f in findings if f.rule in counts}
    broken = broken_rules(suite(subject, severities), pd.DataFrame(counts)) if counts else frozenset()
    return f"great_expectations {_gx().__version__}", broken


def suite_of(contract: TableContract) -> "gx.ExpectationSuite":
    """The suite of a table, from its contract."""
    return suite(contract.table, {rule.name: rule.severity for rule in rules(contract)})


def suite(name: str, severities: Mapping[str, str]) -> "gx.ExpectationSuite":
    """A suite that expects zero in the column of each rule."""
    expect = _gx().expectations
    _context()  # a suite needs one before it can be made
    made: gx.ExpectationSuite = _gx().ExpectationSuite(
        name=name,
        expectations=[
            expect.ExpectColumnValuesToBeInSet(
                column=rule,
                value_set=[0],
                severity="critical" if severity == "error" else "warning",
                meta={"rule": rule, "severity": severity},
            )
            for rule, severity in severities.items()
        ],
    )
    return made


def broken_rules(suite: "gx.ExpectationSuite", frame: "pd.DataFrame") -> frozenset[str]:
    """Rules whose expectation a frame does not meet. Raises RuntimeError where one could not be evaluated."""
    batch = _context().data_sources.pandas_default.read_dataframe(frame)
    result = batch.validate(suite, result_format="BASIC")
    failed = [one for one in result.results if not one.success]
    for one in failed:
        if one.exception_info.get("raised_exception"):
            raise RuntimeError(f"Great Expectations could not evaluate {one.expectation_config}: {one.exception_info}")
    return frozenset(str(one.expectation_config.meta["rule"]) for one in failed)


def rows_of(con: duckdb.DuckDBPyConnection, contract: TableContract, relation: str) -> "pd.DataFrame":
    """One row for each of a small table, one column a rule: 1 where the row breaks it."""
    columns = ", ".join(f"{_breaks(contract, rule)} AS {identifier(rule.name)}" for rule in rules(contract))
    frame: pd.DataFrame = con.sql(f"SELECT {columns} FROM {relation}").df()
    return frame


def _breaks(contract: TableContract, rule: Rule) -> str:
    if rule.broken_by is not None:
        return f"CASE WHEN {rule.broken_by} THEN 1 ELSE 0 END"
    if rule.name == "columns":
        return "0"  # the query would not have run
    key = ", ".join(map(identifier, contract.primary_key))
    return f"CASE WHEN count(*) OVER (PARTITION BY {key}) > 1 THEN 1 ELSE 0 END"


def _gx() -> Any:
    import great_expectations

    return great_expectations


@cache
def _context() -> Any:
    """A context in memory that shows no progress bars and writes no file."""
    logging.getLogger("great_expectations").setLevel(logging.ERROR)
    context = _gx().get_context(mode="ephemeral")
    context.variables.progress_bars = {"globally": False}
    return context
