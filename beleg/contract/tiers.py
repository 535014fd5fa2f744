"""What a risk tier demands: read from `contracts/policies/tiers.yaml`, never from code."""

from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import Any

from beleg.core import yamlfile
from beleg.core.errors import UsageError
from beleg.core.paths import shipped

TIERS = (1, 2, 3)
MODEL_RISK_LEVELS = ("low", "medium", "high")


@dataclass(frozen=True)
class TierPolicy:
    """The demands of one tier."""

    tier: int
    approvals: int
    """People other than the author who approve the draft's digest."""
    risk_owner: bool
    """Whether one of them must be the feature's named risk owner."""
    maturity: tuple[int, ...]
    """Levels that must be met (`beleg.contract.maturity`)."""
    evidence: bool
    """Whether the eval gate's evidence must be at hand."""
    evidence_max_age_days: int | None
    """None: evidence does not age."""
    model_risk_levels: tuple[str, ...]
    """Risk levels of models that may serve the feature."""
    grace_days: int
    """Least days between a notice (migration, sunset) and its date."""


def tier_policy(tier: int, path: Path | None = None) -> TierPolicy:
    """The policy of a tier, from `path` or Beleg's own file; raises UsageError that names key and value."""
    return tier_policies(path)[tier]


def tier_policies(path: Path | None = None) -> dict[int, TierPolicy]:
    """The policies of all tiers; read again when the file has changed."""
    chosen = path or shipped("contracts", "policies", "tiers.yaml")
    try:
        return _read(chosen, chosen.stat().st_mtime_ns)
    except OSError as error:
        raise UsageError(f"{chosen}: {error.strerror}; leave the path out for Beleg's own tiers") from error


@lru_cache(maxsize=16)
def _read(path: Path, _mtime_ns: int) -> dict[int, TierPolicy]:
    values = yamlfile.load(path)
    tiers = values.get("tiers") if isinstance(values, dict) else None
    if not isinstance(tiers, dict) or set(tiers) != set(TIERS):
        raise UsageError(f"{path.name}: `tiers` must name exactly the tiers 1, 2 and 3")
    return {tier: _policy(path.name, tier, tiers[tier]) for tier in TIERS}


def _policy(file: str, tier: int, row: Any) -> TierPolicy:
    names = [each.name for each in fields(TierPolicy) if each.name != "tier"]
    if not isinstance(row, dict) or set(row) != set(names):
        raise UsageError(f"{file}: tier {tier} must have exactly the keys {', '.join(names)}")
    for name, holds in _CHECKS.items():
        if not holds(row[name]):
            raise UsageError(f"{file}: tier {tier}: {name} is {row[name]!r}; allowed: {_ALLOWED[name]}")
    lists = {name: tuple(row[name]) for name in ("maturity", "model_risk_levels")}
    return TierPolicy(tier=tier, **(row | lists))


def _count(value: Any) -> bool:
    return type(value) is int and value >= 0


def _subset(value: Any, allowed: tuple[Any, ...]) -> bool:
    return isinstance(value, list) and all(type(each) is type(allowed[0]) and each in allowed for each in value)


_CHECKS = {
    "approvals": _count,
    "risk_owner": lambda v: isinstance(v, bool),
    "maturity": lambda v: _subset(v, (1, 2, 3, 4, 5)),
    "evidence": lambda v: isinstance(v, bool),
    "evidence_max_age_days": lambda v: v is None or _count(v),
    "model_risk_levels": lambda v: _subset(v, MODEL_RISK_LEVELS),
    "grace_days": _count,
}
_ALLOWED = {
    "approvals": "a whole number from 0",
    "risk_owner": "true or false",
    "maturity": "a list of levels 1 to 5",
    "evidence": "true or false",
    "evidence_max_age_days": "days, or null",
    "model_risk_levels": f"a list of {', '.join(MODEL_RISK_LEVELS)}",
    "grace_days": "a whole number from 0",
}
