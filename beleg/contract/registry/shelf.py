"""One folder of a registry: a head, its history, its releases.

    head.json                what holds now; its swap is the commit
    history/00000007.json    one entry per epoch; names the SHA-256 of the entry before
    releases/<sha256>.json   named by content

A writer that is killed leaves the old state or the new one. What it wrote before the swap is named by no
head: nobody reads it, and the next writer puts its own entry of that epoch in its place.
"""

import os
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

from beleg.contract.encoding import encode
from beleg.contract.registry.fields import Fields, check_bytes, parse
from beleg.contract.registry.records import Entry
from beleg.core.errors import BelegError, DamagedError
from beleg.core.files import replace_text

FIRST = ".first"
"""There while the first commit is under way: an entry without a head is then no damage."""


class Moved(BelegError):
    """Somebody else changed what this step was based on; look at what holds now and decide again."""


class Shelf:
    """Reads and writes one folder. Raises DamagedError for content that is not as it was written."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.name = f"{folder.parent.name}/{folder.name}"

    def head(self) -> dict[str, Any] | None:
        """The head, vouched for by its history entry; None before the first commit."""
        name = f"{self.name}/head.json"
        data = read(self.folder / "head.json", name)
        if data is None:
            self._check_never_committed(name)
            return None
        values = parse(data, name)
        fields = Fields(values, name)
        entry = self.entry(fields.count("epoch"), fields.sha("entry"))
        if {**entry.head, "entry": values["entry"]} != values:
            raise DamagedError(f"{name} is damaged: its history entry {entry.epoch} says something else")
        return values

    def _check_never_committed(self, name: str) -> None:
        """Raise DamagedError where history shows that there was a head, and no first commit was cut off."""
        if entry_path(self.folder, 1).exists() and not (self.folder / FIRST).exists():
            raise DamagedError(f"{name} is missing, and its history is not; fetch it from a mirror or a backup")

    def entry(self, epoch: int, sha: str) -> Entry:
        """The history entry of an epoch, which must have the SHA-256 `sha`."""
        name = f"{self.name}/history/{epoch:08}.json"
        data = _must(read(entry_path(self.folder, epoch), name), name)
        check_bytes(data, sha, name)
        entry = Entry.from_bytes(data, name)
        if entry.epoch != epoch or entry.head.get("epoch") != epoch:
            raise DamagedError(f"{name} is damaged: it is of epoch {entry.epoch}")
        return entry

    def history(self, head: Mapping[str, Any] | None = None) -> list[Entry]:
        """Every entry from the first, checked link by link from the head back (the one given, or today's)."""
        head = self.head() if head is None else head
        entries: list[Entry] = []
        epoch, sha = (0, None) if head is None else (head["epoch"], head["entry"])
        while sha is not None and epoch > 0:
            entries.append(self.entry(epoch, sha))
            epoch, sha = epoch - 1, entries[-1].previous
        if epoch != 0 or sha is not None:
            raise DamagedError(f"{self.name}/history is damaged: the chain ends before the entry {epoch}")
        return entries[::-1]

    def release(self, sha: str) -> bytes:
        """The bytes of a release, which have the SHA-256 `sha`."""
        name = f"{self.name}/releases/{sha}.json"
        data = _must(read(release_path(self.folder, sha), name), name)
        check_bytes(data, sha, name)
        return data

    def commit(
        self,
        expected_epoch: int,
        head: Mapping[str, Any],
        *,
        verb: str,
        at: str,
        by: str,
        why: str,
        details: Mapping[str, Any] | None = None,
        release: bytes | None = None,
    ) -> dict[str, Any]:
        """Make `head` (without `epoch` and `entry`) hold, if the epoch is still `expected_epoch`; returns it whole.

        Raises Moved otherwise, Busy while another process writes for long, DamagedError where the folder is
        damaged or cannot be written; then what held before still holds.
        """
        from beleg.core.lock import folder_writer  # noqa: PLC0415 - readers on Windows have no such lock

        with explained(self.folder), folder_writer(self.folder):
            current = self.head()
            epoch = 0 if current is None else current["epoch"]
            if epoch != expected_epoch:
                raise Moved(
                    f"{self.name} moved from epoch {expected_epoch} to {epoch} meanwhile; look and decide again"
                )
            whole = {**head, "epoch": epoch + 1}
            previous = None if current is None else current["entry"]
            entry = Entry(epoch + 1, previous, verb, at, by, why, details or {}, whole)
            if current is None:
                put(self.folder / FIRST, b"")
            if release is not None:
                write_release(self.folder, release)
            write_entry(self.folder, entry)
            committed = {**whole, "entry": sha256(entry.to_bytes()).hexdigest()}
            swap_head(self.folder, committed)
            (self.folder / FIRST).unlink(missing_ok=True)
        return committed


def read(path: Path, name: str) -> bytes | None:
    """A file's bytes; None where there is none. Raises DamagedError for one that cannot be read."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise DamagedError(f"{name} cannot be read: {error.strerror}") from error


def _must(data: bytes | None, name: str) -> bytes:
    if data is None:
        raise DamagedError(f"{name} is missing; fetch it from a mirror or a backup of the registry")
    return data


def entry_path(folder: Path, epoch: int) -> Path:
    """Where the history entry of an epoch lies."""
    return folder / "history" / f"{epoch:08}.json"


def release_path(folder: Path, sha: str) -> Path:
    """Where a release lies."""
    return folder / "releases" / f"{sha}.json"


@contextmanager
def explained(folder: Path) -> Generator[None]:
    """Raise DamagedError, with words on what to do, where a folder cannot be written."""
    try:
        yield
    except OSError as error:
        todo = "What held before still holds; mend that and try again"
        raise DamagedError(f"{folder} cannot be written: {error.strerror or error}. {todo}") from error


def write_release(folder: Path, data: bytes) -> None:
    """First step of a commit: the release is on disk, and nothing names it."""
    put(release_path(folder, sha256(data).hexdigest()), data)


def write_entry(folder: Path, entry: Entry) -> None:
    """Second step: the entry is on disk, and no head names it. An orphan of that epoch gives way."""
    put(entry_path(folder, entry.epoch), entry.to_bytes())


def swap_head(folder: Path, head: Mapping[str, Any]) -> None:
    """Third step, the commit itself."""
    put(folder / "head.json", encode(head) + b"\n")


def put(path: Path, data: bytes) -> None:
    """Make a file appear whole, and stay after a power cut before the next step is taken."""
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_text(path, data.decode())
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
