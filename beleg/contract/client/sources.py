"""Where a registry is read from: a folder, a static web server, or any store that fsspec knows.

Three answers are kept apart: FileNotFoundError (it says there is no such file), Forbidden (it refuses) and
Unreachable (it says nothing). A web server's 404 is no more than Unproven: one that has lost its folder says
so of everything. Nothing is ever written.
"""

# A cold start has no time for pathlib (5 ms).
# ruff: noqa: PTH100, PTH111, PTH112, PTH117, PTH118, PTH123

import os
import sys
import time
from typing import TYPE_CHECKING, Any

from beleg.contract.client.errors import Forbidden, Tampered, Unreachable

if TYPE_CHECKING:  # a Protocol costs a millisecond to make
    from beleg.contract.client.source import Source

MAX_BYTES = 16 << 20
"""Most that a file of a registry may hold."""
_CHUNK = 1 << 16
_PARTS = ("features", "prompts", "tools")
"""A registry holds one of these folders; what holds none is a store that is away, not a feature that is gone."""


class Unproven(FileNotFoundError):
    """A web server says 404: there is no such file, or no registry behind it at the moment."""


_TRANSIENT = frozenset({408, 425, 429})


def address_of(registry: str | os.PathLike[str] | None) -> str:
    """The whole address of a registry; by default `BELEG_REGISTRY`, else the folder `registry` of the installation."""
    address = _default_address() if registry is None else os.fspath(registry)
    return address if "://" in address or os.path.isabs(address) else os.path.abspath(os.path.expanduser(address))


def _default_address() -> str:
    return os.environ.get("BELEG_REGISTRY") or os.path.join(os.environ.get("BELEG_HOME") or ".beleg", "registry")


def source_of(address: str) -> "Source":
    """The source at an address: a folder, `http(s)://…`, or an fsspec URL such as `s3://bucket/registry`."""
    if address.startswith(("http://", "https://")):
        return HttpSource(address)
    if address.startswith("file://"):
        return FolderSource(address.removeprefix("file://"))
    return FsspecSource(address) if "://" in address else FolderSource(address)


class FolderSource:
    """A registry in a folder, also a mounted one."""

    def __init__(self, root: str) -> None:
        self.identity = os.path.abspath(root)

    def read(self, path: str, *, timeout_s: float) -> bytes:  # noqa: ARG002 - a folder answers at once or not at all
        """See `Source.read`."""
        try:
            with open(os.path.join(self.identity, path), "rb") as file:
                return _checked(file.read(MAX_BYTES + 1), path)
        except (FileNotFoundError, NotADirectoryError) as error:
            if not any(os.path.isdir(os.path.join(self.identity, each)) for each in _PARTS):
                raise Unreachable(f"there is no registry at {self.identity}") from error
            raise FileNotFoundError(path) from error
        except PermissionError as error:
            raise Forbidden(f"{self.identity}/{path} may not be read: {error.strerror}") from error
        except (OSError, ValueError) as error:
            raise Unreachable(f"{self.identity}/{path} cannot be read: {error}") from error


class HttpSource:
    """A registry on a web server that hands out files."""

    def __init__(self, url: str) -> None:
        """`https://user:password@…` logs in by HTTP Basic."""
        self.identity = url.rstrip("/")
        scheme, _, rest = self.identity.partition("://")
        login, at, place = rest.partition("/")[0].rpartition("@")
        self._url = f"{scheme}://{place}{rest[len(login + at + place) :]}"
        self._login = login if at else None

    def read(self, path: str, *, timeout_s: float) -> bytes:
        """See `Source.read`. Caches on the way are asked to look again, since a head moves."""
        ends = time.monotonic() + timeout_s
        _check_listening(self.identity, timeout_s)
        import urllib.request  # noqa: PLC0415 - costs tens of milliseconds that a folder does not need
        from base64 import b64encode  # noqa: PLC0415
        from http.client import HTTPException  # noqa: PLC0415
        from urllib.error import HTTPError  # noqa: PLC0415
        from urllib.parse import quote, unquote  # noqa: PLC0415

        headers = {"User-Agent": "beleg", "Cache-Control": "no-cache"}
        if self._login is not None:
            headers["Authorization"] = f"Basic {b64encode(unquote(self._login).encode()).decode()}"
        try:
            request = urllib.request.Request(f"{self._url}/{quote(path)}", headers=headers)  # noqa: S310
            with urllib.request.urlopen(request, timeout=timeout_s) as answer:  # noqa: S310 - the scheme was checked
                return self._body(answer, path, ends)
        except HTTPError as error:
            error.close()
            raise _of_status(error.code, path, self.identity) from error
        except (OSError, HTTPException, ValueError) as error:
            raise Unreachable(f"{_host(self.identity)} gives no answer: {type(error).__name__}") from error

    def _body(self, answer: Any, path: str, ends: float) -> bytes:
        """All bytes; a server that drips them is cut off at the deadline, one that stops early is no answer."""
        data = bytearray()
        while chunk := answer.read1(_CHUNK):
            data += chunk
            if time.monotonic() > ends:
                raise TimeoutError
            _check_size(len(data), path)
        declared = answer.headers.get("Content-Length")
        if declared is not None and declared.isdecimal() and int(declared) != len(data):
            raise TimeoutError
        return bytes(data)


class FsspecSource:
    """A registry in any store that fsspec can open."""

    def __init__(self, url: str) -> None:
        self.identity = url.rstrip("/")

    def read(self, path: str, *, timeout_s: float) -> bytes:  # noqa: ARG002 - stores have time limits of their own
        """See `Source.read`. How long a store may take is a setting of the store's."""
        import fsspec  # noqa: PLC0415 - only readers of object stores need it

        try:
            fs, root = fsspec.core.url_to_fs(self.identity)
            try:
                with fs.open(f"{root}/{path}", "rb") as file:
                    return _checked(file.read(MAX_BYTES + 1), path)
            except FileNotFoundError as error:
                if not any(fs.exists(f"{root}/{each}") for each in _PARTS):
                    raise Unreachable(f"there is no registry at {_host(self.identity)}") from error
                raise FileNotFoundError(path) from error
        except (FileNotFoundError, Unreachable, Tampered):
            raise
        except PermissionError as error:
            raise Forbidden(f"{_host(self.identity)} refuses {path}") from error
        except Exception as error:  # each store raises what it likes
            raise Unreachable(f"{_host(self.identity)} gives no answer: {type(error).__name__}") from error


def _check_listening(identity: str, timeout_s: float) -> None:
    """Raise Unreachable where nobody listens, before the HTTP library is loaded for nothing.

    A process that starts while the registry is away is halfway through in the time that takes.
    """
    if "urllib.request" in sys.modules or any(name.lower().endswith("_proxy") for name in os.environ):
        return
    import socket  # noqa: PLC0415 - only http needs it

    scheme, _, rest = identity.partition("://")
    place = rest.partition("/")[0].rpartition("@")[2]
    host, _, port = place[1:].partition("]") if place.startswith("[") else place.partition(":")
    try:
        number = int(port.lstrip(":") or (443 if scheme == "https" else 80))
        socket.create_connection((host, number), timeout_s).close()
    except (OSError, ValueError, OverflowError) as error:
        raise Unreachable(f"{_host(identity)} gives no answer: {type(error).__name__}") from error


def _of_status(status: int, path: str, identity: str) -> Exception:
    if status in {404, 410}:
        return Unproven(path) if status == 404 else FileNotFoundError(path)
    if status in {401, 403, 407}:
        return Forbidden(f"{_host(identity)} refuses {path}: HTTP {status}")
    if status >= 500 or status in _TRANSIENT:
        return Unreachable(f"{_host(identity)} answers HTTP {status}")
    return Unreachable(f"{_host(identity)} answers HTTP {status}; is that the address of a registry?")


def _checked(data: bytes, path: str) -> bytes:
    _check_size(len(data), path)
    return data


def _check_size(size: int, path: str) -> None:
    if size > MAX_BYTES:
        raise Tampered(f"{path} holds more than {MAX_BYTES >> 20} MiB; no file of a registry does")


def _host(identity: str) -> str:
    """The address without what may be a password in it."""
    scheme, _, rest = identity.partition("://")
    place = rest.partition("/")
    return f"{scheme}://{place[0].rpartition('@')[2]}{place[1]}{place[2].partition('?')[0]}"
