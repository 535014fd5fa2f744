"""Reads one folder of a registry and believes nothing: heads by their history entry, releases by their digest."""

import json
import time
from collections.abc import Callable
from datetime import datetime
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from beleg.contract.client.cache import CachedHead, DiskCache
from beleg.contract.client.errors import Outdated, Tampered
from beleg.contract.registry.fields import parse
from beleg.contract.registry.heads import Head, PromptHead
from beleg.contract.registry.releases import PromptRelease, Release
from beleg.core.errors import DamagedError, UsageError

if TYPE_CHECKING:
    from beleg.contract.client.source import Source

T = TypeVar("T")
AnyHead = TypeVar("AnyHead", Head, PromptHead)
AnyRelease = TypeVar("AnyRelease", Release, PromptRelease)


class Raw(NamedTuple):
    """The bytes of a head and of the history entry that vouches for it."""

    head: bytes
    entry: bytes


class FolderReader:
    """Reads `features/<name>` or `prompts/<name>`."""

    def __init__(self, source: "Source", folder: str, cache: DiskCache | None, *, timeout_s: float) -> None:
        self.source, self.folder, self._cache = source, folder, cache
        self._timeout_s = timeout_s
        self._ends_s = float("inf")

    def begin(self) -> None:
        """All files that are read from now on share one `timeout_s`."""
        self._ends_s = time.monotonic() + self._timeout_s

    def read(self, path: str) -> bytes:
        """A file of the registry; raises FileNotFoundError, Forbidden, Unreachable, Tampered."""
        left_s = min(self._timeout_s, self._ends_s - time.monotonic())
        return self.source.read(path, timeout_s=max(0.001, left_s))

    def raw_head(self, kind: type[AnyHead], known: AnyHead | None) -> tuple[Raw | None, AnyHead]:
        """The head as it stands, with its bytes where it is new; raises Outdated for one from before `known`."""
        data = self.read(f"{self.folder}/head.json")
        head = _refused_if_damaged(lambda: kind.from_bytes(data, f"{self.folder}/head.json"))
        if known is not None and head.epoch <= known.epoch:
            if head.epoch == known.epoch and head == known:
                return None, known
            raise Outdated(
                f"{self.folder}: the registry answers with epoch {head.epoch}, it was at {known.epoch} already"
                if head.epoch < known.epoch
                else f"{self.folder}: the registry has two histories of epoch {head.epoch}"
            )
        raw = Raw(data, self._entry(head))
        return raw, vouched(kind, raw, self.folder)

    def _entry(self, head: Head | PromptHead) -> bytes:
        path = f"{self.folder}/history/{head.epoch:08}.json"
        try:
            return self.read(path)
        except FileNotFoundError as error:
            raise Tampered(f"{path} is missing: nothing vouches for the head") from error

    def release(self, kind: type[AnyRelease], sha: str) -> AnyRelease:
        """A release by its digest, from the disk where it lies there; raises Tampered and what `read` raises."""
        data = None if self._cache is None else self._cache.release(self.folder, sha)
        if data is not None:
            return _refused_if_damaged(lambda: kind.from_bytes(data, sha))
        path = f"{self.folder}/releases/{sha}.json"
        try:
            fetched = self.read(path)
        except FileNotFoundError as error:
            raise Tampered(f"{path} is missing, though the head names it") from error
        release = _refused_if_damaged(lambda: kind.from_bytes(fetched, sha))
        if self._cache is not None:
            self._cache.put_release(self.folder, sha, fetched)
        return release

    def keep(self, raw: Raw, at: datetime) -> None:
        """Keep a head on disk."""
        if self._cache is not None:
            self._cache.put_head(self.folder, CachedHead(raw.head, raw.entry, at))

    def forget(self) -> None:
        """Drop the head on disk."""
        if self._cache is not None:
            self._cache.drop_head(self.folder)

    def kept(self) -> CachedHead | None:
        """The head on disk."""
        return None if self._cache is None else self._cache.head(self.folder)

    def kept_release(self, sha: str) -> Release | None:
        """A release on disk."""
        data = None if self._cache is None else self._cache.release(self.folder, sha)
        return None if data is None else _refused_if_damaged(lambda: Release.from_bytes(data, sha))


def vouched(kind: type[AnyHead], raw: Raw, folder: str) -> AnyHead:
    """The head, if its history entry says the same; raises Tampered."""
    head = _refused_if_damaged(lambda: kind.from_bytes(raw.head, f"{folder}/head.json"))
    entry = _refused_if_damaged(lambda: parse(raw.entry, f"{folder}/history/{head.epoch:08}.json"))
    stated = {name: value for name, value in json.loads(raw.head).items() if name != "entry"}
    if sha256(raw.entry).hexdigest() != head.entry or entry.get("head") != stated:
        raise Tampered(f"{folder}/head.json is refused: its history entry {head.epoch} says something else")
    return head


def _refused_if_damaged(read: Callable[[], T]) -> T:
    try:
        return read()
    except (DamagedError, UsageError) as error:
        raise Tampered(str(error)) from error
