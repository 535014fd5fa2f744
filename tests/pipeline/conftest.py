"""What the tests of the wiring share."""

import os
import warnings
from collections.abc import Generator
from pathlib import Path

import pytest

os.environ["BELEG_RETRY_SECONDS"] = "0"  # before the assets are imported: their policies are made then
dg = pytest.importorskip("dagster", reason="the extra `pipeline` is not installed")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # Dagster calls backfill policies beta
    from tests.pipeline.support import Pipeline


@pytest.fixture
def pipeline(tmp_path: Path) -> Generator[Pipeline]:
    """An installation with a Dagster of its own."""
    with dg.DagsterInstance.ephemeral() as instance:
        yield Pipeline(tmp_path, instance)
