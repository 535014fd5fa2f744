"""A furnished registry, made once and copied for each test."""

import shutil
from pathlib import Path

import pytest

from tests.contract.promotion.support import Project
from tests.contract.registry.support import furnished


@pytest.fixture(scope="session")
def pattern(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return furnished(tmp_path_factory.mktemp("pattern") / "project").root


@pytest.fixture
def project(pattern: Path, tmp_path: Path) -> Project:
    """A copy that a test may damage."""
    shutil.copytree(pattern, tmp_path / "project")
    return Project(tmp_path / "project")
