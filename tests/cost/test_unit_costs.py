"""What a business result costs, under any grouping, on any calendar."""

from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from beleg.cost.policies import Policies
from tests.cost.support import GPT, MARTS, NOON, Lake, policies

TOKEN = 10_000_000
WORKFLOWS = """
workflows:
  ocr: {unit: document, result: {run_unit: documents}}
  vat: {unit: filed return, result: {outcome: filed_return}}
  categorization: {unit: transaction, per: 1000, result: {run_unit: transactions}}
"""
DAY = timedelta(days=1)


@pytest.fixture
def both(tmp_path: Path) -> Policies:
    return policies(tmp_path, workflows=WORKFLOWS)


@pytest.fixture
def lake(both: Policies) -> Lake:
    return Lake(both)


def run(lake: Lake, run_id: str, tokens: int = 1, units: dict[str, int] | None = None, **start: object) -> None:
    at = start.pop("at", NOON)
    status = start.pop("status", "succeeded")
    assert isinstance(at, datetime)
    lake.start(run_id, at=at, **start)
    lake.step(run_id, at=at, **GPT, output=tokens)
    lake.finish(run_id, at=at, status=status, units=units)


def test_failed_runs_cost_but_bring_no_result(lake: Lake) -> None:
    """finops 34: cost per completed task holds the failed attempts too."""
    run(lake, "good", 3, {"documents": 2})
    run(lake, "bad", 5, status="failed")
    lake.build(MARTS[:3])
    row = lake.rows("SELECT sum(cost_pico_usd), sum(results), sum(runs), sum(failed_runs) FROM unit_costs")
    assert row == [(8 * TOKEN, 2, 2, 1)]


def test_evals_tests_and_demos_are_lines_of_their_own_and_add_up(lake: Lake) -> None:
    for number, purpose in enumerate(("production", "eval", "test", "demo"), 1):
        run(lake, purpose, number, {"documents": 1}, purpose=purpose)
    lake.build(MARTS[:3])
    rows = lake.rows("SELECT purpose, sum(cost_pico_usd) FROM unit_costs GROUP BY 1 ORDER BY 2")
    assert rows == [("production", TOKEN), ("eval", 2 * TOKEN), ("test", 3 * TOKEN), ("demo", 4 * TOKEN)]
    assert lake.one("SELECT sum(cost_pico_usd) FROM unit_costs") == lake.one(
        "SELECT sum(cost_pico_usd) FROM step_costs"
    )


def test_a_run_with_two_models_counts_its_results_once(lake: Lake) -> None:
    """The fan-out that doubles denominators: cost is split by model, runs and results are not."""
    run(lake, "one", 1, {"documents": 6})
    lake.step("one", provider="openai", model="gpt-4o-mini", output=1)
    lake.build(MARTS[:3])
    assert lake.rows("SELECT sum(results), sum(runs) FROM unit_costs") == [(6, 1)]
    assert lake.rows("SELECT DISTINCT model, results FROM unit_costs WHERE model IS NOT NULL ORDER BY 1") == [
        ("gpt-4o", 0),
        ("gpt-4o-mini", 0),
    ]


def test_outcomes_count_on_the_business_day_on_which_they_occurred(lake: Lake) -> None:
    run(lake, "r", 1, {"filed_return": 9}, workflow="vat")
    lake.outcome("o", at=NOON + 40 * DAY, workflow="vat", kind="filed_return", count=2)
    lake.outcome("other kind", workflow="vat", kind="draft", count=100)
    lake.build(MARTS[:3])
    rows = lake.rows("SELECT business_day, sum(results) FROM unit_costs GROUP BY 1 ORDER BY 1")
    assert rows == [(NOON.date(), 0), ((NOON + 40 * DAY).date(), 2)]


def test_a_retracted_outcome_does_not_count(lake: Lake) -> None:
    """getlago/lago#67: a cancelled result is taken back in the period it was counted in."""
    filed = {"workflow": "vat", "kind": "filed_return"}
    lake.outcome("a", **filed, count=1)
    lake.outcome("b", **filed, count=2)
    lake.outcome("a-back", at=NOON + 60 * DAY, retracts="a", **filed, count=1)
    lake.build(MARTS[:3])
    assert lake.rows("SELECT month, results FROM unit_costs WHERE results > 0") == [("2026-06", 2)]


def test_a_retraction_reaches_its_own_source_only(lake: Lake) -> None:
    lake.outcome("a", workflow="vat", kind="filed_return")
    lake.outcome("x", source="elsewhere", workflow="vat", kind="filed_return", retracts="a")
    assert lake.build(MARTS[:3]).one("SELECT sum(results) FROM unit_costs") == 1


def test_an_outcome_reported_again_counts_once(lake: Lake) -> None:
    lake.outcome("a", workflow="vat", kind="filed_return", count=1)
    lake.outcome("a", workflow="vat", kind="filed_return", count=3, event_time=NOON + DAY)
    assert lake.build(MARTS[:3]).one("SELECT sum(results) FROM unit_costs") == 3


def test_the_business_day_is_that_of_the_zone(both: Policies) -> None:
    """T3 litellm PR30441: 23:30 UTC belongs to the next day in Singapore."""
    lake = Lake(both, timezone="Asia/Singapore")
    run(lake, "r", 1, {"documents": 1}, at=datetime(2024, 12, 31, 23, 30, tzinfo=UTC))
    lake.build(MARTS[:3])
    assert lake.rows("SELECT DISTINCT business_day::VARCHAR, month FROM unit_costs") == [("2025-01-01", "2025-01")]


def test_units_and_what_they_are_quoted_for_come_from_the_policy(lake: Lake) -> None:
    run(lake, "r", 3, {"transactions": 200}, workflow="categorization")
    run(lake, "s", 1, {"documents": 200}, workflow="no policy")
    lake.build(MARTS[:3])
    rows = lake.rows(
        "SELECT DISTINCT workflow, unit, unit_per, sum(results) FROM unit_costs GROUP BY 1, 2, 3 ORDER BY 1"
    )
    assert rows == [("categorization", "transaction", 1000, 200), ("no policy", None, None, 0)]


COLUMNS = ("business_day", "workflow", "purpose", "tenant", "prompt_version", "model")
RUNS = st.lists(
    st.fixed_dictionaries(
        {
            "minute": st.integers(0, 4 * 24 * 60),
            "workflow": st.sampled_from(["ocr", "categorization"]),
            "purpose": st.sampled_from(["production", "eval"]),
            "tenant": st.sampled_from(["a", "b", None]),
            "prompt_version": st.sampled_from(["1", "2", None]),
            "model": st.sampled_from(["gpt-4o", "gpt-4o-mini", "unknown"]),
            "tokens": st.integers(0, 10**9),
            "results": st.integers(0, 10**6),
        }
    ),
    min_size=1,
    max_size=8,
)


@given(
    runs=RUNS, zone=st.sampled_from(["UTC", "Europe/Berlin", "America/St_Johns", "Pacific/Kiritimati"]), data=st.data()
)
@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_parts_add_up_to_the_whole_under_any_grouping_and_in_any_zone(
    both: Policies, runs: list[dict[str, object]], zone: str, data: st.DataObject
) -> None:
    """T1 litellm#29568: the sum of the days is the range, also over the change of clocks (29 March 2026)."""
    lake = Lake(both, timezone=zone)
    start = datetime(2026, 3, 27, 20, tzinfo=UTC)
    for number, drawn in enumerate(runs):
        at = start + timedelta(minutes=int(str(drawn["minute"])))
        dimensions = {key: drawn[key] for key in ("workflow", "purpose", "tenant", "prompt_version")}
        units = {"documents": drawn["results"], "transactions": drawn["results"]}
        lake.start(f"r{number}", at=at, **dimensions)
        lake.step(f"r{number}", at=at, provider="openai", model=drawn["model"], output=drawn["tokens"])
        lake.finish(f"r{number}", at=at, units=units)
    lake.build(MARTS[:3])
    chosen = data.draw(st.sets(st.sampled_from(COLUMNS), min_size=1))
    sums = "sum(cost_pico_usd), sum(results), sum(runs), sum(steps), sum(unpriced_steps)"
    groups = lake.rows(f"SELECT {sums} FROM unit_costs GROUP BY {', '.join(sorted(chosen))}")
    whole = tuple(sum(column) for column in zip(*groups, strict=True))
    expected = lake.rows(
        "SELECT coalesce(sum(cost_pico_usd), 0), (SELECT sum(units['documents']) FROM run_costs), "
        "(SELECT count(*) FROM run_costs), count(*), count(*) FILTER (NOT priced) FROM step_costs"
    )
    assert [whole] == expected
    in_range = lake.one(
        "SELECT sum(cost_pico_usd) FROM unit_costs WHERE business_day BETWEEN '2026-03-27' AND '2026-04-02'"
    )
    assert in_range == whole[0]


def test_a_ratio_is_a_ratio_of_sums(lake: Lake) -> None:
    run(lake, "dear", 9, {"documents": 1}, tenant="a")
    run(lake, "cheap", 1, {"documents": 9}, tenant="b")
    lake.build(MARTS[:3])
    ((cost, results),) = lake.rows("SELECT sum(cost_pico_usd), sum(results) FROM unit_costs")
    assert Fraction(int(cost), int(results)) == TOKEN
