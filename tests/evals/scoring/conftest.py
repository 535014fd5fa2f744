from collections.abc import Iterator
from pathlib import Path

import pytest

from beleg.core.settings import Settings
from tests.evals.scoring.house import House
from tests.evals.scoring.model import Model, serving


@pytest.fixture
def model() -> Iterator[Model]:
    with serving() as made:
        yield made


@pytest.fixture
def house(tmp_path: Path, model: Model, monkeypatch: pytest.MonkeyPatch) -> House:
    """An installation of its own; the environment names it, as it would for a user."""
    home, project = tmp_path / "home", tmp_path / "project"
    for name, value in (
        ("BELEG_HOME", home),
        ("BELEG_SPOOL", home / "spool"),
        ("BELEG_PROJECT", project),
        ("BELEG_REGISTRY", home / "registry"),
        ("OPENAI_API_KEY", "sk-PLANTED-openai"),
    ):
        monkeypatch.setenv(name, str(value))
    return House(tmp_path, Settings(home, home / "spool", project), model)
