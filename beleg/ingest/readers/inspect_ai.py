"""Inspect: eval logs, as JSON and as the zip archives named `.eval`."""

import zipfile
import zlib
from collections.abc import Iterator, Mapping
from typing import Any

from beleg.ingest.limits import Limits
from beleg.ingest.readers.files import LINE_BYTES
from beleg.ingest.readers.formats import Format, Reading
from beleg.ingest.readers.head import Head
from beleg.ingest.readers.inspect_samples import Log, Sample
from beleg.ingest.readers.item import Item, Origin, item
from beleg.ingest.readers.parsing import UNREADABLE, loads
from beleg.ingest.reasons import refuse

_HEADERS = ("header.json", "_journal/start.json")
"""Members of an archive that say what was run: of a finished log, of one that is still being written."""
_ARCHIVE_FAULTS = (zipfile.BadZipFile, zlib.error, OSError, EOFError, NotImplementedError, RuntimeError, ValueError)


def _recognises(head: Head) -> bool:
    if not head.members.isdisjoint(_HEADERS):
        return True
    return head.keys >= {"eval.task", "eval.task_id", "eval.run_id", "version"}


def _read(reading: Reading) -> Iterator[Item]:
    with reading.file.path.open("rb") as file:
        is_archive = file.read(4) == b"PK\x03\x04"
    return _archive(reading) if is_archive else _document(reading)


def _document(reading: Reading) -> Iterator[Item]:
    log: Log | None = None
    for origin, content, _ in reading.file.values("eval", "samples.item"):
        if _is_eval(content):
            log = Log(content, reading.make, reading.naming)
        elif log is None:
            yield Item(origin, refusal=refuse("unreadable_item", "a sample before the eval it belongs to"))
        else:
            yield from _sample(origin, log, content)


def _is_eval(content: Any) -> bool:
    return isinstance(content, Mapping) and "task_id" in content and "epoch" not in content


def _archive(reading: Reading) -> Iterator[Item]:
    try:
        with zipfile.ZipFile(reading.file.path) as archive:
            yield from _members(reading, archive)
    except _ARCHIVE_FAULTS:
        reading.file.refuse("damaged_archive")


def _members(reading: Reading, archive: zipfile.ZipFile) -> Iterator[Item]:
    names = archive.namelist()
    header = next((name for name in _HEADERS if name in names), None)
    found = None if header is None else _json(archive, header)
    if not isinstance(found, dict) or not _is_eval(found.get("eval")):
        reading.file.refuse("unsupported_file", "an archive without the header of an eval log")
        return
    log = Log(found["eval"], reading.make, reading.naming)
    left = Limits().inflated_limit(reading.file.source.size)
    for number, name in enumerate(sorted(n for n in names if n.startswith("samples/") and n.endswith(".json")), 1):
        left -= archive.getinfo(name).file_size
        if left < 0:
            reading.file.refuse("decompression_bomb")
            return
        yield from _of_member(reading, archive, log, name=name, number=number)


def _of_member(reading: Reading, archive: zipfile.ZipFile, log: Log, *, name: str, number: int) -> Iterator[Item]:
    origin = Origin(archive.getinfo(name).header_offset, number)
    try:
        content = _json(archive, name)
    except _ARCHIVE_FAULTS:
        reading.file.refuse("damaged_archive", "a sample cannot be decompressed", origin)
        return
    if content is None:
        reading.file.refuse("document_too_large", f"a sample of more than {LINE_BYTES} bytes", origin)
    elif content is UNREADABLE:
        reading.file.refuse("not_json", origin=origin)
    else:
        yield from _sample(origin._replace(value=content), log, content)


def _json(archive: zipfile.ZipFile, name: str) -> Any:
    """The JSON of a member; None for one that is too large, whatever size the archive claims."""
    with archive.open(name) as member:
        data = member.read(LINE_BYTES + 1)
    return None if len(data) > LINE_BYTES else loads(data)


def _sample(origin: Origin, log: Log, content: Any) -> Iterator[Item]:
    """An item for the run that a sample is, and one for each of its calls."""
    started: list[Sample] = []

    def run() -> Any:
        sample = Sample(log, content)
        started.append(sample)
        return sample.run()

    yield item(origin, run)
    for sample in started:
        for number, part in enumerate(sample.parts(), 1):
            yield item(Origin(origin.byte_offset, number, None, part.event), sample.step, part)


FORMATS = (
    Format(
        name="inspect",
        title="Inspect",
        files="eval logs: .eval archives and .json",
        yields="a run of purpose eval for each sample and epoch, its model and tool calls with tokens and latency",
        cannot_know="which of several cache writes lives how long; calls of a log written without its events, but for "
        "their sums",
        recognises=_recognises,
        read=_read,
        suffixes=(".eval",),
    ),
)
