"""People are told of a failed run, through servers that really listen."""

import json
import socketserver
import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import dagster as dg
import pytest

from beleg.core.notify import Notice, Targets, tell
from pipelines.notify import tell_of_failure
from tests.checks.support import damage
from tests.flow.support import run_events
from tests.pipeline.support import Pipeline
from tests.pipeline.test_sensors import NOON

pytestmark = pytest.mark.filterwarnings("ignore")
NOTICE = Notice("Beleg: refresh failed", "events: check unique_key of steps failed", "refresh", "run-1")


@contextmanager
def listening(server: Any) -> Generator[int]:
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def web() -> Generator[tuple[int, list[Any]]]:
    got: list[Any] = []

    class Hook(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            got.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(500 if self.path == "/broken" else 204)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    with listening(HTTPServer(("127.0.0.1", 0), Hook)) as port:
        yield port, got


@pytest.fixture
def mail() -> Generator[tuple[int, list[str]]]:
    got: list[str] = []

    class Smtp(socketserver.StreamRequestHandler):
        def say(self, text: str) -> None:
            self.wfile.write(f"{text}\r\n".encode())

        def handle(self) -> None:
            self.say("220 test")
            while line := self.rfile.readline().decode().strip():
                if line.upper() == "DATA":
                    self.say("354 go on")
                    got.append("\n".join(iter(lambda: self.rfile.readline().decode().rstrip("\r\n"), ".")))
                self.say("221 bye" if line.upper() == "QUIT" else "250 ok")

    with listening(socketserver.TCPServer(("127.0.0.1", 0), Smtp)) as port:
        yield port, got


def test_both_ways_say_what_failed_and_why(web: tuple[int, list[Any]], mail: tuple[int, list[str]]) -> None:
    targets = Targets(f"http://127.0.0.1:{web[0]}/hook", f"smtp://127.0.0.1:{mail[0]}", "ops@example.com")
    assert tell(NOTICE, targets) == ["webhook 127.0.0.1: sent", "mail to ops@example.com: sent"]
    assert web[1] == [{"text": f"{NOTICE.subject}\n{NOTICE.text}", "job": "refresh", "run_id": "run-1"}]
    assert "Subject: Beleg: refresh failed" in mail[1][0]
    assert NOTICE.text in mail[1][0]


def test_one_who_cannot_be_reached_keeps_nobody_else_from_it(
    mail: tuple[int, list[str]], web: tuple[int, list[Any]]
) -> None:
    targets = Targets(f"http://127.0.0.1:{web[0]}/broken", f"smtp://127.0.0.1:{mail[0]}", "ops@example.com")
    broken, sent = tell(NOTICE, targets)
    assert broken.startswith("webhook 127.0.0.1: not sent, HTTPError")
    assert sent.endswith(": sent")


def test_a_dry_run_sends_nothing(web: tuple[int, list[Any]]) -> None:
    told = tell(NOTICE, Targets(f"http://127.0.0.1:{web[0]}/hook", dry_run=True))
    assert told == [f"webhook 127.0.0.1: would send 'Beleg: refresh failed': {NOTICE.text}"]
    assert web[1] == []


@pytest.mark.parametrize("address", ["file:///etc/passwd", "http://127.0.0.1:1/", "nonsense"])
def test_a_wrong_address_is_said_and_raises_nothing(address: str) -> None:
    (told,) = tell(NOTICE, Targets(address))
    assert "not sent" in told


def test_a_failed_run_tells_which_check_failed(
    pipeline: Pipeline, web: tuple[int, list[Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BELEG_NOTIFY_WEBHOOK", f"http://127.0.0.1:{web[0]}/hook")
    pipeline.arrive(*run_events("a", NOON))
    assert pipeline.refresh().success
    damage(pipeline.settings, "steps", "SELECT * REPLACE (CAST(NULL AS VARCHAR) AS status) FROM rows")
    broken = pipeline.refresh()
    assert not broken.success
    (failure,) = (event for event in broken.all_events if event.event_type == dg.DagsterEventType.RUN_FAILURE)
    context = dg.build_run_status_sensor_context(
        "tell_of_failure", failure, pipeline.instance, broken.dagster_run
    ).for_run_failure()
    tell_of_failure(context)
    (told,) = web[1]
    assert told["text"].startswith("Beleg: refresh failed\nevents: ")
    assert told["text"].endswith("events: contract")
