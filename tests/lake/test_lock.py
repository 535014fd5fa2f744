"""The lock: one writer, whoever holds it is named, and the dead hold nothing."""

import os
import platform
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from beleg.core.lock import Busy, writer
from beleg.core.settings import Settings

HOLD = """
import os, subprocess, sys
from pathlib import Path
from beleg.core.lock import writer
with writer(Path(sys.argv[1]), wait_s=0):
    if sys.argv[2:] == ["fork"] and os.fork() == 0:
        sys.stdout.close()
        sys.stdin.read()
        os._exit(0)
    print("held", flush=True)
    sys.stdin.read()
"""


def holder(settings: Settings, *how: str) -> subprocess.Popen[str]:
    """A process that holds the lock until its standard input ends."""
    command = [sys.executable, "-c", HOLD, str(settings.home), *how]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def taken(home: Path) -> str:
    """Why the lock cannot be had now."""
    with pytest.raises(Busy) as busy, writer(home, wait_s=0):
        pytest.fail("two writers at once")
    return str(busy.value)


def test_whoever_waits_in_vain_is_told_who_holds_the_lock_and_since_when(settings: Settings) -> None:
    process = holder(settings)
    assert f"process {process.pid} on {platform.node()} since 20" in taken(settings.home)
    process.communicate()
    with writer(settings.home, wait_s=0):
        assert f"process {os.getpid()} " in taken(settings.home)


def test_a_killed_process_holds_nothing(settings: Settings) -> None:
    process = holder(settings)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    with writer(settings.home, wait_s=0):
        assert str(process.pid) not in (settings.home / "writer.lock").read_text()


def test_a_lock_that_outlives_its_process_says_so(settings: Settings) -> None:
    process = holder(settings, "fork")
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert f"process {process.pid} on {platform.node()}" in taken(settings.home)
    assert "which is gone: a process it started still has the file open" in taken(settings.home)
    process.communicate()
    with writer(settings.home):  # free as soon as the forked one has seen the end of its input
        pass


def test_a_lock_file_left_by_hand_is_no_lock(settings: Settings) -> None:
    settings.home.mkdir()
    (settings.home / "writer.lock").write_text("not what we write")
    with writer(settings.home, wait_s=0):
        pass


def test_waiting_ends_when_the_holder_does(settings: Settings) -> None:
    process = holder(settings)

    def end_it(_: float) -> None:
        process.communicate()

    with writer(settings.home, wait_s=60, sleep=end_it):
        assert process.returncode == 0
