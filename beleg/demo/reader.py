"""The demo's model: a server on localhost that speaks chat completions and reads the demo's receipts.

It reads as it is told: the prompt that says nothing of deposits gets them as tax lines of their own.
"""

import json
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from beleg.demo import receipts
from beleg.demo.company import OWN

_HEAD = re.compile(r"(?P<supplier>[^\n]+)\nRechnung Nr\. R-(?P<number>\d+) vom (?P<issued>[\d.]+)\n")
_LINE = re.compile(r"^(?:Pfand )?(?P<rate>\d+) % netto (?P<net>[\d,]+) USt (?P<tax>[\d,]+)$", re.MULTILINE)
_GROSS = re.compile(r"^Gesamt EUR ([\d,]+)$", re.MULTILINE)
UNTOLD = ""
"""An instruction that says nothing of deposits, as the active version's does."""
_CHARS_PER_TOKEN = 4
_READING_S = 0.02
"""Nobody reads in no time; beside it, a busy machine's noise is small."""
_VARIABLES = {"BASE_URL": "BELEG_BASE_URL_MUSTER_CLOUD", "API_KEY": "MUSTER_CLOUD_API_KEY"}


def read(system: str, document: str) -> dict[str, Any]:
    """The answer to a document under an instruction."""
    head, gross = _HEAD.search(document), _GROSS.search(document)
    if head is None or gross is None:
        raise ValueError("no receipt of the demo")
    issued = datetime.strptime(head["issued"], "%d.%m.%Y").date()  # noqa: DTZ007 - a day, no instant
    lines = list(_lines(document, told_of_deposits="Pfand" in system))
    return receipts.answer(head["supplier"].strip(), int(head["number"]), issued, lines, _cents(gross[1]))


def _lines(document: str, *, told_of_deposits: bool) -> Iterator[dict[str, Any]]:
    rows = [(int(row["rate"]), _cents(row["net"]), _cents(row["tax"])) for row in _LINE.finditer(document)]
    if told_of_deposits and "\nPfand " in document:
        (rate, net, _), *others, (_, deposit, _) = rows
        rows = [(rate, net + deposit, receipts.tax(rate, net + deposit)), *others]
    for rate, net, tax in rows:
        yield {"rate_percent": str(rate), "net_cents": net, "tax_cents": tax}


def _cents(euro: str) -> int:
    return int(euro.replace(",", ""))


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        time.sleep(_READING_S)
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        texts = {message["role"]: str(message["content"]) for message in asked["messages"]}
        said = json.dumps(read(texts["system"], texts["user"]), ensure_ascii=False)
        body = json.dumps(_completion(asked["model"], "".join(texts.values()), said)).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name it is called by
        """Say nothing."""


def _completion(model: str, question: str, said: str) -> dict[str, Any]:
    used = [len(text) // _CHARS_PER_TOKEN for text in (question, said)]
    return {
        "id": "chatcmpl-demo",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": said}}],
        "usage": {"prompt_tokens": used[0], "completion_tokens": used[1], "total_tokens": sum(used)},
    }


@contextmanager
def serving() -> Iterator[str]:
    """The model at an address of localhost, to which contracts that name the demo's provider are sent meanwhile."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    address = f"http://127.0.0.1:{server.server_port}/v1"
    before = {name: os.environ.get(name) for name in _VARIABLES.values()}
    os.environ |= {_VARIABLES["BASE_URL"]: address, _VARIABLES["API_KEY"]: OWN.name}
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield address
    finally:
        server.shutdown()
        server.server_close()
        for name, value in before.items():
            os.environ.pop(name, None) if value is None else os.environ.update({name: value})
