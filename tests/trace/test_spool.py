"""The spool: one write an event, torn lines closed, sealing, bounds, and losses that are counted."""

import errno
import json
import os
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import beleg
from beleg.trace import losses, spool_files
from beleg.trace.spool import Spool, SpoolError
from tests.trace.schemas import read_spool

LINE = b'{"n":1}\n'


def _one_run() -> None:
    with beleg.traced_agent_run(workflow="ocr", input_payload={"a": 1}) as trace:
        trace.set_output(1)


def test_events_are_in_the_file_as_soon_as_the_call_returns(spool: Path) -> None:
    with beleg.traced_agent_run(workflow="ocr"):
        assert [event["event"] for event in read_spool(spool)] == ["run_started"]
    assert [event["event"] for event in read_spool(spool)] == ["run_started", "run_finished"]
    (path,) = spool.glob("*")
    assert path.name.endswith(".open.jsonl")
    assert spool_files.owner_of(path) == spool_files.this_process()
    assert stat.S_IMODE(path.stat().st_mode) & 0o007 == 0


def test_file_is_sealed_when_it_is_large_enough(tmp_path: Path) -> None:
    spool = Spool(tmp_path, rotate_bytes=100)
    for _ in range(40):
        spool.write(LINE)
    sealed = spool_files.sealed_files(tmp_path)
    assert len(sealed) == 3
    assert all(path.stat().st_size >= 100 for path in sealed)
    assert sum(path.read_bytes().count(b"\n") for path in tmp_path.glob("*")) == 40


def test_file_is_sealed_when_it_is_old_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 10**12
    monkeypatch.setattr(time, "monotonic_ns", lambda: now)
    spool = Spool(tmp_path, rotate_s=60)
    spool.write(LINE)
    now += 59 * 10**9
    spool.write(LINE)
    assert spool_files.sealed_files(tmp_path) == []
    now += 10**9
    spool.write(LINE)
    (sealed,) = spool_files.sealed_files(tmp_path)
    assert sealed.read_bytes() == LINE * 2


def test_after_a_short_write_the_next_line_begins_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spool = Spool(tmp_path)
    spool.write(LINE)
    real = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: real(fd, data[:4]))
    with pytest.raises(SpoolError) as short:
        spool.write(LINE)
    assert short.value.reason == "short_write"
    monkeypatch.setattr(os, "write", real)
    spool.write(LINE)
    spool.write(LINE)
    (path,) = tmp_path.glob("*")
    assert path.read_bytes() == LINE + LINE[:4] + b"\n" + LINE + LINE


def test_torn_end_is_told_from_whole_lines(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(LINE * 2 + LINE[:-1])
    assert spool_files.complete_bytes(path) == 2 * len(LINE)
    path.write_bytes(b"x" * 200_000)
    assert spool_files.complete_bytes(path) == 0
    path.write_bytes(LINE + b"x" * 200_000)
    assert spool_files.complete_bytes(path) == len(LINE)


def test_full_spool_drops_new_events_and_counts_them(spool: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BELEG_SPOOL_MAX_BYTES", "1000")
    spool.mkdir()
    (spool / "old.jsonl").write_bytes(b"x" * 1000)
    _one_run()
    assert beleg.health().lost == {"spool_full": 2}
    assert beleg.health().ok is False
    assert (spool / "old.jsonl").stat().st_size == 1000


def test_deleted_spool_is_noticed_and_written_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 10**12
    monkeypatch.setattr(time, "monotonic_ns", lambda: now)
    spool = Spool(tmp_path)
    spool.write(LINE)
    next(tmp_path.glob("*")).unlink()
    now += 2 * 10**9
    with pytest.raises(SpoolError) as removed:
        spool.write(LINE)
    assert removed.value.reason == "spool_removed"
    spool.write(LINE)
    (path,) = tmp_path.glob("*")
    assert path.read_bytes() == LINE


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_full_disk_is_counted_and_the_caller_goes_on(spool: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with beleg.traced_agent_run(workflow="ocr") as trace:
        own = _own_spool()
        kept, own._fd = own._fd, os.open("/dev/full", os.O_WRONLY)
        trace.tool("x").__enter__().end()
        os.close(own._fd)
        own._fd = kept
    assert beleg.health().lost == {"disk_full": 1}
    assert [event["event"] for event in read_spool(spool)] == ["run_started", "run_finished"]


def _own_spool() -> Any:
    from beleg.trace import runtime

    return runtime._spool


@pytest.mark.parametrize("trouble", ["file in the way", "read-only", "missing parent is a file"])
def test_spool_that_cannot_be_opened_is_counted_and_the_caller_goes_on(
    spool: Path, trouble: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if trouble == "file in the way":
        spool.write_text("")
    elif trouble == "missing parent is a file":
        spool.write_text("")
        monkeypatch.setenv("BELEG_SPOOL", str(spool / "deeper"))
    else:
        monkeypatch.setattr(os, "open", _refuse)
    for _ in range(3):
        _one_run()
    assert beleg.health().lost == {"spool_unavailable": 6}


def _refuse(*_: Any) -> int:
    raise PermissionError(errno.EACCES, "read-only")


def test_synced_mode_syncs_every_line_and_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[str] = []
    monkeypatch.setattr(os, "fdatasync", lambda _: synced.append("line"))
    monkeypatch.setattr(os, "fsync", lambda _: synced.append("folder"))
    spool = Spool(tmp_path, sync=True)
    spool.write(LINE)
    spool.write(LINE)
    assert synced == ["folder", "line", "line"]


def test_settings_that_cannot_be_read_count_as_their_defaults() -> None:
    from beleg.trace.settings import from_environment

    settings = from_environment(
        {"BELEG_SPOOL_MAX_BYTES": "many", "BELEG_SPOOL_ROTATE_S": "-1", "BELEG_LABELS": " a,,b "}
    )
    assert (settings.max_bytes, settings.rotate_s) == (1 << 30, 900)
    assert settings.labels == {"a", "b"}


def test_line_lost_to_a_name_that_cannot_be_encoded_is_counted(spool: Path) -> None:
    with beleg.traced_agent_run(workflow="ocr", tenant="\ud800"):
        pass
    assert beleg.health().faults == {"refused_tenant": 1}
    for path in spool.glob("*"):
        assert all(json.loads(line) for line in path.read_bytes().splitlines())


def test_losses_outlive_the_process_beside_the_spool(spool: Path, child_env: dict[str, str]) -> None:
    code = """
import beleg
for _ in range(5):
    with beleg.traced_agent_run(workflow="w", input_payload=object(), tenant="two words"): pass
"""
    for _ in range(2):
        subprocess.run([sys.executable, "-c", code], env=child_env, check=True, capture_output=True)
    assert losses.read(spool).faults == {"no_hash_unsupported_type": 10, "refused_tenant": 10}
    (spool / "x.losses.json").write_text("torn{")
    assert losses.read(spool).lost == {}
