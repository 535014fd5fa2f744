"""Shipping: exactly once, resumable, to folders, object stores and OTLP backends."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

import beleg
from beleg.trace import otlp_sink, spool_files
from beleg.trace.otlp_sink import OtlpBackend, spans_of
from beleg.trace.ship import Folder, ShipError, destination_of, ship
from beleg.trace.tail import Tail
from tests.trace.schemas import read_spool

ANSWER = {
    "model": "gpt-4o",
    "usage": {
        "prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120,
        "prompt_tokens_details": {"cached_tokens": 64},
    },
}  # fmt: skip


def _trace(workflow: str = "ocr") -> None:
    with beleg.traced_agent_run(workflow=workflow) as run:
        run.set_output(1, response=ANSWER)


def test_sealed_files_move_and_growing_ones_stay(spool: Path, tmp_path: Path) -> None:
    _trace()
    inbox = Folder(tmp_path / "inbox")
    assert ship(spool, inbox).left == 1
    done = ship(spool, inbox, rest=True)
    assert (done.files, done.left) == (1, 0)
    _trace("later")
    assert len(read_spool(tmp_path / "inbox")) == 3
    assert [event["workflow"] for event in read_spool(spool) if event["event"] == "run_started"] == ["later"]


def test_shipper_that_died_after_the_copy_or_during_it_is_simply_started_again(spool: Path, tmp_path: Path) -> None:
    _trace()
    inbox = tmp_path / "inbox"
    inbox.mkdir()
    spool_files.seal(spool_files.open_files(spool)[0])
    (sealed,) = spool_files.sealed_files(spool)
    (inbox / sealed.name).write_bytes(sealed.read_bytes())
    (inbox / f".{sealed.name}.1.partial").write_bytes(b"half")
    assert ship(spool, Folder(inbox)).files == 1
    assert len(read_spool(inbox)) == 3
    assert spool_files.sealed_files(spool) == []


def test_file_that_differs_at_the_destination_is_never_overwritten(spool: Path, tmp_path: Path) -> None:
    _trace()
    spool_files.seal(spool_files.open_files(spool)[0])
    (sealed,) = spool_files.sealed_files(spool)
    (tmp_path / sealed.name).write_bytes(b"other")
    with pytest.raises(ShipError, match="other content"):
        ship(spool, Folder(tmp_path))
    assert sealed.exists()
    assert (tmp_path / sealed.name).read_bytes() == b"other"


def test_several_shippers_at_once_ship_each_file_once(spool: Path, tmp_path: Path) -> None:
    for _ in range(20):
        _trace()
        spool_files.seal(spool_files.open_files(spool)[0])
        from beleg.trace import runtime

        assert runtime._spool is not None
        runtime._spool.renew()
    shipped: list[int] = []
    threads = [
        threading.Thread(target=lambda: shipped.append(ship(spool, Folder(tmp_path / "in")).files)) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(read_spool(tmp_path / "in")) == 60
    assert list(spool.glob("*")) == []


def test_object_store_gets_whole_objects(spool: Path) -> None:
    fsspec = pytest.importorskip("fsspec")
    _trace()
    ship(spool, destination_of("memory://beleg/inbox"), rest=True)
    (name,) = fsspec.filesystem("memory").ls("/beleg/inbox", detail=False)
    assert fsspec.filesystem("memory").cat_file(name).count(b"\n") == 3


class _Backend(BaseHTTPRequestHandler):
    bodies: list[dict[str, Any]]
    status = 200

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.bodies.append({"path": self.path, **json.loads(body)})
        self.send_response(self.status)
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def backend() -> Iterator[Any]:
    handler = type("Handler", (_Backend,), {"bodies": []})
    server = HTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    handler.url = f"http://127.0.0.1:{server.server_port}"  # type: ignore[attr-defined]
    yield handler
    server.shutdown()
    thread.join()
    server.server_close()


def test_otlp_backend_gets_the_run_as_a_trace_with_genai_spans(spool: Path, backend: Any) -> None:
    _trace()
    assert ship(spool, destination_of(f"otlp+{backend.url}"), rest=True).files == 1
    (body,) = backend.bodies
    assert body["path"] == "/v1/traces"
    step, run = body["resourceSpans"][0]["scopeSpans"][0]["spans"]
    attributes = {a["key"]: next(iter(a["value"].values())) for a in step["attributes"]}
    assert attributes["gen_ai.usage.input_tokens"] == "100"
    assert attributes["gen_ai.usage.cache_read.input_tokens"] == "64"
    assert step["parentSpanId"] == run["spanId"]
    assert (step["traceId"], run["name"]) == (run["traceId"], "invoke_workflow ocr")
    assert len(step["traceId"]) == 32


def test_otlp_spans_of_the_same_events_are_the_same() -> None:
    with beleg.testing.capture() as captured:
        _trace()
    assert list(spans_of(captured.events)) == list(spans_of(captured.events)) != []


def test_otlp_backend_gets_large_files_in_several_requests_and_no_torn_line(
    spool: Path, backend: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(otlp_sink, "SPANS", 2)
    _trace()
    (path,) = spool_files.open_files(spool)
    with path.open("ab") as file:
        file.write(b'{"event":"step","run_\n')
    _trace()
    assert ship(spool, OtlpBackend(backend.url), rest=True).left == 0
    sent = [len(body["resourceSpans"][0]["scopeSpans"][0]["spans"]) for body in backend.bodies]
    assert sent == [2, 2]


def test_errors_of_an_object_store_s_own_leave_the_file_in_the_spool(spool: Path) -> None:
    class Broken:
        def put(self, source: Path) -> None:
            raise LookupError("no such bucket")

    _trace()
    with pytest.raises(ShipError, match="no such bucket"):
        ship(spool, Broken(), rest=True)
    assert len(spool_files.sealed_files(spool)) == 1


def test_place_that_is_none_is_told() -> None:
    pytest.importorskip("fsspec")
    with pytest.raises(ShipError, match="no place that fsspec can write to"):
        destination_of("nosuchstore://bucket")


def test_file_stays_in_the_spool_when_the_backend_refuses_it(spool: Path, backend: Any) -> None:
    backend.status = 500
    _trace()
    with pytest.raises(ShipError, match="stays in the spool"):
        ship(spool, OtlpBackend(backend.url), rest=True)
    assert len(spool_files.sealed_files(spool)) == 1


def test_tail_sees_events_once_while_files_grow_and_are_sealed(spool: Path) -> None:
    _trace("before")
    tail = Tail(spool)
    assert list(tail.new_events()) == []
    _trace("now")
    (path,) = spool_files.open_files(spool)
    with path.open("ab") as file:
        file.write(b'{"torn":')
    assert [event["event"] for event in tail.new_events()] == ["run_started", "step", "run_finished"]
    spool_files.seal(path)
    assert list(tail.new_events()) == []
