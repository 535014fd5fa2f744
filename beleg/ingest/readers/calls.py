"""What readers of call logs share: rows in lines, pages or tables, and runs that only their calls tell of."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any

from beleg.ingest.readers.events import Maker, Status, earlier_wins, later_wins
from beleg.ingest.readers.files import File
from beleg.ingest.readers.formats import Reading
from beleg.ingest.readers.head import Head
from beleg.ingest.readers.item import Event, Item, Value, each
from beleg.ingest.readers.naming import Facts, Named, Naming
from beleg.ingest.readers.parsing import member
from beleg.ingest.readers.traces import Told

_LISTS = ("item", "data.item")
_PREFIXES = ("", "item.", "data.item.")


def rows_of(file: File) -> Iterator[Value]:
    """The rows of lines, of a list, of a page (`{"data": […]}`), of a CSV or a Parquet table."""
    if not file.is_json:
        yield from file.rows()
        return
    for value in file.values("", large=_LISTS):
        inner = value.content if isinstance(value.content, list) else member(value.content, "data")
        if not isinstance(inner, list):
            yield value
            continue
        for number, row in enumerate(inner, 1):
            yield Value(value.origin._replace(number=number, line=None, value=row), row)


def has_rows(head: Head, *names: str) -> bool:
    """True for a file whose rows have all these fields."""
    wanted = frozenset(names)
    return head.columns >= wanted or any(head.keys >= {prefix + name for name in wanted} for prefix in _PREFIXES)


class NamedRuns:
    """Names runs by what their calls tell; one that no rule names counts once, however many calls there are."""

    def __init__(self, naming: Naming) -> None:
        self._naming = naming
        self._seen: set[str] = set()

    def name(self, run_id: str, facts: Facts, *, told: bool = False) -> Named:
        """What the run is called; `told` where the source tells of the run itself, which always counts."""
        named = self._naming.name(facts, count=told or run_id not in self._seen)
        self._seen.add(run_id)
        return named


class CallRows(ABC):
    """Makes the events of one file's rows; `read` is the reader of a format whose rows are calls."""

    def __init__(self, reading: Reading) -> None:
        self.make, self.runs = reading.make, NamedRuns(reading.naming)

    @abstractmethod
    def events(self, row: Mapping[str, Any]) -> Iterator[Event]:
        """What a row tells."""

    @classmethod
    def read(cls, reading: Reading) -> Iterator[Item]:
        """An item for each row of the file."""
        return each(rows_of(reading.file), cls(reading).events)


def run_of_calls(
    make: Maker, named: Named, run_id: str, *, start: str, end: str | None, status: Status, **more: Any
) -> Iterator[Event]:
    """Start and end of a run as one of its calls tells them: of all calls the first start and the last end win.

    That holds whatever the order of the calls and the files they stand in.
    """
    yield make.run_started(run_id, start, named, revision=earlier_wins(start), **more)
    if end is None:
        return
    told = Told(run_id, start, end, named, later_wins(end))
    for event in told.finish(make, status, None):
        event.pop("duration_ms", None)  # that of the call is not the run's
        yield event
