"""Killed, out of disk, two at once: nothing half-written is ever visible, and the same call again heals it."""

import os
import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from beleg import flow
from beleg.core.errors import DamagedError
from beleg.core.settings import Settings
from tests.flow.support import AS_OF, Installation, run_events
from tests.full_disk import fill

ROOT = Path(__file__).resolve().parents[2]
NOON = datetime(2030, 1, 10, 12, tzinfo=UTC)
STEPS = (
    "beleg.ingest.stage:stage",
    "beleg.ingest.merge:prepare",
    "beleg.lake.table:LakeTable.write",
    "beleg.lake.table:LakeTable.commit",
    "beleg.ingest.quarantine:keep",
    "beleg.ingest.run:save_marks",
    "beleg.lake.publication:publish",
    "beleg.lake.catalog:rebuild",
)
"""Functions before or after which a writer is killed; those called often, at each of several calls."""

QUICK = {
    ("beleg.lake.table:LakeTable.write", 4),
    ("beleg.lake.table:LakeTable.commit", 4),
    ("beleg.ingest.run:save_marks", 1),
    ("beleg.lake.publication:publish", 1),
    ("beleg.lake.catalog:rebuild", 1),
}
"""Those that are no matter of `make soak` alone: after some of the tables, and around what makes an ingest count."""

DRIVER = """
import sys
from datetime import datetime
from pathlib import Path
from beleg.core.settings import Settings
from beleg import flow
from tests.dying import arm

home, file, step, when, nth, as_of = sys.argv[1:]
arm(step, when, int(nth))
settings = Settings(Path(home), Path(home) / "spool")
flow.run(settings, [Path(file)], as_of=datetime.fromisoformat(as_of))
"""


def history(day: int = 0, *, tag: str = "") -> list[dict[str, object]]:
    runs = (run_events(f"{tag}r{n}", NOON + timedelta(days=day, hours=8 * n), tenant="t") for n in range(3))
    return [e for events in runs for e in events]


def killed(beleg: Installation, file: Path, step: str, when: str, nth: int) -> int:
    command = [sys.executable, "-c", DRIVER, str(beleg.settings.home), str(file), step, when, str(nth)]
    return subprocess.run([*command, AS_OF.isoformat()], cwd=ROOT, check=False, capture_output=True).returncode


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[tuple[object, ...]]]:
    """The marts of an installation that was never interrupted."""
    beleg = Installation.begun(tmp_path_factory.mktemp("whole"), *history())
    beleg.take(*history(1, tag="later"))
    return beleg.marts()


@pytest.mark.parametrize("when", [pytest.param("before", marks=pytest.mark.soak), "after"])
@pytest.mark.parametrize(
    ("step", "nth"),
    [
        pytest.param(step, nth, marks=() if (step, nth) in QUICK else pytest.mark.soak)
        for step in STEPS
        for nth in ((1, 4) if "Table" in step else (1,))
    ],
)
def test_a_writer_killed_at_any_step_leaves_the_old_figures_and_the_next_one_heals(
    tmp_path: Path, whole: dict[str, list[tuple[object, ...]]], step: str, nth: int, when: str
) -> None:
    beleg = Installation.begun(tmp_path, *history())
    before = beleg.marts()
    file = beleg.write(*history(1, tag="later"), {"event": "broken"})
    assert killed(beleg, file, step, when, nth) == -signal.SIGKILL
    assert beleg.marts() in (before, whole)
    flow.run(beleg.settings, [file], as_of=AS_OF)
    assert beleg.marts() == whole
    assert not any((beleg.settings.home / "scratch").iterdir())


def test_two_ingests_at_once_give_what_one_after_the_other_gives(
    tmp_path: Path, whole: dict[str, list[tuple[object, ...]]]
) -> None:
    beleg = Installation(tmp_path)
    files = [beleg.write(*history()), beleg.write(*history(1, tag="later")), beleg.write(*history())]
    code = "import sys; from beleg.cli.main import main; main()"
    env = os.environ | {"BELEG_HOME": str(beleg.settings.home)}
    both = [
        subprocess.Popen(
            [sys.executable, "-c", code, "ingest", str(file), "--json"], env=env, stdout=subprocess.DEVNULL
        )
        for file in files
    ]
    assert [process.wait() for process in both] == [0, 0, 0]
    flow.publish(beleg.settings, as_of=AS_OF)
    assert beleg.marts() == whole


@pytest.mark.parametrize(
    "left_kib", [0, pytest.param(40, marks=pytest.mark.soak), 200, pytest.param(600, marks=pytest.mark.soak)]
)
def test_a_full_disk_stops_the_run_with_a_message_and_leaves_the_old_figures(small_disk: Path, left_kib: int) -> None:
    beleg = Installation.begun(small_disk, *history())
    before = beleg.marts()
    file = beleg.write(*[e for n in range(40) for e in history(n, tag=f"{n}-")])
    ballast = fill(small_disk, left_kib)
    with pytest.raises(DamagedError, match="free space"):
        flow.run(beleg.settings, [file], as_of=AS_OF)
    assert beleg.marts() == before
    ballast.unlink()
    flow.run(beleg.settings, [file], as_of=AS_OF)
    assert len(beleg.marts()["run_costs"]) == 3 + 40 * 3


def test_trying_refused_lines_again_on_a_full_disk_says_the_same(small_disk: Path) -> None:
    beleg = Installation(small_disk)
    many = [e for n in range(40) for e in history(n, tag=f"{n}-")]
    file = beleg.write({"event": "broken"}, *many)
    file.write_bytes(file.read_bytes().replace(b'"ocr"', b"12345"))
    beleg.take(*history())
    flow.run(beleg.settings, [file], as_of=AS_OF)
    file.write_bytes(file.read_bytes().replace(b":12345", b':"ocr"'))
    fill(small_disk, 40)
    env = os.environ | {"BELEG_HOME": str(beleg.settings.home)}
    command = [sys.executable, "-m", "beleg.cli.main", "quarantine", "retry"]
    done = subprocess.run(command, env=env, check=False, capture_output=True, text=True)
    assert (done.returncode, "Traceback" in done.stderr) == (4, False), done.stderr
    assert "free space and run it again" in done.stderr


def test_a_clock_that_jumps_back_neither_loses_nor_doubles_anything(
    tmp_path: Path, whole: dict[str, list[tuple[object, ...]]]
) -> None:
    beleg = Installation(tmp_path)
    beleg.take(*history(), as_of=AS_OF + timedelta(days=400))
    beleg.take(*history(1, tag="later"), as_of=AS_OF)
    beleg.take(*history(1, tag="later"), as_of=AS_OF - timedelta(days=400))
    assert beleg.marts() == whole


def test_marts_of_a_killed_build_under_other_prices_are_not_taken_over(tmp_path: Path) -> None:
    project = tmp_path / "project"
    (project / "contracts" / "policies").mkdir(parents=True)
    beleg = Installation.begun(tmp_path, *history())
    before = beleg.marts()
    models = project / "contracts" / "policies" / "models.yaml"
    models.write_text(
        "models:\n  - {provider: openai, model: gpt-4o, valid_from: 2025-01-01, per: million, "
        "prices: {input: '1', output: '1'}}\n"
    )
    dearer = Settings(beleg.settings.home, beleg.settings.spool, project)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("beleg.lake.publication.publish", _killed)
        with pytest.raises(KeyboardInterrupt):
            flow.publish(dearer, as_of=AS_OF)
    beleg.take(*history(3, tag="new"))
    kept = {name: [row for row in rows if row in before[name]] for name, rows in beleg.marts().items()}
    assert kept["step_costs"] == before["step_costs"]
    assert kept["unit_costs"] == before["unit_costs"]


def _killed(*_: object) -> None:
    raise KeyboardInterrupt
