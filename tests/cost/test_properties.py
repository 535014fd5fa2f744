"""SQL against arithmetic written down in Python, on drawn usage and drawn price rows."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from beleg.cost.buckets import BUCKETS, POLICY_PRICES
from beleg.cost.modelfile import load_models
from beleg.cost.policies import Policies
from tests.cost.support import NOON, Lake

INT64_MAX = 2**63 - 1
FAMILY = {
    "input_uncached": ("input",),
    "cache_read": ("cache_read", "input"),
    "cache_write": ("cache_write", "input"),
    "cache_write_5m": ("cache_write_5m", "cache_write", "input"),
    "cache_write_1h": ("cache_write_1h", "cache_write", "input"),
    "output": ("output",),
    "reasoning": ("reasoning", "output"),
}
"""Bucket → names of prices that can hold for it, nearest first."""

MICRO = st.integers(1_000, 10**9)
PRICES = st.fixed_dictionaries(
    {"input": MICRO}, optional={n: MICRO for n in POLICY_PRICES if "_a" not in n and "_i" not in n and n != "input"}
)
USAGE = st.dictionaries(st.sampled_from(list(FAMILY)), st.integers(0, 10**7) | st.integers(0, 10**12), min_size=1)


def usd(micro: int) -> str:
    return f"{micro // 10**6}.{micro % 10**6:06d}"


def expected(prices: dict[str, int], high: dict[str, int], start: int, usage: dict[str, int]) -> int | None:
    total_input = sum(tokens for bucket, tokens in usage.items() if BUCKETS[bucket]["direction"] == "input")
    valid = prices | high if total_input > start else prices
    cost = 0
    for bucket, tokens in usage.items():
        found = [valid[name] for name in FAMILY[bucket] if name in valid]
        if tokens and not found:
            return None
        cost += tokens * (found[0] if found else 0)
    return cost if cost <= INT64_MAX else None


@given(prices=PRICES, start=st.integers(1, 10**6), usages=st.lists(USAGE, min_size=1, max_size=40), data=st.data())
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_sql_equals_integer_arithmetic(
    tmp_path: Path, prices: dict[str, int], start: int, usages: list[dict[str, int]], data: st.DataObject
) -> None:
    high = {name: data.draw(MICRO) for name in prices if data.draw(st.booleans())}
    row: dict[str, Any] = {
        "provider": "own",
        "model": "m",
        "valid_from": NOON.date(),
        "prices": {name: usd(micro) for name, micro in prices.items()},
    }
    if high:
        row["tiers"] = [{"above": start, "prices": {name: usd(micro) for name, micro in high.items()}}]
    (tmp_path / "models.yaml").write_text(yaml.safe_dump({"models": [row]}), encoding="utf-8")
    lake = Lake(Policies(models=load_models(tmp_path / "models.yaml")))
    for number, usage in enumerate(usages):
        lake.step(step_id=f"{number:02}", provider="own", model="m", **usage)
    lake.build(("step_costs",))
    rows = lake.rows("SELECT cost_pico_usd FROM step_costs ORDER BY step_id")
    assert rows == [(expected(prices, high, start, usage),) for usage in usages]


@pytest.mark.parametrize("order", [1, -1])
def test_the_order_of_events_changes_nothing(order: int) -> None:
    lake = Lake()
    reports = [{"source": s, "event_id": e, "call_key": "k"} for s in "ab" for e in "12"]
    for number, report in enumerate(reports[::order]):
        lake.step(
            **report, step_id=f"{report['source']}{report['event_id']}", provider="openai", model="gpt-4o", output=1
        )
        assert number < len(reports)
    lake.build(("step_costs",))
    assert lake.rows("SELECT step_id FROM step_costs WHERE counted") == [("a1",)]
