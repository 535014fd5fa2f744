"""Reads staged lines into DuckDB with exactly the columns of their table's contract.

DuckDB's typed reader coerces what it should refuse, so it only ever sees lines that the judge accepted.
For those it is exact; `tests/ingest/test_typed.py` compares it with Python's own parsing.
"""

import json
import os
from collections.abc import Sequence
from pathlib import Path

import duckdb
import orjson

from beleg.core.contracts import Column, TableContract, event_tables
from beleg.core.errors import DamagedError
from beleg.ingest.limits import MIB
from beleg.lake.engine import literal_path

_LONGEST_LINE_BYTES = 64 * MIB
_TAIL_BYTES = 64 * 1024


def read_staged(
    con: duckdb.DuckDBPyConnection, event: str, files: Sequence[Path], table: str, *, ingest_id: str
) -> None:
    """Create the temporary table `table` with the rows of an event's staged files.

    Raises DamagedError where DuckDB cannot hold a line that was accepted: a fault of Beleg, not of the
    input.
    """
    try:
        con.execute(f'CREATE OR REPLACE TEMP TABLE "{table}" AS {staged_sql(event, files, ingest_id)}').fetchall()
    except duckdb.Error as error:
        msg = (
            f"accepted {event} lines do not fit their table ({_first_words(error)}); please report this fault of Beleg"
        )
        raise DamagedError(msg) from None


def staged_sql(event: str, files: Sequence[Path], ingest_id: str) -> str:
    """The query behind `read_staged`, for those who go on without a table between."""
    contract = event_tables()[event]
    columns = ", ".join(f'{_expression(c, contract, ingest_id)} AS "{c.name}"' for c in contract.columns)
    read = {name: kind for c in contract.columns for name, kind in _read_columns(c, contract)}
    return f"SELECT {columns} FROM {_relation(_nested(read), _nullable_json(contract), files)}"


def likely_day(files: Sequence[Path], instant: str) -> str | None:
    """The day of an event's staged lines where their first and last ones agree on it, else None.

    `instant` is the field that tells the day. Lines between may be of other days.
    """
    days = {str(orjson.loads(line)[instant])[:10] for path in files for line in _ends(path)}
    return days.pop() if len(days) == 1 else None


def _ends(path: Path) -> tuple[bytes, bytes]:
    """First and last line of a file of whole lines."""
    with path.open("rb") as file:
        first, at = file.readline(), file.seek(0, os.SEEK_END)
        last = b""
        while b"\n" not in last[:-1] and at > 0:
            step = min(at, _TAIL_BYTES)
            at -= step
            file.seek(at)
            last = file.read(step) + last
    return first, last[last.rfind(b"\n", 0, -1) + 1 :]


def _nullable_json(contract: TableContract) -> tuple[str, ...]:
    """Columns in which JSON's null is a value of its own: the right value of a correction may be null."""
    return tuple(c.name for c in contract.columns if c.type == "JSON" and not c.required)


def _relation(types: dict[str, str], nullable_json: Sequence[str], files: Sequence[Path]) -> str:
    paths = ", ".join(_text(literal_path(str(path))) for path in files)
    options = f"format = 'newline_delimited', compression = 'none', maximum_object_size = {_LONGEST_LINE_BYTES}"
    if not nullable_json:
        listed = ", ".join(f"{_text(name)}: {_text(kind)}" for name, kind in types.items())
        return f"read_json([{paths}], {options}, columns = {{{listed}}}, hive_partitioning = false)"
    # The typed reader makes JSON's null a null of SQL, as if nothing had been said.
    structure = json.dumps({name: kind for name, kind in types.items() if name not in nullable_json})
    values = ", ".join(f"json->{_text(name)} AS {name}" for name in nullable_json)
    objects = f"read_ndjson_objects([{paths}], {options}, hive_partitioning = false)"
    return f"(SELECT unnest(from_json(json, {_text(structure)})), {values} FROM {objects})"


def _source(column: Column) -> tuple[str, ...]:
    return tuple((column.source or column.name).split("."))


def _derived(column: Column) -> bool:
    return column.source in {"ingest", "partition"}


def _read_columns(column: Column, contract: TableContract) -> list[tuple[tuple[str, ...], str]]:
    """What must be read from the line for a column: path in the event and DuckDB type."""
    if _derived(column) or _is_presence(column, contract):
        return []
    return [(_source(column), column.type)]


def _is_presence(column: Column, contract: TableContract) -> bool:
    """True for a column that says whether an object is there at all, as `has_usage` does for `buckets`."""
    inner = column.source is not None and any(
        c.source is not None and c.source.startswith(f"{column.source}.") for c in contract.columns
    )
    return inner and column.type == "BOOLEAN"


def _nested(read: dict[tuple[str, ...], str]) -> dict[str, str]:
    """Paths and types as the `columns` of read_json: the parts of one object become a STRUCT."""
    flat = {path[0]: kind for path, kind in read.items() if len(path) == 1}
    for name in {path[0] for path in read if len(path) > 1}:
        parts = ", ".join(f'"{path[1]}" {kind}' for path, kind in read.items() if path[0] == name)
        flat[name] = f"STRUCT({parts})"
    return flat


def _expression(column: Column, contract: TableContract, ingest_id: str) -> str:
    if column.source == "ingest":
        return _text(ingest_id)
    if column.source == "partition":
        return f"CAST({contract.partition_of} AT TIME ZONE 'UTC' AS DATE)"
    path = ".".join(f'"{part}"' for part in _source(column))
    return f"{path} IS NOT NULL" if _is_presence(column, contract) else path


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _first_words(error: duckdb.Error) -> str:
    # The message goes on with a piece of the line, which may hold what must not be shown.
    return str(error).split(":", 1)[0]
