"""Nothing acknowledged is lost: killed receivers, full spools, two at once, slow and crowded senders."""

import asyncio
import json
import random
import signal
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx
import pytest

from beleg.collect.app import Access, application
from beleg.collect.body import BodyLimits
from beleg.collect.receiver import Receiver
from beleg.core.paths import shipped
from beleg.core.settings import Settings
from beleg.flow import run
from beleg.ingest.judge import Judge
from beleg.ingest.limits import Limits
from beleg.ingest.readers.naming import Naming
from beleg.trace.spool import Spool, SpoolError
from tests.collect.conftest import Collector, collecting, request, span

ROUNDS = 4


def acknowledged_until_killed(running: Collector, start: int, after: int) -> set[str]:
    """Send spans one by one, kill the receiver in the middle; the ids of those it acknowledged."""
    known: set[str] = set()
    sent = threading.Event()

    def kill() -> None:
        sent.wait()
        running.process.send_signal(signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    for number in range(start, start + 10_000):
        try:
            answer = running.post(request(span(number)))
        except httpx.TransportError:
            break
        assert answer.status_code == 200
        known.add(f"{number:016x}")
        if len(known) == after:
            sent.set()
    killer.join()
    return known


def test_a_receiver_killed_under_load_loses_nothing_it_acknowledged(tmp_path: Path) -> None:
    chance, known = random.Random(9), set[str]()
    for number in range(ROUNDS):
        with collecting(tmp_path / "home") as running:
            known |= acknowledged_until_killed(running, 1 + number * 10_000, chance.randint(1, 40))
    settings = Settings.load({"BELEG_HOME": str(tmp_path / "home")})
    taken = run(settings)
    lines = [line for file in settings.spool.glob("*.jsonl") for line in file.read_bytes().splitlines()]
    steps = {event["step_id"] for event in map(json.loads, lines) if event["event"] == "step"}
    assert len(known) >= ROUNDS
    assert [identity for identity in known if not any(step.endswith(identity) for step in steps)] == []
    assert taken.ingest.quarantined == 0


def test_two_receivers_share_a_spool(tmp_path: Path) -> None:
    with collecting(tmp_path / "home") as one, collecting(tmp_path / "home") as other:
        for number in range(1, 21):
            (one if number % 2 else other).post(request(span(number)))
        assert len({event["event_id"] for event in one.events() if event["event"] == "step"}) == 20


def test_a_terminated_receiver_leaves_sealed_files(tmp_path: Path) -> None:
    with collecting(tmp_path / "home") as running:
        running.post(request(span(1)))
        assert list(running.spool.glob("*.open.jsonl"))
    assert running.process.returncode in (0, -signal.SIGTERM)
    assert not list(running.spool.glob("*.open.jsonl"))
    assert running.events()


# -- in the same process, where the spool can be made to fail ----------------------------------------


def receiver_with(write: object) -> Receiver:
    folders = [shipped("contracts") / "events" / "artifact" / "shapes"]
    return Receiver(write, Judge(Limits(), folders), Naming())  # type: ignore[arg-type]


@pytest.fixture
def spool(tmp_path: Path) -> Iterator[Spool]:
    spool = Spool(tmp_path / "spool", max_bytes=1)
    yield spool
    spool.seal()


def client(receiver: Receiver, access: Access | None = None) -> httpx.AsyncClient:
    app = application(receiver, access or Access(), lambda: None)
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1")


def test_a_full_spool_is_told_so_that_the_sender_tries_again(spool: Spool) -> None:
    receiver = receiver_with(spool.write)

    async def send() -> list[httpx.Response]:
        async with client(receiver) as sender:
            return [await sender.post("/v1/traces", json=request(span(number))) for number in (1, 2)]

    spool.folder.mkdir()
    (spool.folder / "old.jsonl").write_text("{}\n", encoding="utf-8")
    for answer in asyncio.run(send()):
        assert (answer.status_code, answer.json()["code"]) == (503, 14)
        assert int(answer.headers["retry-after"]) > 0
    assert (receiver.totals.spans, dict(receiver.totals.failed_writes)) == (0, {"spool_full": 2})


def test_a_disk_that_fills_up_in_the_middle_is_not_acknowledged() -> None:
    def write(line: bytes) -> None:
        raise SpoolError("short_write", f"{len(line) // 2} bytes were written")

    async def send() -> httpx.Response:
        async with client(receiver_with(write)) as sender:
            return await sender.post("/v1/traces", json=request(span(1)))

    assert asyncio.run(send()).status_code == 503


def test_more_requests_than_fit_are_told_to_come_again() -> None:
    written: list[bytes] = []
    access = Access(requests_at_once=1)

    async def send() -> tuple[int, int]:
        async with client(receiver_with(written.append), access) as sender:
            begun, go_on = asyncio.Event(), asyncio.Event()

            async def slow() -> AsyncIterator[bytes]:
                begun.set()
                await go_on.wait()
                yield json.dumps(request(span(1))).encode()

            headers = {"content-type": "application/json"}
            first = asyncio.create_task(sender.post("/v1/traces", content=slow(), headers=headers))
            await begun.wait()
            crowded = await sender.post("/v1/traces", json=request(span(2)))
            go_on.set()
            return crowded.status_code, (await first).status_code

    assert asyncio.run(send()) == (503, 200)
    assert len(written) == 1


def test_a_body_that_never_ends_is_given_up() -> None:
    access = Access(limits=BodyLimits(seconds=0.05))

    async def send() -> int:
        async with client(receiver_with(lambda _: None), access) as sender:

            async def endless() -> AsyncIterator[bytes]:
                yield b"["
                await asyncio.Event().wait()

            headers = {"content-type": "application/json"}
            return (await sender.post("/v1/traces", content=endless(), headers=headers)).status_code

    assert asyncio.run(send()) == 408


def test_a_connection_that_breaks_off_stops_nobody(collector: Collector) -> None:
    host, port = collector.url.removeprefix("http://").split(":")
    for _ in range(20):
        with socket.create_connection((host, int(port))) as broken:
            broken.sendall(b"POST /v1/traces HTTP/1.1\r\nHost: localhost\r\nContent-Length: 999\r\n\r\n{")
    assert collector.post(request(span(1))).status_code == 200
