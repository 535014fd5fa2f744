"""A provider of models that answers by what it is asked, whatever the order in which questions arrive."""

import itertools
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import ThreadingHTTPServer
from typing import Any

from tests.contract.run.double import MODEL, Act, Double, _Handler, answers

_numbers = itertools.count()
Choose = Callable[[dict[str, Any], int], Act]
"""From the body of a question and the number of the receipt in it to the answer."""


def right(_: dict[str, Any], number: int) -> Act:
    """The right total."""
    return answers({"total": 100 + number, "currency": "EUR"})


@dataclass
class Model:
    """What the server answers and what it was asked."""

    choose: Choose = right
    base_url: str = ""
    named: str = MODEL["chat"]
    """What the server calls the model."""
    asked: list[int] = field(default_factory=list)
    """Numbers of the receipts, as they came."""
    bodies: list[dict[str, Any]] = field(default_factory=list)
    most_at_once: int = 0
    _now: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def taken(self, body: dict[str, Any]) -> Act:
        number = int(_asked(body).rpartition("receipt r-")[2].split()[0])
        with self._lock:
            self.asked.append(number)
            self.bodies.append(body)
            self._now += 1
            self.most_at_once = max(self.most_at_once, self._now)
        return self.choose(body, number)

    def left(self) -> None:
        with self._lock:
            self._now -= 1


def _asked(body: dict[str, Any]) -> str:
    """The first words of the user's; tool results and repairs come after them."""
    return str(next(each["content"] for each in body["messages"] if each["role"] == "user"))


class _Answering(_Handler):
    model: Model

    def send(self, status: int, body: bytes, *rest: Any, **more: Any) -> None:
        named = body.replace(MODEL["chat"].encode(), self.model.named.encode())
        # A response id is that of one response: the lake would take two with the same for one call.
        super().send(status, named.replace(b"chatcmpl-", b"chatcmpl-%016d-" % next(_numbers)), *rest, **more)

    def do_POST(self) -> None:  # noqa: N802 - the name that the server calls
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))))
        act = self.model.taken(body)
        try:
            act(self, "chat")
        except OSError:  # the client is gone
            self.close_connection = True
        finally:
            self.model.left()


@contextmanager
def serving() -> Iterator[Model]:
    """A running model."""
    made = Model()
    handler = type("Handler", (_Answering,), {"model": made, "double": Double()})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    made.base_url = f"http://127.0.0.1:{server.server_port}/v1"
    try:
        yield made
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
