"""Proves a registry: every digest, every link, every head, and that no contract holds a binding tool.

What is in the way of that proof is a problem. What a killed writer left behind is a note: nobody reads it.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from beleg.contract.registry import catalogue, replay
from beleg.contract.registry.chain import Chain, read_chain
from beleg.contract.registry.names import Version, feature_name, workflow_name
from beleg.contract.registry.records import PromptRelease, Release
from beleg.contract.registry.registry import ADD, PUBLISH, Registry
from beleg.contract.registry.shelf import FIRST, Shelf, entry_path, release_path
from beleg.core.errors import BelegError, DamagedError, UsageError


@dataclass(frozen=True)
class Finding:
    """Something about one file of a registry."""

    feature: str
    """The feature; `prompts/<workflow>` and `tools/<name>` for the rest."""
    what: str
    path: str
    """Below the registry's folder."""


@dataclass
class Verification:
    """What was proved, and what was in the way."""

    problems: list[Finding] = field(default_factory=list)
    notes: list[Finding] = field(default_factory=list)
    features: int = 0
    releases: int = 0
    tools: int = 0
    """Tools in contracts that were held against the catalogue: none of them binds, where there is no problem."""

    @property
    def proved(self) -> bool:
        """Whether the registry is whole."""
        return not self.problems

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready values."""
        return {
            "proved": self.proved,
            "features": self.features,
            "releases": self.releases,
            "tools": self.tools,
            "problems": [vars(each) for each in self.problems],
            "notes": [vars(each) for each in self.notes],
        }


def verify(registry: Registry) -> Verification:
    """Look at every file; raises nothing for what is damaged, but tells it."""
    found = Verification()
    tools = _catalogue(registry, found)
    for folder in _folders(registry.root / "features"):
        _feature(registry, Shelf(folder), tools, found)
    for folder in _folders(registry.root / "prompts"):
        _prompts(registry, Shelf(folder), found)
    return found


def _folders(parent: Path) -> Iterator[Path]:
    return iter(sorted(path for path in parent.glob("[!.]*") if path.is_dir()))


def _catalogue(registry: Registry, found: Verification) -> Mapping[tuple[str, str], Mapping[str, Any]]:
    tools = {}
    for path in catalogue.paths(registry.root / "tools"):
        try:
            tools[path.parent.name, path.stem] = catalogue.entry(path)
        except DamagedError as error:
            found.problems.append(Finding(f"tools/{path.parent.name}", str(error), _below(registry, path)))
    return tools


def _feature(
    registry: Registry, shelf: Shelf, tools: Mapping[tuple[str, str], Mapping[str, Any]], found: Verification
) -> None:
    name = shelf.folder.name
    chain = _shelf(registry, shelf, name, found, feature_name)
    found.features += bool(chain.entries)
    releases: dict[str, Release] = {}
    for sha, entry in _named(chain, PUBLISH, "active").items():
        path = release_path(shelf.folder, sha)
        try:
            release = Release.from_bytes(shelf.release(sha), sha)
            _check_release(release, name, entry, list(releases.values()))
            found.tools += len(release.contract.tools)
            problems = [each for tool in release.contract.tools if (each := catalogue.problem(tool, tools))]
        except BelegError as error:
            problems = [str(error)]
        else:
            releases[sha] = release
        found.problems += [Finding(name, each, _below(registry, path)) for each in problems]
    found.releases += len(releases)
    for epoch, what in replay.feature(name, chain.entries, releases):
        found.problems.append(Finding(name, what, _below(registry, entry_path(shelf.folder, epoch))))
    _index(registry, name, chain, releases, found)


def _check_release(release: Release, name: str, version: Mapping[str, Any], before: list[Release]) -> None:
    """Raise DamagedError where a release is not what its history says, or its version came before."""
    if release.feature != name:
        raise DamagedError(f"this release is of {release.feature}")
    if (release.version, release.digest) != (version.get("version"), version.get("digest")):
        raise DamagedError(f"this release is {release.version}, but the history calls it {version.get('version')}")
    mine = Version.parse(release.version)
    higher = [each.version for each in before if Version.parse(each.version)[0] == mine.major]
    if any(Version.parse(each) >= mine for each in higher):
        raise DamagedError(f"{release.version} was published after {', '.join(higher)} of the same major")


def _index(registry: Registry, name: str, chain: Chain, releases: Mapping[str, Release], found: Verification) -> None:
    """The active version's workflow must name the feature, or readers of its prompt do not find it."""
    active = chain.entries[-1].head.get("active") if chain.entries else None
    release = releases.get(active.get("release", "")) if isinstance(active, dict) else None
    if release is None or release.workflow is None:
        return
    with suppress(BelegError):  # a damaged index is a problem of its own
        if name not in registry.index(release.workflow):
            what, path = (
                f"the workflow {release.workflow} does not name {name}",
                f"prompts/{release.workflow}/features.json",
            )
            found.problems.append(Finding(name, what, path))


def _prompts(registry: Registry, shelf: Shelf, found: Verification) -> None:
    name = f"prompts/{shelf.folder.name}"
    chain = _shelf(registry, shelf, name, found, workflow_name)
    try:
        registry.index(shelf.folder.name)
    except BelegError as error:
        found.problems.append(Finding(name, str(error), f"{name}/features.json"))
    releases = {}
    for sha in _named(chain, ADD, None):
        try:
            releases[sha] = PromptRelease.from_bytes(shelf.release(sha), sha)
        except DamagedError as error:
            found.problems.append(Finding(name, str(error), _below(registry, release_path(shelf.folder, sha))))
    found.releases += len(releases)
    for epoch, what in replay.prompts(shelf.folder.name, chain.entries, releases):
        found.problems.append(Finding(name, what, _below(registry, entry_path(shelf.folder, epoch))))


def _shelf(registry: Registry, shelf: Shelf, name: str, found: Verification, allowed: Callable[[str], str]) -> Chain:
    """Head and history; whatever lies there beside what they name is a note."""
    try:
        allowed(shelf.folder.name)
    except UsageError as error:
        found.problems.append(Finding(name, str(error), _below(registry, shelf.folder)))
    chain = read_chain(shelf)
    found.problems += [Finding(name, what, _below(registry, path)) for path, what in chain.problems]
    named = {entry_path(shelf.folder, each) for each in range(1, chain.epoch + 1)}
    named |= {release_path(shelf.folder, sha) for entry in chain.entries for sha in entry.releases()}
    named |= {shelf.folder / each for each in ("head.json", "features.json", ".lock", FIRST)}
    for path in sorted(each for each in shelf.folder.rglob("*") if not each.is_dir()):
        if path not in named:
            found.notes.append(Finding(name, "named by no head: left by a killed writer", _below(registry, path)))
    return chain


def _named(chain: Chain, verb: str, part: str | None) -> dict[str, Mapping[str, Any]]:
    """SHA-256 of every release that the history brought into being → how it calls it, in order."""
    found: dict[str, Mapping[str, Any]] = {}
    for entry in chain.entries:
        version = entry.details if part is None else entry.head.get(part)
        if entry.verb == verb and isinstance(version, dict) and isinstance(version.get("release"), str):
            found[version["release"]] = version
    return found


def _below(registry: Registry, path: Path) -> str:
    return path.relative_to(registry.root).as_posix()
