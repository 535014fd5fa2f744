"""A writer killed anywhere leaves no half file, and two at once do what one does."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from beleg.evals.cases import decide
from beleg.evals.cases.dataset import Dataset
from beleg.evals.cases.freeze import freeze
from beleg.evals.cases.verify import verify
from tests.evals.cases.support import LEAD, Office

FREEZE = """
import sys
from beleg.core.settings import Settings
from beleg.evals.cases.freeze import freeze
from tests.dying import arm
if len(sys.argv) > 1:
    arm(sys.argv[1], sys.argv[2], int(sys.argv[3]))
freeze(Settings.load())
"""


def office(home: Path) -> Office:
    made = Office(home)
    made.take(*(e for n in range(3) for e in (*made.run(f"r{n}"), made.correction(f"c{n}", f"r{n}", expected=n))))
    for n in range(3):
        decide.accept(made.settings, f"c{n}", LEAD, pen=made.pen())
    made.ingest()
    return made


def started(at: Office, *arguments: str) -> "subprocess.Popen[bytes]":
    environ = {**os.environ, "BELEG_HOME": str(at.settings.home), "BELEG_PROJECT": str(at.project)}
    return subprocess.Popen([sys.executable, "-c", FREEZE, *arguments], env=environ, stderr=subprocess.PIPE)


@pytest.mark.parametrize(
    ("step", "when", "nth"),
    [
        ("pathlib:Path.replace", "before", 2),
        ("pathlib:Path.replace", "after", 2),
        ("beleg.evals.cases.dataset:Dataset.write", "before", 1),
        ("pathlib:Path.replace", "before", 4),
        ("beleg.evals.cases.dataset:Dataset.write", "after", 1),
    ],
)
def test_a_killed_writer_leaves_whole_files_and_the_next_one_completes_them(
    tmp_path: Path, step: str, when: str, nth: int
) -> None:
    at = office(tmp_path)
    with started(at, step, when, str(nth)) as process:
        assert process.wait() == -9
    assert not verify(at.project).problems
    freeze(at.settings)
    assert len(Dataset.load(at.project, "receipts-1").members) == 3
    assert not verify(at.project).problems
    assert all(not name.rpartition("/")[2].startswith(".") for name in at.files())
    assert freeze(at.settings).written == ()


def test_several_writers_at_once_make_one_version(tmp_path: Path) -> None:
    at = office(tmp_path)
    for process in [started(at) for _ in range(3)]:
        _, told = process.communicate()
        assert process.returncode == 0, told.decode()
    assert [name for name in at.files() if name.startswith("datasets")] == ["datasets/receipts-1/v001.json"]
    assert not verify(at.project).problems
