"""What lint may know beyond the draft itself. What is None is unknown: rules that need it stay silent."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from beleg.contract.draft import Feature
from beleg.contract.model import Contract

if TYPE_CHECKING:
    from beleg.contract.approvals import Approval
    from beleg.contract.evidence import Evidence
    from beleg.contract.surroundings import Surroundings


@dataclass(frozen=True)
class Facts:
    """State around a draft. Everything has a default, so that lint also works offline."""

    feature: Feature | None = None
    published: "tuple[Contract, ...] | None" = None
    """Every published contract of the feature, in order; empty: there is none yet."""
    active: Contract | None = None
    catalogue: Mapping[tuple[str, str], Mapping[str, Any]] | None = None
    """(name, version) of a tool → its entry in the registry's catalogue."""
    today: date = field(default_factory=lambda: datetime.now(UTC).date())
    evidence: "Evidence | None" = None
    """What the eval gate measured; None: nothing at hand."""
    approvals: "tuple[Approval, ...] | None" = None
    confirmed_breaking: bool = False
    risk_levels: Mapping[tuple[str, str], str] | None = None
    """(provider, model) → low, medium or high, from the policies about models."""
    pinned_consumers: int | None = None
    """How many readers are pinned to the major that a breaking version would supersede."""
    called_tools: frozenset[str] | None = None
    """Tools that runs of the evals called."""
    surroundings: "Surroundings | None" = None
    """What the agent's users are offered; None: nobody has counted."""
    policies: Path | None = None
    """Folder with the project's own tiers.yaml and provider_profiles.yaml; files missing there are Beleg's."""
