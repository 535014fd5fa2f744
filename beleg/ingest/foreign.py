"""Stages files of foreign formats: their readers' events pass the same judge as every other line."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import orjson

from beleg.ingest.judge import Judge
from beleg.ingest.limits import Limits
from beleg.ingest.ranges import QUARANTINE, Sink, sink, staged_path
from beleg.ingest.readers.events import Maker
from beleg.ingest.readers.files import File
from beleg.ingest.readers.formats import OWN, Format, Reading, format_named, recognise
from beleg.ingest.readers.item import Item
from beleg.ingest.readers.naming import Naming
from beleg.ingest.reasons import Refusal, refuse
from beleg.ingest.schemas import shape_folders
from beleg.ingest.sources import Source
from beleg.ingest.stage import Part, Progress, Staged

READ_AS = "format:"
"""Beginning of what the quarantine keeps as `mapping` of a file that a reader read."""
_BATCH = 256
_REPORT_ITEMS = 2000
_ALL_LINES = 2**62
"""A foreign file is always read as a whole, so that whatever was refused in it was looked at again."""


@dataclass
class _Tally:
    accepted: dict[str, int] = field(default_factory=dict)
    quarantined: int = 0
    ignored: int = 0
    items: int = 0
    pending: int = 0

    @property
    def read(self) -> int:
        return sum(self.accepted.values()) + self.quarantined + self.pending


def told_apart(sources: Iterable[Source], form: str | None) -> tuple[list[Source], list[tuple[Source, Format]]]:
    """Files of events in normal form, and foreign ones with their format.

    `form` names the format of every file that is not of the spool; None recognises each by its content. What
    nothing recognises is left to the judge of lines, but for files that were only looked at for their name's
    sake in a folder: those are left out. Raises UsageError for a format that does not exist.
    """
    forced = None if form in (None, OWN) else format_named(str(form))
    own: list[Source] = []
    foreign: list[tuple[Source, Format]] = []
    for source in sources:
        found = None if source.resumable or form == OWN else forced or _recognised(source)
        if found is not None:
            foreign.append((source, found))
        elif not source.foreign:
            own.append(source)
    return own, foreign


def _recognised(source: Source) -> Format | None:
    try:
        return recognise(source)
    except FileNotFoundError:  # gone since it was found: the judge of lines passes it over
        return None


def stage_foreign(
    found: Sequence[tuple[Source, Format]],
    folder: Path,
    *,
    first_part: int = 0,
    naming: Naming | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    limits: Limits | None = None,
    project: Path | None = None,
    stored: Collection[str] = (),
) -> Staged:
    """Read the files, each in its format, and stage their events below `folder`.

    An item is kept whole or refused whole, so read = accepted events + refused items + pending. `first_part`
    is the number of the first file among all parts of the ingest. Raises UsageError for a wrong naming file.
    """
    naming = Naming.load(project) if naming is None else naming
    judge = Judge(limits or Limits(), shape_folders(project), stored)
    tallies: list[_Tally] = []
    skipped: list[Source] = []
    progress = _Progress(on_progress, sum(source.size for source, _ in found))
    with sink(folder, first_part) as staged:  # one for all files: DuckDB takes milliseconds to open each
        for number, (source, form) in enumerate(found, first_part):
            one = _One(judge, staged, number)
            try:
                one.run(Reading(File(source, limits), Maker(form.name), naming), form, progress.tell)
            except FileNotFoundError:
                skipped.append(source)
            progress.done(source, one.tally)
            tallies.append(one.tally)
    return _staged(folder, found, tallies, first=first_part, skipped=skipped, unmapped=dict(naming.unmapped))


@dataclass
class _Progress:
    """How far the files are read."""

    on_progress: Callable[[Progress], None] | None
    bytes_total: int
    bytes_done: int = 0
    read: int = 0
    quarantined: int = 0

    def done(self, source: Source, tally: _Tally) -> None:
        """Note a file that was read."""
        self.bytes_done += source.size
        self.read += tally.read
        self.quarantined += tally.quarantined
        self.tell(_Tally())

    def tell(self, now: _Tally) -> None:
        """Report, `now` being what was read so far of the next file."""
        if self.on_progress is not None:
            read, quarantined = self.read + now.read, self.quarantined + now.quarantined
            self.on_progress(Progress(self.bytes_done, self.bytes_total, read, quarantined))


class _One:
    """One file on its way through its reader."""

    def __init__(self, judge: Judge, staged: Sink, part: int) -> None:
        self.tally = _Tally()
        self._judge, self._sink, self._part = judge, staged, part
        self._batch: list[Item] = []

    def run(self, reading: Reading, form: Format, report: Callable[[_Tally], None]) -> None:
        """Stage every item."""
        for found in _read(reading, form):
            self._take(found)
            if self.tally.items % _REPORT_ITEMS == 0:
                report(self.tally)
        self._flush()
        for place, refusal in reading.file.faults:
            self._sink.refuse(self._part, place, refusal)
        self.tally.quarantined += len(reading.file.faults)
        self.tally.pending += reading.file.pending

    def _take(self, found: Item) -> None:
        self.tally.items += 1
        if found.refusal is not None:
            self._refuse(found, found.refusal)
        elif not found.events:
            self.tally.ignored += 1
        else:
            self._batch.append(found)
            if len(self._batch) >= _BATCH:
                self._flush()

    def _flush(self) -> None:
        batch, self._batch = self._batch, []
        for found, verdict in judged(self._judge, batch):
            if isinstance(verdict, Refusal):
                self._refuse(found, verdict)
                continue
            for event, line in verdict:
                self._sink.write(event, [line])
                self.tally.accepted[event] = self.tally.accepted.get(event, 0) + 1

    def _refuse(self, found: Item, refusal: Refusal) -> None:
        self.tally.quarantined += 1
        self._sink.refuse(self._part, found.origin.place(), refusal)


def _read(reading: Reading, form: Format) -> Iterator[Item]:
    """What the reader makes of the file. Where it trips, the rest is refused: no file stops the others."""
    try:
        yield from form.read(reading)
    except (OSError, GeneratorExit):
        raise
    except Exception as error:  # noqa: BLE001  # whatever a hostile file makes a parser raise
        reading.file.refuse(
            "unreadable_item", f"and what follows it: not shaped as its format ({type(error).__name__})"
        )


def judged(judge: Judge, items: Sequence[Item]) -> Iterator[tuple[Item, list[tuple[str, bytes]] | Refusal]]:
    """Each item with its events as (type, line to be stored), all of them or, with a refusal, none.

    Most items are proved good together, which is faster; the others are judged one by one.
    """
    of_items = [_lines(found) for found in items]
    doubtful = set(judge.take(b"".join(line + b"\n" for lines in of_items for line in lines)).left)
    index = 0
    for found, lines in zip(items, of_items, strict=True):
        unproved = [line for number, line in enumerate(lines, index) if number in doubtful]
        index += len(lines)
        refusals = [verdict for line in unproved if isinstance(verdict := judge.judge(line), Refusal)]
        if refusals or not lines:
            yield found, refusals[0] if refusals else refuse("number_out_of_range")
        else:
            events = [event["event"] for event in found.events]
            yield found, [(event, judge.kept(event, line)) for event, line in zip(events, lines, strict=True)]


def _lines(found: Item) -> list[bytes]:
    """The events as lines; none where one holds what JSON cannot."""
    try:
        return [orjson.dumps(event) for event in found.events]
    except TypeError:
        return []


def _staged(
    folder: Path,
    found: Sequence[tuple[Source, Format]],
    tallies: Sequence[_Tally],
    *,
    first: int,
    skipped: Sequence[Source],
    unmapped: dict[str, int],
) -> Staged:
    accepted: Counter[str] = Counter()
    for tally in tallies:
        accepted.update(tally.accepted)
    quarantined = sum(tally.quarantined for tally in tallies)
    refused = [number for number, tally in enumerate(tallies, first) if tally.quarantined]
    return Staged(
        files={event: (staged_path(folder, event, first),) for event in accepted},
        accepted_by_event=dict(accepted),
        read=sum(tally.read for tally in tallies),
        accepted=accepted.total(),
        quarantined=quarantined,
        pending=sum(tally.pending for tally in tallies),
        ignored=sum(tally.ignored for tally in tallies),
        refused_files=(staged_path(folder, QUARANTINE, first),) if refused else (),
        parts=tuple(Part(number, found[number - first][0], 0) for number in refused),
        sources=tuple(source for source, _ in found),
        lines={source.key: _ALL_LINES for source, _ in found if source not in skipped},
        read_as={source.key: f"{READ_AS}{form.name}" for source, form in found},
        unmapped=unmapped,
        skipped=tuple(skipped),
    )
