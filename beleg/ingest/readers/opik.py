"""Opik: traces and spans, from its API and its SDK."""

from collections.abc import Iterator, Mapping
from typing import Any

from beleg.ingest.readers.calls import CallRows, has_rows, run_of_calls
from beleg.ingest.readers.events import Kind, Status, instant, key, milliseconds, word
from beleg.ingest.readers.formats import Format
from beleg.ingest.readers.head import Head
from beleg.ingest.readers.item import Event
from beleg.ingest.readers.parsing import member, parsed
from beleg.ingest.readers.traces import Told, from_cache, named_values, provider, source_cost
from beleg.ingest.reasons import Refused, refuse
from beleg.trace.call import Call
from beleg.trace.semconv_usage import whole
from beleg.trace.usage_read import read_call

Row = Mapping[str, Any]

_KINDS: dict[str, Kind] = {"llm": "model", "tool": "tool"}
_COUNTS = ("prompt_tokens", "completion_tokens", "total_tokens")
_ORIGINAL = "original_usage."
"""What the provider reported, each nested name joined by dots."""


def _recognises(head: Head) -> bool:
    return has_rows(head, "trace_id", "total_estimated_cost", "start_time", "type") or has_rows(
        head, "id", "start_time", "span_count", "thread_id"
    )


class _Rows(CallRows):
    """Makes the events of one file's rows."""

    def events(self, row: Row) -> Iterator[Event]:
        """A trace gives a run its start and end, a span a step and, for want of its trace, a guess of both."""
        yield from self._trace(row) if row.get("trace_id") is None else self._span(row)

    def _trace(self, row: Row) -> Iterator[Event]:
        run_id, start = _id(row, "id"), instant(row["start_time"])
        end = row.get("end_time")
        named = self.runs.name(run_id, {**_facts(row), "trace": row.get("name")}, told=True)
        told = Told(run_id, start, None if end is None else instant(end), named, _revision(row))
        yield told.start(self.make, parsed(row.get("input")), row.get("thread_id"))
        yield from told.finish(self.make, _status(row), parsed(row.get("output")))

    def _span(self, row: Row) -> Iterator[Event]:
        run_id, start, end = _id(row, "trace_id"), instant(row["start_time"]), row.get("end_time")
        named = self.runs.name(run_id, {**_facts(row), "span": row.get("name")})
        ended = None if end is None or row.get("parent_span_id") else instant(end)
        yield from run_of_calls(self.make, named, run_id, start=start, end=ended, status=_status(row))
        kind = _KINDS.get(str(row.get("type")), "other")
        yield self.make.step(
            run_id,
            _id(row, "id"),
            start,
            kind,
            _status(row),
            call=_call(row) if kind == "model" or row.get("usage") else None,
            parent_step_id=key(row.get("parent_span_id")),
            name=row.get("name"),
            tool_name=row.get("name") if kind == "tool" else None,
            exception_class=word(member(row, "error_info", "exception_type")),
            latency_ms=milliseconds(row["start_time"], end),
            input=parsed(row.get("input")),
            output=parsed(row.get("output")),
            revision=_revision(row),
        )


def _call(row: Row) -> Call:
    usage = {name: count for name, value in _object(row.get("usage")).items() if (count := whole(value)) is not None}
    original = _nested({name.removeprefix(_ORIGINAL): n for name, n in usage.items() if name.startswith(_ORIGINAL)})
    counts = {name: usage[name] for name in _COUNTS if name in usage}
    model = row.get("model")
    call = read_call({"usage": original or counts, "model": model})
    call.provider = provider(row.get("provider"), call.model)
    call.raw_usage = {**usage, **source_cost(row.get("total_estimated_cost"), counts)}
    return from_cache(call, member(row, "metadata", "cache_hit"))


def _nested(flat: Mapping[str, int]) -> dict[str, Any]:
    """Dotted names as the objects they were."""
    made: dict[str, Any] = {}
    for name, count in flat.items():
        *path, last = name.split(".")
        place = made
        for part in path:
            place = place.setdefault(part, {})
            if not isinstance(place, dict):
                break
        else:
            place[last] = count
    return made


def _status(row: Row) -> Status:
    return "succeeded" if row.get("error_info") is None else "failed"


def _id(row: Row, name: str) -> str:
    found = key(row.get(name))
    if found is None:
        raise Refused(refuse("no_id"))
    return found


def _revision(row: Row) -> str | None:
    changed = row.get("last_updated_at")
    return None if changed is None else instant(changed)


def _facts(row: Row) -> dict[str, Any]:
    return {
        "format": "opik",
        "project": row.get("project_name"),
        "session": row.get("thread_id"),
        "tag": row.get("tags"),
        **named_values("metadata", parsed(row.get("metadata"))),
    }


def _object(value: Any) -> dict[str, Any]:
    found = parsed(value)
    return found if isinstance(found, dict) else {}


FORMATS = (
    Format(
        name="opik",
        title="Opik",
        files="traces and spans; JSON, pages, lines, CSV, Parquet",
        yields="runs and their steps with tokens, cached tokens as the provider reported them, and Opik's own estimate",
        cannot_know="who billed; cached tokens of spans that were exported without original_usage",
        recognises=_recognises,
        read=_Rows.read,
        suffixes=(".csv", ".parquet"),
    ),
)
