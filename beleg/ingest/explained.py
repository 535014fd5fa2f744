"""What the naming rules make of foreign files, trace by trace, without storing anything."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from beleg.ingest.foreign import told_apart
from beleg.ingest.readers.events import Maker
from beleg.ingest.readers.files import File
from beleg.ingest.readers.formats import Format, Reading, suffixes
from beleg.ingest.readers.item import Event
from beleg.ingest.readers.naming import Facts, Named, Naming
from beleg.ingest.sources import Source, find_sources

_FACT_CHARS = 200
"""A fact is shown up to here: enough to write a rule by."""


@dataclass(frozen=True)
class Trace:
    """A trace with what its file tells of it and what it is called."""

    file: Path
    format: str
    run_id: str
    facts: Mapping[str, Any]
    """As the rules see them, texts up to 200 characters. They are payload: for the eyes of their owner alone."""
    named: Named
    rank: str
    """Of several reports of a run the one with the highest rank holds, as in the lake."""

    @property
    def is_mapped(self) -> bool:
        """False where it lands under its format's own workflow, unless that is what it calls itself."""
        return self.named.workflow != self.format or self.facts.get("workflow") == self.format


@dataclass
class Explained:
    """What was found in the files."""

    traces: dict[str, Trace] = field(default_factory=dict)
    """Format and run → trace."""
    refused: int = 0
    """Items that `beleg ingest` would put into quarantine for their shape."""
    other_files: int = 0
    """Files of events in normal form, which need no names, and unknown ones."""

    @property
    def unmapped(self) -> Counter[str]:
        """Format → traces that land under its own workflow."""
        return Counter(trace.format for trace in self.traces.values() if not trace.is_mapped)

    def shown(self, limit: int) -> list[Trace]:
        """So many traces, those first that no rule gave a workflow."""
        return sorted(self.traces.values(), key=lambda trace: trace.is_mapped)[:limit]


def explain(paths: Sequence[Path], form: str | None, project: Path | None) -> Explained:
    """Read the files and name their traces by the project's rules.

    Raises UsageError for a path or a format that does not exist and for a wrong naming file.
    """
    own, foreign = told_apart(find_sources(paths, foreign=suffixes()), form)
    found = Explained(other_files=len(own))
    naming = _Naming(Naming.load(project).rules)
    for source, read_as in foreign:
        _read(source, read_as, naming, found)
    return found


def _read(source: Source, form: Format, naming: "_Naming", found: Explained) -> None:
    make = _Maker(form.name, file=source.path, found=found.traces)
    reading = Reading(File(source), make, naming)
    found.refused += sum(1 for item in form.read(reading) if item.refusal is not None) + len(reading.file.faults)


@dataclass
class _Naming(Naming):
    """Gives each name the facts it was given for."""

    def name(self, facts: Facts, *, count: bool = True) -> Named:
        shown = {fact: _shown(value) for fact, value in facts.items() if value is not None}
        return replace(super().name(facts, count=count), facts=shown)


@dataclass(kw_only=True)
class _Maker(Maker):
    """Notes each run whose start is told."""

    file: Path
    found: dict[str, Trace]

    def run_started(self, run_id: str, at: str, named: Named, *, weak: bool = False, **more: Any) -> Event:
        event = super().run_started(run_id, at, named, weak=weak, **more)
        rank = event.get("revision") or event["event_time"]
        told = Trace(self.file, self.source, run_id, named.facts, named, rank)
        before = self.found.get(f"{self.source} {run_id}")
        if before is None or before.rank <= rank:
            self.found[f"{self.source} {run_id}"] = told
        return event


def _shown(value: Any) -> Any:
    if isinstance(value, str):
        return value if len(value) <= _FACT_CHARS else f"{value[:_FACT_CHARS]}…"
    return [_shown(inner) for inner in value[:20]] if isinstance(value, list | tuple) else value
