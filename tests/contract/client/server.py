"""A static web server over a folder, with the faults of the network on demand."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

Fault = Callable[["_Handler"], None]


class Web:
    """The server's address, what was asked of it, and how it misbehaves."""

    def __init__(self) -> None:
        self.url = ""
        self.asked: list[str] = []
        self.fault: Fault | None = None
        self.login: str | None = None
        """The only Authorization header that is let in."""
        self.gate = threading.Event()
        """What hangs does so until this is set."""
        self.stop: Callable[[], None] = lambda: None


class _Handler(SimpleHTTPRequestHandler):
    web: Web

    def do_GET(self) -> None:
        self.web.asked.append(self.path)
        try:
            if self.web.login not in {None, self.headers.get("Authorization")}:
                self.send_error(401)
            elif self.web.fault is None:
                super().do_GET()
            else:
                self.web.fault(self)
        except OSError:
            self.close_connection = True

    def log_message(self, *_: Any) -> None:
        pass


def status(code: int) -> Fault:
    return lambda handler: handler.send_error(code)


def hangs(handler: _Handler) -> None:
    handler.web.gate.wait(30)


def drips(handler: _Handler) -> None:
    """A byte now and then: no single read ever times out."""
    handler.send_response(200)
    handler.send_header("Content-Length", "1000000")
    handler.end_headers()
    while not handler.web.gate.wait(0.02):
        handler.wfile.write(b" ")


def cut(handler: _Handler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"format": 1')


def says(body: bytes) -> Fault:
    def act(handler: _Handler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    return act


def floods(handler: _Handler) -> None:
    handler.send_response(200)
    handler.end_headers()
    while not handler.web.gate.is_set():
        handler.wfile.write(b" " * 65536)


@contextmanager
def web_server(folder: Path) -> Iterator[Web]:
    """A running server; `web.stop()` takes it away before the end."""
    web = Web()
    handler = type("Handler", (_Handler,), {"web": web})
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(handler, directory=str(folder)))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    web.url = f"http://127.0.0.1:{server.server_port}"

    def stop() -> None:
        web.gate.set()
        server.shutdown()
        thread.join()
        server.server_close()

    web.stop = stop
    try:
        yield web
    finally:
        if thread.is_alive():
            stop()
