"""Claude Code: its session logs, `~/.claude/projects/**/*.jsonl`."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from beleg.ingest.readers.agents.claude_lines import blocks, digest, facts, identity_of, priced
from beleg.ingest.readers.agents.session import Sessions, growing, mapping, session_of
from beleg.ingest.readers.events import WEAK, instant, key, milliseconds, word
from beleg.ingest.readers.formats import Format, Reading
from beleg.ingest.readers.head import Head
from beleg.ingest.readers.item import Event, Item, Origin, item
from beleg.ingest.readers.parsing import member
from beleg.trace.call import Call
from beleg.trace.usage_read import read_calls

NAME = "claude-code"
_SYNTHETIC = "<synthetic>"
"""Model of messages that Claude Code writes itself: no call was made."""
_TALK = ("user", "assistant")
_BESIDE = ("summary", "file-history-snapshot")
_OF_OTHERS = frozenset({"id", "traceId", "projectHash", "usageMetadata"})
"""Keys that lines of other formats with a `sessionId` have."""
_DOCUMENTS = (("loglines.item.message.role",), ("entries.item.sessionId", "entries.item.fullPath"), ("agentType",))
"""Keys of an exported session, and of a folder's index and a sub-agent's notes, which tell nothing."""


def _recognises(head: Head) -> bool:
    return any(map(_is_line, head.documents)) or any(head.has(*paths) for paths in _DOCUMENTS)


def _is_line(document: Any) -> bool:
    """True for a line that tells something, and for one of those that stand beside them or in files of their own."""
    if not isinstance(document, dict) or not isinstance(document.get("type") or document.get("message"), str | dict):
        return False
    if not _OF_OTHERS.isdisjoint(document):
        return False
    return "sessionId" in document or document.get("type") in _BESIDE


def _read(reading: Reading) -> Iterator[Item]:
    return _Log(reading).items()


@dataclass(frozen=True)
class _Tool:
    """A call of a tool whose result has not been seen yet."""

    run_id: str
    at: str
    name: str | None
    origin: Origin


@dataclass(frozen=True)
class _Answer:
    """What a line tells of a call."""

    identity: str
    revision: str
    run_id: str
    at: str
    name: str
    calls: tuple[Call, ...]
    """The call itself, then those of advisors within it."""
    origin: Origin


class _Log:
    """One file: lines of any number of sessions."""

    def __init__(self, reading: Reading) -> None:
        self._file, self._make = reading.file, reading.make
        self._sessions = Sessions(reading.make, reading.naming)
        self._session = session_of(reading.file)
        self._tools: dict[str, _Tool] = {}
        self._held: _Answer | None = None

    def items(self) -> Iterator[Item]:
        """An item for each line, then the sessions they tell of."""
        for value in self._file.values("", "loglines.item"):
            held, told = self._held, item(value.origin, self._events, value.content, value.origin)
            is_new = self._held is not held
            if held is not None and is_new:
                yield self._told(held, by=self._held)
            if told.events or told.refusal is not None or not is_new:
                yield told
        if self._held is not None:
            yield self._told(self._held)
        for step_id, tool in self._tools.items():
            yield item(tool.origin, lambda *given: [self._tool(*given)], step_id, tool, None, None)
        yield from self._sessions.items()

    def _events(self, line: Mapping[str, Any], origin: Origin) -> Iterator[Event]:
        kind = line.get("type") or member(line, "message", "role")
        if kind not in _TALK or "timestamp" not in line:
            return
        at, run_id = instant(line["timestamp"]), self._run(line)
        self._sessions.seen(run_id, at, origin, **facts(line))
        if kind == "assistant":
            self._answer(line, run_id, at, origin)
        yield from self._results(line, at)

    def _run(self, line: Mapping[str, Any]) -> str:
        """The session of a line: its own, that of the file's name, else one for the file."""
        own = key(line.get("sessionId"))
        usual = self._session or own or digest(line["timestamp"], line.get("message"))
        self._session = usual
        return key(member(line, "forkedFrom", "sessionId")) or own or usual

    def _answer(self, line: Mapping[str, Any], run_id: str, at: str, origin: Origin) -> None:
        """Hold the answer until the next one begins: the lines of one follow each other, the last tells all."""
        message = mapping(line, "message")
        if message.get("model") == _SYNTHETIC or line.get("isApiErrorMessage"):
            return
        main, *advisors = read_calls(message, "messages")
        copied = line.get("isSidechain") is True
        revision = growing(main.reported, run_id, at, copied=copied)
        identity = identity_of(line, message, run_id)
        if self._held is None or self._held.identity != identity or self._held.revision <= revision:
            calls = (priced(main, line, message), *advisors)
            self._held = _Answer(identity, revision, run_id, at, "subagent" if copied else "assistant", calls, origin)
        for block in blocks(message, "tool_use"):
            step_id = key(block.get("id"))
            if step_id is not None:
                self._tools[step_id] = _Tool(run_id, at, word(block.get("name")), origin._replace(line=None))

    def _told(self, answer: _Answer, by: _Answer | None = None) -> Item:
        """The item of an answer; an empty one where the next line told the same call better."""
        if by is not None and by.identity == answer.identity:
            return Item(answer.origin)
        return item(answer.origin, self._steps, answer)

    def _steps(self, answer: _Answer) -> Iterator[Event]:
        for number, call in enumerate(answer.calls):
            step_id = f"{answer.identity}.advisor-{number}" if number else answer.identity
            yield self._make.step(
                answer.run_id, step_id, answer.at, "model", name="advisor" if number else answer.name, call=call,
                revision=answer.revision,
            )  # fmt: skip

    def _results(self, line: Mapping[str, Any], at: str) -> Iterator[Event]:
        """A step for each tool whose result stands in the line."""
        for block in blocks(mapping(line, "message"), "tool_result"):
            step_id = key(block.get("tool_use_id"))
            tool = None if step_id is None else self._tools.pop(step_id, None)
            if step_id is not None and tool is not None:
                yield self._tool(step_id, tool, at, block.get("is_error"))

    def _tool(self, step_id: str, tool: _Tool, ended: str | None, failed: Any) -> Event:
        """The step of a tool's call; one whose result is not in the file yields to any that knows it."""
        return self._make.step(
            tool.run_id, step_id, tool.at, "tool", "failed" if failed is True else "succeeded",
            name=tool.name, tool_name=tool.name,
            latency_ms=None if ended is None else milliseconds(tool.at, ended), revision=ended or WEAK,
        )  # fmt: skip


FORMATS = (
    Format(
        name=NAME,
        title="Claude Code",
        files="session logs below ~/.claude/projects; lines of JSON",
        yields="a run for each session under its project, its calls with all tokens, its tools",
        cannot_know="when a session is over; latency of calls; calls that failed; whether a subscription paid them",
        recognises=_recognises,
        read=_read,
    ),
)
