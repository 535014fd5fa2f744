"""Real ticks: webserver and daemon as `make dev` starts them, and an application that writes while they run."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from pathlib import Path

import pytest

from beleg.core.settings import Settings
from beleg.lake import catalog
from tests.events import lines
from tests.flow.support import run_events
from tests.pipeline.test_sensors import NOON

pytestmark = [pytest.mark.soak, pytest.mark.filterwarnings("ignore")]
ROOT = Path(__file__).resolve().parents[2]
INTERVAL_S = 5


def until(what: Callable[[], bool], *, within_s: float) -> float:
    """Seconds until a condition holds; fails where it does not in time."""
    begun = time.monotonic()
    while not what():
        assert time.monotonic() - begun < within_s, f"waited {within_s} s in vain"
        time.sleep(0.5)
    return time.monotonic() - begun


@pytest.fixture
def running(tmp_path: Path) -> Generator[tuple[Settings, subprocess.Popen[bytes]]]:
    """`python -m pipelines.dev` over a home and a DAGSTER_HOME of their own."""
    home, dagster = tmp_path / "beleg", tmp_path / "dagster"
    (home / "spool").mkdir(parents=True)
    dagster.mkdir()
    shutil.copy(ROOT / "dagster.yaml", dagster / "dagster.yaml")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    env = os.environ | {
        "BELEG_HOME": str(home),
        "DAGSTER_HOME": str(dagster),
        "BELEG_SENSOR_SECONDS": str(INTERVAL_S),
        "PORT": str(port),
    }
    with (tmp_path / "log").open("wb") as log:
        command = [sys.executable, "-m", "pipelines.dev"]
        process = subprocess.Popen(command, cwd=ROOT, env=env, stdout=log, stderr=log, start_new_session=True)
        try:
            yield Settings(home, home / "spool"), process
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def runs(settings: Settings) -> int:
    if not settings.database.exists():
        return 0
    with catalog.connect(settings) as con:
        return int(con.execute("SELECT count(*) FROM runs").fetchall()[0][0])


def test_a_finished_event_is_seen_while_its_file_still_grows_and_everything_stops_at_term(
    running: tuple[Settings, subprocess.Popen[bytes]],
) -> None:
    settings, process = running
    path = settings.spool / "app.open.jsonl"
    path.write_bytes(lines(*run_events("a", NOON)) + b'{"event": "half')
    until(lambda: runs(settings) == 1, within_s=240)
    with path.open("ab") as file:
        file.write(b'"}\n' + lines(*run_events("b", NOON)))
    until(lambda: runs(settings) == 2, within_s=240)
    assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    process.wait(timeout=90)
    # Its code servers notice by their heartbeat that nobody asks them any more.
    until(lambda: not left_of(process), within_s=90)


def left_of(process: subprocess.Popen[bytes]) -> list[str]:
    """What still runs of all that a process started."""
    words = ["pgrep", "-g", str(process.pid)]
    return subprocess.run(words, capture_output=True, text=True, check=False).stdout.split()
