"""Policy files: what they may say, and the messages for what they may not."""

from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from beleg.core.errors import UsageError
from beleg.core.paths import shipped
from beleg.cost.book import Call, PriceBook
from beleg.cost.modelfile import load_models
from beleg.cost.policy import ModelPolicies
from beleg.cost.workflows import load_workflows
from tests.cost.support import GPT, NOON, Lake, policies

ROW = "{provider: openai, model: gpt-4o, valid_from: 2026-01-01, "
LATER = ROW.replace("2026-01-01", "2026-05-01")


@pytest.fixture
def models(tmp_path: Path) -> Callable[[str], ModelPolicies]:
    def read(text: str) -> ModelPolicies:
        return policies(tmp_path, models=text).models

    return read


def cost(tmp_path: Path, row: str, **step: object) -> int | None:
    lake = Lake(policies(tmp_path, f"models: [{row}]"))
    lake.step(**{**GPT, **step})
    return lake.build(("step_costs",)).cost()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("models: [{provider: openai}]", r"models\[0\]: model must be a text, got None"),
        (f"models: [{ROW} pirces: {{}}}}]", "unknown key 'pirces'; allowed are .*prices"),
        (f"models: [{ROW} prices: {{input: 2.5}}}}]", "prices.input: 2.5 is no exact amount: write .* in quotes"),
        (f"models: [{ROW} prices: {{inptu: '2'}}}}]", "no price 'inptu'; allowed are input, cache_read"),
        (f"models: [{ROW} prices: {{input: '2500000'}}}}]", "2500000 USD per million tokens, outside .* check `per`"),
        (f"models: [{ROW} prices: {{input: '0.0000025'}}}}]", "0.0000025 USD per million tokens, outside"),
        (f"models: [{ROW} per: thousand, prices: {{input: '2.5'}}}}]", "2500.0 USD per million tokens, outside"),
        (f"models: [{ROW} prices: {{input: '1000001'}}, unusual_price: true}}]", "outside 0 to 1000000: check"),
        (f"models: [{ROW} prices: {{input: '2.00000001'}}}}]", "no whole micro-USD per million tokens"),
        (f"models: [{ROW} prices: {{input: '-1'}}}}]", "zero or more"),
        (f"models: [{ROW} per: billion}}]", "per must be one of million, thousand, got 'billion'"),
        (f"models: [{ROW} risk_level: extreme}}]", "risk_level must be one of low, medium, high, got 'extreme'"),
        (f"models: [{ROW} latency_ceiling_ms: -1}}]", "latency_ceiling_ms must be a whole number from 1 to .*, got -1"),
        (f"models: [{ROW} run_budget_usd: 0.5}}]", "run_budget_usd: 0.5 is no exact amount"),
        (f"models: [{ROW} run_budget_usd: '1000001'}}]", "run_budget_usd must be at most 1000000 USD"),
        (f"models: [{ROW} batch: {{prices: {{input: '1'}}}}}}]", "batch needs prices beside it"),
        (f"models: [{ROW} units: {{web_searches: {{price: '11'}}}}}}]", "11 USD per unit, outside"),
        (f"models: [{ROW} units: {{input: {{price: '1'}}}}}}]", "is a price, not a unit"),
        (
            f"models: [{ROW} prices: {{input: '1'}}, tiers: [{{above: 5, prices: {{output: '1'}}}}]}}]",
            r"tiers\[0\].output has no price below the tier: add prices.output",
        ),
        (
            f"models: [{ROW} prices: {{input: '1'}}, tiers: [{{above: 5, from: 6, prices: {{input: '2'}}}}]}}]",
            "either above: N .* or from: N",
        ),
        ("models: [{provider: openai, model: m}]", "valid_from is missing"),
        ("models: [{provider: openai, model: m, valid_from: soon}]", "must be a day or an instant, got 'soon'"),
        ("models: [{provider: openai, model: m, valid_from: 2026-01-01T00:00:00}]", "has no offset"),
        (f"models: [{ROW} valid_to: 2025-01-01}}]", "goes backwards: valid_to 2025-01-01 is not after"),
        (f"models: [{ROW} valid_to: 2026-06-01}}, {LATER} }}]", "overlap from 2026-05-01 to 2026-06-01"),
        (f"models: [{LATER} }}, {ROW} }}]", "go backwards: 2026-01-01 comes after 2026-05-01"),
        (f"models: [{ROW} }}, {ROW.replace('gpt', 'GPT')} }}]", "go backwards: 2026-01-01 comes after 2026-01-01"),
        ("models: {}", "models must be a list, got {}"),
        ("models: 7", "models must be a list, got 7"),
        ("", None),
        ("models:", None),
        ("[]", "expected a mapping"),
        ("- x", "expected a mapping"),
        ("a: [", "models.yaml is no YAML"),
        ("aliases: [{match: gpt, to: openai/x, why: y}]", "match must be provider/model"),
        ("aliases: [{match: a/*, to: b/*}]", "why must be a text, got None"),
        ("aliases: [{match: a/x, to: b/*, why: y}]", r"has a '\*' that match 'a/x' does not fill"),
        ("aliases: [{match: a/*x, to: b/*, why: y}]", "at its end only"),
    ],
)  # fmt: skip
def test_a_wrong_file_says_what_is_wrong_where_and_what_to_do(
    models: Callable[[str], ModelPolicies], text: str, message: str | None
) -> None:
    """M5 litellm#20615: a price off by a factor of a million is refused before it prices anything."""
    if message is None:
        assert models(text) == ModelPolicies()
        return
    with pytest.raises(UsageError, match=message) as raised:
        models(text)
    assert "models.yaml" in str(raised.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("workflows: {ocr: {per: 1}}", "workflows.ocr: has no unit: name one business result"),
        ("workflows: {ocr: {unit: document}}", "say what counts as a result"),
        ("workflows: {ocr: {unit: d, result: {run_unit: d, outcome: d}}}", "say what counts as a result"),
        ("workflows: {ocr: {unit: d, result: {run_unit: d}, per: 0}}", "per must be a whole number from 1"),
        ("workflows: {ocr: {unit: d, result: {run_unit: d}, abandon_after: 2 hours}}", "span such as 30m, 24h or 7d"),
        ("workflows: {ocr: {unit: d, result: {run_unit: d}, abandon_after: 999999d}}", "span such as 30m, 24h or 7d"),
        ("workflows: {ocr: {unit: d, result: {run_unit: d}, risk_levels: [none]}}", "holds 'none'; allowed are low"),
        ("workflows: {ocr: {unit: d, result: {run_unit: d}, budget: {weekly: '1'}}}", "unknown key 'weekly'"),
        ("workflows: {ocr: {unit: d, result: {run_unit: d}, budget: {per_day_usd: 1.5}}}", "1.5 is no exact amount"),
        ("workflow: {}", "unknown key 'workflow'; allowed are defaults, workflows"),
    ],
)  # fmt: skip
def test_a_wrong_workflow_says_what_is_wrong_where_and_what_to_do(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        policies(tmp_path, workflows=text)


def test_the_shipped_policies_are_valid_and_know_their_models() -> None:
    shipped_models = load_models(shipped("contracts", "policies", "models.yaml"))
    book = PriceBook(shipped_models)
    for row in shipped_models.rows:
        assert book.resolve(Call(row.provider, row.model, None, None)).unpriced_reason is None, row.model
    workflows = load_workflows(shipped("contracts", "policies", "workflows.yaml")).workflows
    assert [w.workflow for w in workflows] == [
        "ocr",
        "categorization",
        "reconciliation",
        "dunning",
        "vat_return",
        "chat_copilot",
        "claude-code",
        "claude-agent-sdk",
        "codex",
        "gemini-cli",
        "copilot-cli",
        "opencode",
    ]


@pytest.mark.parametrize(
    ("row", "tokens", "pico"),
    [
        (ROW + "per: million, prices: {output: '0.0375'}}", 1, 37_500),
        (ROW + "per: thousand, prices: {output: '0.0000375'}}", 1, 37_500),
        (ROW + "prices: {output: '2000'}, unusual_price: true}", 1, 2_000_000_000),
        (ROW + "prices: {output: '0'}}", 5, 0),
    ],
)
def test_prices_per_million_and_per_thousand_are_converted_exactly(
    tmp_path: Path, row: str, tokens: int, pico: int
) -> None:
    assert cost(tmp_path, row, output=tokens) == pico


@pytest.mark.parametrize(
    ("word", "tokens", "pico_each"),
    [
        ("above", 200_000, 1_000_000),
        ("above", 200_001, 2_000_000),
        ("from", 199_999, 1_000_000),
        ("from", 200_000, 2_000_000),
    ],
)
def test_a_tier_says_above_or_from(tmp_path: Path, word: str, tokens: int, pico_each: int) -> None:
    row = f"{ROW} prices: {{input: '1'}}, tiers: [{{{word}: 200000, prices: {{input: '2'}}}}]}}"
    assert cost(tmp_path, row, input_uncached=tokens) == tokens * pico_each


def test_a_row_replaces_the_whole_list_within_its_dates_only(tmp_path: Path) -> None:
    row = ROW + "valid_to: 2026-07-01, prices: {input: '1', output: '7'}}"
    lake = Lake(policies(tmp_path, f"models: [{row}]"))
    edges = [datetime(2025, 12, 31, 23, 59, 59, tzinfo=UTC), NOON, datetime(2026, 7, 1, tzinfo=UTC)]
    for at in edges:
        lake.step(at=at, **GPT, output=1, cache_read=1)
    lake.build(("step_costs",))
    assert lake.rows("SELECT cost_pico_usd, price_source FROM step_costs") == [
        (11_250_000, "book"),
        (8_000_000, "policy"),
        (11_250_000, "book"),
    ]


def test_a_row_of_its_own_prices_a_model_the_book_does_not_know(tmp_path: Path) -> None:
    row = "{provider: inhouse, model: llama, valid_from: 2026-01-01, prices: {input: '0.10', output: '0.20'}}"
    lake = Lake(policies(tmp_path, f"models: [{row}]"))
    for at in (NOON, NOON - timedelta(days=365)):
        lake.step(provider="inhouse", model="Llama", at=at, output=1)
    lake.build(("step_costs",))
    reasons = lake.rows("SELECT cost_pico_usd, unpriced_reason FROM step_costs")
    assert reasons == [(None, "no_price_at_that_time"), (200_000, None)]


def test_a_row_prices_its_service_tiers_batches_and_units_and_no_others(tmp_path: Path) -> None:
    row = (
        ROW + "prices: {input: '1', output: '2'}, service_tiers: {flex: {prices: {output: '1'}}}, "
        "batch: {prices: {input: '0.5'}}, units: {pages: {price: '3', per: 1000}}}"
    )
    assert cost(tmp_path, row, output=1, service_tier="flex") == 1_000_000
    assert cost(tmp_path, row, input_uncached=1, service_tier="flex") == 1_000_000
    assert cost(tmp_path, row, input_uncached=1, output=1, batch=True) == 2_500_000
    assert cost(tmp_path, row, output=1, service_tier="priority") is None
    assert cost(tmp_path, row, output=1, other_units={"pages": 2}) == 2_000_000 + 2 * 3 * 10**9
    assert cost(tmp_path, row, output=1, other_units={"web_searches": 1}) is None


def test_two_parents_that_compete_for_a_bucket_leave_it_unpriced(tmp_path: Path) -> None:
    row = ROW + "prices: {input: '1', cache_read: '0.1', input_audio: '5'}}"
    assert cost(tmp_path, row, cache_read=1, input_audio=1) == 5_100_000
    assert cost(tmp_path, row, cache_read_audio=1) is None


def test_a_row_holds_for_every_name_of_its_model(tmp_path: Path) -> None:
    row = ROW + "prices: {output: '1'}}"
    assert cost(tmp_path, row, model="gpt-4o-2024-08-06", output=1) == 1_000_000
    dated = "{provider: openai, model: gpt-4o-2024-08-06, valid_from: 2026-01-01, prices: {output: '3'}}"
    assert cost(tmp_path, f"{row}, {dated}", model="gpt-4o-2024-08-06", output=1) == 3_000_000
    assert cost(tmp_path, row, provider="azure", output=1) == 10_000_000


def test_an_alias_is_data_with_a_reason(tmp_path: Path) -> None:
    """M3 langfuse PR11118: a prefix that an aggregator puts before the name."""
    step = {"provider": "gateway", "model": "openai/gpt-4o", "output": 1}
    bare = Lake()
    bare.step(**step)
    assert bare.build(("step_costs",)).one("SELECT unpriced_reason FROM step_costs") == "unknown_provider"
    lake = Lake(policies(tmp_path, "aliases: [{match: gateway/openai/*, to: openai/*, why: list price}]"))
    lake.step(**step)
    assert lake.build(("step_costs",)).rows("SELECT cost_pico_usd, price_key FROM step_costs") == [
        (10_000_000, "openai/gpt-4o")
    ]


NAMES = ["models", "aliases", "workflows", "defaults", "prices", "tiers", "batch", "service_tiers", "units", "result"]
KEYS = st.sampled_from([*NAMES, "provider", "valid_from", "unit", "budget", "input", "above", "per"]) | st.integers()
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.dates()
TREES = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4))
GOOD_ROW = {"provider": "p", "model": "m", "valid_from": NOON.date(), "prices": {"input": "1"}}
ROW_KEYS = ["per", "prices", "tiers", "service_tiers", "batch", "units", "risk_level", "run_budget_usd", "valid_to"]
WORKFLOW_KEYS = ["unit", "per", "result", "abandon_after", "risk_levels", "budget", "tenant_budget", "tenants"]


@given(key=st.sampled_from(ROW_KEYS), other=st.sampled_from(WORKFLOW_KEYS), tree=TREES)
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_content_of_a_file_is_more_than_a_usage_error(tmp_path: Path, key: str, other: str, tree: object) -> None:
    workflow = {"unit": "u", "result": {"run_unit": "u"}, other: tree}
    readers: list[tuple[Callable[[Path], object], object]] = [
        (load_models, {"models": [{**GOOD_ROW, key: tree}]}),
        (load_models, tree),
        (load_workflows, {"workflows": {"w": workflow}}),
        (load_workflows, tree),
    ]
    path = tmp_path / "policy.yaml"
    for read, content in readers:
        path.write_text(yaml.safe_dump(content), encoding="utf-8")
        with suppress(UsageError):
            read(path)
