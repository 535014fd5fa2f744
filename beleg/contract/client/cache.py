"""The copy on disk that a process starts from while the registry is away.

    <BELEG_CACHE or the user's cache folder>/<registry>/features/<feature>/head.json
                                                      …/releases/<sha256>.json

Kept by registry: the same name in another registry is another feature. Nothing in it is believed unchecked.
A disk that is full or read-only costs the copy and nothing else; `failures` counts.
"""

# A cold start has no time for pathlib (5 ms).
# ruff: noqa: PTH103, PTH105, PTH107, PTH111, PTH117, PTH118, PTH120, PTH123

import contextlib
import json
import os
import threading
from datetime import datetime
from hashlib import sha256
from typing import NamedTuple


class CachedHead(NamedTuple):
    """The bytes of a head and of the history entry that vouches for it, and when they were last confirmed."""

    head: bytes
    entry: bytes
    confirmed_at: datetime


def cache_folder() -> str:
    """`BELEG_CACHE`, else `beleg` in the user's cache folder (`XDG_CACHE_HOME`)."""
    own = os.environ.get("BELEG_CACHE")
    if own:
        return own
    xdg = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(xdg):  # the specification ignores relative ones
        return os.path.join(xdg, "beleg")
    local = os.environ.get("LOCALAPPDATA") if os.name == "nt" else None
    return os.path.join(local, "beleg", "cache") if local else os.path.expanduser("~/.cache/beleg")


class DiskCache:
    """The cached files of one registry."""

    failures = 0
    """Copies that could not be written."""

    def __init__(self, identity: str, folder: str | None = None) -> None:
        self._root = os.path.join(folder or cache_folder(), sha256(identity.encode()).hexdigest()[:32])

    def release(self, folder: str, sha: str) -> bytes | None:
        """The bytes of a release, which have that digest; None where there are none."""
        data = self._read(f"{folder}/releases/{sha}.json")
        return data if data is not None and sha256(data).hexdigest() == sha else None

    def put_release(self, folder: str, sha: str, data: bytes) -> None:
        """Keep a release."""
        self._write(f"{folder}/releases/{sha}.json", data)

    def head(self, folder: str) -> CachedHead | None:
        """The head that was last confirmed; None where there is none that can be read."""
        data = self._read(f"{folder}/head.json")
        try:
            values = json.loads(data or b"{}")
            at = datetime.fromisoformat(values["confirmed_at"])
            cached = CachedHead(values["head"].encode(), values["entry"].encode(), at)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return None
        return cached if at.tzinfo is not None else None

    def put_head(self, folder: str, cached: CachedHead) -> None:
        """Keep a head."""
        head, entry = cached.head.decode(), cached.entry.decode()
        values = {"head": head, "entry": entry, "confirmed_at": cached.confirmed_at.isoformat()}
        self._write(f"{folder}/head.json", json.dumps(values).encode())

    def drop_head(self, folder: str) -> None:
        """Forget a feature that is gone: it must not come back while the registry is away."""
        with contextlib.suppress(OSError):
            os.remove(self._path(f"{folder}/head.json"))

    def _path(self, path: str) -> str:
        return os.path.join(self._root, path)

    def _read(self, path: str) -> bytes | None:
        try:
            with open(self._path(path), "rb") as file:
                return file.read()
        except OSError:
            return None

    def _write(self, path: str, data: bytes) -> None:
        target = self._path(path)
        beside = f"{target}.{os.getpid()}.{threading.get_ident()}"
        try:
            os.makedirs(os.path.dirname(target), mode=0o700, exist_ok=True)
            try:
                with open(beside, "wb") as file:
                    file.write(data)
                os.replace(beside, target)
            finally:
                with contextlib.suppress(FileNotFoundError):
                    os.remove(beside)
        except OSError:
            self.failures += 1
