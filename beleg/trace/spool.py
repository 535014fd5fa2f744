"""The spool: an append-only file per process, one `write` per event.

Nothing is buffered here: when `write` returns, the kernel has the line, and a process that is killed
loses nothing it had reported. There is no thread to die, nothing to flush at exit or to repair after a fork.
"""

import atexit
import contextlib
import errno
import os
import threading
import time
import weakref
from pathlib import Path

from beleg.trace import spool_files

_CHECK_NS = 1_000_000_000
_FLAGS = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0)


class SpoolError(OSError):
    """A line was not written; `reason` is the word it is counted under."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class Spool:
    """Writes lines to this process's own file in a folder; safe for threads, signal handlers and forks."""

    def __init__(
        self,
        folder: Path,
        *,
        rotate_bytes: int = 64 << 20,
        rotate_s: int = 900,
        max_bytes: int = 1 << 30,
        sync: bool = False,
    ) -> None:
        self.folder = folder
        self.written = 0
        """Lines written by this process."""
        self._rotate_bytes = rotate_bytes
        self._rotate_ns = rotate_s * 1_000_000_000
        self._max_bytes = max_bytes
        self._sync = sync
        self._fd = -1
        self.renew()
        _spools.add(self)

    def renew(self) -> None:
        """Start as a new process: a file, counters and a lock of its own."""
        if self._fd >= 0:
            with contextlib.suppress(OSError):
                os.close(self._fd)
        self._lock = threading.RLock()  # re-entrant: a signal handler may trace too
        self._pid = os.getpid()
        self._fd = -1
        self._path: Path | None = None
        self._size = 0
        self._torn = False
        self._full = False
        self._opened_ns = self._next_check_ns = self._next_look_ns = self._retry_ns = 0
        self.written = self._checked = 0

    def write(self, line: bytes) -> None:
        """Append one line that ends in a newline; raises SpoolError or OSError for one that is lost."""
        with self._lock:
            now_ns = time.monotonic_ns()
            if now_ns >= self._next_check_ns:
                self._prepare(now_ns)
            if self._torn:
                # A short write left half a line: it is closed first, so that it spoils no other.
                line = b"\n" + line
            count = os.write(self._fd, line)
            self._size += count
            self._torn = count != len(line)
            if self._torn:
                raise SpoolError("short_write", f"{count} of {len(line)} bytes were written; is the disk full?")
            if self._size >= self._rotate_bytes:
                self._next_check_ns = 0
            if self._sync:
                _sync_data(self._fd)
            self.written += 1

    def _prepare(self, now_ns: int) -> None:
        """Before the first line and then once a second: everything that is not about one line."""
        if self._fd >= 0 and self._pid == os.getpid():
            self._check(now_ns)
        else:
            if self._fd >= 0:  # a fork that ran no hooks; its lines went, whole, to the file of its parent
                self.renew()
            self._open(now_ns)
        if self._full:
            self._next_check_ns = 0
            raise SpoolError("spool_full", f"the spool holds {self._max_bytes} bytes or more")

    def _open(self, now_ns: int) -> None:
        if now_ns < self._retry_ns:
            raise SpoolError("spool_unavailable", "the spool could not be opened; tried again every second")
        self._retry_ns = now_ns + _CHECK_NS
        self.folder.mkdir(parents=True, exist_ok=True)
        serial = f"{time.time_ns() // 1_000_000:013d}-{os.urandom(4).hex()}"
        path = self.folder / f"{spool_files.this_process().prefix}~{serial}{spool_files.OPEN}"
        self._fd = os.open(path, _FLAGS, 0o640)
        if self._sync:
            _sync_folder(self.folder)
        self._path = path
        self._size = 0
        self._torn = False
        self._opened_ns = now_ns
        self._retry_ns = 0
        self._look(now_ns)

    def _check(self, now_ns: int) -> None:
        """Rotate, notice a removed file, watch the size of the folder."""
        removed = os.fstat(self._fd).st_nlink == 0
        if removed or self._size >= self._rotate_bytes or now_ns - self._opened_ns >= self._rotate_ns:
            lost = self.written - self._checked
            self.seal()
            self._open(now_ns)
            if removed:
                self.written -= lost
                raise SpoolError("spool_removed", f"the spool file was deleted with {lost} lines or more")
        if now_ns >= self._next_look_ns:
            self._look(now_ns)

    def _look(self, now_ns: int) -> None:
        self._full = folder_bytes(self.folder) >= self._max_bytes
        self._checked = self.written
        self._next_look_ns = self._next_check_ns = now_ns + _CHECK_NS

    def seal(self) -> Path | None:
        """Close the own file and give it its sealed name; None where there is none."""
        with self._lock:
            if self._fd < 0 or self._path is None or self._pid != os.getpid():
                return None
            os.close(self._fd)
            self._fd, path, self._path = -1, self._path, None
            self._next_check_ns = 0
            return spool_files.seal(path)


def folder_bytes(folder: Path) -> int:
    """Bytes of all files in a folder; files that vanish meanwhile count nothing."""
    total = 0
    with os.scandir(folder) as entries:
        for entry in entries:
            with contextlib.suppress(FileNotFoundError):
                total += entry.stat().st_size
    return total


def reason_of(error: Exception) -> str:
    """The word under which a lost line is counted."""
    if isinstance(error, SpoolError):
        return error.reason
    if isinstance(error, OSError):
        full = error.errno in (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC), errno.EFBIG)
        return "disk_full" if full else "spool_unavailable"
    return "not_encodable"


def _sync_data(fd: int) -> None:
    getattr(os, "fdatasync", os.fsync)(fd)


def _sync_folder(folder: Path) -> None:
    if os.name == "posix":
        fd = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)


_spools: "weakref.WeakSet[Spool]" = weakref.WeakSet()


def _renew_all() -> None:
    for spool in list(_spools):
        spool.renew()


def seal_open(folder: Path) -> None:
    """Seal what this process has open in a folder; its next event opens a new file."""
    for spool in list(_spools):
        if spool.folder == folder:
            spool.seal()


def _seal_all() -> None:
    for spool in list(_spools):
        with contextlib.suppress(OSError):
            spool.seal()


# What comes after the interpreter's exit handlers opens a new file, which the pipeline seals.
atexit.register(_seal_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_all)
