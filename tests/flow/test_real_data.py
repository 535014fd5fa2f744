"""Real calls with known answers, from their files to the figures."""

from decimal import Decimal
from pathlib import Path

import pytest

from beleg import flow
from beleg.core.settings import Settings
from tests.flow.support import AS_OF, Installation

MAPPINGS = Path(__file__).parents[1] / "ingest" / "mappings"
WORKFLOWS = """
workflows:
  swe_agent: {unit: resolved issue, per: 1, result: {outcome: resolved issue}}
"""
BILLED_PICO_USD = 224_489_204_600_000
"""19 584 calls, 224 489 204.6 micro-USD."""


@pytest.fixture(scope="module")
def swebench(tmp_path_factory: pytest.TempPathFactory, test_data: Path) -> Installation:
    beleg = Installation(tmp_path_factory.mktemp("swebench"))
    project = beleg.inbox.parent / "project"
    policies = project / "contracts" / "policies"
    policies.mkdir(parents=True)
    (policies / "workflows.yaml").write_text(WORKFLOWS)
    beleg.settings = Settings(beleg.settings.home, beleg.settings.spool, project)
    for name in ("calls", "instances"):
        table = {"calls": "llm_calls.csv", "instances": "instances.csv"}[name]
        path = test_data / "swebench-llm-calls" / table
        flow.run(beleg.settings, [path], mapping=MAPPINGS / f"swebench_{name}.yaml", as_of=AS_OF)
    return beleg


def test_all_calls_are_taken_and_contradictions_marked_not_dropped(swebench: Installation) -> None:
    assert swebench.ask("SELECT count(*), count(*) FILTER (usage_check = 'conflict') FROM step_costs") == [(20_163, 20)]


def test_the_computed_cost_is_the_bill_for_every_call_and_in_total(swebench: Installation) -> None:
    billed = "SELECT count(*), sum(cost_pico_usd), sum(billed_pico_usd), sum((cost_pico_usd = billed_pico_usd)::INT)"
    assert swebench.ask(f"{billed} FROM step_costs WHERE billed_pico_usd IS NOT NULL") == [
        (19_584, BILLED_PICO_USD, BILLED_PICO_USD, 19_584)
    ]
    assert swebench.ask("SELECT sum(difference_pico_usd), sum(equal_steps) FROM reconciliation") == [(0, 19_584)]


def test_the_price_comes_from_the_book_through_an_alias(swebench: Installation) -> None:
    assert swebench.ask("SELECT DISTINCT provider, price_key, price_source FROM step_costs ORDER BY 1") == [
        ("google", "google/gemini-3-pro-preview", "book"),
        ("openrouter", "google/gemini-3-pro-preview", "book"),
    ]


def test_calls_without_a_bill_are_priced_too(swebench: Installation) -> None:
    counted = "SELECT count(*), sum(cost_pico_usd), count(*) FILTER (NOT priced) FROM step_costs"
    ((calls, cost, unpriced),) = swebench.ask(f"{counted} WHERE billed_pico_usd IS NULL")
    assert (calls, unpriced) == (579, 0)
    assert round(Decimal(cost) / 10**12, 2) == Decimal("5.97")


def test_the_unit_cost_is_all_cost_over_resolved_issues(swebench: Installation) -> None:
    ((cost, results, runs),) = swebench.ask("SELECT sum(cost_pico_usd), sum(results), sum(runs) FROM unit_costs")
    assert (results, runs) == (371, 500)
    assert cost > BILLED_PICO_USD
    assert round(Decimal(cost) / 10**12 / results, 4) == Decimal("0.6212")


def test_the_figures_stay_when_the_files_come_again(swebench: Installation, test_data: Path) -> None:
    before = swebench.marts()
    table = test_data / "swebench-llm-calls" / "llm_calls.csv"
    again = flow.run(swebench.settings, [table], mapping=MAPPINGS / "swebench_calls.yaml", as_of=AS_OF)
    assert again.ingest.duplicates == again.ingest.accepted
    assert swebench.marts() == before


def test_azure_requests_without_a_model_are_counted_as_unpriced_not_as_free(tmp_path: Path, test_data: Path) -> None:
    beleg = Installation(tmp_path)
    path = test_data / "azure-llm" / "AzureLLMInferenceTrace_conv.csv"
    report = flow.run(beleg.settings, [path], mapping=MAPPINGS / "azure_llm.yaml", as_of=AS_OF)
    assert report.ingest.quarantined == 0
    assert beleg.ask("SELECT sum(steps), sum(unpriced_steps), sum(cost_pico_usd) FROM unit_costs") == [
        (19_366, 19_366, 0)
    ]
