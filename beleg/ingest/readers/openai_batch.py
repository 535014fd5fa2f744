"""OpenAI's batch files: one answer a line, in any order, told apart by the caller's `custom_id`."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from beleg.ingest.readers.events import Maker, instant, key
from beleg.ingest.readers.formats import Format, Reading
from beleg.ingest.readers.head import Head
from beleg.ingest.readers.item import Event, Item, each
from beleg.ingest.readers.naming import Naming
from beleg.ingest.readers.parsing import member
from beleg.ingest.readers.traces import Told
from beleg.ingest.reasons import Refused, refuse
from beleg.trace.usage_read import read_call

_OK = 200


def _recognises(head: Head) -> bool:
    return "custom_id" in head.keys and not head.keys.isdisjoint({"response", "error", "method"})


def _read(reading: Reading) -> Iterator[Item]:
    written = instant(reading.file.path.stat().st_mtime, "s")
    return each(reading.file.lines(), _Lines(reading.make, reading.naming, written).events)


@dataclass(frozen=True)
class _Lines:
    """Makes the events of one file's lines."""

    make: Maker
    naming: Naming
    written: str
    """When the file was last written: the time of requests whose answer holds none, as failed ones."""

    def events(self, line: Mapping[str, Any]) -> Iterator[Event]:
        """A run with one call; nothing for a line of the input file, which has no answer yet."""
        if "method" in line and "response" not in line:
            return
        run_id = key(line["id"])
        if run_id is None:
            raise Refused(refuse("no_id"))
        answer = member(line, "response", "body")
        created = member(answer, "created") or member(answer, "created_at")
        at = self.written if created is None else instant(created, "s")
        failed = line.get("error") is not None or member(line, "response", "status_code") != _OK
        named = self.naming.name({"format": "openai-batch", "metadata.custom_id": line.get("custom_id")})
        call = read_call(answer)
        call.batch = True
        run = Told(run_id, at, at, named)
        yield self.make.run_started(run_id, at, named, input_ref=line.get("custom_id"))
        yield self.make.step(
            run_id, f"{run_id}-call", at, "model", "failed" if failed else "succeeded", call=call,
            output=None if failed else member(answer, "choices") or member(answer, "output"),
            exception_class=member(line, "error", "code") or member(answer, "error", "type"),
        )  # fmt: skip
        yield from run.finish(self.make, "failed" if failed else "succeeded", None)


FORMATS = (
    Format(
        name="openai-batch",
        title="OpenAI batch",
        files="output and error files of a batch; lines",
        yields="a run and its call for each answer, with tokens, at batch prices; custom_id as input_ref",
        cannot_know="latency; the time of a failed request, which is taken from the file's own; which batch it was",
        recognises=_recognises,
        read=_read,
    ),
)
