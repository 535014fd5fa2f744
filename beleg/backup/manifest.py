"""The manifest of a backup: which files it holds, each by its digest. Without it there is no backup.

backups/<id>.<sha256 of the manifest>.json
objects/<2 digits>/<sha256>                  content, shared by all backups of a place
"""

import contextlib
import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from beleg.backup.store import Store
from beleg.core.errors import DamagedError, UsageError

FOLDER = "backups"
OBJECTS = "objects"
MANIFEST_FORMAT = 1
_ID = "%Y%m%dT%H%M%S%fZ"
_NAME = re.compile(rf"{FOLDER}/(?P<id>\d{{8}}T\d{{12}}Z)\.(?P<sha256>[0-9a-f]{{64}})\.json")


class Kept(NamedTuple):
    """One file of a backup."""

    size_bytes: int
    sha256: str

    @property
    def name(self) -> str:
        """Where its content lies."""
        return f"{OBJECTS}/{self.sha256[:2]}/{self.sha256}"


@dataclass(frozen=True)
class Manifest:
    """One backup."""

    id: str
    """UTC instant it was made, `20300110T120000123456Z`: names sort as time."""
    publication: int | None
    """Number of the publication readers saw; None where nothing had been published."""
    origin: str | None
    """When the installation published first: tells it from another."""
    lake_format: int
    beleg_version: str
    files: Mapping[str, Kept]
    """Path below the installation's folder → the file."""
    manifest_format: int = MANIFEST_FORMAT

    @property
    def size_bytes(self) -> int:
        """Bytes of all files."""
        return sum(file.size_bytes for file in self.files.values())


def write(store: Store, manifest: Manifest) -> None:
    """Write a manifest in one atomic step: from then on it is a backup."""
    files = {path: kept._asdict() for path, kept in manifest.files.items()}
    data = json.dumps(asdict(manifest) | {"files": files}, sort_keys=True, separators=(",", ":")).encode()
    store.put(f"{FOLDER}/{manifest.id}.{hashlib.sha256(data).hexdigest()}.json", data)


def names(store: Store) -> dict[str, str]:
    """Id → name of the manifest, oldest first."""
    found = (_NAME.fullmatch(name) for name in sorted(store.sizes(FOLDER)))
    return {match["id"]: match[0] for match in found if match is not None}


def load(store: Store, backup_id: str | None = None) -> Manifest:
    """The backup of that id, by default the newest.

    Raises UsageError where there is none, DamagedError for a manifest that is damaged or of a newer format.
    """
    known = names(store)
    if not known:
        msg = f"{store.place} holds no backup: `beleg backup {store.place}` makes one"
        raise UsageError(msg)
    if backup_id is not None and backup_id not in known:
        msg = f"{store.place} holds no backup {backup_id!r}; it holds {', '.join(known)}"
        raise UsageError(msg)
    return read(store, known[backup_id or max(known)])


def newest_whole(store: Store) -> Manifest | None:
    """The newest backup whose manifest can be read; None where there is none."""
    for name in reversed(names(store).values()):
        with contextlib.suppress(DamagedError):
            return read(store, name)
    return None


def next_id(store: Store) -> str:
    """An id for a new backup: now, or just after the newest one where the clock was set back."""
    now = datetime.now(UTC)
    if known := names(store):
        now = max(now, datetime.strptime(max(known), _ID).replace(tzinfo=UTC) + timedelta(microseconds=1))
    return now.strftime(_ID)


def read(store: Store, name: str) -> Manifest:
    """The manifest of that name; raises DamagedError for one that is not what was written."""
    data = b"".join(store.chunks(name))
    match = _NAME.fullmatch(name)
    if match is None or hashlib.sha256(data).hexdigest() != match["sha256"]:
        way = "delete it; `--backup ID` restores an earlier one"
        msg = f"{store.place}/{name} is damaged: its content is not what its name says. {way}"
        raise DamagedError(msg)
    return _parse(json.loads(data), f"{store.place}/{name}")


def _parse(raw: dict[str, Any], what: str) -> Manifest:
    if raw.get("manifest_format") != MANIFEST_FORMAT:
        msg = f"{what} has format {raw.get('manifest_format')}; we read {MANIFEST_FORMAT}: use the release that made it"
        raise DamagedError(msg)
    files = {path: Kept(**kept) for path, kept in raw["files"].items()}
    for path in files:
        if PurePosixPath(path).is_absolute() or ".." in PurePosixPath(path).parts:
            msg = f"{what} names {path!r}, which lies outside of an installation: this is no backup that we made"
            raise DamagedError(msg)
    return Manifest(**(raw | {"files": files}))
