"""A long flow: what it needs, and how far a record is. Computed at every call, remembered by nobody.

Progress is a pure function of the stored record. The conversation holds none of it, so nothing can get lost
with the conversation, and nothing an agent believes can differ from what is true.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from beleg.agent.flows.state import SectionState, State
from beleg.core.errors import UsageError

Record = Mapping[str, Any]
"""A flow's stored data as JSON values: field → value. Money is whole cents."""
MOST_SHOWN = 20
"""Most missing entries that a section names; the rest is counted, so that an answer stays small."""


@dataclass(frozen=True, kw_only=True)
class Field:
    """One field that a section asks for."""

    name: str
    each: tuple[str, ...] = ()
    """For a list of parts: what every part must hold."""
    when: Callable[[Record], bool] | None = None
    """Asked for only where this holds; None: always. One that raises cannot tell, and the field is asked for."""

    def missing(self, record: Record) -> Iterator[str]:
        """What is missing of it: its name, or `parts[1].nominal_cents` for something in a part."""
        if not self._wanted(record):
            return
        value = record.get(self.name)
        parts = value if isinstance(value, list) else []
        if not _is_given(value) or (self.each and not parts):
            yield self.name
        elif self.each:
            yield from self._missing_of(parts)

    def _missing_of(self, parts: list[Any]) -> Iterator[str]:
        for number, part in enumerate(parts):
            held = part if isinstance(part, Mapping) else {}
            yield from (f"{self.name}[{number}].{name}" for name in self.each if not _is_given(held.get(name)))

    def _wanted(self, record: Record) -> bool:
        try:
            return self.when is None or bool(self.when(record))
        except Exception:  # noqa: BLE001 - a condition over partial data may raise anything
            return True


@dataclass(frozen=True, kw_only=True)
class Invariant:
    """A relation between fields, also of different sections: the parts must add up to the whole."""

    marker: str
    """Its stable name in `missing`, for example `nominalSumMismatch`."""
    fields: tuple[str, ...]
    """Every field it looks at. It is judged once all of them are given; until then they are missing themselves."""
    violated: Callable[[Record], Mapping[str, Any] | None]
    """None where it holds, else the figures that show why not. One that raises does not hold."""

    def facts(self, record: Record) -> Mapping[str, Any] | None:
        """What shows the violation; None where it holds or cannot be judged yet."""
        try:
            return self.violated(record)
        except Exception as error:  # noqa: BLE001 - stored data may have any shape
            return {"unreadable": type(error).__name__}


@dataclass(frozen=True, kw_only=True)
class Section:
    """A part of the flow that is complete or not."""

    name: str
    fields: tuple[Field, ...]
    invariants: tuple[Invariant, ...] = ()


def _status(record: Record, complete: bool) -> str:
    return "complete" if complete else "data_collection" if record else "not_started"


@dataclass(frozen=True, kw_only=True)
class Flow:
    """A data collection over several sections and many days.

    Raises UsageError where two things share a name or an invariant looks at a field that no section asks for.
    """

    name: str
    sections: tuple[Section, ...]
    status: Callable[[Record, bool], str] = _status
    """From the record and whether it is complete; pure."""
    computed: Mapping[str, Callable[[Record, bool], Any]] = field(default_factory=dict)
    """What every answer carries beside the sections, for example a roadmap; pure."""
    operational: frozenset[str] = frozenset()
    """Columns that belong to somebody else (status of operations, time of submission): no tool can write them."""

    def __post_init__(self) -> None:
        fields = [each.name for section in self.sections for each in section.fields]
        markers = [each for section in self.sections for each in section.invariants]
        names = [*(each.name for each in self.sections), "/", *fields, *(each.marker for each in markers)]
        _refuse_twice(self.name, [each.name for each in self.sections])
        _refuse_twice(self.name, names[names.index("/") :])
        if unknown := {name for each in markers for name in each.fields} - set(fields):
            raise UsageError(f"flow {self.name}: no section asks for {sorted(unknown)}, at which an invariant looks")
        if both := self.operational & set(fields):
            raise UsageError(f"flow {self.name}: {sorted(both)} are operational, so no section can ask for them")

    @property
    def fields(self) -> tuple[str, ...]:
        """Every field that a section asks for."""
        return tuple(each.name for section in self.sections for each in section.fields)

    def state(self, record: Record) -> State:
        """How far a record is: pure (no clock, nothing read or remembered) and total (any JSON object will do)."""
        absent = {each.name for s in self.sections for each in s.fields if next(each.missing(record), None)}
        markers = {}
        for invariant in (each for section in self.sections for each in section.invariants):
            facts = None if absent & set(invariant.fields) else invariant.facts(record)
            if facts is not None:
                markers[invariant.marker] = {"fields": list(invariant.fields), **facts}
        sections = {each.name: _section(each, record, markers) for each in self.sections}
        complete = all(each.complete for each in sections.values())
        computed = {name: compute(record, complete) for name, compute in self.computed.items()}
        return State(self.status(record, complete), sections, markers, computed)


def _section(section: Section, record: Record, markers: Mapping[str, Any]) -> SectionState:
    missing = [name for each in section.fields for name in each.missing(record)]
    missing += [each.marker for each in section.invariants if each.marker in markers]
    return SectionState(tuple(missing[:MOST_SHOWN]), max(0, len(missing) - MOST_SHOWN))


def _is_given(value: Any) -> bool:
    """Zero and False are answers; None, blank texts and empty lists are none."""
    return not (value is None or (isinstance(value, str) and not value.strip()) or value in ([], {}))


def _refuse_twice(flow: str, names: list[str]) -> None:
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise UsageError(f"flow {flow}: {twice} stand there twice; every section, field and marker needs its own name")
