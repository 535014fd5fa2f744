"""GitHub Copilot CLI: events of its sessions, `~/.copilot/session-state/*/events.jsonl`.

Tokens stand in the events that close a session's process alone, summed up by model since the process began.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from beleg.ingest.readers.agents.session import Sessions, known_key, mapping, project, session_of
from beleg.ingest.readers.events import instant, key, milliseconds, word
from beleg.ingest.readers.formats import Format, Reading
from beleg.ingest.readers.head import Head
from beleg.ingest.readers.item import Event, Item, Origin, item
from beleg.ingest.readers.parsing import member
from beleg.trace.call import Call
from beleg.trace.semconv_usage import whole
from beleg.trace.usage import Reported
from beleg.trace.usage_provider import provider_of

NAME = "copilot-cli"
_COUNTS = {
    "input": "inputTokens",
    "output": "outputTokens",
    "cache_read": "cacheReadTokens",
    "cache_write": "cacheWriteTokens",
    "reasoning": "reasoningTokens",
}
_PICO_USD_PER_NANO_AIU = 10
"""One AIU is a credit of 0.01 USD."""
_CONTEXT = ("-1m-internal", "-1m", "-internal")
"""Ends of a model's name that speak of its context window, not of another price."""

Counts = dict[str, Any]


def _recognises(head: Head) -> bool:
    return any(_is_line(document) for document in head.documents)


def _is_line(document: Any) -> bool:
    kind = member(document, "type")
    return isinstance(kind, str) and kind.startswith("session.") and isinstance(member(document, "data"), dict)


def _read(reading: Reading) -> Iterator[Item]:
    return _Session(reading).items()


class _Session:
    """The events of one session."""

    def __init__(self, reading: Reading) -> None:
        self._file, self._make = reading.file, reading.make
        self._sessions = Sessions(reading.make, reading.naming)
        # The file is always called events.jsonl; its folder has the session's id.
        self._session = session_of(reading.file) or key(reading.file.path.parent.name)
        self._before: dict[str, Counts] = {}
        self._tools: dict[str, tuple[str, str | None]] = {}

    def items(self) -> Iterator[Item]:
        """An item for each event, then the session."""
        for value in self._file.lines():
            yield item(value.origin, self._events, value.content, value.origin)
        yield from self._sessions.items()

    def _events(self, event: Mapping[str, Any], origin: Origin) -> Iterator[Event]:
        kind, data = event.get("type"), mapping(event, "data")
        if not isinstance(kind, str) or "timestamp" not in event:
            return
        if kind in ("session.start", "session.resume"):
            self._session = key(data.get("sessionId")) or self._session
        at, run_id = instant(event["timestamp"]), self._session or "session"
        self._sessions.seen(run_id, at, origin, **_facts(data))
        if kind == "session.shutdown":
            yield from self._used(mapping(data, "modelMetrics"), known_key(event.get("id")) or at, run_id, at)
        elif kind == "tool.execution_start":
            self._tools[str(data.get("toolCallId"))] = at, word(data.get("toolName"))
        elif kind == "tool.execution_complete":
            yield from self._tool(data, run_id, at)

    def _used(self, metrics: Mapping[str, Any], identity: str, run_id: str, at: str) -> Iterator[Event]:
        """A step for each model, with what it used since the process before closed."""
        for model, metric in metrics.items():
            total = _counts(metric)
            used = _since(total, self._before.get(model, {}))
            self._before[model] = total
            if any(used.values()):
                step_id = known_key(run_id, identity, model) or identity
                yield self._make.step(run_id, step_id, at, "model", name="process", call=_call(model, used))

    def _tool(self, data: Mapping[str, Any], run_id: str, at: str) -> Iterator[Event]:
        step_id = key(data.get("toolCallId"))
        begun, name = self._tools.pop(str(data.get("toolCallId")), (at, None))
        if step_id is not None:
            yield self._make.step(
                run_id, step_id, begun, "tool", "failed" if data.get("success") is False else "succeeded",
                name=name, tool_name=name, latency_ms=milliseconds(begun, at),
            )  # fmt: skip


def _counts(metric: Any) -> Counts:
    found = {name: whole(member(metric, "usage", field)) for name, field in _COUNTS.items()}
    found |= {"requests": whole(member(metric, "requests", "count")), "nano_aiu": whole(member(metric, "totalNanoAiu"))}
    return {name: count for name, count in found.items() if count is not None}


def _since(total: Counts, before: Counts) -> Counts:
    """What the sums grew by; all of them where one is smaller than before, since they began anew."""
    if any(count < before.get(name, 0) for name, count in total.items()):
        return total
    return {name: count - before.get(name, 0) for name, count in total.items()}


def _call(model: str, used: Counts) -> Call:
    counts: Counts = {name: used.get(name) for name in _COUNTS}
    raw = {field: used[name] for name, field in _COUNTS.items() if name in used}
    raw |= {name: used[name] for name in ("requests", "nano_aiu") if name in used}
    if "nano_aiu" in used:
        raw["source_cost_pico_usd"] = used["nano_aiu"] * _PICO_USD_PER_NANO_AIU
    for end in _CONTEXT:
        model = model.removesuffix(end)
    return Call(
        provider=provider_of({}, {}, None, model),
        model=model,
        reported=Reported(**counts, declared="inclusive", reasoning_inside=True),
        raw_usage=raw,
    )


def _facts(data: Mapping[str, Any]) -> dict[str, Any]:
    cwd = member(data, "context", "gitRoot") or member(data, "context", "cwd")
    return {
        "project": word(project(cwd)),
        "release": data.get("copilotVersion"),
        "metadata__repository": member(data, "context", "repository"),
    }


FORMATS = (
    Format(
        name=NAME,
        title="GitHub Copilot CLI",
        files="events below ~/.copilot/session-state; lines of JSON",
        yields="a run for each session, its tokens by model each time it is closed, its tools with status and latency",
        cannot_know="single calls; tokens of a session that was never closed; what GitHub billed for its credits",
        recognises=_recognises,
        read=_read,
    ),
)
