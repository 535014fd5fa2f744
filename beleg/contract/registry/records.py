"""What the files of a registry hold. Standard library only: the SDK reads with it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from beleg.contract.encoding import encode
from beleg.contract.registry.fields import FORMAT, SHA256, Fields, check_bytes, parse
from beleg.contract.registry.heads import Head, MajorHead, PromptHead, Published, State
from beleg.contract.registry.names import Version, feature_name, workflow_name
from beleg.contract.registry.releases import PromptRelease, Release

__all__ = [
    "Entry",
    "Head",
    "MajorHead",
    "PromptHead",
    "PromptRelease",
    "Published",
    "Release",
    "State",
    "Version",
    "check_bytes",
    "feature_name",
    "parse",
    "workflow_name",
]


@dataclass(frozen=True)
class Entry:
    """One step of a history: what was done, by whom, why, and what held afterwards."""

    epoch: int
    previous: str | None
    """SHA-256 of the bytes of the entry before; None for the first."""
    verb: str
    at: str
    """RFC 3339, UTC. For people: the order is the epoch's, whatever the clocks said."""
    by: str
    why: str
    details: Mapping[str, Any]
    """What else the verb has to say, for example where a rollback came from."""
    head: Mapping[str, Any]
    """The head after this step, without `entry`."""

    @classmethod
    def from_bytes(cls, data: bytes, name: str = "history entry") -> "Entry":
        """From a file's bytes; raises DamagedError."""
        fields = Fields(parse(data, name), name)
        fields.one_of("format", (FORMAT,))
        return cls(
            fields.count("epoch"),
            fields.sha_or_none("previous"),
            fields.text("verb"),
            fields.text("at"),
            fields.text("by"),
            str(fields.values.get("why") or ""),
            fields.object_or_none("details") or {},
            fields.object("head"),
        )

    def releases(self) -> list[str]:
        """SHA-256 of every release that this entry names."""
        versions = (self.head.get("active"), self.details)
        shas = (version.get("release") for version in versions if isinstance(version, Mapping))
        return [sha for sha in shas if isinstance(sha, str) and SHA256.match(sha)]

    def to_bytes(self) -> bytes:
        """The file's bytes."""
        return encode({"format": FORMAT, **{name: getattr(self, name) for name in self.__dataclass_fields__}}) + b"\n"
