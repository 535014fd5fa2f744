"""Gemini CLI: its recorded chats, `~/.gemini/tmp/*/chats/session-*.json` and `.jsonl`."""

from collections.abc import Iterator, Mapping
from typing import Any

from beleg.ingest.readers.agents.session import Sessions, growing, known_key, project, session_of
from beleg.ingest.readers.events import Status, instant, key, word
from beleg.ingest.readers.formats import Format, Reading
from beleg.ingest.readers.head import Head
from beleg.ingest.readers.item import Event, Item, Origin, Value, item
from beleg.ingest.readers.parsing import member
from beleg.ingest.reasons import Refused, refuse
from beleg.trace.call import Call
from beleg.trace.semconv_usage import whole
from beleg.trace.usage import Reported
from beleg.trace.usage_shapes import add

NAME = "gemini-cli"
_STATUS: dict[str, Status] = {"error": "failed", "cancelled": "cancelled"}
_COUNTS = ("input", "output", "cached", "thoughts", "tool", "total")


def _recognises(head: Head) -> bool:
    if head.has("item.sessionId", "item.messageId", "item.message"):
        return True  # the prompts of a project, logs.json: they lie beside its chats and tell nothing of calls
    return head.has("sessionId", "projectHash") and ("messages" in head.keys or "startTime" in head.keys)


def _read(reading: Reading) -> Iterator[Item]:
    return _Chat(reading).items()


class _Chat:
    """One chat, as one document or as the lines it was written in."""

    def __init__(self, reading: Reading) -> None:
        self._file, self._make = reading.file, reading.make
        self._sessions = Sessions(reading.make, reading.naming)
        self._session = session_of(reading.file)
        self._facts: dict[str, Any] = {}

    def items(self) -> Iterator[Item]:
        """An item for each message, then the session."""
        for value in self._messages():
            yield item(value.origin, self._events, value.content, value.origin)
        yield from self._sessions.items()

    def _messages(self) -> Iterator[Value]:
        for value in self._file.values(""):
            record = value.content
            if member(record, "sessionId") is not None:
                self._begin(record)
            listed = record if isinstance(record, list) else member(record, "messages")
            if not isinstance(listed, list):
                yield value
                continue
            for number, message in enumerate(listed, 1):
                yield Value(Origin(value.origin.byte_offset, number, None, message), message)

    def _begin(self, record: Mapping[str, Any]) -> None:
        self._session = key(record["sessionId"]) or self._session
        folders, digest = record.get("directories"), record.get("projectHash")
        named = project(folders[0]) if isinstance(folders, list) and folders else None
        # The hash of a folder's path tells projects apart where the path itself is not written.
        hashed = digest[:12] if isinstance(digest, str) else None
        self._facts = {"project": word(named) or word(hashed), "metadata__kind": record.get("kind")}

    def _events(self, message: Mapping[str, Any], origin: Origin) -> Iterator[Event]:
        if message.get("type") is None or message.get("id") is None:
            return
        at, run_id = instant(message.get("timestamp")), self._session
        if run_id is None:
            raise Refused(refuse("no_id"))
        self._sessions.seen(run_id, at, origin, **self._facts)
        if message["type"] != "gemini":
            return
        if isinstance(message.get("tokens"), dict):
            call = _call(message, message["tokens"])
            identity = known_key(message["id"]) or run_id
            yield self._make.step(
                run_id, identity, at, "model", name="assistant", call=call, revision=growing(call.reported, run_id, at)
            )
        for tool in message.get("toolCalls") or ():
            yield from self._tool(tool, run_id, at)

    def _tool(self, tool: Mapping[str, Any], run_id: str, at: str) -> Iterator[Event]:
        step_id, name = key(tool.get("id")), word(tool.get("name"))
        if step_id is not None:
            status = _STATUS.get(str(tool.get("status")), "succeeded")
            yield self._make.step(run_id, step_id, at, "tool", status, name=name, tool_name=name)


def _call(message: Mapping[str, Any], tokens: Mapping[str, Any]) -> Call:
    """Its counts are Gemini's own: cached ones inside the input, thoughts beside the output, tool use beside both."""
    counts = {name: whole(tokens.get(name)) for name in _COUNTS}
    model = message.get("model")
    return Call(
        provider="google",
        api="generate_content",
        model=model if isinstance(model, str) else None,
        reported=Reported(
            input=add(counts["input"], counts["tool"]),
            cache_read=counts["cached"],
            output=counts["output"],
            reasoning=counts["thoughts"],
            total=counts["total"],
            declared="inclusive",
            reasoning_inside=False,
        ),
        raw_usage={name: count for name, count in counts.items() if count is not None},
    )


FORMATS = (
    Format(
        name=NAME,
        title="Gemini CLI",
        files="chats below ~/.gemini/tmp; JSON or lines",
        yields="a run for each chat, its calls with cached tokens and thoughts, its tools with status",
        cannot_know="when a chat is over; latency of calls; in older chats the project, of which a hash is known",
        recognises=_recognises,
        read=_read,
    ),
)
