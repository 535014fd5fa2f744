"""One writer per installation.

The kernel releases the lock when its owner dies, however it dies, so there are no stale locks to find.
"""

import fcntl
import json
import os
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

from beleg.core.errors import BelegError

_POLL_SECONDS = 0.05


class Busy(BelegError):
    """Another writer holds the installation."""

    exit_code = 1


@contextmanager
def writer(home: Path, *, wait_s: float = 600, sleep: Callable[[float], None] = time.sleep) -> Generator[None]:
    """Hold the installation's writer lock; raises Busy after `wait_s` seconds.

    Readers never need it: they see publications.
    """
    home.mkdir(parents=True, exist_ok=True)
    with (home / "writer.lock").open("a+", encoding="utf-8") as file:
        deadline = time.monotonic() + wait_s
        while not _try(file.fileno()):
            if time.monotonic() >= deadline:
                file.seek(0)
                msg = f"another writer holds {home} ({file.read().strip() or 'unknown'}); waited {wait_s:g} s"
                raise Busy(msg)
            sleep(_POLL_SECONDS)
        file.truncate(0)
        file.write(json.dumps({"pid": os.getpid()}))
        file.flush()
        yield


def _try(fd: int) -> bool:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
