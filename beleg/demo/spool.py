"""The files of a demo: two workers a day, some compressed, one still growing."""

import gzip
from collections import defaultdict
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from io import BufferedWriter
from pathlib import Path
from typing import IO, cast

import zstandard

from beleg.demo.company import FIRST_DAY

WORKERS = 2
_CONTAINERS = {0: ".gz", 1: ".zst"}
"""Week → what the second worker's files of that week were compressed to before they were shipped."""


class Spool:
    """Writes lines into the files of their day of arrival, day by day; holds only what arrives later."""

    def __init__(self, folder: Path, days: int) -> None:
        self._folder = folder
        self._days = days
        self._day = 0
        self._later: defaultdict[int, list[bytes]] = defaultdict(list)
        self._files: list[IO[bytes]] = []
        folder.mkdir(parents=True, exist_ok=True)

    @contextmanager
    def day(self, day: int) -> Generator[None]:
        """Open the files of a day (days count from 0); what was put off for it is written first."""
        self._day = day
        with ExitStack() as stack:
            self._files = [self._open(stack, worker) for worker in range(WORKERS)]
            for line in self._later.pop(day, ()):
                self._files[0].write(line)
            yield

    def write(self, line: bytes, day: int, worker: int) -> None:
        """Write a line that arrives on a day: today's or a later one; the last day takes what is left."""
        arrival = min(day, self._days - 1)
        if arrival <= self._day:
            self._files[worker].write(line)
        else:
            # A copy: the encoder's result keeps a buffer ten times its length.
            self._later[arrival].append(bytes(memoryview(line)))

    def path(self, day: int, name: str) -> Path:
        """Path of a file of a day."""
        return self._folder / f"{FIRST_DAY + timedelta(days=day)}.{name}"

    def _open(self, stack: ExitStack, worker: int) -> IO[bytes]:
        grows = self._day == self._days - 1 and worker == WORKERS - 1
        suffix = _CONTAINERS.get(self._day // 7, "") if worker and not grows else ""
        name = f"worker-{worker + 1}.{'open.jsonl' if grows else 'jsonl'}{suffix}"
        file = stack.enter_context(self.path(self._day, name).open("wb"))
        return _compressed(stack, file, suffix)


def _compressed(stack: ExitStack, file: BufferedWriter, suffix: str) -> IO[bytes]:
    if suffix == ".gz":  # no name and no time in the header: the same lines give the same bytes
        gz = stack.enter_context(gzip.GzipFile(filename="", mode="wb", fileobj=file, compresslevel=5, mtime=0))
        return cast("IO[bytes]", gz)
    if suffix == ".zst":
        return cast("IO[bytes]", stack.enter_context(zstandard.ZstdCompressor().stream_writer(file)))
    return file
