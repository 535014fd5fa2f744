"""Kills a publish or a rollback at every call of the given functions, and tells what was left.

`python -m tests.contract.promotion.killed PROJECT publish|rollback|prompt` copies the project for each kill,
dies there in a process of its own, and prints one JSON line: the point, how the process ended, what verify
said, and what the next steps made of it. Forks in a process that has nothing but this to do.
"""

import json
import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

from beleg.contract import promotion
from beleg.contract.registry.heads import Head
from tests.contract.promotion.support import NAME, NOW, Project, with_prompt
from tests.dying import arm

STEPS = (
    "beleg.contract.registry.registry:Registry.add_to_index",
    "beleg.contract.registry.shelf:write_release",
    "beleg.contract.registry.shelf:write_entry",
    "beleg.contract.registry.shelf:swap_head",
    "os:fsync",
    "pathlib:Path.replace",
)
WORDS: dict[str, Any] = {"by": "Paul", "why": "Killed.", "now": NOW}


def publish(project: Project) -> None:
    project.publish(with_prompt(project.contract(), "Read the total in cents."))


def rollback(project: Project) -> None:
    promotion.rollback(project.registry, NAME, "1.0.0", **WORDS)


def prompt(project: Project) -> None:
    promotion.activate_prompt(project.registry, "dunning", "1", **WORDS)


VERBS: dict[str, Callable[[Project], None]] = {"publish": publish, "rollback": rollback, "prompt": prompt}


def points() -> Iterator[tuple[str, str, Iterator[int]]]:
    for step in STEPS:
        for when in ("before", "after"):
            yield step, when, count(1)


def died(project: Project, verb: str, step: str, when: str, nth: int) -> int:
    """Do the verb in a process that is killed at a point; returns how it ended: 0 where the point is never met."""
    child = os.fork()
    if child == 0:
        arm(step, when, nth)
        VERBS[verb](project)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def left(project: Project) -> dict[str, Any]:
    head, found, shelf = project.registry.head(NAME), project.verify(), project.registry.prompt_head("dunning")
    assert head is not None
    return {
        "problems": [each.what for each in found.problems],
        "epoch": head.epoch,
        "history": [entry.epoch for entry in project.registry.history(NAME)],
        "active": head.active.version,
        "own_major": head.majors[1].version,
        "versions": project.versions(),
        "prompt": shelf and shelf.active and shelf.active.version,
        "prompt_epoch": shelf and shelf.epoch,
        "head": sorted(Head.from_json(head.to_json()).to_json()),
    }


def main(original: Path, verb: str) -> None:
    for step, when, numbers in points():
        for nth in numbers:
            copy = original.with_name("copy")
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(original, copy)
            project = Project(copy)
            status = died(project, verb, step, when, nth)
            if status == 0:
                break
            assert status == -signal.SIGKILL, status
            after = left(project)
            project.publish(with_prompt(project.contract(), "Read the total, whatever happened."))
            promotion.rollback(project.registry, NAME, "1.0.0", **WORDS)
            print(json.dumps({"point": f"{when} {step} {nth}", "left": after, "next": left(project)}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
