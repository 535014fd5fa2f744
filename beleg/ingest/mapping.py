"""What a mapping makes of a row: events in normal form, or a refusal. See docs/mapping.md."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

from beleg.ingest import cells
from beleg.ingest.reasons import Refused, refuse
from beleg.trace import policy
from beleg.trace.usage import Reported, normalise

Row = Mapping[str, Any]
Get = Callable[[Row], Any]
"""A field's value from a row; raises BadCell."""
Format = Literal["csv", "tsv", "jsonl", "parquet"]

ROW, FILE = "_row", "_file"
"""Columns that every table has: number of the row from 1, name of the file."""
_POLICY = {"retention_policy": policy.RETENTION_POLICY, "payload_policy": policy.PAYLOAD_POLICY}


@dataclass(frozen=True)
class Table:
    """How the table is written."""

    format: Format | None = None
    """None: by the name of the file."""
    delimiter: str = ","
    decimal: str = "."
    """Decimal mark of numbers in text: a point, or a comma where declared."""
    encoding: str = "utf-8"
    unknown: tuple[str, ...] = ("",)
    """Cells that mean unknown, which is not zero."""


@dataclass(frozen=True)
class EventMapping:
    """How one event is made of a row."""

    event: str
    fields: Mapping[str, Get]
    usage: Callable[[Row], dict[str, Any]] | None
    once_per: str | None
    when: Callable[[Row], bool]


@dataclass(frozen=True)
class TableMapping:
    """A mapping file, checked."""

    path: Path
    table: Table
    events: tuple[EventMapping, ...]
    columns: frozenset[str]
    """Columns of the table that it reads."""


def usage_fields(counts: dict[str, Any], fixed: dict[str, Any], columns: dict[str, str]) -> dict[str, Any]:
    """`buckets` and what goes with them; nothing where the source reported no count.

    `counts` are the reported figures, `fixed` what the mapping declares about them, `columns` where each
    count stands. Raises Refused where a priced bucket is contradicted.
    """
    raw = {columns[name]: count for name, count in counts.items() if count is not None}
    if not raw:
        return {}
    usage = normalise(Reported(**counts, **fixed))
    if usage.contradiction is not None:
        named = ", ".join(sorted(columns.values()))
        raise Refused(refuse("contradicted_usage", f"the counts of {named} cannot all be true as declared"))
    found = {
        "buckets": usage.known,
        "raw_usage": raw,
        "convention": usage.convention,
        "convention_evidence": usage.convention_evidence,
        "usage_check": usage.usage_check,
    }
    return {name: value for name, value in found.items() if value is not None}


class Made(NamedTuple):
    """An event made of a row."""

    which: int
    """Which of the mapping's events it is."""
    group: str | None
    """Key of its group, for an event that is made once per group."""
    body: dict[str, Any]


def events_of(mapping: TableMapping, row: Row, done: Sequence[set[str]]) -> Iterator[Made]:
    """The events of a row. `done` holds, for each of the mapping's events, the groups that have theirs.

    Raises BadCell and Refused: then no event of the row is to be kept.
    """
    for index, made in enumerate(mapping.events):
        group = None
        if made.once_per is not None:
            cell = row.get(made.once_per)
            group = None if cell is None else cells.text(cell)
            if group is None or group in done[index]:
                continue
        if made.when(row):
            yield Made(index, group, _body(made, row))


def _body(made: EventMapping, row: Row) -> dict[str, Any]:
    body: dict[str, Any] = {"event": made.event, "schema_version": 1}
    for name, get in made.fields.items():
        value = get(row)
        outer, _, inner = name.partition(".")
        if value is not None and inner:
            body.setdefault(outer, {})[inner] = value
        elif value is not None:
            body[outer] = value
    usage = {} if made.usage is None else made.usage(row)
    return body | usage | _POLICY
