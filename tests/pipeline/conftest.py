"""What the tests of the wiring share."""

import warnings
from collections.abc import Generator
from pathlib import Path

import pytest

dg = pytest.importorskip("dagster", reason="the extra `pipeline` is not installed")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # Dagster calls backfill policies beta
    from tests.pipeline.support import Pipeline


@pytest.fixture
def pipeline(tmp_path: Path) -> Generator[Pipeline]:
    """An installation with a Dagster of its own."""
    with dg.DagsterInstance.ephemeral() as instance:
        yield Pipeline(tmp_path, instance)
