"""Ten minutes of coverage-guided fuzzing for each format that is binary or nests (`make soak`)."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

NESTED = ("otlp", "inspect", "opencode", "langfuse", "langsmith", "mlflow")
SECONDS = int(os.environ.get("BELEG_FUZZ_SECONDS", "600"))


@pytest.mark.soak
@pytest.mark.parametrize("name", NESTED)
def test_no_input_crashes_or_hangs_a_reader(name: str, tmp_path: Path) -> None:
    pytest.importorskip("atheris", reason="atheris has no wheel for every Python; pip install atheris")
    root = Path(__file__).parents[3]
    command = [sys.executable, "-m", "tests.ingest.readers.atheris_target", name, str(SECONDS), str(tmp_path)]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False, timeout=SECONDS + 600)
    left = [path.name for path in tmp_path.iterdir() if path.name.startswith(("crash", "timeout", "oom", "slow"))]
    assert (done.returncode, left) == (0, []), done.stderr[-3000:]
