"""One share of the work: judge a range of one file, write its good lines, note its bad ones."""

import hashlib
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from io import FileIO
from pathlib import Path
from typing import BinaryIO, NamedTuple

import orjson

from beleg.ingest.inflate import Inflater
from beleg.ingest.judge import Judge
from beleg.ingest.limits import Limits
from beleg.ingest.lines import Block, LongLine, Read, Tail, blocks
from beleg.ingest.reasons import Refusal, refuse
from beleg.ingest.sources import digest_at

QUARANTINE = "_quarantine"
"""Folder of the refused lines, beside the folders named after events."""


@dataclass(frozen=True)
class Range:
    """Lines of one file from byte `start` to `end`; a compressed file is one range. Plain data only."""

    index: int
    """Number of the range within the ingest."""
    path: str
    container: str
    inode: int
    device: int
    start: int
    end: int
    size: int
    digest: str
    """Of the file at that size, as it was when it was found."""
    growing: bool
    resumable: bool


@dataclass(frozen=True)
class Batch:
    """Ranges that one worker judges in a row into the same staged files.

    Small files share them: DuckDB takes milliseconds to open each. Plain data only.
    """

    index: int
    """Number of the batch within the ingest; its staged files carry it in their names."""
    folder: str
    """Where the staged files go."""
    ranges: list[Range]


@dataclass
class Judged:
    """What came out of a range. read = accepted + quarantined + pending; blank lines stand beside it."""

    index: int
    accepted: dict[str, int] = field(default_factory=dict)
    """Event → lines accepted."""
    quarantined: int = 0
    pending: int = 0
    blank: int = 0
    lines: int = 0
    """Physical lines, an unterminated one included unless it is pending."""
    end: int = 0
    """Offset behind the last line that was judged."""
    digest: str = ""
    """Of a resumable file: what tells it from another one, see `sources.digest_at`."""
    missing: bool = False
    """True where the file was gone or replaced, so that nothing was read."""


class Place(NamedTuple):
    """Where a line stands and what tells it: all that the quarantine keeps of it."""

    byte_offset: int
    line_number: int
    length: int | None
    """None where it is no line: a row of a Parquet table, the rest of a file that cannot be read."""
    line_sha256: str


class Sink:
    """The staged files of one batch, each opened when its first line comes."""

    def __init__(self, folder: Path, index: int, stack: ExitStack) -> None:
        self._folder, self._index, self._stack = folder, index, stack
        self._files: dict[str, BinaryIO] = {}

    def write(self, name: str, lines: list[bytes]) -> None:
        """Append lines to the staged file of an event."""
        if name not in self._files:
            path = staged_path(self._folder, name, self._index)
            path.parent.mkdir(parents=True, exist_ok=True)
            self._files[name] = self._stack.enter_context(path.open("wb"))
        self._files[name].write(b"\n".join([*lines, b""]))

    def refuse(self, part: int, place: Place, refusal: Refusal) -> None:
        """Note a refused line; `part` is the number of its range."""
        self.write(QUARANTINE, [orjson.dumps({"part": part} | place._asdict() | refusal._asdict())])


def staged_path(folder: Path, name: str, index: int) -> Path:
    """The staged file of an event (or of the refused lines) of one batch."""
    return folder / name / f"{index:06d}.jsonl"


@contextmanager
def sink(folder: Path, index: int) -> Iterator[Sink]:
    """A sink whose files are closed at the end."""
    with ExitStack() as stack:
        yield Sink(folder, index, stack)


def judge_batch(judge: Judge, limits: Limits, batch: Batch) -> list[Judged]:
    """Judge ranges; the staged files are written anew, so that a batch may be judged twice."""
    with sink(Path(batch.folder), batch.index) as staged:
        return [_judge_range(judge, limits, work, staged) for work in batch.ranges]


def _judge_range(judge: Judge, limits: Limits, work: Range, staged: Sink) -> Judged:
    file = _open(work)
    if file is None:
        return Judged(work.index, end=work.start, missing=True)
    with file:
        judging = Judging(judge, limits, work, staged)
        if work.container == "plain":
            judging.read_all(lambda size: file.read(min(size, work.end - file.tell())))
        elif work.container == "unsupported":
            judging.refuse_rest(file, refuse("unsupported_file"))
        else:
            inflater = Inflater(file, work.container, limits.inflated_limit(work.end))
            judging.read_all(inflater.read)
            if inflater.fault is not None:
                judging.refuse_rest(file, inflater.fault)
        if work.resumable:
            end = judging.judged.end if work.container == "plain" else work.size
            judging.judged.digest = digest_at(file, end)
    return judging.judged


def _open(work: Range) -> FileIO | None:
    """The file of a range, under its sealed name if it was sealed meanwhile; None where it is gone."""
    names = [work.path]
    if work.growing:
        names.append(work.path.removesuffix(".open.jsonl") + ".jsonl")
    for name in names:
        try:
            file = FileIO(name)
        except FileNotFoundError:
            continue
        stat = os.fstat(file.fileno())
        # The digest too: the number of a deleted file's inode goes to the next new file.
        if (stat.st_dev, stat.st_ino) == (work.device, work.inode) and digest_at(file, work.size) == work.digest:
            file.seek(work.start)
            return file
        file.close()
    return None


class Judging:
    """Judges what one stream gives and sums it up in `judged`."""

    def __init__(self, judge: Judge, limits: Limits, work: Range, staged: Sink) -> None:
        self.judged = Judged(work.index, end=work.start)
        self._judge, self._limits, self._work, self._sink = judge, limits, work, staged

    def read_all(self, read: Read) -> None:
        """Judge every line that `read` gives."""
        for part in blocks(read, self._limits.line_bytes, self._work.start):
            match part:
                case Block():
                    self._block(part)
                case LongLine(ended=True):
                    self._long_line(part)
                case LongLine() | Tail() if self._work.growing:
                    self.judged.pending += 1
                case LongLine():
                    self._long_line(part)
                case Tail():
                    self._tail(part)

    def refuse_rest(self, file: FileIO, refusal: Refusal) -> None:
        """One row for all of a file that cannot be read; its digest is that of the whole file."""
        file.seek(0)
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        self._refuse(self.judged.end, None, digest, refusal)

    def _block(self, block: Block) -> None:
        if not block.data.strip():  # a compressed file of a few kilobytes can hold hundreds of millions of these
            count = block.data.count(b"\n")
            self.judged.blank += count
            self.judged.lines += count
            self.judged.end = block.offset + len(block.data)
            return
        taken = self._judge.take(block.data)
        offset, behind = block.offset, 0
        for index in taken.left:
            line = taken.lines[index]
            if not line.strip():
                self.judged.blank += 1
                continue
            verdict = self._judge.judge(line)
            if isinstance(verdict, str):
                taken.good[verdict].append(self._judge.kept(verdict, line))
                continue
            offset += sum(map(len, taken.lines[behind:index])) + index - behind
            behind = index
            number = self.judged.lines + index + 1
            self._sink.refuse(self._work.index, Place(offset, number, len(line), _sha256(line)), verdict)
            self.judged.quarantined += 1
        for event, lines in taken.good.items():
            self._accept(event, lines)
        self.judged.lines += len(taken.lines)
        self.judged.end = block.offset + len(block.data)

    def _accept(self, event: str, lines: list[bytes]) -> None:
        if lines:
            self.judged.accepted[event] = self.judged.accepted.get(event, 0) + len(lines)
            self._sink.write(event, lines)

    def _tail(self, tail: Tail) -> None:
        line = tail.data
        self.judged.end = tail.offset + len(line)
        verdict = self._judge.judge(line) if line.strip() else ""
        if isinstance(verdict, Refusal):
            torn = refuse("torn_line") if verdict.reason == "not_json" else verdict
            self._refuse(tail.offset, len(line), _sha256(line), torn)
            return
        self.judged.lines += 1
        if verdict:
            self._accept(verdict, [self._judge.kept(verdict, line)])
        else:
            self.judged.blank += 1

    def _long_line(self, line: LongLine) -> None:
        refusal = refuse("line_too_long", f"longer than {self._limits.line_bytes} bytes")
        self._refuse(line.offset, line.length, line.sha256, refusal)
        self.judged.end = line.offset + line.length + line.ended

    def _refuse(self, offset: int, length: int | None, sha256: str, refusal: Refusal) -> None:
        self.judged.lines += 1
        self.judged.quarantined += 1
        self._sink.refuse(self._work.index, Place(offset, self.judged.lines, length, sha256), refusal)


def _sha256(line: bytes) -> str:
    return hashlib.sha256(line).hexdigest()
