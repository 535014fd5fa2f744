"""Phoenix and MLflow as servers on this machine, each with its default store, and how long they take for spans."""

import contextlib
import os
import shutil
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

PEERS = ("Phoenix", "MLflow")
_START_S = 300.0
_LOAD_S = 3600.0


@dataclass
class Server:
    """A peer that takes OTLP over HTTP and keeps spans in SQLite."""

    url: str
    database: Path
    headers: dict[str, str]

    def load(self, folder: Path, spans: int) -> float:
        """Seconds until it holds so many more spans, the requests of the folder."""
        before = self.count()
        requests = [path.read_bytes() for path in sorted(folder.glob("*.pb"))]
        begun = time.perf_counter()
        for data in requests:
            self._post(data)
        while self.count() < before + spans:
            if time.perf_counter() - begun > _LOAD_S:
                msg = f"{self.url} holds {self.count() - before} of {spans} spans after an hour"
                raise TimeoutError(msg)
            time.sleep(0.05)
        return time.perf_counter() - begun

    def count(self) -> int:
        """Spans in its store."""
        with contextlib.closing(sqlite3.connect(f"file:{self.database}?mode=ro", uri=True)) as con:
            return int(con.execute("SELECT count(*) FROM spans").fetchone()[0])

    def _post(self, data: bytes) -> None:
        headers = {"Content-Type": "application/x-protobuf", **self.headers}
        while True:
            request = urllib.request.Request(f"{self.url}/v1/traces", data, headers)
            try:
                urllib.request.urlopen(request, timeout=600).read()
            except urllib.error.HTTPError as error:
                if error.code not in {429, 503}:
                    raise
                time.sleep(0.1)  # it asks for patience, which is part of how long it takes
            else:
                return


@contextlib.contextmanager
def running(folder: Path, say: Callable[[str], None]) -> Iterator[dict[str, Server]]:
    """The peers that `BELEG_PEERS` has, started anew."""
    programs = Path(os.environ.get("BELEG_PEERS", sys.executable)).parent
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with contextlib.ExitStack() as stack:
        found = {}
        for name, start in {"Phoenix": _phoenix, "MLflow": _mlflow}.items():
            if not (programs / name.lower()).exists():
                say(f"readers: {name} is not beside BELEG_PEERS and not measured")
                continue
            say(f"readers: starting {name}")
            found[name] = start(programs, folder, stack)
        yield found


def _phoenix(programs: Path, folder: Path, stack: contextlib.ExitStack) -> Server:
    port = _free_port()
    env = {"PHOENIX_WORKING_DIR": str(folder), "PHOENIX_PORT": str(port), "PHOENIX_GRPC_PORT": str(_free_port()),
           "PHOENIX_TELEMETRY_ENABLED": "false"}  # fmt: skip
    _start(stack, [str(programs / "phoenix"), "serve"], folder / "phoenix.log", env, f"http://127.0.0.1:{port}/healthz")
    return Server(f"http://127.0.0.1:{port}", folder / "phoenix.db", {})


def _mlflow(programs: Path, folder: Path, stack: contextlib.ExitStack) -> Server:
    port, database = _free_port(), folder / "mlflow.db"
    where = ["--host", "127.0.0.1", "--port", str(port), "--workers", "1"]
    stores = ["--backend-store-uri", f"sqlite:///{database}", "--artifacts-destination", str(folder / "artifacts")]
    command = [str(programs / "mlflow"), "server", *where, *stores]
    _start(stack, command, folder / "mlflow.log", {}, f"http://127.0.0.1:{port}/health")
    return Server(f"http://127.0.0.1:{port}", database, {"x-mlflow-experiment-id": "0"})


def _start(stack: contextlib.ExitStack, command: list[str], log: Path, env: dict[str, str], health: str) -> None:
    output = stack.enter_context(log.open("wb"))
    # A group of its own, since servers start workers.
    process = subprocess.Popen(
        command, env={**os.environ, **env}, stdout=output, stderr=output, cwd=log.parent, start_new_session=True
    )
    stack.callback(_stop, process)
    until = time.monotonic() + _START_S
    while time.monotonic() < until and process.poll() is None:
        with contextlib.suppress(OSError), urllib.request.urlopen(health, timeout=5):
            return
        time.sleep(0.2)
    msg = f"{command[0]} did not start, see {log}"
    raise RuntimeError(msg)


def _stop(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, 15)
    try:
        process.wait(30)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])
