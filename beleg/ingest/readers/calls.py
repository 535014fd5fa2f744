"""What readers of call logs share: rows in lines, pages or tables, and runs that only their calls tell of."""

from codecs import BOM_UTF8
from collections.abc import Iterator
from typing import Any

from beleg.ingest.mapping import Table
from beleg.ingest.readers.events import Maker, Status, earlier_wins, later_wins
from beleg.ingest.readers.files import File, Head, member
from beleg.ingest.readers.item import Event, Value
from beleg.ingest.readers.naming import Named
from beleg.ingest.readers.traces import Told

_LISTS = ("item", "data.item")
_PREFIXES = ("", "item.", "data.item.")


def rows_of(file: File) -> Iterator[Value]:
    """The rows of lines, of a list, of a page (`{"data": […]}`), of a CSV or a Parquet table."""
    start = file.head(256)
    if start.removeprefix(BOM_UTF8).lstrip()[:1] not in (b"{", b"["):
        yield from file.rows(Table(format="parquet" if start.startswith(b"PAR1") else "csv"))
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
