"""`evals/policies/cases.yaml`: which cases belong together, and which labels of runs tell slices apart.

defaults:
  family: case              # case, tenant, input_key, input_key:/ (its part before the first /) or label:NAME
features:
  receipt-extraction:
    family: label:supplier
    slices: [country]       # default: every label of the run

Without the file each case is a family of its own.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from beleg.cost.reading import Fields, read_yaml

_KEYS = ("family", "slices")
_KINDS = ("case", "tenant", "input_key", "label")


@dataclass(frozen=True)
class Grouping:
    """How the cases of a feature are grouped."""

    kind: str = "case"
    """`case`, `tenant`, `input_key` or `label`."""
    detail: str = ""
    """Name of the label, or what ends the part of the input_key that counts; "" for all of it."""
    slices: frozenset[str] | None = None
    """Labels that become slices; None for every one."""

    def family(self, tenant: str | None, input_key: str | None, labels: Mapping[str, str]) -> str | None:
        """Family of a run's input; None where nothing tells one."""
        if self.kind == "tenant":
            return tenant
        if self.kind == "label":
            return labels.get(self.detail)
        if self.kind == "input_key" and input_key is not None:
            return (input_key.split(self.detail, 1)[0] if self.detail else input_key) or None
        return None

    def tags(self, labels: Mapping[str, str]) -> dict[str, str]:
        """Slices of a run's input."""
        return {name: value for name, value in labels.items() if value and (self.slices is None or name in self.slices)}


@dataclass(frozen=True)
class CasePolicy:
    """The content of `cases.yaml`."""

    default: Grouping = Grouping()
    features: Mapping[str, Grouping] = field(default_factory=dict)

    @classmethod
    def load(cls, project: Path) -> "CasePolicy":
        """Read the policy of a project; raises UsageError that says what is wrong where."""
        path = project / "evals" / "policies" / "cases.yaml"
        if not path.exists():
            return cls()
        top = Fields(read_yaml(path), path.name, ("defaults", "features"))
        default = _grouping(top.mapping("defaults"), f"{path.name}, defaults", Grouping())
        features = top.mapping("features").items()
        return cls(default, {name: _grouping(raw, f"{path.name}, features.{name}", default) for name, raw in features})

    def of(self, feature: str) -> Grouping:
        """What holds for a feature."""
        return self.features.get(feature, self.default)


def _grouping(raw: object, where: str, default: Grouping) -> Grouping:
    fields = Fields(raw, where, _KEYS)
    kind, detail = default.kind, default.detail
    if "family" in fields.raw:
        kind, _, detail = fields.text("family").partition(":")
        if kind not in _KINDS or (kind == "label") != bool(detail and kind != "input_key"):
            fields.fail(f"family {fields.raw['family']!r}: write case, tenant, input_key, input_key:/ or label:NAME")
    slices = default.slices
    if "slices" in fields.raw:
        names = fields.items("slices")
        if not all(isinstance(name, str) for name in names):
            fields.fail(f"slices must be names of labels, got {names!r}")
        slices = frozenset(names)
    return Grouping(kind, detail, slices)
