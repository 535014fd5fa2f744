"""Half an hour under load: memory flat, descriptors constant, nothing lost (`BELEG_SOAK_S` shortens it)."""

import os
import threading
import time
from pathlib import Path

import pytest

import beleg
from beleg.trace import spool_files

pytestmark = [pytest.mark.soak, pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc")]
ANSWER = {"id": "chatcmpl-abcdefghijkl", "model": "m", "usage": {"prompt_tokens": 3, "completion_tokens": 2}}
WARM_UP_SHARE = 0.2
ALLOWED_GROWTH_BYTES = 8 << 20


def _memory_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def _load(until: float) -> None:
    number = 0
    while time.monotonic() < until:
        number += 1
        payload = {"number": number, "text": "x" * 500}
        with beleg.traced_agent_run(workflow="soak", input_payload=payload, input_ref=f"doc-{number}") as trace:
            with trace.tool("lookup", input_payload=payload) as tool:
                tool.set_output(number)
            trace.set_output(payload, response=ANSWER)


def test_memory_and_descriptors_stay_flat_under_load(spool: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BELEG_SPOOL_ROTATE_BYTES", str(4 << 20))
    seconds = float(os.environ.get("BELEG_SOAK_S", "1800"))
    begin = time.monotonic()
    threads = [threading.Thread(target=_load, args=(begin + seconds,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    warm: tuple[int, int] | None = None
    while any(thread.is_alive() for thread in threads):
        threads[0].join(timeout=1)
        for path in spool_files.sealed_files(spool):  # what a shipper does
            path.unlink()
        if warm is None and time.monotonic() - begin > seconds * WARM_UP_SHARE:
            warm = _memory_bytes(), _descriptors()
    assert warm is not None
    assert _memory_bytes() - warm[0] < ALLOWED_GROWTH_BYTES
    assert _descriptors() == warm[1]
    assert beleg.health().lost == {}
