"""Finds and reads playbooks: folders with a `SKILL.md`, as other tools read them, and never runs anything in them."""

import difflib
import os
import re
import unicodedata
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from beleg.agent.finding import Finding
from beleg.agent.playbooks import frontmatter
from beleg.agent.playbooks.playbook import Playbook
from beleg.core.errors import UsageError

FILE = "SKILL.md"
MOST_DEPTH = 6
MOST_FOLDERS = 2_000
MOST_BYTES = 1_000_000
MOST_TRIGGER_CHARS = 1_024
_KNOWN = (
    "name", "description", "license", "compatibility", "metadata", "allowed-tools",
    "when_to_use", "disable-model-invocation", "user-invocable", "argument-hint", "model", "effort", "context", "agent",
    "hooks", "disallowed-tools", "shell", "version",
)  # fmt: skip
"""Fields of the format, and those that Claude Code adds."""
_OWN = ("beleg.when", "beleg.tools", "beleg.flow", "beleg.rank")
_SAFE = re.compile(r"[^\"'<>/\\\n]{1,64}")
_NAME = re.compile(r"[^\W_]+(?:-[^\W_]+)*")


def load(root: Path) -> tuple[tuple[Playbook, ...], tuple[Finding, ...]]:
    """The playbooks below a folder in a fixed sequence, and what is wrong with their files.

    An `error` stands for a file that is not among the playbooks. Raises UsageError for a folder that does not
    exist.
    """
    if not root.is_dir():
        raise UsageError(f"{root} is no folder: give one that holds folders with a {FILE}")
    loaded: list[Playbook] = []
    findings: list[Finding] = []
    for folder in _folders(root, findings):
        playbook = _read(folder, f"{folder.relative_to(root).as_posix()}/{FILE}", findings)
        if playbook is not None and any(each.name == playbook.name for each in loaded):
            findings.append(_finding("name-twice", "error", folder, f"{playbook.name!r} exists already", "rename it"))
        elif playbook is not None:
            loaded.append(playbook)
    return tuple(loaded), tuple(findings)


def _folders(root: Path, findings: list[Finding]) -> Iterator[Path]:
    for seen, (place, below, files) in enumerate(os.walk(root), start=1):  # follows no links
        folder = Path(place)
        below[:] = sorted(each for each in below if not each.startswith("."))
        findings.extend(_overlooked(folder, below, files))
        if FILE in files:
            yield folder
        too_deep = len(folder.relative_to(root).parts) >= MOST_DEPTH and below
        if too_deep or seen >= MOST_FOLDERS:
            limit = f"{MOST_DEPTH} levels" if too_deep else f"{MOST_FOLDERS} folders"
            findings.append(_finding("too-many", "error", folder, f"only {limit} are searched", "point at less"))
            below.clear()
        if seen >= MOST_FOLDERS:
            return


def _overlooked(folder: Path, below: list[str], files: list[str]) -> Iterator[Finding]:
    """What was surely meant for a playbook and is none: silence would be the worst answer."""
    for name in sorted(each for each in files if each.lower() == FILE.lower() and each != FILE):
        yield _finding("overlooked", "error", folder, f"{name!r} is not read", f"call it {FILE}")
    for name in below:
        if name.lower() == FILE.lower():
            yield _finding("overlooked", "error", folder, f"{name!r} is a folder", f"{FILE} is a file")
        elif (folder / name).is_symlink() and (folder / name / FILE).is_file():
            yield _finding("overlooked", "error", folder / name, "it is a link, which is not followed", "copy it here")


def _read(folder: Path, place: str, findings: list[Finding]) -> Playbook | None:
    try:
        head = frontmatter.read(_text(folder / FILE, folder))
    except (OSError, ValueError) as error:
        what = getattr(error, "strerror", None) or str(error)
        findings.append(Finding("unreadable", "error", place, what, "repair the file, or take it away"))
        return None
    for name, line, note in head.notes:
        findings.append(Finding("quoting", "warning", f"{place}:{line}", f"{name}: {note}", f"put {name} in quotes"))
    findings.extend(_of_fields(place, head.fields))
    trigger = " ".join(_words(head.fields.get("description")).split())
    if not trigger:
        sentence = "it has no description, which is its trigger"
        findings.append(Finding("trigger-missing", "error", place, sentence, "say what it does and when to use it"))
        return None
    name = _words(head.fields.get("name")).strip() or folder.name
    if not _SAFE.fullmatch(name) or not name.isprintable():
        sentence = f"the name {name[:80]!r} cannot stand in a prompt: 1 to 64 characters, no quotes, no slashes, no <>"
        findings.append(Finding("name-unsafe", "error", place, sentence, "rename it"))
        return None
    findings.extend(_of_name(place, name, folder.name))
    metadata = head.fields.get("metadata")
    texts = {k: v for k, v in metadata.items() if isinstance(v, str)} if isinstance(metadata, dict) else {}
    return Playbook(name=name, trigger=trigger, body=head.body, metadata=texts, folder=folder)


def _text(path: Path, folder: Path) -> str:
    if not path.is_file():
        raise ValueError("it is no regular file")
    if path.resolve().parent != folder.resolve():
        raise ValueError("it is a link to a file elsewhere, which is not followed")
    if path.stat().st_size > MOST_BYTES:
        raise ValueError(f"it is larger than {MOST_BYTES} bytes")
    try:
        return path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"it is no UTF-8: {error.reason} at byte {error.start}") from error


def _words(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _of_fields(place: str, fields: Mapping[str, Any]) -> Iterator[Finding]:
    for name in fields:
        meant = difflib.get_close_matches(name, _KNOWN, 1, 0.8)
        if name not in _KNOWN and meant:
            yield Finding(
                "field-misspelt", "warning", place, f"there is no field {name!r}", f"did you mean {meant[0]}?"
            )
    for name in ("name", "description"):
        if name in fields and not isinstance(fields[name], str):
            yield Finding("field-type", "warning", place, f"{name} is no text", "write a text")
    metadata = fields.get("metadata", {})
    if not isinstance(metadata, dict):
        yield Finding("field-type", "warning", place, "metadata is no mapping; it is left out", "write key: value")
        return
    for key, value in metadata.items():
        if str(key).startswith("beleg.") and (key not in _OWN or not isinstance(value, str)):
            yield Finding("metadata", "error", place, f"metadata has {key!r}: it does nothing", f"own keys: {_OWN}")


def _of_name(place: str, name: str, folder: str) -> Iterator[Finding]:
    if unicodedata.normalize("NFKC", name) != unicodedata.normalize("NFKC", folder):
        sentence = f"its name is {name!r}, its folder's {folder!r}; the name counts"
        yield Finding("name-folder", "warning", place, sentence, "give both the same")
    if name != name.lower() or not _NAME.fullmatch(name) or len(name) > 64:
        sentence = f"the name {name[:80]!r} is not 1 to 64 lower-case letters, digits and single hyphens"
        yield Finding("name-form", "warning", place, sentence, "rename it: other readers refuse it")


def _finding(rule: str, severity: Any, folder: Path, sentence: str, fix: str) -> Finding:
    return Finding(rule, severity, folder.name, sentence, fix)
