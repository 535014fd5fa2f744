"""What exceeds its policy becomes a row; nothing is stopped."""

from datetime import timedelta
from pathlib import Path

import pytest

from tests.cost.support import GPT, MARTS, NOON, Lake, policies

MODELS = """
models:
  - provider: openai
    model: gpt-4o
    valid_from: 2026-01-01
    risk_level: medium
    latency_ceiling_ms: 100
    run_budget_usd: "0.00002"
  - {provider: openai, model: gpt-4o-mini, valid_from: 2026-01-01, risk_level: high}
"""
WORKFLOWS = """
workflows:
  ocr:
    unit: document
    result: {run_unit: documents}
    risk_levels: [low, medium]
    budget: {per_day_usd: "0.00005", per_month_usd: "0.00008"}
    tenant_budget: {per_day_usd: "0.00003"}
    tenants: {big: {per_day_usd: "1"}}
  free: {unit: thing, result: {run_unit: things}}
"""


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(policies(tmp_path, MODELS, WORKFLOWS))


def kinds(lake: Lake, columns: str = "kind") -> list[tuple[object, ...]]:
    return lake.build(MARTS[:4]).rows(f"SELECT {columns} FROM flags ORDER BY ALL")


@pytest.mark.parametrize(("tokens", "flagged"), [(2, False), (3, True)])
def test_a_run_over_the_budget_of_its_model_is_flagged(lake: Lake, tokens: int, flagged: bool) -> None:
    lake.start(workflow="free")
    lake.step(**GPT, output=tokens)
    expected = [("run_budget", 30_000_000, 20_000_000)] if flagged else []
    assert kinds(lake, "kind, observed_pico_usd, allowed_pico_usd") == expected


@pytest.mark.parametrize(("second", "flagged"), [(40, False), (41, True)])
def test_a_run_slower_than_the_ceiling_is_flagged_with_the_sum_of_its_steps(
    lake: Lake, second: int, flagged: bool
) -> None:
    lake.start(workflow="free")
    lake.step(**GPT, output=0, latency_ms=60)
    lake.step(kind="tool", latency_ms=second)
    assert kinds(lake, "kind, observed_ms, allowed_ms") == ([("latency_ceiling", 101, 100)] if flagged else [])


def test_a_risk_level_that_the_workflow_does_not_allow_is_flagged(lake: Lake) -> None:
    lake.start("fine")
    lake.step("fine", **GPT, output=0)
    lake.start("risky")
    lake.step("risky", provider="openai", model="gpt-4o-mini", output=0)
    lake.start("unheard of", workflow="ocr")
    lake.step("unheard of", provider="openai", model="gpt-5", output=0)
    lake.start("anything goes", workflow="free")
    lake.step("anything goes", provider="openai", model="gpt-4o-mini", output=0)
    assert kinds(lake, "kind, run_id, observed_risk_level, allowed_risk_levels") == [
        ("risk_level", "risky", "high", "low,medium"),
        ("risk_unclassified", "unheard of", None, "low,medium"),
    ]


def test_a_model_has_its_risk_level_even_where_it_has_no_price(tmp_path: Path) -> None:
    unknown = "models: [{provider: inhouse, model: llama, valid_from: 2026-01-01, risk_level: low}]"
    lake = Lake(policies(tmp_path, unknown, WORKFLOWS))
    lake.start()
    lake.step(provider="inhouse", model="llama", output=1)
    lake.step(provider="inhouse", model="llama", output=1, batch=True)
    assert kinds(lake) == []
    assert lake.rows("SELECT DISTINCT unpriced_reason FROM step_costs") == [("unknown_provider",)]
    assert lake.rows("SELECT highest_risk_level, unclassified_steps FROM run_costs") == [("low", 0)]


def test_a_model_is_judged_by_the_row_of_its_time(tmp_path: Path) -> None:
    rows = """
    models:
      - {provider: openai, model: gpt-4o, valid_from: 2026-01-01, risk_level: high}
      - {provider: openai, model: gpt-4o, valid_from: 2026-06-15T12:00:00Z, risk_level: low}
    """
    lake = Lake(policies(tmp_path, rows, WORKFLOWS))
    for name, at in (("before", NOON - timedelta(microseconds=1)), ("after", NOON)):
        lake.start(name, at=at)
        lake.step(name, at=at, **GPT, output=0)
    assert kinds(lake, "run_id") == [("before",)]


def test_budgets_hold_per_day_month_and_tenant_and_begin_anew(lake: Lake) -> None:
    """T6 litellm#24675: a budget compares its own period, not a lifetime."""
    spending = [
        ("r1", 0, "small", 2),
        ("r2", 0, "small", 2),
        ("r3", 0, "big", 2),
        ("r4", 1, "small", 2),
        ("r5", 1, None, 1),
    ]
    for run_id, day, tenant, tokens in spending:
        at = NOON + timedelta(days=day)
        lake.start(run_id, at=at, tenant=tenant)
        lake.step(run_id, at=at, **GPT, output=tokens)
    lake.start("next month", at=NOON + timedelta(days=20))
    lake.step("next month", at=NOON + timedelta(days=20), **GPT, output=2)
    rows = kinds(lake, "kind, business_day::VARCHAR, tenant, observed_pico_usd, month")
    assert rows == [
        ("tenant_budget_day", "2026-06-15", "small", 40_000_000, "2026-06"),
        ("workflow_budget_day", "2026-06-15", None, 60_000_000, "2026-06"),
        ("workflow_budget_month", "2026-06-01", None, 90_000_000, "2026-06"),
    ]


def test_spending_of_every_purpose_counts_against_a_budget(lake: Lake) -> None:
    for purpose in ("production", "eval", "test"):
        lake.start(purpose, purpose=purpose)
        lake.step(purpose, **GPT, output=2)
    assert kinds(lake, "kind, observed_pico_usd") == [("workflow_budget_day", 60_000_000)]


def test_unpriced_steps_stand_beside_the_flag(lake: Lake) -> None:
    lake.start(workflow="free")
    lake.step(**GPT, output=3)
    lake.step(**GPT)
    assert kinds(lake, "kind, unpriced_steps") == [("run_budget", 1)]


def test_a_day_of_the_zone_decides_which_budget_is_hit(lake: Lake) -> None:
    """T5 litellm#34896: a budget's day begins at midnight of its zone."""
    lake.timezone = "Asia/Tokyo"
    for run_id, hour in (("r1", 2), ("r2", 4)):
        at = NOON + timedelta(hours=hour)
        lake.start(run_id, at=at)
        lake.step(run_id, at=at, **GPT, output=2)
    lake.start("r3", at=NOON + timedelta(hours=5))
    lake.step("r3", at=NOON + timedelta(hours=5), **GPT, output=2)
    assert kinds(lake) == []
    lake.timezone = "UTC"
    assert kinds(lake) == [("workflow_budget_day",)]
