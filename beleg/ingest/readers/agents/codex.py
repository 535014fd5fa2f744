"""Codex: its session logs, `~/.codex/sessions/**/rollout-*.jsonl`.

A session that was forked, or spawned as a sub-agent, begins with a copy of its parent's log. What all copies
of a report share is the turn it belongs to and the counts themselves, so these are its identity.
"""

import hashlib
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from beleg.ingest.readers.agents.codex_compaction import Compactions, Counts
from beleg.ingest.readers.agents.session import Sessions, mapping, project, session_of
from beleg.ingest.readers.events import instant, key, word
from beleg.ingest.readers.formats import Format, Reading
from beleg.ingest.readers.head import Head
from beleg.ingest.readers.item import Event, Item, Origin, item
from beleg.ingest.readers.parsing import member
from beleg.ingest.readers.traces import provider
from beleg.trace.call import Call
from beleg.trace.semconv_usage import whole
from beleg.trace.usage import Reported

NAME = "codex"
_COUNTS = {
    "input": "input_tokens",
    "cache_read": "cached_input_tokens",
    "cache_write": "cache_write_input_tokens",
    "output": "output_tokens",
    "reasoning": "reasoning_output_tokens",
    "total": "total_tokens",
}
_KINDS = ("session_meta", "turn_context", "event_msg", "response_item", "compacted", "token_usage_record")
_TIERS = {"priority": "priority", "fast": "priority", "flex": "flex"}
_CALLS = ("function_call", "custom_tool_call", "local_shell_call", "web_search_call")
_UNIQUE_CHARS = 16
_FIRST = datetime.fromisoformat("2000-01-01T00:00:00Z")
_SHRUNK = 512
"""A century of times becomes ten weeks of revisions."""


def _recognises(head: Head) -> bool:
    return any(_is_line(document) for document in head.documents)


def _is_line(document: Any) -> bool:
    return member(document, "type") in _KINDS and isinstance(member(document, "payload"), dict)


def _read(reading: Reading) -> Iterator[Item]:
    return _Rollout(reading).items()


class _Rollout:
    """One file: one session, perhaps after a copy of those it was forked from."""

    def __init__(self, reading: Reading) -> None:
        self._file, self._make = reading.file, reading.make
        self._sessions = Sessions(reading.make, reading.naming)
        self._session, self._root = session_of(reading.file), ""
        self._is_fork = False
        self._spawned_by: str | None = None
        self._turn, self._has_turn_ids = "", False
        self._model: str | None = None
        self._provider: str | None = None
        self._tier: str | None = None
        self._total: Counts = {}
        self._compactions = Compactions()

    def items(self) -> Iterator[Item]:
        """An item for each line, then the session."""
        for value in self._file.lines():
            yield item(value.origin, self._events, value.content, value.origin)
        yield from self._sessions.items()

    def _events(self, line: Mapping[str, Any], origin: Origin) -> Iterator[Event]:
        kind, payload = line.get("type"), mapping(line, "payload")
        if kind == "session_meta":
            self._meta(payload)
        if kind not in _KINDS:
            return
        at = instant(line.get("timestamp"))
        run_id = self._session = self._session or _digest(line)
        self._sessions.seen(run_id, at, origin, parent=self._spawned_by, **_facts(kind, payload))
        if kind == "turn_context":
            self._model = payload.get("model") or self._model
        elif kind == "event_msg":
            yield from self._event(payload, run_id, at)
        elif kind == "response_item" and payload.get("type") in _CALLS:
            yield from self._tool(payload, run_id, at)
        elif kind in ("compacted", "token_usage_record"):
            yield from self._compaction(kind, payload, run_id, at)

    def _meta(self, meta: Mapping[str, Any]) -> None:
        """The first is the session's own, those behind it are copied from the sessions it was forked from."""
        spawned_by = member(meta, "source", "subagent", "thread_spawn", "parent_thread_id")
        parent = spawned_by or meta.get("forked_from_id")
        if not self._root:
            self._session = key(meta.get("id")) or self._session
            self._is_fork, self._spawned_by = parent is not None, key(spawned_by)
            self._provider = word(meta.get("model_provider"))
        self._root = key(parent or meta.get("id")) or self._root

    def _event(self, payload: Mapping[str, Any], run_id: str, at: str) -> Iterator[Event]:
        kind = payload.get("type")
        if kind == "task_started" and payload.get("turn_id"):
            turn, self._has_turn_ids = str(payload["turn_id"]), True
            self._turn = turn if len(turn) >= _UNIQUE_CHARS else _digest(self._root, turn)
        elif kind == "user_message" and not self._has_turn_ids:  # as before turns had ids
            self._turn = _digest(self._turn or self._root, payload.get("message"))
        elif kind == "thread_settings_applied":
            settings = mapping(payload, "thread_settings")
            self._tier = _TIERS.get(str(settings["service_tier"])) if "service_tier" in settings else self._tier
        elif kind == "token_count" and isinstance(payload.get("info"), dict):
            yield from self._count(payload["info"], run_id, at)

    def _count(self, info: Mapping[str, Any], run_id: str, at: str) -> Iterator[Event]:
        """A step for what was used since the last report; none where the sum has not moved."""
        total, last = _counts(info.get("total_token_usage")), _counts(info.get("last_token_usage"))
        before, self._total = self._total, total or self._total
        self._compactions.counted(last)
        if total and total == before:
            return
        used = last or {name: _difference(count, before.get(name)) for name, count in total.items()}
        if any(used.values()):
            identity = _digest(self._turn or self._root or run_id, sorted(total.items()), sorted(last.items()))
            yield self._make.step(
                run_id, identity, at, "model", name="assistant",
                call=self._call(info, used), revision=self._revision(at),
            )  # fmt: skip

    def _compaction(self, kind: str, payload: Mapping[str, Any], run_id: str, at: str) -> Iterator[Event]:
        """A step for the call that made a conversation shorter: its tokens stand in no sum."""
        if kind == "compacted":
            found = self._compactions.made(payload.get("compaction_response_id"))
        else:
            found = self._compactions.used(payload.get("response_id"), _counts(payload.get("usage")), at)
        if found is not None:
            call = self._call({}, found.counts)
            call.response_id = found.response_id
            yield self._make.step(
                run_id, found.response_id, found.at, "model", name="compaction", call=call,
                revision=self._revision(found.at),
            )  # fmt: skip

    def _call(self, info: Mapping[str, Any], used: Counts) -> Call:
        model = info.get("model") or self._model
        model = model if isinstance(model, str) else None
        return Call(
            provider=provider(self._provider, model),
            api="responses",
            model=model,
            service_tier=self._tier,
            reported=Reported(**used, declared="inclusive", reasoning_rule=True),
            raw_usage={field: count for name, field in _COUNTS.items() if (count := used.get(name)) is not None},
        )

    def _tool(self, payload: Mapping[str, Any], run_id: str, at: str) -> Iterator[Event]:
        step_id, name = key(payload.get("call_id")), word(payload.get("name") or payload.get("type"))
        if step_id is not None:
            yield self._make.step(run_id, step_id, at, "tool", name=name, tool_name=name, revision=self._revision(at))

    def _revision(self, at: str) -> str:
        """Of a report and its copies the one in a session of its own wins, then the first."""
        year = timedelta(days=0 if self._is_fork else 366)
        shrunk = (datetime.fromisoformat(at) - _FIRST) / _SHRUNK
        return instant(_FIRST + year + timedelta(days=100) - shrunk)


def _counts(usage: Any) -> Counts:
    if not isinstance(usage, dict):
        return {}
    return {name: whole(usage.get(field)) for name, field in _COUNTS.items()}


def _difference(count: int | None, before: int | None) -> int | None:
    """What a sum grew by; all of it where it began anew."""
    return count if count is None or before is None or before > count else count - before


def _facts(kind: Any, payload: Mapping[str, Any]) -> dict[str, Any]:
    if kind not in ("session_meta", "turn_context"):
        return {}
    return {
        "project": word(project(payload.get("cwd"))),
        "release": payload.get("cli_version"),
        "metadata__originator": payload.get("originator"),
        "metadata__git.branch": member(payload, "git", "branch"),
    }


def _digest(*parts: Any) -> str:
    return hashlib.sha256(repr(parts).encode("utf-8", "backslashreplace")).hexdigest()[:32]


FORMATS = (
    Format(
        name=NAME,
        title="Codex",
        files="session logs below ~/.codex/sessions and archived_sessions; lines of JSON",
        yields="a run for each session under its project, its calls with all tokens, its tools by name",
        cannot_know="when a session is over; latency of calls; whether a tool failed; sessions before token counts",
        recognises=_recognises,
        read=_read,
    ),
)
