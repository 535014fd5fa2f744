"""Names that may become files of a registry, and the order of versions."""

import re
from typing import NamedTuple

from beleg.core.errors import UsageError

_FEATURE = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*\Z")
_WORKFLOW = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*\Z")
_NAME_LENGTH = 100
SEMVER = re.compile(r"(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})\Z", re.ASCII)


class Version(NamedTuple):
    """major.minor.patch, in their order."""

    major: int
    minor: int
    patch: int

    @classmethod
    def parse(cls, text: str) -> "Version":
        """Read "2.4.0"; raises UsageError for anything else."""
        found = SEMVER.match(text)
        if found is None:
            raise UsageError(f"{text[:40]!r} is no version; write major.minor.patch, for example 2.4.0")
        return cls(int(found[1]), int(found[2]), int(found[3]))

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}"


def feature_name(text: str) -> str:
    """A name that may become a folder; raises UsageError for one that may not."""
    if len(text) > _NAME_LENGTH or not _FEATURE.match(text):
        raise UsageError(
            f"{text[:60]!r} is no name of a feature; lower-case words with hyphens, at most 100 characters"
        )
    return text


def workflow_name(text: str) -> str:
    """A name that may become a folder; raises UsageError for one that may not."""
    if len(text) > _NAME_LENGTH or not _WORKFLOW.match(text):
        allowed = "letters, digits, '_', '-' and '.', at most 100 in all"
        raise UsageError(f"{text[:60]!r} is no name of a workflow in a registry; allowed: {allowed}")
    return text
