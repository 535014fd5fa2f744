"""The notebook runs as it is and shows what the file says."""

import importlib.util
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from beleg.core.settings import Settings
from beleg.lake import catalog

PATH = Path(__file__).resolve().parents[2] / "notebooks" / "unit_costs.py"


@pytest.fixture
def shown(demo: Settings, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the cells define, by name."""
    monkeypatch.setenv("BELEG_HOME", str(demo.home))
    spec = importlib.util.spec_from_file_location("unit_costs_notebook", PATH)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    _, defined = module.app.run()
    return dict(defined)


def test_an_analysts_first_hour_runs_from_top_to_bottom(shown: dict[str, Any], demo: Settings) -> None:
    with catalog.connect(demo) as con:
        ((total,),) = con.execute("SELECT usd(sum(cost_pico_usd)) FROM run_costs").fetchall()
        unit_costs = con.execute("SELECT workflow, usd(unit_cost_pico_usd) FROM unit_cost()").fetchall()
    assert {(row["workflow"], row["usd"]) for row in shown["unit_costs"]} == set(unit_costs)
    assert len(shown["contents"]) > 20
    assert len(shown["coverage"]) == 6
    assert len(shown["versions"]) == 4
    assert shown["trend_by_week"].height == 6
    assert shown["right"]["cost_usd"] == shown["joined"]["cost_usd"] == total


def test_what_has_no_known_price_is_shown_as_unknown(shown: dict[str, Any]) -> None:
    (line,) = [line for line in shown["bars"].splitlines() if "aurora-preview-3" in line]
    assert "| — | no known price" in line
    assert "0.00" not in line
    assert not [row for row in shown["trend"] if row["usd"] == 0]


def test_the_trap_is_a_trap(shown: dict[str, Any]) -> None:
    assert shown["trap"]["cost_usd"] > 2 * shown["right"]["cost_usd"]


def test_money_never_becomes_a_float_or_a_frame_of_numbers(shown: dict[str, Any]) -> None:
    amounts = [value for row in shown["unit_costs"] + shown["trend"] for k, value in row.items() if k.endswith("usd")]
    assert amounts
    assert all(value is None or isinstance(value, Decimal) for value in amounts)
    assert {str(kind) for kind in shown["trend_by_week"].dtypes} == {"String"}
