"""What a new project consists of: the files written for it, and those that Beleg's own project has."""

import re
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, metadata, version
from pathlib import Path

from beleg.core.paths import shipped, template

OWN = {"gitignore": ".gitignore", "env.sample": ".env.sample", "pyproject": "pyproject.toml"}
"""Files named so in the project only: here tools would take them as holding for this folder."""
WIRING = ("assets", "pipelines", "notebooks", "dagster.yaml")
POLICIES = ("models.yaml", "naming.yaml", "retention.yaml", "tiers.yaml", "workflows.yaml")
EXAMPLE = "receipt-extraction"
"""The feature whose draft a project starts with."""
LEFT_OUT = ("pipelines/demo.py",)
"""The demo of this checkout; a user's project has `beleg demo`."""
EXTRAS = ("pipeline", "platform")
"""The extra of Beleg that a project needs: the first that this release has."""
_SUFFIXES = {".json", ".md", ".py", ".sql", ".yaml"}


def files(name: str) -> dict[str, str]:
    """Path within the project → content, for a project of that name, in the order of the paths."""
    found = dict(_written(name))
    for part in WIRING:
        found |= {path: text for path, text in _tree(template(part), part).items() if path not in LEFT_OUT}
    for policy in POLICIES:
        found[f"contracts/policies/{policy}"] = shipped("contracts", "policies", policy).read_text(encoding="utf-8")
    found["evals/policies/gate.yaml"] = shipped("evals", "policies", "gate.yaml").read_text(encoding="utf-8")
    found |= _tree(shipped("contracts", "features") / EXAMPLE, f"contracts/features/{EXAMPLE}")
    return dict(sorted(found.items()))


def _written(name: str) -> Iterator[tuple[str, str]]:
    folder = Path(__file__).parent / "files"
    words = {"@NAME@": package_name(name), "@VERSION@": _version(), "@EXTRA@": _extra()}
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        relative = path.relative_to(folder).as_posix()
        text = path.read_text(encoding="utf-8")
        for word, value in words.items():
            text = text.replace(word, value)
        yield OWN.get(relative, relative), text


def _tree(path: Path, name: str) -> dict[str, str]:
    if path.is_file():
        return {name: path.read_text(encoding="utf-8")}
    inner = (p for p in sorted(path.rglob("*")) if p.is_file() and p.suffix in _SUFFIXES)
    return {f"{name}/{p.relative_to(path).as_posix()}": p.read_text(encoding="utf-8") for p in inner}


def package_name(name: str) -> str:
    """A name that packaging accepts, from a folder's."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "agents"


def _version() -> str:
    try:
        return version("beleg")
    except PackageNotFoundError:
        return "0"


def _extra() -> str:
    try:
        known = metadata("beleg").get_all("Provides-Extra") or []
    except PackageNotFoundError:
        known = []
    return next((name for name in EXTRAS if name in known), EXTRAS[0])
