"""Killed or out of disk in the middle: the old backup and the old figures stand, and the same call again completes."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from beleg import flow
from beleg.backup import manifest
from beleg.backup.make import backup, check
from beleg.backup.restore import restore
from beleg.backup.store import FolderStore
from beleg.core.errors import DamagedError
from tests.backup.support import beleg, day, elsewhere
from tests.flow.support import AS_OF, Installation
from tests.full_disk import fill

SIGKILL = -signal.SIGKILL


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Installation:
    """An installation with two publications; the place beside it holds a backup of the first."""
    made = Installation(tmp_path_factory.mktemp("original"))
    made.take(*day(0))
    backup(made.settings, str(made.inbox / "place"))
    made.take(*day(1))
    return made


@pytest.fixture
def place(tmp_path: Path, original: Installation) -> Path:
    copy = tmp_path / "place"
    subprocess.run(["cp", "-r", str(original.inbox / "place"), str(copy)], check=True)
    return copy


@pytest.mark.parametrize(
    "at",
    [
        pytest.param(("beleg.backup.store:FolderStore.put", 1), marks=pytest.mark.soak),
        pytest.param(("beleg.backup.store:FolderStore.put", 20), marks=pytest.mark.soak),
        ("beleg.backup.manifest:write", 1),
        pytest.param(("beleg.backup.store:FolderStore.delete", 1), marks=pytest.mark.soak),
        ("beleg.backup.store:FolderStore.delete", 5),
    ],
)
@pytest.mark.parametrize("when", [pytest.param("before", marks=pytest.mark.soak), "after"])
def test_a_killed_backup_leaves_whole_ones_and_the_next_completes(
    tmp_path: Path, original: Installation, place: Path, at: tuple[str, int], when: str
) -> None:
    words = ("backup", str(place), "--keep", "1", "--verify")
    assert beleg(original.settings, *words, dying=(at[0], when, at[1])).returncode == SIGKILL
    store = FolderStore(place)
    newest = manifest.load(store)
    check(store, newest)
    assert newest.publication in {1, 2}
    backup(original.settings, str(place), keep=1, verify=True)
    assert [manifest.read(store, name).publication for name in manifest.names(store).values()] == [2]
    assert set(store.sizes("objects")) == {kept.name for kept in manifest.load(store).files.values()}
    assert not list(place.rglob("*.partial"))
    there = elsewhere(tmp_path / "there")
    restore(there.settings, str(place))
    assert there.marts() == original.marts()


@pytest.mark.parametrize(
    "at",
    [
        pytest.param(("beleg.backup.fetch:_fetch", 30), marks=pytest.mark.soak),
        pytest.param(("beleg.core.files:replace_text", 1), marks=pytest.mark.soak),
        pytest.param(("pathlib:Path.rename", 1), marks=pytest.mark.soak),
        ("pathlib:Path.rename", 3),
        pytest.param(("beleg.lake.catalog:rebuild", 1), marks=pytest.mark.soak),
        pytest.param(("pathlib:Path.unlink", 2), marks=pytest.mark.soak),
    ],
)
@pytest.mark.parametrize("when", [pytest.param("before", marks=pytest.mark.soak), "after"])
def test_a_killed_restore_is_finished_by_the_same_call(
    tmp_path: Path, original: Installation, place: Path, at: tuple[str, int], when: str
) -> None:
    backup(original.settings, str(place))
    there = Installation.begun(tmp_path / "there", *day(5))
    before = there.marts()
    words = ("restore", str(place), "--replace")
    assert beleg(there.settings, *words, dying=(at[0], when, at[1])).returncode == SIGKILL
    half = (there.settings.home / "restore.json").exists()
    if half:  # neither the old nor the new: nobody may work on it
        for use in (flow.run, lambda settings: backup(settings, str(tmp_path / "other"))):
            with pytest.raises(DamagedError, match="run the same `beleg restore` again"):
                use(there.settings)
    else:
        assert there.marts() in (before, original.marts())
    restore(there.settings, str(place), replace=True)
    assert there.marts() == original.marts()
    assert not list(there.settings.home.glob(".restore-*"))
    flow.run(there.settings, as_of=AS_OF)
    assert there.marts() == original.marts()


def test_a_restore_waits_for_the_writer_and_nothing_comes_between(tmp_path: Path, original: Installation) -> None:
    place = tmp_path / "place"
    backup(original.settings, str(place))
    there = Installation.begun(tmp_path / "there", *day(5))
    with_events = there.write(*day(6))
    run = [["run", str(with_events)], ["restore", str(place), "--replace"]]
    both = [_start(there, words) for words in run]
    assert [process.wait() for process in both] == [0, 0]
    found = there.ask("SELECT count(*) FROM runs")
    assert found in ([(6,)], [(9,)])  # restored last, or the run came after the restore
    assert there.marts() == there.rebuilt()


def _start(there: Installation, words: list[str]) -> subprocess.Popen[bytes]:
    import sys

    env = os.environ | {"BELEG_HOME": str(there.settings.home)}
    return subprocess.Popen([sys.executable, "-m", "beleg.cli.main", *words], env=env, stdout=subprocess.DEVNULL)


@pytest.mark.parametrize(
    "left_kib", [pytest.param(0, marks=pytest.mark.soak), 40, pytest.param(200, marks=pytest.mark.soak)]
)
def test_a_backup_that_does_not_fit_leaves_the_earlier_one(
    small_disk: Path, original: Installation, left_kib: int
) -> None:
    place = small_disk / "place"
    ballast = fill(small_disk, left_kib)
    done = beleg(original.settings, "backup", str(place))
    assert (done.returncode, "free space there and run it again" in done.stderr) == (4, True), done.stderr
    assert not manifest.names(FolderStore(place))
    ballast.unlink()
    assert beleg(original.settings, "backup", str(place), "--verify").returncode == 0


@pytest.mark.parametrize(
    "left_kib", [pytest.param(0, marks=pytest.mark.soak), 40, pytest.param(200, marks=pytest.mark.soak)]
)
def test_a_restore_that_does_not_fit_leaves_the_old_figures(
    small_disk: Path, original: Installation, place: Path, left_kib: int
) -> None:
    there = Installation.begun(small_disk / "there", *day(5))
    before = there.marts()
    ballast = fill(small_disk, left_kib)
    with pytest.raises(DamagedError, match="Nothing was changed; free space and run it again"):
        restore(there.settings, str(place), replace=True)
    assert there.marts() == before
    ballast.unlink()
    restore(there.settings, str(place), replace=True)
    assert there.ask("SELECT count(*) FROM runs") == [(3,)]
