"""Claude Agent SDK and `claude -p`: the messages of a session as a stream, a list or its last one alone.

An answer repeats its usage with every block, and its output count is that of the stream's beginning. What is
right stands in the result alone: the tokens of all calls of a query, by model.
"""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from beleg.ingest.readers.agents.session import Sessions, known_key, mapping, project
from beleg.ingest.readers.events import Status, instant, key, word
from beleg.ingest.readers.formats import Format, Reading
from beleg.ingest.readers.head import Head
from beleg.ingest.readers.item import Event, Item, Origin, Value, item
from beleg.ingest.readers.parsing import member
from beleg.ingest.readers.traces import source_cost
from beleg.trace.call import Call
from beleg.trace.semconv_usage import whole
from beleg.trace.usage import Reported
from beleg.trace.usage_provider import provider_of
from beleg.trace.usage_read import read_call

NAME = "claude-agent-sdk"
_PREFIXES = ("", "item.", "messages.item.message.")
_TOKENS = {
    "input": "inputTokens",
    "output": "outputTokens",
    "cache_read": "cacheReadInputTokens",
    "cache_write": "cacheCreationInputTokens",
}


def _recognises(head: Head) -> bool:
    return any(head.has(f"{p}type", f"{p}session_id") and _is_told(head, p) for p in _PREFIXES)


def _is_told(head: Head, prefix: str) -> bool:
    return any(f"{prefix}{name}" in head.keys for name in ("total_cost_usd", "apiKeySource", "parent_tool_use_id"))


def _read(reading: Reading) -> Iterator[Item]:
    return _Stream(reading).items()


class _Stream:
    """The messages of one file."""

    def __init__(self, reading: Reading) -> None:
        self._file, self._make = reading.file, reading.make
        self._sessions = Sessions(reading.make, reading.naming)
        self._written = datetime.fromtimestamp(reading.file.path.stat().st_mtime, UTC)
        """When the file was last written: most messages have no time of their own."""
        self._told: set[str] = set()
        self._untold: dict[str, tuple[str, str, Origin]] = {}

    def items(self) -> Iterator[Item]:
        """An item for each message, then calls that no result told of, then the sessions."""
        for value in self._values():
            is_wrapped = member(value.content, "direction") is not None
            message = member(value.content, "message") if is_wrapped else value.content
            yield item(value.origin, self._events, message, value.origin)
        for identity, (run_id, at, origin) in self._untold.items():
            if run_id not in self._told:
                yield item(origin, self._lost, identity, run_id, at)
        yield from self._sessions.items()

    def _values(self) -> Iterator[Value]:
        for value in self._file.values(""):
            found = value.content
            listed = found.get("messages") if isinstance(found, dict) else found
            if not isinstance(listed, list):
                yield value
                continue
            for number, inner in enumerate(listed, 1):
                if isinstance(inner, dict):
                    yield Value(Origin(value.origin.byte_offset, number, None, inner), inner)

    def _events(self, message: Mapping[str, Any], origin: Origin) -> Iterator[Event]:
        run_id = key(message.get("session_id"))
        if run_id is None or run_id == "default":  # what the caller sends before the session has its id
            return
        at = instant(message.get("timestamp") or self._written)
        facts = {"project": word(project(message.get("cwd"))), "release": message.get("claude_code_version")}
        self._sessions.seen(run_id, at, origin, **facts)
        if message.get("type") == "result":
            self._told.add(run_id)
            yield from self._result(message, run_id, at)
        elif message.get("type") == "assistant" and member(message, "message", "usage") is not None:
            identity = known_key(member(message, "message", "id"), message.get("parent_tool_use_id"))
            self._untold[identity or f"{run_id}-{origin.number}"] = (run_id, at, origin._replace(line=None))

    def _result(self, result: Mapping[str, Any], run_id: str, at: str) -> Iterator[Event]:
        """A step for each model of the query; Anthropic's API does not tell how many calls they were."""
        identity = known_key(result.get("uuid")) or f"{run_id}-result-{result.get('num_turns')}"
        status: Status = "failed" if result.get("is_error") is True else "succeeded"
        calls = list(_calls(result))
        for call in calls:
            step_id = identity if len(calls) == 1 else known_key(identity, call.model) or identity
            yield self._make.step(run_id, step_id, at, "model", status, name="query", call=call)

    def _lost(self, identity: str, run_id: str, at: str) -> Iterator[Event]:
        """A call of a stream that broke off before its result: its tokens are not known."""
        yield self._make.step(run_id, identity, at, "model", name="query", call=Call())


def _calls(result: Mapping[str, Any]) -> Iterator[Call]:
    """What was used, by model; with a single model its writes to the cache by lifetime as well."""
    models = {model: used for model, used in mapping(result, "modelUsage").items() if isinstance(used, dict)}
    if len(models) > 1:
        yield from (_of_model(model, used) for model, used in models.items())
        return
    usage = {name: count for name, count in mapping(result, "usage").items() if name != "iterations"}
    model = next(iter(models), None)
    call = read_call({"model": model, "usage": usage})
    call.raw_usage = {**call.raw_usage, **source_cost(result.get("total_cost_usd"), call.raw_usage)}
    yield call if model is None or call.reported.output is not None else _of_model(model, models[model])


def _of_model(model: str, used: Mapping[str, Any]) -> Call:
    counts: dict[str, Any] = {name: whole(used.get(field)) for name, field in _TOKENS.items()}
    raw = {field: count for name, field in _TOKENS.items() if (count := counts[name]) is not None}
    searches = whole(used.get("webSearchRequests"))
    return Call(
        provider=provider_of({}, {}, None, model) or "anthropic",
        api="messages",
        model=model,
        reported=Reported(**counts, declared="exclusive", reasoning_inside=True),
        raw_usage={**raw, **source_cost(used.get("costUSD"), raw)},
        other_units={"web_searches": searches} if searches else {},
    )


FORMATS = (
    Format(
        name=NAME,
        title="Claude Agent SDK",
        files="messages of the SDK or of `claude -p --output-format json` or `stream-json`; JSON or lines",
        yields="a run for each session, the tokens of each query by model, with writes to the cache by lifetime",
        cannot_know="single calls and when they were: a query has the time at which its file was last written",
        recognises=_recognises,
        read=_read,
    ),
)
