"""Datasets: versioned lists of frozen cases. Version 1, 2, 3 … each name the one before by its digest."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from beleg.contract.registry.fields import Fields
from beleg.core.errors import DamagedError, UsageError
from beleg.evals.cases.case import CASE_ID, Case
from beleg.evals.cases.files import MERGE_ADVICE, dataset_folder, read_case, read_document, short, write_new
from beleg.trace.fingerprint import fingerprint

FORMAT = 1
_VERSION = re.compile(r"v(\d{3,8})\.json\Z")


FORGOTTEN_BY = "beleg forget"
"""Who retired a case whose file had to go."""


@dataclass(frozen=True)
class Retirement:
    """Why a case counts no longer."""

    why: str
    by: str
    at: str
    """UTC instant, RFC 3339."""

    @property
    def is_forgotten(self) -> bool:
        """Whether the file of the case was deleted, and may be missing."""
        return self.by == FORGOTTEN_BY

    def document(self) -> dict[str, str]:
        """As it stands in a manifest."""
        return {"why": self.why, "by": self.by, "at": self.at}


@dataclass(frozen=True)
class Dataset:
    """One version of a dataset: `evals/datasets/<name>/v<NNN>.json`."""

    project: Path = field(compare=False, repr=False)
    name: str
    feature: str
    version: int
    previous: str | None
    """Digest of the version before; None for version 1."""
    members: Mapping[str, str]
    """case_id → digest of the case."""
    retired: Mapping[str, Retirement] = field(default_factory=dict)

    @classmethod
    def load(cls, project: Path, name: str, version: int | None = None) -> "Dataset":
        """A version of a dataset, the latest by default.

        Raises UsageError where there is none, DamagedError, naming the file, for one that is damaged or does
        not follow the version before it.
        """
        there = versions(project, name)
        wanted = max(there, default=0) if version is None else version
        if wanted not in there:
            known = ", ".join(map(str, there)) or f"none; datasets are {', '.join(names(project)) or 'none'}"
            what = f"dataset {name!r}" if version is None else f"version {version} of dataset {name!r}"
            raise UsageError(f"no {what} under evals/datasets; versions of it: {known}")
        found = read_version(project, name, wanted)
        if problem := found.break_with(read_version(project, name, wanted - 1) if wanted - 1 in there else None):
            raise DamagedError(problem)
        return found

    @cached_property
    def digest(self) -> str:
        """Fingerprint of the manifest: what evidence names, and through it every case."""
        return fingerprint(self.document())

    @property
    def path(self) -> Path:
        """Where the manifest lies."""
        return manifest_path(self.project, self.name, self.version)

    def cases(self) -> list[Case]:
        """The cases by case_id; raises DamagedError, naming the file, for one that is missing or changed."""
        return [self.case(case_id) for case_id in sorted(self.members)]

    def case(self, case_id: str) -> Case:
        """One case; raises KeyError for one that is not in, DamagedError as `cases`."""
        case = read_case(self.project, self.feature, self.members[case_id])
        if case.case_id != case_id:
            raise DamagedError(f"{short(self.path)} calls the case {case.case_id} {case_id}; restore the manifest")
        return case

    def next(self, members: Mapping[str, str], retired: Mapping[str, Retirement]) -> "Dataset":
        """The version that would follow with this content; the same version where the content is the same."""
        if members == self.members and retired == self.retired:
            return self
        previous = self.digest if self.version else None
        return replace(self, version=self.version + 1, previous=previous, members=members, retired=retired)

    def write(self) -> None:
        """Write the manifest, after the cases and under the lock; raises DamagedError where one is there."""
        write_new(self.path, self.document())

    def break_with(self, before: "Dataset | None") -> str | None:
        """What is wrong between this version and the one before, in words; None where they fit."""
        if self.version == 1:
            return None if self.previous is None else f"{short(self.path)} is damaged: version 1 names one before it"
        if before is None:
            return f"{short(self.path)} follows version {self.version - 1}, which is missing; restore it"
        if before.digest == self.previous and before.feature == self.feature:
            return None
        named = (self.previous or "none")[:12]
        own = sorted(self.members.keys() - before.members.keys())
        lost = f" Cases in {self.path.name} alone: {', '.join(own)}." if own else ""
        told = f"{short(self.path)} follows another {before.path.name} (digest {named}, not {before.digest[:12]})"
        return f"{told}: {MERGE_ADVICE}.{lost}"

    def document(self) -> dict[str, Any]:
        """As it stands in the file."""
        return {
            "dataset_format": FORMAT,
            "name": self.name,
            "feature": self.feature,
            "version": self.version,
            "previous": self.previous,
            "cases": dict(self.members),
            "retired": {case_id: each.document() for case_id, each in self.retired.items()},
        }


def empty(project: Path, name: str, feature: str) -> Dataset:
    """What the first version follows."""
    return Dataset(project, name, feature, 0, None, {})


def latest(project: Path, name: str, feature: str) -> Dataset:
    """The latest version, or what the first would follow.

    Raises UsageError for a dataset of another feature, DamagedError as `Dataset.load`.
    """
    if not versions(project, name):
        return empty(project, name, feature)
    found = Dataset.load(project, name)
    if found.feature != feature:
        raise UsageError(f"dataset {name!r} is of feature {found.feature!r}, not of {feature!r}; name another")
    return found


def manifest_path(project: Path, name: str, version: int) -> Path:
    """Where a version lies."""
    return dataset_folder(project, name) / f"v{version:03d}.json"


def versions(project: Path, name: str) -> list[int]:
    """The versions of a dataset, ascending."""
    return sorted(
        int(found[1]) for path in dataset_folder(project, name).glob("v*.json") if (found := _VERSION.match(path.name))
    )


def names(project: Path) -> list[str]:
    """The datasets of a project."""
    return sorted({path.parent.name for path in (project / "evals" / "datasets").glob("[!.]*/v*.json")})


def history(project: Path, name: str) -> Iterator[Dataset]:
    """Every version, ascending; raises DamagedError for the first that cannot be read."""
    return (read_version(project, name, version) for version in versions(project, name))


def read_version(project: Path, name: str, version: int) -> Dataset:
    """A version by itself, whatever came before it; raises DamagedError for one that cannot be read."""
    path = manifest_path(project, name, version)
    fields = Fields(read_document(path), short(path))
    for key, value in (("dataset_format", FORMAT), ("name", name), ("version", version)):
        fields.one_of(key, (value,))
    members, retired = fields.part("cases"), fields.part("retired")
    if wrong := [each for each in (*members.values, *retired.values) if not CASE_ID.match(each)]:
        fields.wrong(wrong[0], "a case_id of 24 hex digits")
    if both := sorted(members.values.keys() & retired.values.keys()):
        members.wrong(both[0], "in one of cases and retired")
    return Dataset(
        project,
        name,
        fields.text("feature"),
        version,
        fields.sha_or_none("previous"),
        {each: members.sha(each) for each in members.values},
        {each: _retirement(retired.part(each)) for each in retired.values},
    )


def _retirement(fields: Fields) -> Retirement:
    return Retirement(fields.text("why"), fields.text("by"), fields.text("at"))
