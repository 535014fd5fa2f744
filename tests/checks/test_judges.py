"""Great Expectations and the comparison in `beleg run` give the same verdict, over counts and over rows."""

import warnings
from collections.abc import Generator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from beleg.checks import expectations
from beleg.checks.judge import compare
from beleg.checks.rules import rules
from beleg.checks.scan import Finding, scan
from beleg.core import contracts
from beleg.lake.engine import connect
from beleg.lake.snapshot import Snapshot
from tests.checks.support import damage
from tests.flow.support import Installation, run_events

pytest.importorskip("great_expectations", reason="the extra `pipeline` is not installed")
NOON = datetime(2030, 1, 10, 12, tzinfo=UTC)
DAMAGE = {
    "none": "FROM rows",
    "one row": "SELECT * REPLACE (CASE WHEN run_id = 'a' THEN NULL ELSE status END AS status) FROM rows",
    "all rows": "SELECT * REPLACE (CAST(NULL AS VARCHAR) AS run_id) FROM rows",
    "twice": "FROM rows UNION ALL FROM rows",
    "a rule and a warning": "SELECT * REPLACE (false AS priced) FROM rows",
}


@pytest.fixture(autouse=True)
def quiet() -> Generator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the judge's own dependencies
        yield


def test_both_judges_agree_on_any_counts() -> None:
    for counts in ([0, 0, 0], [1, 0, 0], [0, 0, 7], [None, 3, 0], [None, None, None], [2**53, 0, 1]):
        findings = [Finding(f"rule{n}", "warn" if n == 2 else "error", count) for n, count in enumerate(counts)]
        who, broken = expectations.judge("subject", findings)
        assert broken == compare("subject", findings)[1]
        assert who.startswith("great_expectations 1.")


@pytest.mark.parametrize("query", DAMAGE.values(), ids=DAMAGE)
def test_the_same_suite_on_the_rows_themselves_agrees_with_the_scan(tmp_path: Path, query: str) -> None:
    beleg = Installation(tmp_path)
    beleg.take(*run_events("a", NOON), *run_events("b", NOON))
    damage(beleg.settings, "step_costs", query)
    lake, contract = Snapshot.latest(beleg.settings), contracts.load("step_costs")
    with connect(tmp_path / "scratch") as con:
        scanned = scan(con, lake, lake.at(None), "step_costs")
        frame = expectations.rows_of(con, contract, lake.relation("step_costs"))
    suite = expectations.suite_of(contract)
    assert expectations.broken_rules(suite, frame) == compare("step_costs", scanned.findings)[1]
    assert expectations.judge("step_costs", scanned.findings)[1] == compare("step_costs", scanned.findings)[1]


@pytest.mark.parametrize("table", contracts.names())
def test_every_contract_makes_a_suite_with_one_expectation_a_rule(table: str) -> None:
    contract = contracts.load(table)
    suite = expectations.suite_of(contract)
    assert [e.meta and e.meta["rule"] for e in suite.expectations] == [r.name for r in rules(contract)]
    warned = {e.meta and e.meta["rule"] for e in suite.expectations if e.severity.value != "critical"}
    assert warned == contract.notices
