"""Fields of Langfuse's rows, under the names of the API or of the exports."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Literal

from beleg.ingest.readers.events import key
from beleg.ingest.readers.parsing import parsed
from beleg.ingest.readers.traces import known_time
from beleg.ingest.reasons import Refused, refuse

Row = Mapping[str, Any]
RowKind = Literal["trace", "observation", "score"]


@lru_cache(maxsize=256)
def snake(name: str) -> str:
    """The name of a field in the exports: `trace_id` for `traceId`."""
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).lower()


def get(row: Row, name: str) -> Any:
    """A field under the name of the API (`traceId`) or of the exports (`trace_id`)."""
    value = row.get(name)
    return row.get(snake(name)) if value is None else value


def kind_of(row: Any) -> RowKind | None:
    """What a row is by its fields; None for something else."""
    if not isinstance(row, Mapping):
        return None
    if get(row, "dataType") is not None:
        return "score"
    if get(row, "startTime") is not None:
        return "observation"
    is_trace = row.get("timestamp") is not None and row.get("id") is not None and get(row, "traceId") is None
    return "trace" if is_trace else None


def identity(row: Row, name: str = "id") -> str:
    """An id of a row. Raises Refused where it has none."""
    found = key(get(row, name))
    if found is None:
        raise Refused(refuse("no_id"))
    return found


def moment(row: Row, name: str) -> str | None:
    """A time of a row; None where there is none."""
    return known_time(get(row, name))


def mapping(value: Any) -> dict[str, Any]:
    """A map, be it an object, JSON in a text, or pairs as Parquet has them."""
    value = parsed(value)
    if isinstance(value, list):
        return {pair[0]: pair[1] for pair in value if isinstance(pair, list | tuple) and len(pair) == 2}
    return dict(value) if isinstance(value, Mapping) else {}


def metadata_of(row: Row) -> dict[str, Any]:
    """The metadata, with the maps inside it, which some exports write as JSON in texts."""
    return {str(name): parsed(value) for name, value in mapping(row.get("metadata")).items()}


def failed(row: Row) -> bool:
    """True for an observation that reports an error; what it says is payload."""
    return row.get("level") == "ERROR"
