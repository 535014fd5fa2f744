"""Makes a project, or says how one differs from what this release would make. Nothing is ever overwritten."""

import difflib
from dataclasses import dataclass
from pathlib import Path

from beleg.core.errors import UsageError
from beleg.core.files import demand_folder
from beleg.project import template

PROJECT = ("contracts", "evals", "pipelines")
"""Folders by which a project is known."""


@dataclass(frozen=True)
class Report:
    """What was done, or found."""

    folder: Path
    created: tuple[str, ...] = ()
    same: tuple[str, ...] = ()
    differing: tuple[str, ...] = ()
    """There and not as this release would write them."""
    missing: tuple[str, ...] = ()
    """Not there; `force` adds them."""


def init(folder: Path, *, force: bool = False) -> Report:
    """Write a project into an empty folder; compare one that is there already.

    `force` adds missing files to a folder that holds something. Raises UsageError for a folder that holds
    something and is no project, and for one that cannot be written.
    """
    folder = folder.expanduser().absolute()
    demand_folder(folder)
    is_new = not folder.exists() or not any(folder.iterdir())
    is_project = all((folder / name).is_dir() for name in PROJECT)
    if not (is_new or is_project or force):
        msg = f"{folder} holds something and is no project of Beleg's; --force adds to it and overwrites nothing"
        raise UsageError(msg)
    return _write(folder) if is_new or force else compare(folder)


def compare(folder: Path) -> Report:
    """How a project differs from what this release would write."""
    same, differing, missing = [], [], []
    for path, text in template.files(folder.name).items():
        there = folder / path
        if not there.is_file():
            missing.append(path)
        elif there.read_text(encoding="utf-8", errors="replace") == text:
            same.append(path)
        else:
            differing.append(path)
    return Report(folder, (), tuple(same), tuple(differing), tuple(missing))


def diff(folder: Path, path: str) -> str:
    """The difference of a file, from what is there to what this release would write."""
    wanted = template.files(folder.name)[path].splitlines(keepends=True)
    there = (folder / path).read_text(encoding="utf-8", errors="replace").splitlines(keepends=True)
    return "".join(difflib.unified_diff(there, wanted, f"{path} (yours)", f"{path} (this release)"))


def _write(folder: Path) -> Report:
    found, wanted = compare(folder), template.files(folder.name)
    for path in found.missing:
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("x", encoding="utf-8") as file:  # never over what someone else has just written
            file.write(wanted[path])
    return Report(folder, found.missing, found.same, found.differing)
