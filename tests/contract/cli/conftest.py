"""A project with one feature, as `beleg contract init` writes it."""

from pathlib import Path

import pytest

from beleg.cli.main import app
from tests.contract.cli.support import NAME
from tests.invoke import run


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project folder that is the current one, with a home of its own; Ada Berg acts."""
    (tmp_path / "contracts").mkdir()
    (tmp_path / "evals").mkdir()
    monkeypatch.chdir(tmp_path)
    for name in ("BELEG_PROJECT", "BELEG_REGISTRY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("BELEG_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("BELEG_USER", "Ada Berg")
    return tmp_path


@pytest.fixture
def feature(project: Path) -> Path:
    """The folder of a feature with its first draft."""
    run(app, "contract", "init", NAME, "--workflow", "expenses")
    return project / "contracts" / "features" / NAME
