"""A project of its own for each test."""

from pathlib import Path

import pytest

from tests.contract.promotion.support import Project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """One feature in tier 1, nothing published."""
    return Project(tmp_path / "project").write()
