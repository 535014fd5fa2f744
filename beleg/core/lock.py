"""One writer per installation, and per folder of a registry.

The kernel holds the lock for whoever has the file open and drops it when that process ends, however it ends.
So the file alone says nothing: a lock of a dead process does not exist, and deleting the file is never needed
and always wrong, since the next process would lock another file of the same name. On NFS the lock is as good
as the server's lock manager: keep the installation on a local disk and ship the spools to it.
"""

import fcntl
import json
import os
import platform
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

from beleg.core.errors import BelegError
from beleg.trace.spool_files import answers

_POLL_SECONDS = 0.05


class Busy(BelegError):
    """Another process holds the installation; the same call succeeds once that has ended."""

    exit_code = 1


@contextmanager
def writer(home: Path, *, wait_s: float = 600, sleep: Callable[[float], None] = time.sleep) -> Generator[None]:
    """Hold the installation's writer lock; raises Busy, naming the holder, after `wait_s` seconds.

    Readers never need it: they see publications.
    """
    with hold(home / "writer.lock", wait_s=wait_s, sleep=sleep):
        yield


@contextmanager
def folder_writer(folder: Path, *, wait_s: float = 60) -> Generator[None]:
    """Hold the writer lock of a folder of a registry; raises Busy, naming the holder. Not re-entrant."""
    with hold(folder / ".lock", wait_s=wait_s):
        yield


@contextmanager
def hold(path: Path, *, wait_s: float, sleep: Callable[[float], None] = time.sleep) -> Generator[None]:
    """Hold the lock of a file, which is made where it is missing and stays; raises Busy after `wait_s` seconds."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+", encoding="utf-8") as file:
        deadline = time.monotonic() + wait_s
        while not _try(file.fileno()):
            if time.monotonic() >= deadline:
                msg = f"{path} is held by {_holder(file)}; waited {wait_s:g} s. It is free the moment that ends"
                raise Busy(msg)
            sleep(_POLL_SECONDS)
        file.truncate(0)
        file.write(json.dumps({"pid": os.getpid(), "host": platform.node(), "since": _now()}))
        file.flush()
        yield


def _try(fd: int) -> bool:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _holder(file: TextIO) -> str:
    """Who holds the lock, in words, as far as the file tells."""
    try:
        file.seek(0)
        known: dict[str, Any] = json.loads(file.read())
        pid, host, since = int(known["pid"]), str(known["host"]), str(known["since"])
    except (ValueError, KeyError, TypeError):
        return "a process that left no name"
    told = f"process {pid} on {host} since {since}"
    if host == platform.node() and not answers(pid):
        return f"{told}, which is gone: a process it started still has the file open, `fuser {file.name}` names it"
    return told


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
