"""Folders and bucket prefixes that other systems deliver files to, by any address fsspec knows.

Local files are read in place. Others are copied below `inbox/` in the installation, where the quarantine
can find a refused line again for as long as nobody deletes them.
"""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from beleg.core.errors import UsageError
from beleg.core.settings import Settings
from beleg.ingest.sources import SUFFIXES

_STAMPS = ("ETag", "etag", "mtime", "LastModified", "last_modified", "updated", "created")
"""What file systems call the mark of a file's version; the first that is there counts."""


@dataclass(frozen=True)
class Delivery:
    """One file as it was listed."""

    url: str
    version: str
    """Digest of name, size and the file system's mark of the version, 16 hex digits."""


def deliveries(address: str) -> tuple[Delivery, ...]:
    """Files below an address (`/data/in`, `s3://bucket/prefix`), by their names, sorted.

    Raises UsageError for an address that no file system takes or that cannot be listed.
    """
    from fsspec.core import url_to_fs  # noqa: PLC0415 - only who has an inbox needs it

    try:
        system, root = url_to_fs(address)
        found = system.find(root, detail=True) if system.exists(root) else {}
    except (OSError, ValueError, ImportError) as error:
        msg = f"inbox {address!r} cannot be listed: {error}; name a folder or a prefix such as s3://bucket/events"
        raise UsageError(msg) from error
    named = (_delivery(system, path, info) for path, info in sorted(found.items()) if _is_taken(path))
    return tuple(named)


def local_paths(settings: Settings, paths: Iterable[str]) -> list[Path]:
    """Paths as they are; an address such as `s3://bucket/events` as copies of the files below it.

    A file whose version was copied before is not copied again. Raises UsageError for an address below which
    there is nothing.
    """
    found: list[Path] = []
    for path in paths:
        if "://" not in path:
            found.append(Path(path))
            continue
        there = deliveries(path)
        if not there:
            raise UsageError(f"{path!r} holds no file that can be taken in ({', '.join(SUFFIXES)}, also .gz and .zst)")
        found += [_copy(settings, each.url, each.version) for each in there]
    return found


def key_of(found: Iterable[Delivery]) -> str:
    """A key for exactly these versions of these files, 16 hex digits."""
    return hashlib.sha256("\n".join(sorted(d.version for d in found)).encode()).hexdigest()[:16]


def fetched(settings: Settings, urls: Iterable[str]) -> Iterator[Path]:
    """Local paths of delivered files; copies those that are not local. Raises UsageError for one that is gone."""
    for url in urls:
        path = Path(url.removeprefix("file://"))
        yield path if path.is_absolute() else _copy(settings, url)


def _copy(settings: Settings, url: str, version: str | None = None) -> Path:
    """The local copy of a file; made anew unless it is known to be of this version."""
    from fsspec.core import url_to_fs  # noqa: PLC0415

    system, remote = url_to_fs(url)
    scheme = url.partition("://")[0]
    local = settings.home / "inbox" / scheme / PurePosixPath(remote.lstrip("/"))
    if not local.resolve().is_relative_to((settings.home / "inbox").resolve()):
        raise UsageError(f"inbox file {url!r} leads out of the inbox; rename it at its source")
    mark = local.with_name(f".{local.name}.version")
    if version is not None and local.exists() and mark.exists() and mark.read_text() == version:
        return local
    local.parent.mkdir(parents=True, exist_ok=True)
    mark.unlink(missing_ok=True)
    beside = local.with_name(f".{local.name}.part")
    try:
        system.get_file(remote, str(beside))
    except FileNotFoundError as error:
        raise UsageError(f"inbox file {url!r} is gone; deliver it again") from error
    beside.replace(local)
    if version is not None:
        mark.write_text(version)
    return local


def _delivery(system: Any, path: str, info: dict[str, Any]) -> Delivery:
    stamp = next((str(info[name]) for name in _STAMPS if info.get(name) is not None), "")
    digest = hashlib.sha256(f"{path}\n{info.get('size')}\n{stamp}".encode()).hexdigest()[:16]
    return Delivery(str(system.unstrip_protocol(path)), digest)


def _is_taken(path: str) -> bool:
    name = PurePosixPath(path).name
    bare = name.removesuffix(".gz").removesuffix(".zst")
    return not name.startswith(".") and bare.endswith(SUFFIXES)
