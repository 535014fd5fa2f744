"""Names of spool files, who owns them, and sealing what dead owners left behind.

    <host>~<boot>~<pid>~<start>~<serial>.open.jsonl     grows; only its owner writes
    <host>~<boot>~<pid>~<start>~<serial>.jsonl          sealed; never written again

`host` names the machine and its pid namespace, `boot` its boot, `start` the start of the process: together
they say whether the owner still lives, however often its pid was used again.
"""

import hashlib
import os
import re
import time
from functools import cache
from pathlib import Path
from typing import NamedTuple

OPEN = ".open.jsonl"
SEALED = ".jsonl"
SILENT_S = 24 * 3600
"""A file of an owner that cannot be judged from here counts as left behind after this silence."""

_NAME = re.compile(r"(?P<host>[^~]+)~(?P<boot>[^~]+)~(?P<pid>\d+)~(?P<start>\d+)~(?P<serial>[^~.]+)(\.open)?\.jsonl")


class Owner(NamedTuple):
    """The process that writes a spool file."""

    host: str
    boot: str
    pid: int
    start: int
    """Start of the process in the kernel's ticks since boot; 0 where the system does not tell."""

    @property
    def prefix(self) -> str:
        """What the names of all its files begin with."""
        return f"{self.host}~{self.boot}~{self.pid}~{self.start}"


def this_process() -> Owner:
    """The calling process; changes at a fork."""
    return Owner(_host(), _boot(), os.getpid(), _start_ticks(os.getpid()) or 0)


def owner_of(path: Path) -> Owner | None:
    """The owner that a file's name tells; None for a file of another kind."""
    match = _NAME.fullmatch(path.name)
    if match is None:
        return None
    return Owner(match["host"], match["boot"], int(match["pid"]), int(match["start"]))


def is_alive(owner: Owner) -> bool | None:
    """Whether the owner still runs; None where that cannot be told from here (another machine)."""
    if owner.host != _host():
        return None
    if owner.boot != _boot():
        return False
    ticks = _start_ticks(owner.pid)
    if ticks is not None:
        return ticks == owner.start
    if Path("/proc/self/stat").exists():
        return False
    return answers(owner.pid)


def open_files(folder: Path) -> list[Path]:
    """Files that still grow, or whose owner died, in the order of their names."""
    return sorted(folder.glob(f"*{OPEN}"))


def sealed_files(folder: Path) -> list[Path]:
    """Files that are never written again."""
    return sorted(p for p in folder.glob(f"*{SEALED}") if not p.name.endswith(OPEN) and owner_of(p))


def seal(path: Path) -> Path | None:
    """Rename an open file to its sealed name; None where it was empty (removed) or already gone."""
    sealed = path.with_name(path.name.removesuffix(OPEN) + SEALED)
    try:
        if path.stat().st_size == 0:
            path.unlink()
            return None
        path.rename(sealed)
    except FileNotFoundError:  # another sealer was faster
        return None
    return sealed


def seal_dead(folder: Path, silent_s: float = SILENT_S) -> list[Path]:
    """Seal the files whose owner is dead, or silent for `silent_s` where it cannot be judged from here."""
    sealed = []
    for path in open_files(folder):
        owner = owner_of(path)
        alive = is_alive(owner) if owner is not None else None
        if alive is False or (alive is None and _silent_s(path) >= silent_s):
            done = seal(path)
            if done is not None:
                sealed.append(done)
    return sealed


def complete_bytes(path: Path) -> int:
    """Bytes up to and with the last newline: what follows is a line still being written, or torn."""
    with path.open("rb") as file:
        end = file.seek(0, os.SEEK_END)
        while end > 0:
            begin = max(0, end - 65536)
            file.seek(begin)
            newline = file.read(end - begin).rfind(b"\n")
            if newline >= 0:
                return begin + newline + 1
            end = begin
    return 0


def _silent_s(path: Path) -> float:
    try:
        return time.time() - path.stat().st_mtime
    except FileNotFoundError:
        return 0.0


@cache
def _host() -> str:
    name = re.sub(r"[^A-Za-z0-9.-]", "-", _node() or "localhost")[:64]
    try:
        namespace = str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        return name
    # Two containers may share a folder and a host name, but not a pid namespace.
    return f"{name}-{hashlib.sha256(namespace.encode()).hexdigest()[:6]}"


def _node() -> str:
    if hasattr(os, "uname"):
        return os.uname().nodename
    import platform  # noqa: PLC0415 - slow to import, and only Windows needs it

    return platform.node()


@cache
def _boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()[:8]
    except OSError:
        return "0"


def _start_ticks(pid: int) -> int | None:
    """Field 22 of /proc/<pid>/stat (proc(5)); the name before it may hold blanks and brackets."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return None
    fields = stat.rpartition(b")")[2].split()
    return None if fields[0] in (b"Z", b"X") else int(fields[19])


def answers(pid: int) -> bool:
    """Whether a process of that number runs on this machine, ours or not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
