"""The notebook on agents runs as it is, on a store with agents and on the demo, and shows what the file says."""

import importlib.util
from pathlib import Path
from typing import Any

import pytest

from beleg.core.settings import Settings
from tests.agent.stats.test_command import days
from tests.flow.support import Installation

PATH = Path(__file__).resolve().parents[2] / "notebooks" / "agent.py"


def shown(home: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the cells define, by name."""
    monkeypatch.setenv("BELEG_HOME", str(home))
    spec = importlib.util.spec_from_file_location("agent_notebook", PATH)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    _, defined = module.app.run()
    return dict(defined)


def test_an_analyst_sees_what_the_model_must_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there = Installation.begun(tmp_path, *days())
    found = shown(there.settings.home, monkeypatch)
    assert found["surface"].select("workflow", "runs", "max_tools_offered").rows() == [("chat", 10, 2)]
    assert found["idle"]["tool_name"].to_list() == ["post"]
    assert found["tools"]["tokens_per_call"].to_list().count(1800) == 1
    assert found["uninvited"].height == found["playbooks"].height == 0
    assert found["held"].select("contract_version", "held").rows() == [("1.0.0", 2301), ("1.1.0", 2310)]
    assert ("layout_changed", "instructions", 1) in found["misses"].select("cause", "detail", "requests").rows()
    assert found["layouts"]["warm_hit_share"].to_list() == [1.0, 5 / 6]
    assert str(found["tools"]["tax_usd"].dtype) == "String"


def test_it_runs_on_the_demo(demo: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    found = shown(demo.home, monkeypatch)
    assert found["surface"]["runs"].sum() > 0
    assert found["misses"].height > 0
