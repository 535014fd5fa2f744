"""Moves sealed spool files to where the pipeline reads them: a folder, an object store, an OTLP backend.

Exactly once, resumable: a file keeps its unique name, its bytes never change after sealing, it appears at
the destination in one step, and it leaves the spool only after its digest there was compared. A shipper
that dies at any moment is simply started again; two at once do no harm.
"""

import contextlib
import hashlib
import os
import secrets
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from beleg.trace import spool_files


class ShipError(OSError):
    """A file could not be shipped; it stays in the spool."""


class Destination(Protocol):
    """Where files go."""

    def put(self, source: Path) -> None:
        """Make the file appear, whole or not at all; the same file again changes nothing. Raises OSError."""


@dataclass(frozen=True, slots=True)
class Shipped:
    """What one pass did."""

    files: int
    bytes: int
    left: int
    """Files that still grow and stay."""


def ship(spool: Path, destination: Destination, *, rest: bool = False) -> Shipped:
    """Ship what is sealed. `rest` first seals what dead owners, and this process, left open.

    Raises ShipError at the first file that fails; those before it are shipped.
    """
    spool_files.seal_dead(spool)
    if rest:
        _seal_own(spool)
    files = shipped_bytes = 0
    for path in spool_files.sealed_files(spool):
        try:
            size = path.stat().st_size
            destination.put(path)
            path.unlink()
        except Exception as error:
            # Object stores raise errors of their own.
            if not path.exists():  # another shipper was faster
                continue
            raise ShipError(f"{path.name} could not be shipped and stays in the spool: {error}") from error
        files += 1
        shipped_bytes += size
    return Shipped(files, shipped_bytes, len(spool_files.open_files(spool)))


def _seal_own(spool: Path) -> None:
    from beleg.trace.spool import seal_open  # noqa: PLC0415 - only this process's own writer knows

    seal_open(spool)


@dataclass(frozen=True, slots=True)
class Folder:
    """A local folder, for example a mounted share of the pipeline."""

    path: Path

    def put(self, source: Path) -> None:
        """Copy beside, sync, compare, then rename."""
        self.path.mkdir(parents=True, exist_ok=True)
        target = self.path / source.name
        if target.exists():
            if _digest(target.read_bytes()) != _digest(source.read_bytes()):
                raise ShipError(f"{target} exists with other content; move it away, it is no copy of the spool's")
            return
        partial = self.path / f".{source.name}.{secrets.token_hex(8)}.partial"
        try:
            with source.open("rb") as read, partial.open("wb") as write:
                shutil.copyfileobj(read, write, 1 << 20)
                write.flush()
                os.fsync(write.fileno())
            if _digest(partial.read_bytes()) != _digest(source.read_bytes()):
                raise ShipError(f"{partial} differs from {source.name} after copying; the file stays in the spool")
            partial.replace(target)
        finally:
            with contextlib.suppress(FileNotFoundError):
                partial.unlink()


class ObjectStore:
    """A folder of any file system that fsspec knows (`s3://…`, `gs://…`, `memory://…`)."""

    def __init__(self, url: str) -> None:
        try:
            import fsspec  # type: ignore[import-not-found,import-untyped,unused-ignore]  # noqa: PLC0415
        except ImportError as error:
            raise ShipError(f"{url!r} needs the fsspec package: pip install fsspec and the store's own") from error
        try:
            self._fs, self._root = fsspec.core.url_to_fs(url)
        except (ImportError, ValueError) as error:
            raise ShipError(f"{url!r} is no place that fsspec can write to: {error}") from error

    def put(self, source: Path) -> None:
        """Write the object in one call, then compare; stores make an object appear whole."""
        target = f"{self._root.rstrip('/')}/{source.name}"
        data = source.read_bytes()
        if not (self._fs.exists(target) and _digest(self._fs.cat_file(target)) == _digest(data)):
            self._fs.pipe_file(target, data)
        if _digest(self._fs.cat_file(target)) != _digest(data):
            raise ShipError(f"{target} differs from {source.name} after writing; the file stays in the spool")


def destination_of(place: str) -> Destination:
    """A destination from text: a folder, `otlp+http(s)://…` or any fsspec URL. Raises ShipError."""
    if place.startswith(("otlp+http://", "otlp+https://")):
        from beleg.trace.otlp_sink import OtlpBackend  # noqa: PLC0415 - needs the network modules

        return OtlpBackend(place.removeprefix("otlp+"))
    return ObjectStore(place) if "://" in place else Folder(Path(place))


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
