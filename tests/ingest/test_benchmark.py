"""The benchmark measures what it says: its lines are good, its bad ones are refused, all variants run."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from beleg.ingest.sources import find_sources
from beleg.ingest.stage import stage
from tests.ingest.support import reasons

PATH = Path(__file__).parents[2] / "benchmarks" / "validate.py"


@pytest.fixture(scope="module")
def validate() -> ModuleType:
    spec = importlib.util.spec_from_file_location("validate_benchmark", PATH)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_generated_lines_are_realistic_and_the_bad_ones_bad(validate: ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    bad = validate.write_events(path, 4000, bad_share=0.02)
    staged = stage(find_sources([path]), tmp_path / "staged")
    assert (staged.read, staged.quarantined) == (4000, bad)
    assert len(set(reasons(staged).values())) >= 5
    assert {"run_started", "step", "run_finished", "artifact", "feedback"} <= set(staged.files)
    assert 400 < path.stat().st_size / 4000 < 560


def test_every_variant_runs(validate: ModuleType, tmp_path: Path) -> None:
    found = validate.compare(500, 1, tmp_path)
    assert found["last_round"]["clean"]["read"] == 500
    assert found["last_round"]["bad"]["quarantined"] > 0
