"""Approvals: who vouches for a draft, bound to its digest, and how many distinct people that makes.

`contracts/features/<feature>/approvals/<digest>/<person>.json` holds one. Where `contracts/policies/approvers.yaml`
names keys, only approvals signed with a key of the person they name count (`beleg.contract.registry.signatures`).
"""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from beleg.contract import draft
from beleg.contract.draft import Feature
from beleg.contract.registry import shelf as files
from beleg.contract.registry import signatures
from beleg.contract.registry.fields import SHA256, Fields, parse
from beleg.contract.registry.people import identity, person
from beleg.contract.registry.signatures import Approvers
from beleg.contract.tiers import TierPolicy
from beleg.core.errors import DamagedError, UsageError
from beleg.core.files import replace_text


@dataclass(frozen=True)
class Approval:
    """One person's word for one digest."""

    feature: str
    digest: str
    by: str
    at: str
    """RFC 3339, UTC."""
    signature: str | None = None
    """As `ssh-keygen -Y sign` writes it, over `message`."""

    @property
    def message(self) -> bytes:
        """What is signed: everything but the signature."""
        return json.dumps([self.feature, self.digest, self.by, self.at], ensure_ascii=False).encode()

    def to_json(self) -> dict[str, Any]:
        """As it stands in its file and in a release."""
        values = {"feature": self.feature, "digest": self.digest, "by": self.by, "at": self.at}
        return values if self.signature is None else {**values, "signature": self.signature}

    @classmethod
    def from_bytes(cls, data: bytes, name: str) -> "Approval":
        """From a file's bytes; raises DamagedError."""
        fields = Fields(parse(data, name), name)
        by = fields.text("by")
        try:
            person(by)
        except UsageError as error:
            raise DamagedError(f"{name} is damaged: {error}") from error
        return cls(
            fields.text("feature"), fields.sha("digest"), by, fields.text("at"), fields.text_or_none("signature")
        )


@dataclass(frozen=True)
class Approved:
    """What approvals come to under a policy."""

    counted: tuple[Approval, ...]
    """One per person."""
    passed_over: tuple[str, ...]
    """Why others do not count, in sentences."""
    missing: tuple[str, ...]
    """What is still needed, in sentences; empty where the policy is met."""


def approve(
    feature: Feature, digest: str, *, by: str, key: Path | None = None, now: datetime | None = None
) -> Approval:
    """Vouch for the draft as it stands, which must have this digest; signed where a private SSH key is given.

    Raises UsageError where the draft has another digest by now, or the name is none.
    """
    if not SHA256.match(digest) or draft.read(feature).digest != digest:
        raise UsageError(
            f"the draft of {feature.name} is not {digest[:12]} (any more); look at it again, then approve it"
        )
    at = (now or datetime.now(UTC)).astimezone(UTC).isoformat(timespec="seconds")
    approval = Approval(feature.name, digest, person(by), at)
    if key is not None:
        approval = Approval(feature.name, digest, approval.by, at, signatures.sign(approval.message, key))
    text = json.dumps(approval.to_json(), ensure_ascii=False, indent=1) + "\n"
    replace_text(folder(feature, digest) / f"{_slug(approval.by)}.json", text)
    return approval


def read(feature: Feature, digest: str) -> tuple[Approval, ...]:
    """The approvals of a digest, by file name; raises DamagedError for a file that is none."""
    names = {
        path: f"approvals/{digest[:12]}/{path.name}" for path in sorted(folder(feature, digest).glob("[!.]*.json"))
    }
    return tuple(Approval.from_bytes(files.read(path, name) or b"", name) for path, name in names.items())


def folder(feature: Feature, digest: str) -> Path:
    """Where the approvals of a digest lie."""
    return feature.folder / "approvals" / digest


def check(
    approvals: Iterable[Approval],
    policy: TierPolicy,
    *,
    feature: str,
    digest: str,
    author: str,
    risk_owner: str | None,
    former_risk_owner: str | None = None,
    approvers: Approvers | None = None,
) -> Approved:
    """Who counts, who does not, and what is missing. The same person under another spelling counts once.

    Whoever was the risk owner of the active version must approve that it is somebody else now.
    """
    counted: dict[str, Approval] = {}
    passed_over = []
    for approval in approvals:
        reason = _no_count(approval, feature, digest, author if policy.approvals else "", approvers)
        if reason is None and identity(approval.by) in counted:
            reason = "has approved already"
        if reason is None:
            counted[identity(approval.by)] = approval
        else:
            passed_over.append(f"{approval.by} {reason}")
    missing = _missing(policy, counted, author, risk_owner, former_risk_owner)
    return Approved(tuple(counted.values()), tuple(passed_over), tuple(missing))


def _no_count(approval: Approval, feature: str, digest: str, author: str, approvers: Approvers | None) -> str | None:
    if (approval.feature, approval.digest) != (feature, digest):
        return "has approved another draft"
    if author.strip() and identity(approval.by) == identity(author):
        return "is the author"
    return None if approvers is None else approvers.doubt(approval.by, approval.message, approval.signature)


def _missing(
    policy: TierPolicy, counted: Iterable[str], author: str, risk_owner: str | None, former: str | None
) -> Iterable[str]:
    people = set(counted)
    if policy.approvals and not author.strip():
        yield "the draft names no author, so nobody can be told apart from them: write author in change.yaml"
    if len(people) < policy.approvals:
        yield f"{policy.approvals - len(people)} more of {policy.approvals} people other than the author must approve"
    if policy.risk_owner and not (risk_owner or "").strip():
        yield "feature.yaml names no risk_owner, who must approve"
    elif policy.risk_owner and identity(risk_owner or "") not in people:
        yield f"the risk owner, {risk_owner}, must approve"
    if policy.risk_owner and former and identity(former) not in people | {identity(risk_owner or "")}:
        yield f"{former}, the risk owner until now, must approve that it is {risk_owner or 'nobody'}"


def _slug(by: str) -> str:
    """A file name for a person: readable, and never that of another."""
    readable = re.sub(r"[^a-z0-9]+", "-", identity(by).encode("ascii", "ignore").decode()).strip("-")[:40]
    return f"{readable or 'person'}-{sha256(identity(by).encode()).hexdigest()[:8]}"
