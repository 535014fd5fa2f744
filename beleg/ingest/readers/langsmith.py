"""LangSmith: runs as the API and its SDK write them: in lists, lines or nested, or a batch of posts and patches."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from beleg.ingest.readers.events import WEAK, Kind, Maker, Status, instant, key, milliseconds
from beleg.ingest.readers.formats import Format, Reading
from beleg.ingest.readers.head import Head
from beleg.ingest.readers.item import Event, Item, Origin, Value, item
from beleg.ingest.readers.langsmith_usage import call_of
from beleg.ingest.readers.naming import Naming
from beleg.ingest.readers.parsing import member, parsed
from beleg.ingest.readers.traces import Told, Untold, known_time, named_values, values
from beleg.ingest.reasons import Refused, refuse

Run = Mapping[str, Any]

_PARTS = ("item", "runs.item", "post.item", "patch.item", "child_runs.item")
_KINDS: dict[str, Kind] = {"llm": "model", "embedding": "model", "tool": "tool", "retriever": "retrieval"}
_ORDER = re.compile(r"(\d{8})T(\d{6})(\d{6})Z([0-9a-f-]{36})")
"""A part of dotted_order: the run's start and id. The first part is the root's, the last one the run's own."""
_SESSIONS = ("session_id", "thread_id", "conversation_id")


def _recognises(head: Head) -> bool:
    signs = ({"run_type", "trace_id"}, {"dotted_order", "trace_id"}, {"run_type", "child_runs"})
    prefixes = ("", "item.", "runs.item.", "post.item.", "patch.item.")
    found = [{k[len(p) :] for k in head.keys if k.startswith(p)} for p in prefixes]
    return any(names >= sign for names in (*found, set(head.columns)) for sign in signs)


def _read(reading: Reading) -> Iterator[Item]:
    runs = _Runs(reading.make, reading.naming)
    for value in values(reading.file, _PARTS):
        for part in _unfolded(value):
            yield item(part.origin, runs.events, part.content)
    left = list(runs.rest())
    if left:
        yield Item(Origin(0, 0), left)


def _unfolded(value: Value) -> Iterator[Value]:
    """The runs of a document, those nested in them too."""
    content = value.content
    if isinstance(content, Mapping) and ("post" in content or "patch" in content):
        waiting = _joined([*_list(content.get("post")), *_list(content.get("patch"))])
    else:
        runs = content if isinstance(content, list) else member(content, "runs")
        waiting = list(runs) if isinstance(runs, list) else [content]
    waiting, number, is_line = waiting[::-1], 0, waiting == [content] and not _children(content)
    while waiting:
        run, number = waiting.pop(), number + 1
        yield value if is_line else Value(Origin(value.origin.byte_offset, number, None, run), run)
        parent = {"trace_id": member(run, "trace_id"), "parent_run_id": member(run, "id")}
        waiting += [{**parent, **_known(child)} for child in reversed(_children(run))]


def _joined(parts: list[Any]) -> list[Any]:
    """Each run once: what came at its start with what came at its end, which may name it by its order alone."""
    runs: dict[Any, Any] = {}
    for number, part in enumerate(parts):
        if isinstance(part, Mapping):
            identity = _ids(part)[0] or number
            runs[identity] = {**runs.get(identity, {}), **_known(part)}
        else:
            runs[number] = part
    return list(runs.values())


def _known(run: Any) -> dict[str, Any]:
    return {name: value for name, value in run.items() if value not in (None, {}, [])}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _children(run: Any) -> list[Any]:
    return [child for child in _list(member(run, "child_runs")) if isinstance(child, Mapping)]


def _ids(run: Run) -> tuple[str | None, str | None]:
    """The run's id and its trace's."""
    order = str(run.get("dotted_order") or "").split(".")
    own, root = _ORDER.fullmatch(order[-1]), _ORDER.fullmatch(order[0])
    identity = key(run.get("id")) or (own[4] if own else None)
    above = key(run.get("parent_run_id"))
    return identity, key(run.get("trace_id")) or (root[4] if root else None) or (None if above else identity)


def _start(run: Run) -> str:
    start = run.get("start_time")
    order = _ORDER.fullmatch(str(run.get("dotted_order") or "").split(".")[-1])
    if start is None and order:
        start = f"{order[1]}T{order[2]}.{order[3]}"
    return instant(start, "ms")


class _Runs:
    """Makes the events of one file's runs."""

    def __init__(self, make: Maker, naming: Naming) -> None:
        self._make, self._naming = make, naming
        self._untold = Untold()

    def events(self, run: Any) -> Iterator[Event]:
        """Events of a run: a step, and the start and end of a trace where it is its root."""
        if not isinstance(run, Mapping) or (run.get("run_type") is None and "dotted_order" not in run):
            return
        identity, trace = _ids(run)
        if identity is None or trace is None:
            raise Refused(refuse("no_id"))
        at, end = _start(run), known_time(run.get("end_time"), "ms")
        revision = WEAK if end is None else None  # a run that goes on comes again when it has ended
        yield self._step(run, trace, identity, revision)
        if identity != trace:
            self._untold.part(trace, at)
            return
        facts = _facts(run)
        told = Told(trace, at, end, self._naming.name(facts, count=not self._untold.told(trace)), revision)
        yield told.start(self._make, parsed(run.get("inputs")), facts["session"])
        yield from told.finish(self._make, _status(run), parsed(run.get("outputs")))

    def rest(self) -> Iterator[Event]:
        """Starts of traces whose root is not in the file."""
        yield from self._untold.starts(self._make, self._naming)

    def _step(self, run: Run, trace: str, identity: str, revision: str | None) -> Event:
        at = _start(run)
        kind = _kind(run)
        return self._make.step(
            trace,
            identity,
            at,
            kind,
            _status(run),
            call=call_of(run, is_call=kind == "model"),
            parent_step_id=key(run.get("parent_run_id")),
            name=run.get("name"),
            tool_name=run.get("name") if kind == "tool" else None,
            latency_ms=milliseconds(at, run.get("end_time"), "ms") if kind != "other" else None,
            input=parsed(run.get("inputs")),
            output=parsed(run.get("outputs")),
            revision=revision,
        )


def _kind(run: Run) -> Kind:
    """What a run is; the patch of a run does not repeat its type."""
    if run.get("run_type") is None and member(parsed(run.get("extra")), "metadata", "ls_model_type"):
        return "model"
    return _KINDS.get(str(run.get("run_type")), "other")


def _status(run: Run) -> Status:
    return "failed" if run.get("error") or run.get("status") == "error" else "succeeded"


def _facts(run: Run) -> dict[str, Any]:
    metadata = member(parsed(run.get("extra")), "metadata")
    metadata = metadata if isinstance(metadata, Mapping) else {}
    sessions = (metadata.get(name) for name in _SESSIONS)
    return {
        "format": "langsmith",
        "span": run.get("name"),
        "trace": run.get("name"),
        "project": run.get("session_name") or run.get("session_id"),
        "session": next((found for found in sessions if found), None),
        "user": metadata.get("user_id"),
        "release": metadata.get("revision_id"),
        "tag": _list(parsed(run.get("tags"))) or None,
        "prompt.name": metadata.get("lc_hub_repo"),
        "prompt.version": metadata.get("lc_hub_commit_hash"),
        **named_values("metadata", metadata),
    }


FORMATS = (
    Format(
        name="langsmith",
        title="LangSmith",
        files="runs as JSON, lines, CSV or Parquet: lists, pages of the API, nested child_runs, posts and patches",
        yields="traces as runs, their runs as steps with tokens, model, service tier and LangSmith's own cost",
        cannot_know="tokens of streamed calls without usage; single ratings, of which only statistics are exported",
        recognises=_recognises,
        read=_read,
    ),
)
