"""How far a record is, as every tool of its flow says it with every answer."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class SectionState:
    """How far one section is."""

    missing: tuple[str, ...]
    more: int
    """Missing entries beyond those named."""

    @property
    def complete(self) -> bool:
        """Nothing is missing and every invariant holds."""
        return not self.missing


@dataclass(frozen=True)
class State:
    """How far a record is, as every tool of the flow says it with every answer."""

    status: str
    sections: Mapping[str, SectionState]
    markers: Mapping[str, Mapping[str, Any]]
    """Violated invariant → its fields and the figures that show it."""
    computed: Mapping[str, Any]

    @property
    def complete(self) -> bool:
        """Every section is."""
        return all(each.complete for each in self.sections.values())

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready: `status`, `sections`, `markers` where there are any, then what the flow computes beside."""
        sections = {
            name: {
                "complete": each.complete,
                "missing": list(each.missing),
                **({"more": each.more} if each.more else {}),
            }
            for name, each in self.sections.items()
        }
        markers = {"markers": {name: dict(facts) for name, facts in self.markers.items()}} if self.markers else {}
        return {"status": self.status, "sections": sections, **markers, **self.computed}
