"""τ-bench: trajectories of tool-calling agents, each with its reward."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson

from beleg.ingest.readers.events import Maker, Status, instant
from beleg.ingest.readers.formats import Format, Reading
from beleg.ingest.readers.head import Head
from beleg.ingest.readers.item import Event, Item, each
from beleg.ingest.readers.naming import Naming
from beleg.ingest.readers.parsing import member
from beleg.ingest.readers.traces import Told, source_cost
from beleg.trace.call import Call

_SOLVED = 1
_TICK = timedelta(microseconds=1)
"""The messages have no times; this keeps their order."""


def _recognises(head: Head) -> bool:
    return head.keys >= {"item.task_id", "item.trial", "item.reward", "item.traj"}


def _read(reading: Reading) -> Iterator[Item]:
    written = datetime.fromtimestamp(reading.file.path.stat().st_mtime, UTC)
    return each(reading.file.values("item"), _Trajectories(reading.make, reading.naming, written).events)


@dataclass(frozen=True)
class _Trajectories:
    """Makes the events of one file's trajectories."""

    make: Maker
    naming: Naming
    written: datetime
    """When the file was last written, which is the only time there is."""

    def events(self, trial: Mapping[str, Any]) -> Iterator[Event]:
        """A run with a step for each answer, each tool call, and the user whom a model plays."""
        run_id = hashlib.sha256(orjson.dumps(trial, option=orjson.OPT_SORT_KEYS)).hexdigest()[:32]
        task, reward, messages = trial["task_id"], trial["reward"], trial["traj"]
        named = self.naming.name({"format": "tau-bench", "metadata.task_id": task, "metadata.trial": trial["trial"]})
        named = replace(named, purpose="eval") if named.purpose == "production" else named
        yield self.make.run_started(
            run_id, self._at(0), named, input_ref=f"tau-bench/{task}", input=messages[0] if messages else None
        )
        for number, message in enumerate(messages):
            yield from self._step(run_id, number, message, messages)
        yield from self._user(run_id, member(trial, "info", "user_cost"))
        status: Status = "succeeded" if reward == _SOLVED else "failed"
        yield from Told(run_id, self._at(0), self._at(len(messages)), named).finish(self.make, status, None)

    def _step(self, run_id: str, number: int, message: Mapping[str, Any], all_: Sequence[Any]) -> Iterator[Event]:
        identity, at = f"{run_id}-{number}", self._at(number)
        if message["role"] == "assistant":
            yield self.make.step(run_id, identity, at, "model", name="assistant", call=Call(), output=message)
        elif message["role"] == "tool":
            asked = member(all_[number - 1], "tool_calls", 0, "function", "arguments") if number else None
            failed = str(message.get("content")).startswith("Error")
            yield self.make.step(
                run_id, identity, at, "tool", "failed" if failed else "succeeded", name=message.get("name"),
                tool_name=message.get("name"), input=asked, output=message.get("content"),
            )  # fmt: skip

    def _user(self, run_id: str, usd: Any) -> Iterator[Event]:
        """The model that plays the user: the benchmark knows what it cost, in one sum, and nothing else of it."""
        cost = source_cost(usd, {})
        if cost:
            call = Call(raw_usage=cost)
            yield self.make.step(run_id, f"{run_id}-user", self._at(0), "model", name="simulated-user", call=call)

    def _at(self, number: int) -> str:
        return instant(self.written + number * _TICK)


FORMATS = (
    Format(
        name="tau-bench",
        title="τ-bench",
        files="lists of trajectories; JSON",
        yields="a run for each trial, solved or not, its answers and tool calls, and what the simulated user cost",
        cannot_know="tokens, models and times: calls are unpriced, and all of a file happen when it was last written",
        recognises=_recognises,
        read=_read,
    ),
)
