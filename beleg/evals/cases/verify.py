"""Proves that nothing frozen was changed: every digest is computed again, every version held against the one before."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from beleg.core.errors import DamagedError
from beleg.evals.cases.dataset import Dataset, names, read_version, versions
from beleg.evals.cases.files import case_path, read_case, short


@dataclass(frozen=True)
class Verified:
    """What was looked at, and what is wrong."""

    cases: int
    manifests: int
    problems: tuple[str, ...]
    """Each names the file and says what to do."""


def verify(project: Path) -> Verified:
    """Look at every case file and every version of every dataset; changes nothing."""
    held: dict[tuple[str, str], str | None] = {}
    problems: list[str] = []
    for path in sorted((project / "evals" / "cases").glob("[!.]*/[!.]*.json")):
        key = (path.parent.name, path.stem)
        try:
            held[key] = read_case(project, *key).case_id
        except DamagedError as error:
            held[key] = None
            problems.append(str(error))
    manifests = 0
    for name in names(project):
        manifests += len(versions(project, name))
        problems += _versions(project, name, held)
    return Verified(len(held), manifests, tuple(problems))


def _versions(project: Path, name: str, held: Mapping[tuple[str, str], str | None]) -> Iterator[str]:
    before: Dataset | None = None
    unread: int | None = None
    told: set[tuple[str, str]] = set()
    gone = _forgotten(project, name)
    for version in versions(project, name):
        try:
            dataset = read_version(project, name, version)
        except DamagedError as error:
            unread = version
            yield str(error)
            continue
        follows = before if before is not None and before.version == version - 1 else None
        if unread != version - 1 and (problem := dataset.break_with(follows)):
            yield problem
        for member in dataset.members.items():
            if member not in told and member[0] not in gone and (problem := _member(project, dataset, member, held)):
                yield problem
            told.add(member)
        before = dataset


def _member(
    project: Path, dataset: Dataset, member: tuple[str, str], held: Mapping[tuple[str, str], str | None]
) -> str | None:
    case_id, digest = member
    if (dataset.feature, digest) not in held:
        path = short(case_path(project, dataset.feature, digest))
        return f"{path} is missing, and {short(dataset.path)} names it: restore it from version control"
    found = held[dataset.feature, digest]
    if found in (None, case_id):  # a damaged file is told already
        return None
    return f"{short(dataset.path)} calls the case {found} {case_id}: restore the manifest"


def _forgotten(project: Path, name: str) -> set[str]:
    """Cases whose files had to go."""
    try:
        last = read_version(project, name, versions(project, name)[-1])
    except DamagedError:
        return set()
    return {case_id for case_id, each in last.retired.items() if each.is_forgotten}
