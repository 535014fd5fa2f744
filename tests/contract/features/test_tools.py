"""The tools of the example features stand in `contracts/tools.yaml`, from which the catalogue is filled."""

import json
from pathlib import Path

import pytest

from beleg.cli.main import app
from beleg.core.paths import shipped
from tests.invoke import run

FILE = shipped("contracts").parent / "contracts" / "tools.yaml"


def test_with_these_tools_in_the_catalogue_the_examples_lint_clean(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BELEG_HOME", str(tmp_path))
    monkeypatch.setenv("BELEG_PROJECT", str(FILE.parent.parent))
    monkeypatch.delenv("BELEG_REGISTRY", raising=False)
    told = json.loads(run(app, "contract", "tool", str(FILE), "--json").stdout)["tools"]
    assert told
    assert not any(tool["binding"] for tool in told)
    assert json.loads(run(app, "contract", "lint", "--json").stdout)["findings"] == []
