"""What the documentation shows is true."""

import re
from pathlib import Path

import pytest

from beleg.cost.modelfile import load_models
from beleg.cost.workflows import load_workflows
from tests.cost.support import GPT, Lake, policies

DOCS = Path(__file__).resolve().parents[2] / "docs"
WORKFLOWS = "workflows: {ocr: {unit: document, per: 10, result: {run_unit: documents}}}"


def block(page: str, language: str) -> str:
    found = re.search(
        rf"^```{language}\n(.*?)^```", (DOCS / page).read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    )
    assert found is not None
    return found[1]


def test_the_policy_examples_are_valid(tmp_path: Path) -> None:
    (tmp_path / "models.yaml").write_text(block("prices.md", "yaml"), encoding="utf-8")
    (tmp_path / "workflows.yaml").write_text(block("unit-costs.md", "yaml"), encoding="utf-8")
    (row,) = load_models(tmp_path / "models.yaml").rows
    assert (row.risk_level, row.run_budget_pico_usd) == ("medium", 2 * 10**12)
    (workflow,) = load_workflows(tmp_path / "workflows.yaml").workflows
    assert (workflow.unit, workflow.unit_per, len(workflow.budgets)) == ("transaction", 1000, 4)


def test_the_query_for_analysts_gives_the_unit_cost(tmp_path: Path) -> None:
    found = re.search(r'beleg sql "(.*?)"', block("unit-costs.md", ""), re.DOTALL)
    assert found is not None
    lake = Lake(policies(tmp_path, workflows=WORKFLOWS))
    lake.start()
    lake.step(**GPT, output=4)
    lake.finish(units={"documents": 8})
    ((workflow, pico),) = lake.build().rows(found[1])
    assert (workflow, pico, type(pico)) == ("ocr", 50_000_000, int)


@pytest.mark.parametrize(
    "reason", ["rollup", "duplicate_call", "missing_usage", "out_of_range", "no_price_at_that_time"]
)
def test_every_reason_is_explained(reason: str) -> None:
    assert f"`{reason}`" in (DOCS / "prices.md").read_text(encoding="utf-8")
