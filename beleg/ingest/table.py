"""Stages tables by a mapping: each row becomes events in normal form, which pass the same judge."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path

import orjson

from beleg.core.errors import UsageError
from beleg.ingest.cells import BadCell
from beleg.ingest.judge import Judge
from beleg.ingest.limits import Limits
from beleg.ingest.mapping import FILE, ROW, TableMapping, events_of
from beleg.ingest.mapping_file import load_mapping
from beleg.ingest.ranges import QUARANTINE, Sink, sink, staged_path
from beleg.ingest.reasons import Refusal, Refused, refuse
from beleg.ingest.rows import BY_SUFFIX, RowRead, read_rows
from beleg.ingest.schemas import shape_folders
from beleg.ingest.sources import Source, find_sources
from beleg.ingest.stage import Part, Progress, Staged

_PROBE_ROWS = 100
_REPORT_ROWS = 5000


@dataclass
class _Tally:
    accepted: dict[str, int] = field(default_factory=dict)
    rows: int = 0
    quarantined: int = 0
    end: int = 0
    """Offset of the latest row."""
    lines: int = 0
    """Line number of the latest row."""


def stage_table(
    paths: Sequence[Path],
    mapping_path: Path,
    folder: Path,
    *,
    on_progress: Callable[[Progress], None] | None = None,
    limits: Limits | None = None,
    project: Path | None = None,
    stored: Collection[str] = (),
) -> Staged:
    """Read tables (of folders: those whose name tells a format) and stage their events below `folder`.

    A row is kept whole or refused whole, so read = accepted events + refused rows. Raises UsageError for
    a mapping that is wrong or names a column the table does not have.
    """
    limits = limits or Limits()
    mapping = load_mapping(mapping_path.resolve())
    sources = find_sources(paths, suffixes=tuple(BY_SUFFIX))
    judge = Judge(limits, shape_folders(project), stored)
    done: list[set[str]] = [set() for _ in mapping.events]
    tallies: list[_Tally] = []

    def report(now: _Tally) -> None:
        if on_progress is not None:
            on_progress(_progress(sources, tallies, now))

    for index, source in enumerate(sources):
        with sink(folder, index) as staged:
            table = _Table(judge, mapping, Part(index, source, 0), done, staged)
            table.run(limits, report)
        tallies.append(table.tally)
    return _staged(folder, mapping.path, sources, tallies)


class _Table:
    """One table on its way through a mapping. `done` is shared by the tables of an ingest."""

    def __init__(self, judge: Judge, mapping: TableMapping, part: Part, done: Sequence[set[str]], staged: Sink) -> None:
        self.tally = _Tally()
        self._judge, self._mapping, self._done, self._sink = judge, mapping, done, staged
        self._part, self._source = part.index, part.source

    def run(self, limits: Limits, report: Callable[[_Tally], None]) -> None:
        """Stage every row; `report` is called now and then and at the end."""
        rows = read_rows(self._source, self._mapping.table, limits)
        first = list(islice(rows, _PROBE_ROWS))
        self._check_columns(first)
        for row in chain(first, rows):
            self._row(row)
            if self.tally.rows % _REPORT_ROWS == 0:
                report(self.tally)
        report(self.tally)

    def _check_columns(self, first: Sequence[RowRead]) -> None:
        found = {name for row in first for name in row.cells}
        missing = sorted(self._mapping.columns - found)
        if missing and found:
            known = ", ".join(sorted(found))
            msg = f"{self._mapping.path}: {self._source.path.name} has no column {missing[0]!r}; columns are {known}"
            raise UsageError(msg)

    def _row(self, row: RowRead) -> None:
        self.tally.rows += 1
        self.tally.end, self.tally.lines = row.place.byte_offset, row.place.line_number
        refusal = row.refusal or self._events(row)
        if refusal is not None:
            self.tally.quarantined += 1
            self._sink.refuse(self._part, row.place, refusal)

    def _events(self, row: RowRead) -> Refusal | None:
        """Stage the events of a row, all of them or, with a reason, none."""
        columns = {**row.cells, ROW: self.tally.rows, FILE: self._source.path.name}
        try:
            made = [(m, orjson.dumps(m.body)) for m in events_of(self._mapping, columns, self._done)]
        except BadCell as error:
            return refuse("unmapped_cell", str(error))
        except Refused as error:
            return error.refusal
        except TypeError:  # an integer beyond 64 bits
            return refuse("number_out_of_range")
        for event, line in made:
            verdict = self._judge.judge(line)
            if isinstance(verdict, Refusal):
                return verdict._replace(detail=f"{event.body['event']} {verdict.detail}")
        for event, line in made:
            self._keep(event.which, event.group, line)
        return None

    def _keep(self, which: int, group: str | None, line: bytes) -> None:
        name = self._mapping.events[which].event
        self._sink.write(name, [self._judge.kept(name, line)])
        self.tally.accepted[name] = self.tally.accepted.get(name, 0) + 1
        if group is not None:
            self._done[which].add(group)


def _progress(sources: Sequence[Source], tallies: Sequence[_Tally], now: _Tally) -> Progress:
    every = [*tallies, now]
    done = sum(source.size for source in sources[: len(tallies)]) + now.end
    refused = sum(tally.quarantined for tally in every)
    read = sum(sum(tally.accepted.values()) for tally in every) + refused
    return Progress(done, sum(source.size for source in sources), read, refused)


def _staged(folder: Path, mapping: Path, sources: Sequence[Source], tallies: Sequence[_Tally]) -> Staged:
    accepted: dict[str, int] = {}
    files: dict[str, tuple[Path, ...]] = {}
    for index, tally in enumerate(tallies):
        for event, count in tally.accepted.items():
            accepted[event] = accepted.get(event, 0) + count
            files[event] = (*files.get(event, ()), staged_path(folder, event, index))
    quarantined = sum(tally.quarantined for tally in tallies)
    parts = [Part(n, source, 0) for n, source in enumerate(sources) if tallies[n].quarantined]
    return Staged(
        files=files,
        accepted_by_event=accepted,
        read=sum(accepted.values()) + quarantined,
        accepted=sum(accepted.values()),
        quarantined=quarantined,
        rows=sum(tally.rows for tally in tallies),
        refused_files=tuple(staged_path(folder, QUARANTINE, part.index) for part in parts),
        parts=tuple(parts),
        sources=tuple(sources),
        lines={source.key: tally.lines for source, tally in zip(sources, tallies, strict=True)},
        read_as={source.key: str(mapping) for source in sources},
    )
