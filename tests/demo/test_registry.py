"""The registry that ships with the demo is what publishing its drafts gives, and a newcomer can look at it."""

import json
from pathlib import Path

import pytest

from beleg.cli.main import app
from beleg.contract.registry.verify import verify
from beleg.demo.home import make_home
from tests.demo.registry import NAME, SHIPPED, make
from tests.invoke import run


def test_it_is_what_publishing_the_drafts_gives(tmp_path: Path) -> None:
    assert verify(make(tmp_path)).proved
    made, shipped = (
        {path.relative_to(root): path.read_bytes() for path in root.rglob("*.json")} for root in (tmp_path, SHIPPED)
    )
    assert made == shipped, "the drafts have changed: python -m tests.demo.registry"


def test_the_demo_has_contracts_with_a_history(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = make_home(tmp_path / "demo")
    monkeypatch.setenv("BELEG_HOME", str(settings.home))
    monkeypatch.setenv("BELEG_PROJECT", str(settings.project))
    monkeypatch.delenv("BELEG_REGISTRY", raising=False)
    rows = json.loads(run(app, "contract", "status", "--json").stdout)["features"]
    assert {row["feature"]: row["active"] for row in rows}[NAME] == "2.0.0"
    assert len(rows) == 4
    told = json.loads(run(app, "contract", "diff", NAME, "--from", "1.1.0", "--to", "2.0.0", "--json").stdout)
    assert told["comparison"]["bump"] == "major"
    assert run(app, "contract", "lint").exit_code == 0
