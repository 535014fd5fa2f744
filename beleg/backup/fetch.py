"""Reads the files of a backup; every byte is compared with the manifest before it is used."""

import hashlib
import os
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from beleg.backup.manifest import Kept, Manifest
from beleg.backup.store import Missing, Store
from beleg.core.errors import DamagedError
from beleg.core.progress import OnProgress

_THREADS = 8


def fetch(store: Store, wanted: Manifest, folder: Path, on_progress: OnProgress) -> None:
    """Bring all files of a backup below a folder; what is there already and right is not read again.

    Raises DamagedError naming the first file that is missing or is not what was backed up.
    """
    _remove_others(folder, wanted.files)
    with ThreadPoolExecutor(_THREADS) as pool:
        fetched = pool.map(lambda item: _fetch(store, folder / item[0], item[0], item[1]), wanted.files.items())
        for done, _ in enumerate(fetched, start=1):
            on_progress("restoring", done, len(wanted.files))


def is_whole(store: Store, kept: Kept) -> bool:
    """Whether a store holds a file exactly as it was backed up."""
    try:
        return _read(store, kept, lambda _: None) == kept.sha256
    except Missing:
        return False


def _fetch(store: Store, target: Path, path: str, kept: Kept) -> None:
    if target.is_file() and target.stat().st_size == kept.size_bytes and _digest(target) == kept.sha256:
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        with target.open("wb") as file:
            found = _read(store, kept, file.write)
            file.flush()
            os.fsync(file.fileno())
    except Missing as error:
        raise DamagedError(f"{path} is missing in {store.place} ({kept.name}). {_WAY}") from error
    if found != kept.sha256:
        raise DamagedError(f"{path} is damaged in {store.place} ({kept.name}): its SHA-256 is {found}. {_WAY}")


_WAY = "Nothing was changed; `beleg restore … --backup ID` takes an earlier backup, `beleg backup … --list` lists them"


def _read(store: Store, kept: Kept, use: Callable[[bytes], object]) -> str:
    digest = hashlib.sha256()
    for chunk in store.chunks(kept.name):
        digest.update(chunk)
        use(chunk)
    return digest.hexdigest()


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _remove_others(folder: Path, wanted: Mapping[str, Kept]) -> None:
    for path in folder.rglob("*"):
        if path.is_file() and path.relative_to(folder).as_posix() not in wanted:
            path.unlink()
