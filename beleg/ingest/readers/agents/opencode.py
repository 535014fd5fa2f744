"""opencode: its messages, as JSON files below `~/.local/share/opencode/storage` or in `opencode.db` (SQLite)."""

import hashlib
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from typing import Any
from urllib.parse import quote

from beleg.ingest.readers.agents.session import Sessions, growing, mapping, project
from beleg.ingest.readers.events import Status, instant, key, milliseconds, word
from beleg.ingest.readers.files import File
from beleg.ingest.readers.formats import Format, Reading
from beleg.ingest.readers.head import Head
from beleg.ingest.readers.item import Event, Item, Origin, Value, item
from beleg.ingest.readers.parsing import loads, member
from beleg.ingest.readers.traces import provider, source_cost
from beleg.trace.call import Call
from beleg.trace.semconv_usage import whole
from beleg.trace.usage import Reported

NAME = "opencode"
_SQLITE = b"SQLite format 3\x00"
_TABLES = {"message": "message", "session_message": "message", "part": "part", "session": "session"}
"""Tables of the database and what their rows are."""


def _recognises(head: Head) -> bool:
    if head.data.startswith(_SQLITE):
        return b"session_id" in head.data and b"time_created" in head.data
    return head.has("id", "sessionID") or head.has("id", "projectID", "directory", "time.created")


def _read(reading: Reading) -> Iterator[Item]:
    return _Storage(reading).items()


class _Storage:
    """One file of the storage: a message, a part of one, a session, or a database of them all."""

    def __init__(self, reading: Reading) -> None:
        self._file, self._make = reading.file, reading.make
        self._sessions = Sessions(reading.make, reading.naming)

    def items(self) -> Iterator[Item]:
        """An item for each row or document, then the sessions they tell of."""
        is_database = self._file.head(len(_SQLITE)) == _SQLITE
        for value in _rows(self._file) if is_database else self._file.values(""):
            yield item(value.origin, self._events, value.content, value.origin)
        yield from self._sessions.items()

    def _events(self, row: Mapping[str, Any], origin: Origin) -> Iterator[Event]:
        run_id = key(row.get("sessionID"))
        if run_id is None:
            self._session(row, origin)
        elif row.get("role") == "assistant" or row.get("type") == "assistant":
            yield from self._message(row, run_id, origin)
        elif row.get("type") == "tool":
            yield from self._tool(row, run_id)

    def _session(self, row: Mapping[str, Any], origin: Origin) -> None:
        run_id = key(row.get("id"))
        if run_id is None or "directory" not in row:
            return
        facts = {"project": word(project(row["directory"])), "release": row.get("version")}
        for name in ("created", "updated"):
            if member(row, "time", name) is not None:
                at = instant(row["time"][name], "ms")
                self._sessions.seen(run_id, at, origin, parent=key(row.get("parentID")), **facts)

    def _message(self, row: Mapping[str, Any], run_id: str, origin: Origin) -> Iterator[Event]:
        created, completed = member(row, "time", "created"), member(row, "time", "completed")
        at = instant(created, "ms")
        facts = {"project": word(project(member(row, "path", "root") or member(row, "path", "cwd")))}
        self._sessions.seen(run_id, at, origin, **facts)
        if completed is not None:
            self._sessions.seen(run_id, instant(completed, "ms"), origin)
        if completed is None and not any(_counts(row).values()):
            return  # it is still being written, or nothing came of it
        call = _call(row)
        yield self._make.step(
            run_id, _identity(row, created, completed), at, "model", _status(row), name=word(row.get("agent")),
            call=call, latency_ms=milliseconds(created, completed, "ms"), revision=growing(call.reported, run_id, at),
        )  # fmt: skip

    def _tool(self, row: Mapping[str, Any], run_id: str) -> Iterator[Event]:
        state, name = mapping(row, "state"), word(row.get("tool"))
        begun, ended = member(state, "time", "start"), member(state, "time", "end")
        step_id = key(row.get("callID")) or key(row.get("id"))
        if step_id is not None and ended is not None:
            yield self._make.step(
                run_id, step_id, instant(begun, "ms"), "tool",
                "failed" if state.get("status") == "error" else "succeeded",
                name=name, tool_name=name, latency_ms=milliseconds(begun, ended, "ms"),
            )  # fmt: skip


def _identity(row: Mapping[str, Any], created: Any, completed: Any) -> str:
    """A fork copies messages under new ids: what stays is when the call was and what it used."""
    parts = [created, completed, row.get("modelID"), sorted(_counts(row).items(), key=str)]
    return hashlib.sha256(repr(parts).encode("utf-8", "backslashreplace")).hexdigest()[:32]


def _status(row: Mapping[str, Any]) -> Status:
    error = member(row, "error", "name")
    return "succeeded" if error is None else "cancelled" if error == "MessageAbortedError" else "failed"


def _counts(row: Mapping[str, Any]) -> dict[str, Any]:
    """Disjoint counts: cached tokens stand beside the input, reasoning beside the output."""
    tokens = mapping(row, "tokens")
    return {
        "input": whole(tokens.get("input")),
        "output": whole(tokens.get("output")),
        "reasoning": whole(tokens.get("reasoning")),
        "cache_read": whole(member(tokens, "cache", "read")),
        "cache_write": whole(member(tokens, "cache", "write")),
        "total": whole(tokens.get("total")),
    }


def _call(row: Mapping[str, Any]) -> Call:
    counts = _counts(row)
    model = row.get("modelID") or member(row, "model", "id")
    sold_by = row.get("providerID") or member(row, "model", "providerID")
    raw = {f"tokens.{name}": count for name, count in counts.items() if count is not None}
    return Call(
        provider=provider(sold_by, model if isinstance(model, str) else None),
        model=model if isinstance(model, str) else None,
        reported=Reported(**counts, declared="exclusive", reasoning_rule=False),
        raw_usage={**raw, **(source_cost(row["cost"], raw) if row.get("cost") else {})},
    )


def _rows(file: File) -> Iterator[Value]:
    """Rows of the database as the JSON files had them. What stands in its write-ahead log is read as well."""
    log = file.path.with_name(f"{file.path.name}-wal")
    mode = "mode=ro" if log.exists() else "mode=ro&immutable=1"
    try:
        with closing(sqlite3.connect(f"file:{quote(str(file.path))}?{mode}", uri=True)) as con:
            con.row_factory = sqlite3.Row
            names = {row[0] for row in con.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            number = 0
            for table in (table for table in _TABLES if table in names):
                for row in con.execute(f'SELECT * FROM "{table}"'):
                    number += 1
                    content = _document(dict(row), _TABLES[table])
                    yield Value(Origin(0, number, None, content), content)
    except sqlite3.Error as error:
        file.refuse("damaged_archive", f"SQLite cannot read it ({type(error).__name__})")


def _document(row: dict[str, Any], kind: str) -> dict[str, Any]:
    if kind == "session":
        times = {"created": row.get("time_created"), "updated": row.get("time_updated")}
        return {**row, "parentID": row.get("parent_id"), "time": times}
    data = loads(row.get("data") or "null")
    found = data if isinstance(data, dict) else {}
    times = found.get("time") or {"created": row.get("time_created")}
    own = {"type": row["type"]} if "type" in row else {}
    return {**found, **own, "id": row.get("id"), "sessionID": row.get("session_id"), "time": times}


FORMATS = (
    Format(
        name=NAME,
        title="opencode",
        files="storage/ below ~/.local/share/opencode, JSON files, or opencode.db, SQLite",
        yields="a run for each session, its calls with all tokens, status, latency and its own cost; its tools",
        cannot_know="when a session is over; how long a cache write lives; whether a subscription paid the calls",
        recognises=_recognises,
        read=_read,
        suffixes=(".db",),
    ),
)
