"""The gate's policy: `evals/policies/gate.yaml` of the project, else Beleg's own. It tightens, never loosens.

What a tier caps (margins) is capped by taking the stricter of the two; what a feature's own row states must be as
strict as the contract, or the file is refused.
"""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import date
from math import isfinite
from pathlib import Path
from typing import Any, Literal

from beleg.contract.draft import features
from beleg.contract.model import Contract, Criterion
from beleg.core.errors import UsageError
from beleg.core.paths import shipped
from beleg.core.settings import Settings
from beleg.cost.reading import Fields, read_yaml
from beleg.trace.canon import canonical

MOST_ALPHA = 0.05
MOST_MISSING = 0.05
AT_MOST = ("cost", "latency")
"""Kinds whose threshold is the most that is allowed, and whose margin is a ratio."""
Looks = int | Literal["sequential"]


@dataclass(frozen=True)
class KnownFailing:
    """A critical case that the baseline fails too and that somebody allows to fail for a while."""

    case: str
    criterion: str
    by: str
    why: str
    until: date


@dataclass(frozen=True)
class TierRules:
    """What a tier asks for."""

    alpha: float
    """One-sided level of every test."""
    max_margin: float
    """Most that a binary criterion or score may lose, whatever the contract allows."""
    max_ratio_margin: float
    """Most that cost or latency may grow, as a share."""
    tail_margin: float
    """By how much the share of cases above a limit of cost or latency may grow."""
    threshold_by: Literal["estimate", "bound"]
    """Whether the estimate meets the threshold, or its one-sided confidence bound too."""
    min_families: int
    missing_max: float
    baseline_max_age_days: int
    """Most days between the results of the two sides."""
    latency_max_age_days: int
    attempts: Literal["ceiling", "spend"]
    """`spend`: the k-th attempt at a set of cases has the level alpha · 6/(π²k²)."""
    attempts_ceiling: int


@dataclass(frozen=True)
class Rules:
    """What holds for one contract: its tier's row and its feature's."""

    tier: TierRules
    criteria: tuple[Criterion, ...]
    """As the contract has them, tightened."""
    looks: Looks = 1
    required_slices: tuple[str, ...] = ()
    """NAME=VALUE."""
    superiority: str | None = None
    hidden: bool = False
    known_failing: tuple[KnownFailing, ...] = ()

    @property
    def digest(self) -> str:
        """64 hex digits over everything here: a change of any of it is a new attempt."""
        return hashlib.sha256(canonical(_plain(asdict(self))).data).hexdigest()

    def named(self, criterion: str) -> Criterion:
        """A criterion, tightened."""
        return next(each for each in self.criteria if each.name == criterion)


def path_of(settings: Settings) -> Path:
    """The policy file that holds: the project's own, else the one that ships.

    Raises UsageError for one that names a feature there is not: what is demanded of nobody is a misspelling.
    """
    own = None if settings.project is None else settings.project / "evals" / "policies" / "gate.yaml"
    if settings.project is None or own is None or not own.exists():
        return shipped("evals", "policies", "gate.yaml")
    named = Fields(read_yaml(own), own.name, ("tiers", "features")).raw.get("features")
    known = {each.name for each in features(settings.project)}
    if unknown := sorted(set(named if isinstance(named, Mapping) else ()) - known):
        told = ", ".join(sorted(known)) or "none"
        raise UsageError(f"{own.name}: features: {unknown[0]!r} is no feature of the project; there are: {told}")
    return own


def rules(contract: Contract, path: Path | None = None) -> Rules:
    """What holds for a contract; raises UsageError for a policy that is none or would loosen the contract."""
    chosen = path or shipped("evals", "policies", "gate.yaml")
    file = Fields(read_yaml(chosen), chosen.name, ("tiers", "features"))
    tiers = file.raw.get("tiers")
    if not isinstance(tiers, Mapping) or set(tiers) != {1, 2, 3}:
        file.fail("`tiers` must name exactly the tiers 1, 2 and 3")
    rows = {number: _tier(tiers[number], f"{chosen.name}: tier {number}") for number in (1, 2, 3)}
    named = Fields(file.raw.get("features") or {}, f"{chosen.name}: features")
    row = named.raw.get(contract.feature) or {}
    return _rules(contract, rows[contract.risk_tier], row, f"{chosen.name}: {contract.feature}")


def _tier(raw: object, where: str) -> TierRules:
    names = list(TierRules.__dataclass_fields__)
    fields = Fields(_mapping(raw), where, names)
    if missing := [name for name in names if name not in fields.raw]:
        fields.fail(f"{missing[0]} is missing")
    shares = {
        "alpha": MOST_ALPHA,
        "max_margin": 0.5,
        "max_ratio_margin": 10.0,
        "tail_margin": 0.5,
        "missing_max": MOST_MISSING,
    }
    values: dict[str, Any] = {name: _share(fields, name, most) for name, most in shares.items()}
    values["threshold_by"] = fields.choice("threshold_by", ("estimate", "bound"))
    values["attempts"] = fields.choice("attempts", ("ceiling", "spend"))
    for name in ("min_families", "baseline_max_age_days", "latency_max_age_days", "attempts_ceiling"):
        values[name] = fields.count(name)
    if None in values.values():
        fields.fail("every key needs a value")
    return TierRules(**values)


def _share(fields: Fields, name: str, most: float) -> float:
    value = fields.raw[name]
    least = 0 if name == "missing_max" else 1e-6
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
        fields.fail(f"{name} must be a number above 0 and at most {most}, got {value!r}")
    return float(value)


_FEATURE = ("looks", "required_slices", "superiority", "hidden", "criteria", "known_failing")


def _rules(contract: Contract, tier: TierRules, raw: object, where: str) -> Rules:
    fields = Fields(_mapping(raw), where, _FEATURE)
    known = {each.name: each for each in contract.evals.criteria}
    own = Fields(fields.raw.get("criteria") or {}, f"{where}: criteria", known)
    superiority = fields.raw.get("superiority")
    if superiority is not None and (superiority not in known or known[superiority].kind in AT_MOST):
        fields.fail(f"superiority names {superiority!r}; allowed are binary and score criteria of the contract")
    return Rules(
        tier=tier,
        criteria=tuple(_criterion(each, tier, own.raw.get(each.name), where) for each in contract.evals.criteria),
        looks=_looks(fields),
        required_slices=tuple(_slices(fields)),
        superiority=superiority,
        hidden=fields.choice("hidden", ("required", "optional"), "optional") == "required",
        known_failing=tuple(_known_failing(fields, known)),
    )


def _criterion(criterion: Criterion, tier: TierRules, raw: object, where: str) -> Criterion:
    cap = tier.max_ratio_margin if criterion.kind in AT_MOST else tier.max_margin
    margin = cap if criterion.margin is None else min(criterion.margin, cap)
    fields = Fields(_mapping(raw or {}), f"{where}: criteria: {criterion.name}", ("threshold", "margin"))
    stated = {key: fields.raw[key] for key in fields.raw}
    for key, value in stated.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
            fields.fail(f"{key} must be a number, got {value!r}")
    lower_is_stricter = criterion.kind in AT_MOST
    threshold = stated.get("threshold", criterion.threshold)
    if threshold > criterion.threshold if lower_is_stricter else threshold < criterion.threshold:
        fields.fail(f"threshold {threshold:g} is looser than the contract's {criterion.threshold:g}; a policy tightens")
    own = stated.get("margin", margin)
    if own > margin or own <= 0:
        fields.fail(f"margin {own:g} is not above 0 and at most {margin:g}, which holds already; a policy tightens")
    return replace(criterion, threshold=float(threshold), margin=float(own))


def _looks(fields: Fields) -> Looks:
    value = fields.raw.get("looks", "fixed")
    if value == "sequential":
        return "sequential"
    if value == "fixed":
        return 1
    if isinstance(value, bool) or not isinstance(value, int) or not 1 < value <= 20:
        fields.fail(f"looks must be fixed, sequential or a number from 2 to 20, got {value!r}")
    return value


def _slices(fields: Fields) -> Iterator[str]:
    given = fields.raw.get("required_slices") or []
    if not isinstance(given, list):
        fields.fail(f"required_slices must be a list of NAME=VALUE, got {given!r}")
    for each in given:
        if not isinstance(each, str) or not all(each.partition("=")[::2]):
            fields.fail(f"required_slices must hold NAME=VALUE, got {each!r}")
        yield each


def _known_failing(fields: Fields, criteria: Mapping[str, Criterion]) -> Iterator[KnownFailing]:
    given = fields.raw.get("known_failing") or []
    if not isinstance(given, list):
        fields.fail("known_failing must be a list")
    for number, raw in enumerate(given, 1):
        one = Fields(raw, f"{fields.where}: known_failing {number}", ("case", "criterion", "by", "why", "until"))
        until = one.instant("until")
        if until is None or one.raw.get("criterion") not in criteria:
            one.fail("case, criterion, by, why and until (a day) are needed, and the criterion must be the contract's")
        yield KnownFailing(one.text("case"), one.text("criterion"), one.text("by"), one.text("why"), until.date())


def _mapping(raw: object) -> object:
    return {} if raw is None else raw


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(inner) for inner in value]
    return value.isoformat() if isinstance(value, date) else value
