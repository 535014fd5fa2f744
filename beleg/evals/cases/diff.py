"""What changed between two versions of a dataset, and how much that means for those who rely on it."""

from dataclasses import dataclass
from typing import Any, Literal

from beleg.evals.cases.case import Case
from beleg.evals.cases.dataset import Dataset

Bump = Literal["none", "patch", "minor", "major"]
_ORDER: tuple[Bump, ...] = ("none", "patch", "minor", "major")


@dataclass(frozen=True)
class Diff:
    """Cases by what happened to them, each by its case_id."""

    added: tuple[str, ...]
    """New, or back again."""
    extended: tuple[str, ...]
    """More is expected of them; what was expected before still is."""
    edited: tuple[str, ...]
    """Something else is expected, or something no longer."""
    described: tuple[str, ...]
    """The same is expected; family, slices, criticality or provenance differ."""
    retired: tuple[str, ...]
    """Taken out for good, with a reason."""
    withdrawn: tuple[str, ...]
    """Out until people agree."""

    @property
    def bump(self) -> Bump:
        """`major`: a result that passed may fail, or is not asked for; `minor`: more is asked; `patch`: neither."""
        if self.edited or self.retired or self.withdrawn:
            return "major"
        return "minor" if self.added or self.extended else "patch" if self.described else "none"

    def document(self) -> dict[str, Any]:
        """For machines."""
        named = ("added", "extended", "edited", "described", "retired", "withdrawn")
        return {"bump": self.bump, **{name: list(getattr(self, name)) for name in named}}


def compare(older: Dataset, newer: Dataset) -> Diff:
    """The difference of two versions; raises DamagedError for a case that cannot be read."""
    before, now = older.members, newer.members
    changed: dict[Bump, list[str]] = {kind: [] for kind in _ORDER}
    for case_id in sorted(before.keys() & now.keys()):
        if before[case_id] != now[case_id]:
            changed[change(older.case(case_id), newer.case(case_id))].append(case_id)
    gone = sorted(before.keys() - now.keys())
    return Diff(
        tuple(sorted(now.keys() - before.keys())),
        tuple(changed["minor"]),
        tuple(changed["major"]),
        tuple(changed["patch"]),
        tuple(case_id for case_id in gone if case_id in newer.retired),
        tuple(case_id for case_id in gone if case_id not in newer.retired),
    )


def change(older: Case, newer: Case) -> Bump:
    """How much a case changed."""
    before = {name: known.document() for name, known in older.expected.items()}
    now = {name: known.document() for name, known in newer.expected.items()}
    if before == now:
        return "patch"
    return "minor" if before.items() <= now.items() else "major"
