"""Events of Langfuse's rows (traces, observations, scores), whichever export they come from."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from beleg.ingest.readers.events import WEAK, Kind, Maker, Status, instant, key, milliseconds, word
from beleg.ingest.readers.item import Event
from beleg.ingest.readers.langfuse.call import call_of
from beleg.ingest.readers.langfuse.fields import Row, failed, get, identity, kind_of, mapping, metadata_of, moment
from beleg.ingest.readers.naming import Naming
from beleg.ingest.readers.parsing import parsed
from beleg.ingest.readers.traces import ROOT_REVISION, Told, Untold, named_values
from beleg.trace.semconv import SpanReading, read_span, whole

_KINDS: dict[str, Kind] = {
    "GENERATION": "model", "EMBEDDING": "model", "TOOL": "tool", "RETRIEVER": "retrieval",
}  # fmt: skip
_FEEDBACK = {"feedback", "userfeedback", "like", "liked", "userlike", "thumbs", "thumbsup", "thumb", "userthumbs"}


class Rows:
    """Makes the events of one file's rows."""

    def __init__(self, make: Maker, naming: Naming) -> None:
        self._make, self._naming = make, naming
        self._untold = Untold()
        self._shown: str | None = None
        """Run whose trace was shown last with all its observations."""

    def events(self, row: Row) -> Iterator[Event]:
        """Events of a row that stands for itself. Raises Refused where it has no id or no time."""
        kind = kind_of(row)
        if kind == "trace":
            yield from self.trace(row)
        elif kind == "observation":
            yield from self.observation(row)
        elif kind == "score":
            yield from self.score(row)

    def trace(self, row: Row, observations: Sequence[Row] = ()) -> Iterator[Event]:
        """A trace; `observations` are all of its, where the file shows them with it."""
        run_id, at = identity(row), instant(row["timestamp"])
        roots = [one for one in observations if not get(one, "parentObservationId")]
        end = max((end for one in roots if (end := moment(one, "endTime"))), default=None)
        facts = {**_facts(row, metadata_of(row)), "trace": row.get("name"), **_prompt(observations)}
        if roots:
            facts["span"] = roots[0].get("name")
        self._untold.told(run_id)
        told = Told(run_id, at, end, self._naming.name(facts), moment(row, "updatedAt"))
        yield told.start(self._make, parsed(row.get("input")), get(row, "sessionId"))
        if end is not None:
            self._shown = run_id
        elif (seconds := _seconds(row.get("latency"))) is not None:
            told = replace(told, end=_after(at, seconds), revision=WEAK)
        status: Status = "failed" if any(map(failed, roots)) else "succeeded"
        yield from told.finish(self._make, status, parsed(row.get("output")))

    def observation(self, row: Row) -> Iterator[Event]:
        """An observation: a step, and the run's start and end too where it is the root of a trace not shown with it."""
        run_id, at = identity(row, "traceId"), instant(get(row, "startTime"))
        metadata = metadata_of(row)
        yield self._step(row, metadata, run_id, at)
        if run_id == self._shown:
            return
        if get(row, "parentObservationId"):
            self._untold.part(run_id, at)
            return
        facts = {**_facts(row, metadata), "span": row.get("name"), "trace": get(row, "traceName"), **_prompt([row])}
        if row.get("type") == "AGENT":
            facts["agent"] = row.get("name")
        named = self._naming.name(facts, count=not self._untold.told(run_id))
        told = Told(run_id, at, moment(row, "endTime"), named, ROOT_REVISION, is_part=True)
        yield told.start(self._make, parsed(row.get("input")), get(row, "sessionId"))
        yield from told.finish(self._make, "failed" if failed(row) else "succeeded", parsed(row.get("output")))

    def score(self, row: Row) -> Iterator[Event]:
        """What a person said of a trace: a yes or no under a name that means liking; all other scores give nothing.

        Numbers are not taken: 1 is the best of two and the worst of five.
        """
        run_id, rating = key(get(row, "traceId")), _rating(row)
        if run_id is None or rating is None:
            return
        at = instant(row.get("timestamp") or get(row, "createdAt"))
        yield self._make.event("feedback", identity(row), at, run_id=run_id, rating=rating)

    def rest(self) -> Iterator[Event]:
        """Starts of runs that only parts other than their root tell of."""
        yield from self._untold.starts(self._make, self._naming)

    def _step(self, row: Row, metadata: Row, run_id: str, at: str) -> Event:
        span = _span(row, metadata)
        kind = _KINDS.get(str(row.get("type")).upper(), "other")
        if kind == "other" and span.operation in ("tool", "retrieval"):
            kind = span.operation
        end = moment(row, "endTime")
        name = row.get("name")
        return self._make.step(
            run_id,
            identity(row),
            at,
            kind,
            "failed" if failed(row) else "succeeded",
            call=call_of(row, span, metadata, kind),
            parent_step_id=key(get(row, "parentObservationId")),
            name=name,
            tool_name=(span.tool_name or name) if kind == "tool" else None,
            latency_ms=milliseconds(at, end) if kind != "other" else None,
            input=parsed(row.get("input")),
            output=parsed(row.get("output")),
            revision=moment(row, "updatedAt") or (WEAK if end is None else None),
        )


def _seconds(value: Any) -> float | None:
    try:
        return float(value) if 0 <= float(value) < 10**8 else None
    except (TypeError, ValueError):
        return None


def _after(at: str, seconds: float) -> str:
    return instant(datetime.fromisoformat(at) + timedelta(seconds=seconds))


def _span(row: Row, metadata: Row) -> SpanReading:
    """What the attributes tell that Langfuse keeps in the metadata of what came by OpenTelemetry."""
    attributes, scope = mapping(metadata.get("attributes")), mapping(metadata.get("scope"))
    return read_span(attributes, scope=word(scope.get("name")), name=str(row.get("name")) if attributes else "")


def _facts(row: Row, metadata: Row) -> dict[str, Any]:
    resource, environment = mapping(metadata.get("resourceAttributes")), row.get("environment")
    tags = parsed(get(row, "traceTags") or row.get("tags"))
    return {
        "format": "langfuse",
        "service": resource.get("service.name"),
        "project": get(row, "projectId"),
        "session": get(row, "sessionId"),
        "user": get(row, "userId"),
        "environment": None if environment == "default" else environment,
        "release": row.get("release"),
        "tag": tags if isinstance(tags, list) else None,
        "scope": mapping(metadata.get("scope")).get("name"),
        **named_values("metadata", metadata),
        **named_values("resource", resource),
    }


def _prompt(observations: Sequence[Row]) -> dict[str, Any]:
    """The prompt, where all observations that name one name the same."""
    used = {(get(one, "promptName"), str(get(one, "promptVersion"))) for one in observations if get(one, "promptName")}
    if len(used) != 1:
        return {}
    ((name, version),) = used
    return {"prompt.name": name, "prompt.version": version}


def _rating(row: Row) -> str | None:
    name = re.sub(r"[^a-z]", "", str(row.get("name")).lower())
    if name not in _FEEDBACK or get(row, "dataType") != "BOOLEAN" or row.get("source") not in ("API", "ANNOTATION"):
        return None
    return {1: "like", 0: "dislike"}.get(-1 if (value := whole(row.get("value"))) is None else value)
