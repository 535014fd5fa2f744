"""Whose answers a file holds, as far as that is known here."""

from dataclasses import dataclass
from pathlib import Path

from beleg.contract import draft
from beleg.contract.model import Contract
from beleg.contract.registry.registry import Registry
from beleg.core.errors import BelegError, UsageError
from beleg.evals.results import Side
from beleg.evals.scoring import contenders
from beleg.evals.scoring.jury import Jury
from beleg.trace.policy import is_digest


@dataclass(frozen=True)
class Answerer:
    """The version that answered."""

    digest: str
    side: Side
    contract: Contract | None
    """None: no version here has this digest, so its answers are held against no schema."""
    judged_by: tuple[Contract, ...]
    """Contracts whose criteria count: draft and active version, and its own."""

    @property
    def owner(self) -> Contract:
        """The contract that says which cases count: its own, else that of the draft or the active version."""
        return self.judged_by[0] if self.contract is None else self.contract

    def jury(self, project: Path) -> Jury:
        """The scorers of its answers; raises UsageError for one that does not exist."""
        return Jury.of(project, self.judged_by, self.owner.output_schema)


def answerer(project: Path, registry: Registry, feature: str, *, version: str | None, digest: str | None) -> Answerer:
    """By version (`draft` or a released one) or by digest; raises UsageError where it is not exactly one of them."""
    if (version is None) == (digest is None):
        raise UsageError("say whose answers they are: either --version or --digest")
    if digest is not None and not is_digest(digest):
        raise UsageError(f"--digest {digest[:70]!r} is no digest; write 64 lower-case hex digits")
    active, drafted = registry.active(feature), _drafted(project, feature)
    own = (
        contenders.candidate(project, registry, feature, str(version)).contract
        if digest is None
        else _with_digest(registry, feature, digest, drafted)
    )
    known = (drafted, None if active is None else active.contract, own)
    contracts = {each.digest: each for each in known if each is not None}
    if not contracts:
        raise UsageError(f"{feature} has neither a draft nor an active version, so no criteria: make a draft first")
    named = str(digest) if own is None else own.digest
    side: Side = "baseline" if active is not None and active.digest == named else "candidate"
    return Answerer(named, side, own, tuple(contracts.values()))


def _drafted(project: Path, feature: str) -> Contract | None:
    """The draft; None where there is none, or none that can be read: only its criteria are asked for."""
    try:
        return draft.read(draft.find(project, feature))
    except BelegError:
        return None


def _with_digest(registry: Registry, feature: str, digest: str, drafted: Contract | None) -> Contract | None:
    if drafted is not None and drafted.digest == digest:
        return drafted
    published = next((each for each in registry.published(feature) if each.digest == digest), None)
    return None if published is None else registry.released(feature, published).contract
