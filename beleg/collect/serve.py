"""Runs the receiver as a server: address, token, spool, signals."""

import ipaddress
import os
import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import uvicorn

from beleg.collect.app import LOOPBACK, Access, application
from beleg.collect.receiver import Receiver
from beleg.core.errors import UsageError
from beleg.core.settings import Settings
from beleg.core.values import stored_workflows
from beleg.ingest.judge import Judge
from beleg.ingest.limits import Limits
from beleg.ingest.readers.naming import Naming
from beleg.ingest.schemas import shape_folders
from beleg.trace.settings import from_environment
from beleg.trace.spool import Spool

TOKEN = "BELEG_COLLECT_TOKEN"  # noqa: S105  # the name of the variable
_LEAST_TOKEN_CHARS = 16


@dataclass(frozen=True)
class Address:
    """Where the receiver listens."""

    host: str = "127.0.0.1"
    port: int = 4318
    """0 takes any free port."""


def read_token(file: Path | None) -> str | None:
    """The bearer token of a file, else of `BELEG_COLLECT_TOKEN`; None where there is none.

    Raises UsageError for a file that cannot be read and for a token that is too short to be one.
    """
    try:
        token = (os.environ.get(TOKEN, "") if file is None else file.read_text(encoding="utf-8")).strip()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"token file {str(file)!r} cannot be read ({type(error).__name__})") from error
    if not token and file is None:
        return None
    if len(token) < _LEAST_TOKEN_CHARS or not token.isascii() or not token.isprintable() or " " in token:
        msg = f"the token has {len(token)} characters; use at least {_LEAST_TOKEN_CHARS} of ASCII without blanks"
        raise UsageError(f"{msg}, for example the output of `openssl rand -hex 32`")
    return token


def listen(address: Address, token: str | None) -> socket.socket:
    """A bound socket. Raises UsageError for an address other than this machine's without a token, or in use."""
    if token is None and not _is_loopback(address.host):
        msg = f"{address.host} can be reached from other machines: give a bearer token by --token-file or {TOKEN}"
        raise UsageError(f"{msg}, or listen on {LOOPBACK[0]}")
    try:
        family, kind, proto, _, where = socket.getaddrinfo(
            address.host, address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        bound = socket.socket(family, kind, proto)
        try:
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            bound.bind(where)
        except BaseException:
            bound.close()
            raise
    except (OSError, OverflowError) as error:
        msg = f"cannot listen on {address.host}:{address.port}: {getattr(error, 'strerror', None) or error}"
        raise UsageError(f"{msg}; choose another by --host and --port") from error
    return bound


def serve(settings: Settings, bound: socket.socket, access: Access, on_ready: Callable[[str], None]) -> None:
    """Receive until SIGINT or SIGTERM, then finish what was begun and seal the spool file.

    `on_ready` gets the address once connections are taken.
    """
    tracing = from_environment()
    spool = Spool(
        settings.spool,
        rotate_bytes=tracing.rotate_bytes,
        rotate_s=tracing.rotate_s,
        max_bytes=tracing.max_bytes,
        sync=tracing.sync,
    )
    judge = Judge(Limits(), shape_folders(settings.project), stored_workflows(settings))
    receiver = Receiver(spool.write, judge, Naming.load(settings.project))
    config = uvicorn.Config(
        application(receiver, access, spool.seal),
        log_level="warning",
        access_log=False,
        server_header=False,
        limit_concurrency=8 * access.requests_at_once,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=10,
    )
    host, port = bound.getsockname()[:2]
    bound.listen(128)
    on_ready(f"http://{f'[{host}]' if ':' in host else host}:{port}")
    uvicorn.Server(config).run(sockets=[bound])


def _is_loopback(host: str) -> bool:
    if host in LOOPBACK:
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
