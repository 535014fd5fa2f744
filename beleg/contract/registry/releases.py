"""Releases: published versions. A file never changes; its name is the SHA-256 of its bytes."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from beleg.contract.encoding import encode
from beleg.contract.registry.fields import FORMAT, Fields, check_bytes, parse
from beleg.contract.registry.heads import Published, version_of
from beleg.core.errors import DamagedError, UsageError

if TYPE_CHECKING:
    from beleg.contract.model import Contract


@dataclass(frozen=True)
class Release:
    """One published version of a feature. Its file never changes; its name is the SHA-256 of its bytes."""

    feature: str
    version: str
    previous: str | None
    """Version that was active before; None for the first."""
    digest: str
    document: Mapping[str, Any]
    """The contract's document."""
    comparison: Mapping[str, Any]
    """How it differs from what was published before; empty for the first."""
    published_at: str
    published_by: str
    workflow: str | None = None
    approvals: tuple[Mapping[str, Any], ...] = ()
    evidence: Mapping[str, Any] | None = None
    note: str = ""
    override: Mapping[str, Any] | None = None
    """{by, why} where somebody took an inconclusive gate on themselves."""

    @classmethod
    def from_bytes(cls, data: bytes, sha: str) -> "Release":
        """From a file's bytes, which must have the SHA-256 `sha`; raises DamagedError."""
        name = f"release {sha[:12]}"
        check_bytes(data, sha, name)
        fields = Fields(parse(data, name), name)
        fields.one_of("release_format", (FORMAT,))
        approvals = fields.values.get("approvals")
        release = cls(
            fields.text("feature"),
            version_of(fields),
            fields.text_or_none("previous"),
            fields.sha("digest"),
            fields.object("contract"),
            fields.object("comparison"),
            fields.text("published_at"),
            fields.text("published_by"),
            fields.text_or_none("workflow"),
            tuple(approvals) if isinstance(approvals, list) else fields.wrong("approvals", "a list"),
            fields.object_or_none("evidence"),
            str(fields.values.get("note") or ""),
            fields.object_or_none("override"),
        )
        release._check(name)
        return release

    def _check(self, name: str) -> None:
        try:
            found = sha256(encode(self.document)).hexdigest()
        except (ValueError, RecursionError) as error:
            raise DamagedError(f"{name} is damaged: its contract has no bytes: {error}") from error
        if found != self.digest:
            raise DamagedError(f"{name} is damaged: its contract has the digest {found[:12]}, not {self.digest[:12]}")
        if self.document.get("feature") != self.feature:
            raise DamagedError(f"{name} is damaged: its contract is of another feature")

    def to_bytes(self) -> bytes:
        """The file's bytes."""
        values = {name: getattr(self, name) for name in self.__dataclass_fields__}
        values["contract"] = values.pop("document")
        return encode({"release_format": FORMAT, **values}) + b"\n"

    @cached_property
    def contract(self) -> "Contract":
        """The contract of this version; raises DamagedError for a document that is none."""
        from beleg.contract import document as documents  # noqa: PLC0415 - the SDK reads without the validator

        try:
            return documents.contract(self.document)
        except UsageError as error:
            raise DamagedError(f"{self.feature} {self.version} is damaged: {error}") from error

    @property
    def published(self) -> Published:
        """Version, address and digest, as a head names them."""
        return Published(self.version, sha256(self.to_bytes()).hexdigest(), self.digest)


@dataclass(frozen=True)
class PromptRelease:
    """One version of the prompt of a workflow without a contract."""

    workflow: str
    version: str
    text: str
    published_at: str
    published_by: str
    note: str = ""

    @classmethod
    def from_bytes(cls, data: bytes, sha: str) -> "PromptRelease":
        """From a file's bytes, which must have the SHA-256 `sha`; raises DamagedError."""
        name = f"prompt {sha[:12]}"
        check_bytes(data, sha, name)
        fields = Fields(parse(data, name), name)
        fields.one_of("release_format", (FORMAT,))
        texts = {each: fields.text(each) for each in ("workflow", "version", "text", "published_at", "published_by")}
        return cls(**texts, note=str(fields.values.get("note") or ""))

    def to_bytes(self) -> bytes:
        """The file's bytes."""
        values = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return encode({"release_format": FORMAT, **values}) + b"\n"

    @property
    def digest(self) -> str:
        """SHA-256 of the text."""
        return sha256(self.text.encode()).hexdigest()

    @property
    def published(self) -> Published:
        """Version, address and digest, as a head names them."""
        return Published(self.version, sha256(self.to_bytes()).hexdigest(), self.digest)
