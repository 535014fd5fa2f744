"""Staging: nothing is lost, places are right, workers may die, memory is bounded."""

import os
import signal
import subprocess
import sys
import tracemalloc
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beleg.core.errors import DamagedError
from beleg.ingest import pool
from beleg.ingest.limits import Limits
from beleg.ingest.pool import judge_in_workers
from beleg.ingest.ranges import Batch, Judged, Range
from beleg.ingest.schemas import shape_folders
from beleg.ingest.sources import find_sources
from beleg.ingest.stage import Progress, Staged, stage
from tests.ingest.support import ALL_EVENTS, dump, good, reasons, sha256, stage_bytes, staged_lines

pieces = st.one_of(
    st.binary(max_size=40),
    st.sampled_from([*map(dump, ALL_EVENTS.values()), good(1), good(1)[:-3], b"", b" ", b"\r", b"{}", b"\xef\xbb\xbf"]),
)


def assert_nothing_is_lost(data: bytes, staged: Staged) -> None:
    """Every line that is not blank is accepted as it stands or quarantined with its exact place and digest."""
    physical = data.split(b"\n")
    filled = [line for line in physical if line.strip()]
    refused = {row["line_number"]: row for row in staged.quarantine_rows()}
    assert staged.read == staged.accepted + staged.quarantined == len(filled)
    assert len(refused) == staged.quarantined
    for number, row in refused.items():
        line = physical[number - 1]
        assert row["line_sha256"] == sha256(line)
        assert data[row["byte_offset"] : row["byte_offset"] + row["length"]] == line
    kept = [line for number, line in enumerate(physical, 1) if line.strip() and number not in refused]
    assert staged_lines(staged) == sorted(kept)


@settings(max_examples=150)
@given(st.lists(pieces, max_size=12), st.sampled_from([b"\n", b"\r\n"]), st.integers(1, 2000))
def test_no_bytes_are_lost_whatever_they_are(
    tmp_path_factory: pytest.TempPathFactory, parts: list[bytes], end: bytes, range_bytes: int
) -> None:
    data = end.join(parts)
    staged = stage_bytes(tmp_path_factory.mktemp("fuzz"), b"#" + data, limits=Limits(range_bytes=range_bytes))
    assert_nothing_is_lost(b"#" + data, staged)


def mixed(lines: int) -> bytes:
    return b"".join((good(n) if n % 7 else b"bad %d" % n) + b"\n" + b"\n" * (n % 5 == 0) for n in range(lines))


def test_workers_and_ranges_give_what_one_process_gives(tmp_path: Path) -> None:
    data = mixed(3000)
    alone = stage_bytes(tmp_path / "alone", data)
    many = stage_bytes(tmp_path / "many", data, limits=Limits(range_bytes=100_000, inline_bytes=0), workers=2)
    assert_nothing_is_lost(data, many)
    assert staged_lines(alone) == staged_lines(many)
    assert reasons(alone) == reasons(many)
    assert (alone.read, alone.blank) == (many.read, many.blank)
    assert list(alone.lines.values()) == list(many.lines.values())
    assert len(many.files["step"]) > 5


def test_progress_ends_at_all_bytes(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(mixed(1000))
    seen: list[Progress] = []
    staged = stage(find_sources([path]), tmp_path / "s", on_progress=seen.append, limits=Limits(range_bytes=50_000))
    assert seen[-1] == Progress(path.stat().st_size, path.stat().st_size, staged.read, staged.quarantined)
    assert [p.read for p in seen] == sorted(p.read for p in seen)
    assert len(seen) > 3


def _batches(path: Path, folder: Path, parts: int) -> list[Batch]:
    stat, lines = path.stat(), path.read_bytes().split(b"\n")[:-1]
    cuts = [sum(len(line) + 1 for line in lines[: len(lines) * n // parts]) for n in range(parts + 1)]
    (source,) = find_sources([path])
    ranges = [
        Range(
            index=index,
            path=str(path),
            container="plain",
            inode=stat.st_ino,
            device=stat.st_dev,
            start=start,
            end=end,
            size=source.size,
            digest=source.digest,
            growing=False,
            resumable=False,
        )
        for index, (start, end) in enumerate(pairwise(cuts))
    ]
    return [Batch(work.index, str(folder), [work]) for work in ranges]


def test_a_killed_worker_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(mixed(2000))
    killed: list[int] = []

    def kill_the_first(pid: int) -> None:
        if not killed:
            killed.append(pid)
            os.kill(pid, signal.SIGKILL)

    batches = _batches(path, tmp_path / "staged", 6)
    results = [
        r for batch in judge_in_workers(batches, Limits(), shape_folders(None), 2, kill_the_first) for r in batch
    ]
    assert [r.index for r in results] == [0, 1, 2, 3, 4, 5]
    assert sum(sum(r.accepted.values()) + r.quarantined for r in results) == 2000
    assert killed


def test_a_worker_killed_in_the_middle_of_a_range_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(mixed(2000))
    begun: list[int] = []
    judge = pool._Worker.judge

    def judge_and_be_killed_once(self: pool._Worker, batch: Batch) -> list[Judged]:
        if batch.index == 2 and not begun:
            begun.append(1)
            staged = Path(batch.folder) / "step" / "000002.jsonl"
            staged.parent.mkdir(parents=True, exist_ok=True)
            staged.write_bytes(b"half a li")  # what a worker leaves that dies while it writes
            self.process.kill()
        return judge(self, batch)

    monkeypatch.setattr(pool._Worker, "judge", judge_and_be_killed_once)
    batches = _batches(path, tmp_path / "staged", 4)
    assert len(list(judge_in_workers(batches, Limits(), shape_folders(None), 2))) == 4
    lines = [line for file in (tmp_path / "staged" / "step").iterdir() for line in file.read_bytes().split(b"\n")]
    assert b"half a li" not in lines
    assert len([line for line in lines if line]) == sum(n % 7 != 0 for n in range(2000))


def test_a_range_that_kills_every_worker_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(mixed(10))
    batches = _batches(path, tmp_path / "staged", 1)
    with pytest.raises(DamagedError, match="two workers died"):
        list(judge_in_workers(batches, Limits(), shape_folders(None), 1, lambda pid: os.kill(pid, signal.SIGKILL)))


def test_many_small_files_share_staged_files(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for number in range(300):
        (folder / f"{number:03d}.jsonl").write_bytes(good(number) + b"\n\nbad %d\n" % number)
    staged = stage(find_sources([folder]), tmp_path / "staged")
    assert (staged.accepted, staged.quarantined) == (300, 300)
    assert len(staged.files["step"]) == len(staged.refused_files) == 1
    rows = list(staged.quarantine_rows())
    assert {row["line_number"] for row in rows} == {3}
    assert [Path(row["file"]).name for row in rows] == [f"{number:03d}.jsonl" for number in range(300)]


def test_a_line_of_100_mb_is_hashed_and_never_held(tmp_path: Path) -> None:
    """The 100 million zeros are sparse: they take no room on the disk."""
    path = tmp_path / "long.jsonl"
    with path.open("wb") as file:
        file.write(good(1) + b"\n")
        file.truncate(len(good(1)) + 1 + 100_000_000)
        file.seek(0, os.SEEK_END)
        file.write(b"\n" + good(2) + b"\n")
    tracemalloc.start()
    try:
        staged = stage(find_sources([path]), tmp_path / "staged", workers=1)
        peak_bytes = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    (row,) = staged.quarantine_rows()
    assert (staged.accepted, row["reason"], row["length"]) == (2, "line_too_long", 100_000_000)
    assert row["line_sha256"] == sha256(bytes(100_000_000))
    assert peak_bytes < 10_000_000


@pytest.mark.parametrize("inline_bytes", [0, 10**9])
def test_an_error_of_the_system_comes_through_as_itself(tmp_path: Path, inline_bytes: int) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(mixed(50))
    (tmp_path / "staged").write_text("a file where the folder should be; a full disk shows the same way")
    limits = Limits(inline_bytes=inline_bytes, range_bytes=5000)
    with pytest.raises(NotADirectoryError):
        stage(find_sources([path]), tmp_path / "staged", workers=2, limits=limits)


def test_the_current_folder_cannot_slip_modules_into_a_worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "orjson.py").write_text("raise SystemExit('imported from the current folder')")
    monkeypatch.chdir(tmp_path)
    staged = stage_bytes(tmp_path, mixed(50), limits=Limits(inline_bytes=0, range_bytes=5000), workers=2)
    assert staged.read == 50


MEASURE = """
import resource, sys
from pathlib import Path
from beleg.ingest.sources import find_sources
from beleg.ingest.stage import stage
staged = stage(find_sources([Path(sys.argv[1])]), Path(sys.argv[2]), workers=2)
print(staged.read, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


@pytest.mark.soak
def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    path = tmp_path / "big.jsonl"
    block = mixed(2000)
    with path.open("wb") as file:
        for _ in range(400):
            file.write(block)
    command = [sys.executable, "-c", MEASURE, str(path), str(tmp_path / "staged")]
    read, worker_kib = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    assert int(read) == 800_000
    assert int(worker_kib) < 100_000
