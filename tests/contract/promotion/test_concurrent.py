"""Many publishers of one feature at once: one winner for each epoch, and everybody knows."""

import json
import subprocess
import sys
from pathlib import Path

from tests.contract.promotion.support import NAME, Project

ROOT = Path(__file__).resolve().parents[3]
PUBLISHERS = 8


def race(project: Project, *epoch: str) -> list[dict[str, str]]:
    """Let publishers go at the same moment; returns what each says."""
    module = ["-W", "ignore", "-m", "tests.contract.promotion.publishers"]
    command = [sys.executable, *module, str(project.root), str(PUBLISHERS), *epoch]
    done = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    said: list[dict[str, str]] = json.loads(done.stdout)
    return said


def check(project: Project, said: list[dict[str, str]]) -> None:
    """Whoever says they won did, at an epoch of their own; all others were told."""
    won = {each["won"]: each["digest"] for each in said if "won" in each}
    assert won
    assert all("moved from epoch" in each["moved"] for each in said if "won" not in each)
    history = project.registry.history(NAME)
    assert [entry.epoch for entry in history] == list(range(1, len(history) + 1))
    published = {release.version: release.digest for release in project.registry.releases(NAME)}
    assert published == {"1.0.0": project.contract().digest, **won}
    assert len(history) == len(published)
    assert project.active() == history[-1].head["active"]["version"]
    found = project.verify()
    assert found.proved
    assert found.notes == []


def test_publishers_who_looked_at_the_same_version_have_one_winner(project: Project) -> None:
    project.publish(project.contract())
    said = race(project, "1")
    assert len([each for each in said if "won" in each]) == 1
    check(project, said)


def test_publishers_who_take_what_comes_never_share_an_epoch(project: Project) -> None:
    project.publish(project.contract())
    check(project, race(project))


def test_publishers_of_a_first_version_have_one_winner(project: Project) -> None:
    said = race(project, "0")
    assert [each["won"] for each in said if "won" in each] == ["1.0.0"]
    assert project.versions() == ["1.0.0"]
    assert project.verify().proved
