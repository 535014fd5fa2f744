"""Heads: what holds now. The small file that a reader trusts first."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Literal

from beleg.contract.registry.fields import FORMAT, Fields, parse
from beleg.contract.registry.names import SEMVER, Version
from beleg.core.errors import DamagedError

State = Literal["active", "deprecated", "sunset"]
STATES: tuple[State, ...] = ("active", "deprecated", "sunset")


@dataclass(frozen=True)
class Published:
    """A version and where its bytes are."""

    version: str
    release: str
    """SHA-256 of the release file: its name."""
    digest: str
    """SHA-256 of the contract (or of a prompt's text): what approvals, evidence and traces name."""

    @classmethod
    def read(cls, fields: Fields) -> "Published":
        """From JSON; raises DamagedError."""
        return cls(version_of(fields), fields.sha("release"), fields.sha("digest"))

    def to_json(self) -> dict[str, Any]:
        """As it stands in a head."""
        return {"version": self.version, "release": self.release, "digest": self.digest}


@dataclass(frozen=True)
class MajorHead(Published):
    """What a reader pinned to a major gets, and until when if a newer major (or a rollback) superseded it."""

    deadline: date | None = None

    @classmethod
    def read(cls, fields: Fields) -> "MajorHead":
        """From JSON; raises DamagedError."""
        return cls(version_of(fields), fields.sha("release"), fields.sha("digest"), fields.day("deadline"))

    def to_json(self) -> dict[str, Any]:
        """As it stands in a head."""
        return {**super().to_json(), "deadline": _iso(self.deadline)}


@dataclass(frozen=True)
class Head:
    """What holds for a feature now; the only thing a reader trusts first."""

    feature: str
    epoch: int
    """Counts up by one with every change; never goes back, rollbacks included."""
    entry: str
    """SHA-256 of the bytes of the history entry of this epoch."""
    state: State
    sunset_on: date | None
    """From this UTC day on the feature is gone; until then it warns."""
    active: Published
    majors: Mapping[int, MajorHead] = field(default_factory=dict)

    @classmethod
    def from_json(cls, values: Any, name: str = "head.json") -> "Head":
        """From parsed JSON; raises DamagedError."""
        fields = Fields(values, name)
        fields.one_of("format", (FORMAT,))
        majors = fields.part("majors")
        head = cls(
            fields.text("feature"),
            fields.count("epoch"),
            fields.sha("entry"),
            fields.one_of("state", STATES),
            fields.day("sunset_on"),
            Published.read(fields.part("active")),
            {int(major): MajorHead.read(majors.part(major)) for major in majors.values if _is_major(majors, major)},
        )
        head.check(name)
        return head

    @classmethod
    def from_bytes(cls, data: bytes, name: str = "head.json") -> "Head":
        """From a file's bytes; raises DamagedError."""
        return cls.from_json(parse(data, name), name)

    def check(self, name: str) -> None:
        """Raise DamagedError where the parts of a head contradict each other."""
        own = self.majors.get(Version.parse(self.active.version).major)
        if own is None or own.to_json() != {**self.active.to_json(), "deadline": None}:
            raise DamagedError(f"{name} is damaged: the active version {self.active.version} is not its major's head")
        if self.state == "sunset" and self.sunset_on is None:
            raise DamagedError(f"{name} is damaged: sunset, and sunset_on is missing")

    def to_json(self) -> dict[str, Any]:
        """As it stands in head.json."""
        return {
            "format": FORMAT,
            "feature": self.feature,
            "epoch": self.epoch,
            "entry": self.entry,
            "state": self.state,
            "sunset_on": _iso(self.sunset_on),
            "active": self.active.to_json(),
            "majors": {str(major): self.majors[major].to_json() for major in sorted(self.majors)},
        }


@dataclass(frozen=True)
class PromptHead:
    """What holds for the prompt of a workflow without a contract."""

    workflow: str
    epoch: int
    entry: str
    active: Published | None
    """None: deactivated, or none was activated yet."""

    @classmethod
    def from_json(cls, values: Any, name: str = "head.json") -> "PromptHead":
        """From parsed JSON; raises DamagedError."""
        fields = Fields(values, name)
        fields.one_of("format", (FORMAT,))
        active = None if fields.values.get("active") is None else _prompt_version(fields.part("active"))
        return cls(fields.text("workflow"), fields.count("epoch"), fields.sha("entry"), active)

    @classmethod
    def from_bytes(cls, data: bytes, name: str = "head.json") -> "PromptHead":
        """From a file's bytes; raises DamagedError."""
        return cls.from_json(parse(data, name), name)

    def to_json(self) -> dict[str, Any]:
        """As it stands in head.json."""
        active = None if self.active is None else self.active.to_json()
        return {
            "format": FORMAT,
            "workflow": self.workflow,
            "epoch": self.epoch,
            "entry": self.entry,
            "active": active,
        }


def version_of(fields: Fields) -> str:
    """The member `version` as major.minor.patch; raises DamagedError."""
    text = fields.text("version")
    return text if SEMVER.match(text) else fields.wrong("version", "major.minor.patch")


def _prompt_version(fields: Fields) -> Published:
    return Published(fields.text("version"), fields.sha("release"), fields.sha("digest"))


def _is_major(majors: Fields, key: str) -> bool:
    part = majors.part(key)
    if str(Version.parse(version_of(part)).major) != key:
        majors.wrong(key, f"a version {key}.x.y")
    return True


def _iso(day: date | None) -> str | None:
    return None if day is None else day.isoformat()
