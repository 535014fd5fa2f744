"""The demo's home, made once for all tests of a session that only read it."""

from functools import cache
from pathlib import Path

import pytest

from beleg.core.progress import silent
from beleg.core.settings import Settings
from beleg.demo.play import play


@cache
def _played(folder: Path) -> Settings:
    return play(folder / "demo", runs=1500, seed=5, on_progress=silent).settings


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    return _played(tmp_path_factory.getbasetemp())
