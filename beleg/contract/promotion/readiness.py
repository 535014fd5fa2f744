"""What whoever publishes asks for, and what stands between a draft and its publication."""

from dataclasses import dataclass, field
from typing import Any, Literal

from beleg.contract.approvals import Approved
from beleg.contract.compat.verdict import Bump
from beleg.contract.evidence import Evidence
from beleg.contract.lint import Facts, Finding
from beleg.contract.maturity import Level
from beleg.contract.semver import Assessment

What = Literal[
    "lifecycle", "identical", "version", "breaking", "note", "lint", "tools", "maturity", "approvals", "evidence"
]


@dataclass(frozen=True)
class Override:
    """A person takes an inconclusive gate on themselves."""

    by: str
    why: str


@dataclass(frozen=True)
class Ask:
    """What whoever publishes wishes and knows, beside the draft."""

    confirm_breaking: bool = False
    """A new major is meant."""
    bump: Bump | None = None
    """A higher bump than the changes ask for; a lower one is refused."""
    override: Override | None = None
    facts: Facts = field(default_factory=Facts)
    """What lint may know from elsewhere: risk levels of models, called tools, pinned readers, `policies`."""


@dataclass(frozen=True)
class Blocker:
    """One thing that keeps a draft from being published, and what to do."""

    what: What
    sentence: str


@dataclass(frozen=True)
class Readiness:
    """The result of a dry run: nothing was written, and publishing would judge the same."""

    feature: str
    digest: str
    """The draft's digest: who publishes confirms it."""
    epoch: int
    """The epoch this was judged at; 0 before the first publication."""
    previous: str | None
    version: str
    """The version the draft would become."""
    bump: Bump | None
    """None for the first version."""
    assessment: Assessment | None
    findings: tuple[Finding, ...]
    levels: tuple[Level, ...]
    approved: Approved
    evidence: Evidence | None
    overridden: bool
    """Whether an inconclusive gate is passed by a person's override."""
    blockers: tuple[Blocker, ...]

    @property
    def ready(self) -> bool:
        """Whether nothing is in the way."""
        return not self.blockers

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready values."""
        return {
            "feature": self.feature,
            "digest": self.digest,
            "epoch": self.epoch,
            "previous": self.previous,
            "version": self.version,
            "bump": self.bump,
            "ready": self.ready,
            "blockers": [{"what": each.what, "sentence": each.sentence} for each in self.blockers],
            "comparison": None if self.assessment is None else self.assessment.to_dict(),
            "findings": [each.to_dict() for each in self.findings],
            "maturity": [
                {"number": each.number, "name": each.name, "met": each.met, "missing": list(each.missing)}
                for each in self.levels
            ],
            "approvals": {
                "counted": [each.by for each in self.approved.counted],
                "passed_over": list(self.approved.passed_over),
                "missing": list(self.approved.missing),
            },
            "evidence": None if self.evidence is None else self.evidence.verdict,
            "overridden": self.overridden,
        }
