"""One folder of a registry: compare-and-set, an unbroken chain, and orphans that give way."""

import json
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from beleg.contract.registry.shelf import Moved, Shelf, entry_path, release_path, write_entry, write_release
from beleg.core.errors import DamagedError
from beleg.core.lock import Busy, folder_writer
from tests.contract.registry.support import commit, sha

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path / "features" / "a")


def test_each_step_names_the_one_before(shelf: Shelf) -> None:
    assert shelf.head() is None
    assert shelf.history() == []
    for epoch in range(3):
        commit(shelf, epoch, release=b'{"n": %d}\n' % epoch)
    links = [entry.previous for entry in shelf.history()]
    paths = [entry_path(shelf.folder, epoch) for epoch in (1, 2, 3)]
    assert links == [None, *(sha(path.read_bytes()) for path in paths[:2])]
    head = shelf.head()
    assert head is not None
    assert (head["epoch"], head["entry"]) == (3, sha(paths[2].read_bytes()))
    assert shelf.release(sha(b'{"n": 1}\n')) == b'{"n": 1}\n'


def test_a_step_from_another_epoch_is_refused(shelf: Shelf) -> None:
    commit(shelf, 0)
    for expected in (0, 2, 7):
        with pytest.raises(Moved, match=f"moved from epoch {expected} to 1"):
            commit(shelf, expected, release=b"{}\n")
    assert not (shelf.folder / "releases").exists()
    assert len(shelf.history()) == 1


def test_what_a_dead_writer_left_gives_way(shelf: Shelf) -> None:
    commit(shelf, 0)
    entry = shelf.history()[0]
    write_release(shelf.folder, b'{"orphan": 1}\n')
    write_entry(shelf.folder, type(entry)(2, "0" * 64, "orphan", "then", "nobody", "", {}, {"epoch": 2}))
    assert [each.verb for each in shelf.history()] == ["step"]
    commit(shelf, 1, "next")
    assert [each.verb for each in shelf.history()] == ["step", "next"]


def test_threads_that_race_for_one_epoch_have_one_winner(shelf: Shelf) -> None:
    barrier, won = threading.Barrier(8), []

    def race(number: int) -> None:
        barrier.wait()
        with suppress(Moved):
            won.append(commit(shelf, 0, f"racer-{number}")["state"])

    threads = [threading.Thread(target=race, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [entry.verb for entry in shelf.history()] == won
    assert len(won) == 1


HOLD = """
import sys
from pathlib import Path
from beleg.core.lock import folder_writer
with folder_writer(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_killed_holder_holds_nothing(shelf: Shelf) -> None:
    command = [sys.executable, "-c", HOLD, str(shelf.folder)]
    process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    with pytest.raises(Busy, match="is held by process"), folder_writer(shelf.folder, wait_s=0):
        pytest.fail("two writers at once")
    process.kill()
    process.communicate()
    with folder_writer(shelf.folder, wait_s=0):
        pass


@pytest.mark.parametrize("name", ["head.json", "history/00000002.json", "history/00000001.json"])
@pytest.mark.parametrize(
    "content", [b"", b"{}", b"[]", b"\xff\xfe", b"{" * 50_000, b'{"epoch": NaN}', b'{"format":1,"format":1}']
)
def test_nobody_builds_on_damage(shelf: Shelf, name: str, content: bytes) -> None:
    commit(shelf, 0)
    commit(shelf, 1)
    (shelf.folder / name).write_bytes(content)
    before = sorted(path.name for path in shelf.folder.rglob("*"))
    with pytest.raises(DamagedError, match="a/"):
        shelf.history()
    if name != "history/00000001.json":  # the head vouches for its own entry alone
        with pytest.raises(DamagedError):
            shelf.head()
        with pytest.raises(DamagedError):
            commit(shelf, 2)
        assert sorted(path.name for path in shelf.folder.rglob("*")) == before


def test_a_head_that_says_more_than_its_entry_is_damage(shelf: Shelf) -> None:
    commit(shelf, 0)
    path = shelf.folder / "head.json"
    for change in (
        {"state": "other"},
        {"more": 1},
        {"epoch": 2},
        {"epoch": True},
        {"epoch": 10**300},
        {"entry": "../.."},
    ):
        good = path.read_bytes()
        path.write_text(json.dumps(json.loads(good) | change))
        with pytest.raises(DamagedError):
            shelf.head()
        path.write_bytes(good)
    assert shelf.head() is not None


def test_missing_files_are_named(shelf: Shelf) -> None:
    commit(shelf, 0, release=b"{}\n")
    release_path(shelf.folder, sha(b"{}\n")).unlink()
    with pytest.raises(DamagedError, match=r"releases/[0-9a-f]{64}\.json is missing"):
        shelf.release(sha(b"{}\n"))
    entry_path(shelf.folder, 1).unlink()
    with pytest.raises(DamagedError, match=r"history/00000001\.json is missing"):
        shelf.head()


def test_what_cannot_be_read_is_told(shelf: Shelf) -> None:
    (shelf.folder / "head.json").mkdir(parents=True)
    with pytest.raises(DamagedError, match="cannot be read"):
        shelf.head()
