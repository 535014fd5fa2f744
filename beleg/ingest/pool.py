"""A few worker processes that judge batches, and what happens when one of them dies."""

import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import orjson

from beleg.core.errors import DamagedError
from beleg.ingest.limits import Limits
from beleg.ingest.ranges import Batch, Judged


class _WorkerDied(Exception):
    pass


class _Worker:
    def __init__(self, setup: bytes) -> None:
        # -P keeps the current folder off the path: no `orjson.py` lying there is ever imported.
        command = [sys.executable, "-P", "-m", "beleg.ingest.worker"]
        env = os.environ | {"PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env)
        self._setup = setup

    def judge(self, batch: Batch) -> list[Judged]:
        stdin, stdout = self.process.stdin, self.process.stdout
        assert stdin is not None  # noqa: S101  # both are pipes
        assert stdout is not None  # noqa: S101
        try:  # writing to a process that is gone is an OSError of its own
            stdin.write(self._setup + orjson.dumps(batch) + b"\n")
            stdin.flush()
        except OSError as error:
            raise _WorkerDied from error
        self._setup = b""
        answer = stdout.readline()
        if not answer.endswith(b"\n"):
            raise _WorkerDied
        found = orjson.loads(answer)
        if isinstance(found, dict):
            raise OSError(found["errno"], found["strerror"])
        return [Judged(**judged) for judged in found]

    def close(self) -> None:
        self.process.communicate()


def judge_in_workers(
    batches: Sequence[Batch],
    limits: Limits,
    shape_folders: Sequence[Path],
    workers: int,
    on_start: Callable[[int], None] | None = None,
    *,
    stored: Sequence[str] = (),
) -> Iterator[list[Judged]]:
    """Judge the batches in `workers` processes; results come in order.

    A batch whose worker dies (out of memory, killed) is judged once more by a new one. Raises
    DamagedError where that dies too, and a worker's OSError as its own. `on_start` is told the process id
    of each worker.
    """
    rules = {"limits": limits, "shape_folders": [str(f) for f in shape_folders], "stored": stored}
    setup = orjson.dumps(rules) + b"\n"
    idle: queue.SimpleQueue[_Worker] = queue.SimpleQueue()
    started: list[_Worker] = []
    lock = threading.Lock()

    def start() -> _Worker:
        worker = _Worker(setup)
        with lock:
            started.append(worker)
        if on_start is not None:
            on_start(worker.process.pid)
        return worker

    def judge(batch: Batch) -> list[Judged]:
        worker = idle.get()
        try:
            return worker.judge(batch)
        except _WorkerDied:
            worker = start()
            try:
                return worker.judge(batch)
            except _WorkerDied as error:
                worker = start()
                place = ", ".join(f"{work.path!r} at byte {work.start}" for work in batch.ranges[:3])
                msg = f"two workers died over {place}; nothing was changed: run again with more memory"
                raise DamagedError(msg) from error
        finally:
            idle.put(worker)

    try:
        for _ in range(workers):
            idle.put(start())
        with ThreadPoolExecutor(workers) as threads:
            yield from threads.map(judge, batches)
    finally:  # only now no thread is left that could start another one
        for worker in started:
            worker.close()
