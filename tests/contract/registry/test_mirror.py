"""Pushing: the heads last, cut off at will, never over another history."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any
from uuid import uuid4

import fsspec
import pytest

from beleg.contract import promotion
from beleg.contract.registry.mirror import Diverged, push
from beleg.contract.registry.registry import Registry
from beleg.contract.registry.shelf import Shelf, put
from beleg.contract.registry.verify import verify
from beleg.core.errors import DamagedError, UsageError
from tests.contract.promotion.support import NAME, NOW, Project, with_prompt
from tests.contract.registry.support import BY, files

ROOT = Path(__file__).resolve().parents[3]


def memory_files(url: str) -> dict[str, bytes]:
    fs, root = fsspec.core.url_to_fs(url)
    return {path[len(root) + 1 :]: fs.cat_file(path) for path in fs.find(root)}


def again(project: Project) -> None:
    promotion.rollback(project.registry, NAME, "1.1.0", why="Again.", **BY)


def test_a_mirror_holds_what_the_registry_holds(project: Project, tmp_path: Path) -> None:
    mirror = Registry(tmp_path / "mirror")
    done = push(project.registry, str(mirror.root))
    assert files(mirror) == files(project.registry)
    assert (done.files, done.heads) == (len(files(project.registry)), 2)
    assert verify(mirror).proved
    assert push(project.registry, f"file://{mirror.root}").heads == 0
    again(project)
    assert push(project.registry, str(mirror.root)).heads == 1
    assert files(mirror) == files(project.registry)


def test_an_object_store_gets_the_same(project: Project) -> None:
    url = f"memory://{uuid4().hex}/registry/"
    push(project.registry, url)
    assert memory_files(url) == files(project.registry)
    again(project)
    push(project.registry, url)
    assert memory_files(url) == files(project.registry)


def test_who_publishes_meanwhile_does_not_tear_the_mirror(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Shelf.release

    def meanwhile(shelf: Shelf, sha: str) -> bytes:
        monkeypatch.setattr(Shelf, "release", real)
        for number in range(2):
            project.publish(with_prompt(project.contract(), f"Read the total, {number}."))
        return real(shelf, sha)

    monkeypatch.setattr(Shelf, "release", meanwhile)
    push(project.registry, str(tmp_path / "mirror"))
    mirror = Registry(tmp_path / "mirror")
    head = mirror.head(NAME)
    assert head is not None
    assert head.epoch == 5
    assert verify(mirror).proved
    push(project.registry, str(tmp_path / "mirror"))
    assert files(mirror) == files(project.registry)


def test_what_no_head_names_stays_behind(project: Project, tmp_path: Path) -> None:
    folder = project.registry.root / "features" / NAME
    put(folder / "history" / "00000006.json", b"{}")
    put(folder / "releases" / f"{'0' * 64}.json", b"{}")
    push(project.registry, str(tmp_path / "mirror"))
    assert verify(Registry(tmp_path / "mirror")).notes == []


def test_orphans_of_the_mirror_give_way(project: Project, tmp_path: Path) -> None:
    put(tmp_path / "mirror" / "features" / NAME / "history" / "00000001.json", b"{}")
    push(project.registry, str(tmp_path / "mirror"))
    assert verify(Registry(tmp_path / "mirror")).proved


def test_another_history_is_never_overwritten(project: Project, tmp_path: Path) -> None:
    mirror = str(tmp_path / "mirror")
    push(project.registry, mirror)
    other = Project(tmp_path / "other").write()
    other.publish(other.contract(), now=NOW.replace(year=2029))
    before = files(Registry(tmp_path / "mirror"))
    with pytest.raises(Diverged, match="another history"):
        push(other.registry, mirror)
    again(project)
    push(project.registry, mirror)
    old = Registry(tmp_path / "old")
    for name, data in before.items():
        put(old.root / name, data)
    with pytest.raises(Diverged):
        push(old, mirror)  # the registry was restored from a backup, the mirror knows more


def test_a_released_file_of_other_content_is_never_overwritten(project: Project, tmp_path: Path) -> None:
    name = f"features/{NAME}/releases/{project.registry.releases(NAME)[0].published.release}.json"
    put(tmp_path / "mirror" / name, b"{}")
    with pytest.raises(Diverged, match="never changes"):
        push(project.registry, str(tmp_path / "mirror"))


def test_a_damaged_registry_is_not_pushed(project: Project, tmp_path: Path) -> None:
    path = project.registry.root / "features" / NAME / "history" / "00000002.json"
    path.write_bytes(path.read_bytes() + b" ")
    with pytest.raises(DamagedError):
        push(project.registry, str(tmp_path / "mirror"))
    assert not (tmp_path / "mirror").exists()


def test_a_damaged_mirror_is_told(project: Project, tmp_path: Path) -> None:
    put(tmp_path / "mirror" / "features" / NAME / "head.json", b"{}")
    with pytest.raises(DamagedError, match=r"mirror/features/receipt-extraction/head\.json"):
        push(project.registry, str(tmp_path / "mirror"))


def test_an_address_that_nothing_reaches_is_told(project: Project) -> None:
    with pytest.raises(UsageError, match="no place that fsspec can reach"):
        push(project.registry, "nosuchscheme://place")


DRIVER = """
import sys
from pathlib import Path
from beleg.contract.registry.mirror import push
from beleg.contract.registry.registry import Registry
from tests.dying import arm

registry, mirror, step, when, nth = sys.argv[1:]
arm(step, when, int(nth))
push(Registry(Path(registry)), mirror)
"""


@pytest.mark.parametrize("nth", [1, 14, *(pytest.param(nth, marks=pytest.mark.soak) for nth in (2, 5, 9, 13))])
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_push_that_is_killed_leaves_heads_whose_versions_are_there_and_goes_on(
    project: Project, tmp_path: Path, when: str, nth: int
) -> None:
    mirror = Registry(tmp_path / "mirror")
    step = "beleg.contract.registry.mirror:Place.send"
    command = [sys.executable, "-c", DRIVER, str(project.registry.root), str(mirror.root), step, when, str(nth)]
    done = subprocess.run(command, cwd=ROOT, env=os.environ, check=False, capture_output=True)
    assert done.returncode == -signal.SIGKILL
    assert verify(mirror).proved
    push(project.registry, str(mirror.root))
    assert files(mirror) == files(project.registry)


class Failing:
    """Object stores fail in the middle of anything."""

    def __init__(self, real: Any, after: int) -> None:
        self.real, self.left = real, after

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self.left -= 1
        if self.left < 0:
            raise OSError("connection reset")
        return self.real(*args, **kwargs)


@pytest.mark.parametrize("after", [0, 1, 7, 12])
def test_a_store_that_fails_is_told_and_the_next_push_goes_on(
    project: Project, monkeypatch: pytest.MonkeyPatch, after: int
) -> None:
    url = f"memory://{uuid4().hex}/registry"
    fs = type(fsspec.core.url_to_fs(url)[0])
    with monkeypatch.context() as patch:
        patch.setattr(fs, "pipe_file", Failing(fs.pipe_file, after))
        with pytest.raises(DamagedError, match="it goes on where it stopped"):
            push(project.registry, url)
    assert len([name for name in memory_files(url) if name.endswith("head.json")]) <= 1
    push(project.registry, url)
    assert memory_files(url) == files(project.registry)


def test_publishing_goes_on_after_a_push(project: Project, tmp_path: Path) -> None:
    push(project.registry, str(tmp_path / "mirror"))
    project.publish(with_prompt(project.contract(), "Read the total in cents."))
    assert push(project.registry, str(tmp_path / "mirror")).heads == 1
