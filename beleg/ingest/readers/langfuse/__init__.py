"""Langfuse: traces with their observations (API, web page), pages of the API, batch and blob exports."""

from collections.abc import Iterator, Mapping
from typing import Any

from beleg.ingest.readers.formats import Format, Reading
from beleg.ingest.readers.head import Head
from beleg.ingest.readers.item import Item, Origin, Value, item
from beleg.ingest.readers.langfuse.fields import kind_of, snake
from beleg.ingest.readers.langfuse.rows import Rows
from beleg.ingest.readers.parsing import member, parsed
from beleg.ingest.readers.traces import values

_PARTS = ("item", "data.item", "trace", "trace.scores.item", "observations.item", "scores.item")
"""Where rows stand in a document too large to be read as a whole."""

_PREFIXES = ("", "item.", "data.item.", "trace.", "observations.item.", "item.observations.item.", "item.trace.")
"""Where rows may stand, as paths of keys begin."""
_SIGNS: tuple[frozenset[str], ...] = (
    frozenset({"trace_id", "start_time", "parent_observation_id"}),
    frozenset({"trace_id", "start_time", "usage_details"}),
    frozenset({"timestamp", "session_id", "user_id", "release"}),
    frozenset({"trace_id", "observation_id", "data_type"}),
)
"""Fields that together only a row of Langfuse has."""


def _recognises(head: Head) -> bool:
    names = [{snake(key[len(p) :]) for key in head.keys if key.startswith(p)} for p in _PREFIXES]
    return any(found.issuperset(sign) for found in [*names, set(map(snake, head.columns))] for sign in _SIGNS)


def _read(reading: Reading) -> Iterator[Item]:
    rows = Rows(reading.make, reading.naming)
    for value in values(reading.file, _PARTS):
        for part in _unfolded(value):
            yield from _items(rows, part)
    left = list(rows.rest())
    if left:
        yield Item(Origin(0, 0), left)


def _unfolded(value: Value) -> Iterator[Value]:
    """The rows, or the traces with their observations, in a document."""
    content = value.content
    inner = content if isinstance(content, list) else member(content, "data")
    if not isinstance(inner, list) or kind_of(content) is not None:
        yield value
        return
    for number, one in enumerate(inner, 1):
        yield Value(Origin(value.origin.byte_offset, number, None, one), one)


def _items(rows: Rows, value: Value) -> Iterator[Item]:
    document = value.content
    trace = member(document, "trace") if kind_of(document) is None else document
    if kind_of(trace) != "trace" or not isinstance(document, Mapping):
        yield item(value.origin, rows.events, document)
        return
    observations = _objects(document.get("observations"))
    scores = _objects(trace.get("scores"))
    alone = trace is document and not observations and not scores
    yield item(value.origin if alone else _within(value, 1, trace), rows.trace, trace, observations)
    for number, one in enumerate(observations, 2):
        yield item(_within(value, number, one), rows.observation, one)
    for number, one in enumerate(scores, 2 + len(observations)):
        yield item(_within(value, number, one), rows.score, one)


def _within(value: Value, number: int, part: Any) -> Origin:
    return Origin(value.origin.byte_offset, number, None, part)


def _objects(values: Any) -> list[Mapping[str, Any]]:
    values = parsed(values)
    return [one for one in values if isinstance(one, Mapping)] if isinstance(values, list) else []


FORMATS = (
    Format(
        name="langfuse",
        title="Langfuse",
        files="traces with observations (API, download), pages of the API, batch and blob exports; "
        "JSON, lines, CSV, Parquet",
        yields="runs, their steps with tokens, model, prompt version and Langfuse's own cost; a person's yes or no",
        cannot_know="who billed; counts that Langfuse took from the text, unless provided_usage_details is exported; "
        "errors of a trace exported without its observations",
        recognises=_recognises,
        read=_read,
    ),
)
