"""Makes a backup: everything of one moment, while the pipeline goes on.

Files of the lake never change, so most is copied beside a running pipeline. Then the writer lock is taken and
the same is done again: what has come meanwhile is little, and nothing changes until the manifest is written.
A backup killed before that leaves objects that the next one finds and need not copy.
"""

import contextlib
import hashlib
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

from beleg.backup import contents, fetch, manifest
from beleg.backup.manifest import Kept, Manifest
from beleg.backup.store import FolderStore, Store, store_at
from beleg.core.errors import DamagedError, UsageError
from beleg.core.lock import hold
from beleg.core.progress import OnProgress, silent
from beleg.core.settings import Settings
from beleg.lake import format as lake_format
from beleg.lake import publication
from beleg.lake.exclusive import check_whole, exclusive
from beleg.trace.spool_files import OPEN, SEALED

_THREADS = 8
"""Copies at once: an object store answers each slowly and many together."""
_LARGE_BYTES = 64 << 20
"""Larger files are not held in memory."""


@dataclass(frozen=True)
class Report:
    """What a backup did."""

    manifest: Manifest
    copied: int
    """Files that the place did not hold yet."""
    copied_bytes: int
    removed: tuple[str, ...] = ()
    """Ids of older backups that were removed."""


def backup(
    settings: Settings,
    place: str,
    *,
    spool: bool = False,
    keep: int | None = None,
    verify: bool = False,
    on_progress: OnProgress = silent,
) -> Report:
    """Back up an installation to a folder or URL, copying only what is not there yet.

    The spool is left out unless asked for: its files are the applications' and may still grow. `keep`
    removes all but so many of the newest backups afterwards, `verify` reads the new one back.
    Raises UsageError for a place that cannot be used or holds another installation, DamagedError where a
    file of the lake is missing or the place cannot be written: there is then no new backup, the old ones stand.
    """
    store = store_at(place)
    check_whole(settings)
    _check_place(settings, store)
    with hold(settings.home / "backup.lock", wait_s=0):
        store.tidy()
        copier = _Copier(settings, store, on_progress)
        copier.copy_data(contents.data_files(settings), vanishing=True)
        with exclusive(settings, any_format=True):
            made = _finish(settings, store, copier, spool=spool)
        if verify:
            check(store, made, on_progress)
        return Report(made, copier.copied, copier.copied_bytes, () if keep is None else prune(store, keep))


def _finish(settings: Settings, store: Store, copier: "_Copier", *, spool: bool) -> Manifest:
    """Copy the rest and write the manifest; nothing changes meanwhile."""
    files = copier.copy_data(contents.data_files(settings), vanishing=False)
    files |= copier.copy_others(contents.other_files(settings, spool=spool))
    published = publication.current(settings)
    made = Manifest(
        id=manifest.next_id(store),
        publication=None if published is None else published.number,
        origin=_origin(settings),
        lake_format=lake_format.of(settings) or lake_format.LAKE_FORMAT,
        beleg_version=version("beleg"),
        files=dict(sorted(files.items())),
    )
    manifest.write(store, made)
    return made


def check(store: Store, made: Manifest, on_progress: OnProgress = silent) -> None:
    """Read every file of a backup and compare its digest; raises DamagedError naming the first that differs.

    Damaged content is removed, so that the next backup copies it anew from an installation that still has it.
    """
    damaged = []
    with ThreadPoolExecutor(_THREADS) as pool:
        results = pool.map(lambda kept: fetch.is_whole(store, kept), made.files.values())
        for done, (path, whole) in enumerate(zip(made.files, results, strict=True), start=1):
            if not whole:
                damaged.append(path)
                store.delete(made.files[path].name)
            on_progress("verifying", done, len(made.files))
    if damaged:
        msg = f"{len(damaged)} files in {store.place} were damaged, first {damaged[0]}: run it again to copy them anew"
        raise DamagedError(msg)


def prune(store: Store, keep: int) -> tuple[str, ...]:
    """Remove all but the newest backups and the content that only they held; returns their ids.

    Killed in the middle, it leaves content that no backup names, which the next one removes.
    """
    known = manifest.names(store)
    outdated = sorted(known)[:-keep]
    for backup_id in outdated:
        store.delete(known.pop(backup_id))
    named = {kept.name for name in known.values() for kept in manifest.read(store, name).files.values()}
    for name in store.sizes(manifest.OBJECTS):
        if name not in named:
            store.delete(name)
    return tuple(outdated)


def _check_place(settings: Settings, store: Store) -> None:
    if not settings.lake.is_dir():
        msg = f"{settings.home} holds nothing yet: run `beleg ingest PATH` or `beleg run` first"
        raise UsageError(msg)
    if isinstance(store, FolderStore) and store.path.resolve().is_relative_to(settings.home):
        msg = f"{store.place} lies inside {settings.home}: what destroys one destroys both; choose another disk"
        raise UsageError(msg)
    before = manifest.newest_whole(store)
    ours = _origin(settings)
    if before is not None and None not in {ours, before.origin} and ours != before.origin:
        msg = (
            f"{store.place} holds backups of an installation that first published {before.origin}; choose another place"
        )
        raise UsageError(msg)


def _origin(settings: Settings) -> str | None:
    facts = publication.facts(settings.ledger / "publications.jsonl")
    return None if not facts else str(facts[0]["published_at"])


@dataclass
class _Copier:
    """Copies files to where they are missing."""

    settings: Settings
    store: Store
    on_progress: OnProgress
    copied: int = 0
    copied_bytes: int = 0
    _there: dict[str, int] = field(default_factory=dict)
    """Objects of the store → bytes."""
    _known: dict[tuple[str, int], str] = field(default_factory=dict)
    """Path and bytes of a data file → digest: its name is used once only."""

    def __post_init__(self) -> None:
        self._there = self.store.sizes(manifest.OBJECTS)
        before = manifest.newest_whole(self.store)
        files = {} if before is None else before.files
        self._known = {(path, kept.size_bytes): kept.sha256 for path, kept in files.items() if _is_data(path)}

    def copy_data(self, files: Mapping[str, int], *, vanishing: bool) -> dict[str, Kept]:
        """Copy data files; `vanishing` ones may be deleted meanwhile, since no lock is held."""
        kept: dict[str, Kept] = {}
        with ThreadPoolExecutor(_THREADS) as pool:
            for done, (path, found) in enumerate(pool.map(self._keep_data, files.items()), start=1):
                if found is not None:
                    kept[path] = found
                elif not vanishing:
                    msg = f"{self.settings.home / path} is missing, though the lake names it: restore an earlier backup"
                    raise DamagedError(msg)
                self.on_progress("copying", done, len(files), f"{self.copied_bytes:,} bytes new")
        return kept

    def copy_others(self, paths: Iterable[str]) -> dict[str, Kept]:
        """Copy files that may change once the lock is let go, or, in the spool, at any time."""
        kept = {}
        for listed in paths:
            for path in (listed, listed.removesuffix(OPEN) + SEALED):  # a tracer seals its file by renaming it
                with contextlib.suppress(FileNotFoundError):
                    kept[path] = self._keep_other(contents.where(self.settings, path))
                    break
        return kept

    def _keep_other(self, source: Path) -> Kept:
        size = source.stat().st_size
        if size > _LARGE_BYTES:
            kept = Kept(size, digest_of(source))
            self._put(kept, source)
            return kept
        data = source.read_bytes()  # read once: what is appended meanwhile belongs to the next backup
        kept = Kept(len(data), hashlib.sha256(data).hexdigest())
        self._put(kept, data)
        return kept

    def _keep_data(self, item: tuple[str, int]) -> tuple[str, Kept | None]:
        path, size = item
        source = self.settings.home / path
        try:
            found = source.stat().st_size
            if found != size:
                msg = f"{source} has {found} bytes where the lake's log says {size}: restore an earlier backup"
                raise DamagedError(msg)
            kept = Kept(size, self._known.get(item) or digest_of(source))
            self._known[item] = kept.sha256
            self._put(kept, source)
        except FileNotFoundError:
            return path, None
        return path, kept

    def _put(self, kept: Kept, source: Path | bytes) -> None:
        # A store that died while it wrote may hold a part.
        if self._there.get(kept.name) != kept.size_bytes:
            self.store.put(kept.name, source)
            self._there[kept.name] = kept.size_bytes
            self.copied += 1
            self.copied_bytes += kept.size_bytes


def digest_of(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _is_data(path: str) -> bool:
    return path.startswith("lake/") and path.endswith(".parquet") and "/_delta_log/" not in path
