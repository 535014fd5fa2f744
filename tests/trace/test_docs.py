"""The examples of the documentation run as they stand; the recipes have a file of their own."""

import re
from pathlib import Path

import pytest

import beleg
from tests.trace.pages import TEXT, execute
from tests.trace.schemas import read_spool


@pytest.mark.parametrize("heading", ["Quick start", "What may be stored", "Testing your own code"])
def test_examples_of_the_page_run(spool: Path, heading: str) -> None:
    execute(heading)
    assert beleg.health().ok
    if heading != "Testing your own code":
        assert read_spool(spool)[0]["event"] == "run_started"


def test_every_test_named_as_proof_exists() -> None:
    files = {path.name: path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("test_*.py")}
    named = re.findall(r"`(?:tests/trace/)?(test_\w+\.py)`", TEXT)
    assert named
    assert set(named) <= set(files)
    tests = set(re.findall(r"`(test_\w+)`", TEXT))
    assert tests
    assert [test for test in tests if not any(f"def {test}(" in source for source in files.values())] == []


def test_every_setting_of_the_tracer_is_documented() -> None:
    from beleg.trace import settings

    assert [name for name in settings._NAMES if name not in TEXT] == []
