"""Steps that two parties may call done: the user by a mark, operations by their own status.

Neither writes into the other's column. `done` is computed when it is read, so that taking a mark back is a
clean toggle, and nothing that hangs on the operational status (mails, deadlines) ever moves with a mark.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from beleg.agent.flows.flow import Record
from beleg.core.errors import UsageError


@dataclass(frozen=True, kw_only=True)
class Step:
    """One step, and the operational status at which it counts as done."""

    name: str
    milestone: str


@dataclass(frozen=True, kw_only=True)
class Roadmap:
    """Steps over two columns of a record. Raises UsageError for a step whose milestone is none."""

    steps: tuple[Step, ...]
    milestones: tuple[str, ...]
    """The operational statuses in their order; reaching one means having passed those before it."""
    marks: str
    """Field that holds the marks, step → time as text; only tools write it."""
    operational: str
    """Field that holds the operational status; only operations write it."""

    def __post_init__(self) -> None:
        if unknown := sorted({each.milestone for each in self.steps} - set(self.milestones)):
            raise UsageError(f"milestones {unknown} are none of {', '.join(self.milestones)}")
        if self.marks == self.operational:
            raise UsageError(f"marks and operational status share the column {self.marks!r}; each needs its own")

    def read(self, record: Record) -> list[dict[str, Any]]:
        """Every step with `done`, who says so, and nothing about whether it may be marked."""
        marks, reached = self._marks(record), self._reached(record)
        return [
            {
                "step": each.name,
                "done": each.name in marks or self.milestones.index(each.milestone) <= reached,
                "marked_at": marks.get(each.name),
                "by_operations": self.milestones.index(each.milestone) <= reached,
            }
            for each in self.steps
        ]

    def mark(self, record: Record, step: str, at: str) -> dict[str, Any]:
        """The change that marks a step; one that is marked keeps its time. `at` is the caller's clock."""
        return {self.marks: {self._known(step): at, **self._marks(record)}}

    def unmark(self, record: Record, step: str) -> dict[str, Any]:
        """The change that takes a mark back, and nothing else."""
        known = self._known(step)
        return {self.marks: {name: at for name, at in self._marks(record).items() if name != known}}

    def _marks(self, record: Record) -> dict[str, Any]:
        held = record.get(self.marks)
        return dict(held) if isinstance(held, Mapping) else {}

    def _reached(self, record: Record) -> int:
        status = record.get(self.operational)
        return self.milestones.index(status) if status in self.milestones else -1

    def _known(self, step: str) -> str:
        if all(step != each.name for each in self.steps):
            raise UsageError(f"no step {step!r}; the steps are {', '.join(each.name for each in self.steps)}")
        return step
