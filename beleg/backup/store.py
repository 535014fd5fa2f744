"""Where backups lie: a folder, or any file system that fsspec knows (`s3://…`, `gs://…`, `sftp://…`).

A file is there whole or not at all: folders by writing beside and renaming, object stores by themselves.
"""

import os
import shutil
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from beleg.core.errors import DamagedError, UsageError
from beleg.core.files import demand_folder
from beleg.lake.exclusive import is_full

_CHUNK_BYTES = 1 << 20
_PARTIAL = ".partial"


class Missing(DamagedError):
    """A store does not hold a file that it should."""


class Store(Protocol):
    """A place of files with names such as `objects/3f/3f9a…`. Every method raises DamagedError where it fails."""

    place: str
    """What the user calls it."""

    def sizes(self, folder: str) -> dict[str, int]:
        """Name → bytes of every file below a folder; nothing where there is no folder."""

    def put(self, name: str, source: Path | bytes) -> None:
        """Make a file appear, from a local file or from bytes."""

    def chunks(self, name: str) -> Iterator[bytes]:
        """Read a file piece by piece; raises Missing where there is none."""

    def delete(self, name: str) -> None:
        """Remove a file; one that is gone already is no error."""

    def tidy(self) -> None:
        """Remove what killed backups left half-written; no other backup may be writing."""


class FolderStore:
    """A folder of this machine."""

    def __init__(self, path: Path) -> None:
        self.place = str(path)
        self.path = path.expanduser().absolute()
        demand_folder(self.path)

    def sizes(self, folder: str) -> dict[str, int]:
        """See Store."""
        with _told(self.place):
            found = (p for p in (self.path / folder).rglob("*") if p.is_file() and p.suffix != _PARTIAL)
            return {p.relative_to(self.path).as_posix(): p.stat().st_size for p in found}

    def put(self, name: str, source: Path | bytes) -> None:
        """See Store."""
        target = self.path / name
        beside = target.with_name(f".{target.name}.{os.getpid()}{_PARTIAL}")
        with _told(self.place, source):
            target.parent.mkdir(parents=True, exist_ok=True)
            try:
                with beside.open("wb") as write:
                    if isinstance(source, bytes):
                        write.write(source)
                    else:
                        with source.open("rb") as read:
                            shutil.copyfileobj(read, write, _CHUNK_BYTES)
                    write.flush()
                    os.fsync(write.fileno())
                beside.replace(target)
            finally:
                beside.unlink(missing_ok=True)

    def chunks(self, name: str) -> Iterator[bytes]:
        """See Store."""
        with _told(self.place), (self.path / name).open("rb") as file:
            while chunk := file.read(_CHUNK_BYTES):
                yield chunk

    def delete(self, name: str) -> None:
        """See Store."""
        with _told(self.place):
            (self.path / name).unlink(missing_ok=True)

    def tidy(self) -> None:
        """See Store."""
        with _told(self.place):
            for partial in self.path.rglob(f".*{_PARTIAL}"):
                partial.unlink(missing_ok=True)


class UrlStore:
    """A folder of a file system that fsspec knows."""

    def __init__(self, url: str) -> None:
        self.place = url
        try:
            import fsspec  # type: ignore[import-not-found,import-untyped,unused-ignore]  # noqa: PLC0415
        except ImportError as error:
            msg = f"{url!r} needs fsspec and the store's own package: pip install 'beleg[s3]' s3fs"
            raise UsageError(msg) from error
        try:
            self._fs, root = fsspec.core.url_to_fs(url)
        except (ImportError, ValueError) as error:
            msg = f"{url!r} is no place that fsspec can reach: {error}"
            raise UsageError(msg) from error
        self._root = root.rstrip("/")

    def sizes(self, folder: str) -> dict[str, int]:
        """See Store."""
        with _told(self.place):
            self._fs.invalidate_cache()
            try:
                found: dict[str, dict[str, Any]] = self._fs.find(f"{self._root}/{folder}", detail=True)
            except FileNotFoundError:
                return {}
            return {path[len(self._root) + 1 :]: int(entry["size"]) for path, entry in found.items()}

    def put(self, name: str, source: Path | bytes) -> None:
        """See Store."""
        with _told(self.place, source):
            self._fs.makedirs(f"{self._root}/{name}".rpartition("/")[0], exist_ok=True)
            if isinstance(source, bytes):
                self._fs.pipe_file(f"{self._root}/{name}", source)
            else:
                self._fs.put_file(str(source), f"{self._root}/{name}")

    def chunks(self, name: str) -> Iterator[bytes]:
        """See Store."""
        with _told(self.place), self._fs.open(f"{self._root}/{name}", "rb") as file:
            while chunk := file.read(_CHUNK_BYTES):
                yield chunk

    def delete(self, name: str) -> None:
        """See Store."""
        with _told(self.place):
            if self._fs.exists(f"{self._root}/{name}"):
                self._fs.rm_file(f"{self._root}/{name}")

    def tidy(self) -> None:
        """See Store. Object stores drop unfinished uploads by a lifecycle rule of their own."""


def store_at(place: str) -> Store:
    """The store at a folder or URL; raises UsageError for one that cannot be reached from here."""
    if place.startswith("file://"):
        return FolderStore(Path(place.removeprefix("file://")))
    return UrlStore(place) if "://" in place else FolderStore(Path(place))


@contextmanager
def _told(place: str, source: Path | bytes = b"") -> Generator[None]:
    """Object stores raise errors of their own; all become one with words on what to do.

    Only that the local file `source` is gone stays a FileNotFoundError.
    """
    try:
        yield
    except Exception as error:
        if isinstance(source, Path) and not source.exists():
            raise FileNotFoundError(str(source)) from error
        if isinstance(error, FileNotFoundError):
            raise Missing(f"{error.filename or error} is missing") from error
        way = "free space there" if is_full(error) else "mend that"
        msg = f"{place} cannot be read or written: {error}; {way} and run it again: it goes on where it stopped"
        raise DamagedError(msg) from error
