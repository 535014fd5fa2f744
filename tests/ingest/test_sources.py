"""What is found, told by content, decompressed, resumed and never skipped."""

import gzip
import random
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from beleg.core.errors import UsageError
from beleg.ingest.limits import Limits
from beleg.ingest.sources import Mark, find_sources
from beleg.ingest.stage import Staged, stage
from tests.ingest.support import good, gz, reasons, sha256, stage_bytes, staged_lines, zst

LINES = [good(n) for n in range(40)]
DATA = b"".join(line + b"\n" for line in LINES)
SKIPPABLE = b"\x50\x2a\x4d\x18\x02\0\0\0xx"


@pytest.mark.parametrize(
    "data",
    [
        DATA,
        gz(DATA),
        zst(DATA),
        gz(DATA[:700]) + gz(DATA[700:]),
        gz(DATA[:700]) + b"\0" * 512 + gz(DATA[700:]) + b"\0" * 512,
        gz(b"") + gz(DATA),
        zst(DATA[:700]) + zst(DATA[700:]),
        SKIPPABLE + zst(DATA),
        zst(DATA) + SKIPPABLE,
        zstandard.ZstdCompressor(write_checksum=True, write_content_size=False).compress(DATA),
    ],
)
@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.txt", "a.zst"])
def test_the_content_tells_how_a_file_is_compressed(tmp_path: Path, data: bytes, name: str) -> None:
    staged = stage_bytes(tmp_path, data, name=name)
    assert staged_lines(staged) == sorted(LINES)
    assert (staged.read, staged.accepted, staged.quarantined) == (40, 40, 0)


@pytest.mark.parametrize("compress", [gz, zst])
def test_a_file_cut_short_keeps_its_whole_lines_and_says_so(tmp_path: Path, compress: object) -> None:
    noise = b"{" + random.Random(1).randbytes(300_000).hex().encode()
    data = compress(DATA + noise)[:-20_000]  # type: ignore[operator]
    staged = stage_bytes(tmp_path, data)
    assert staged.accepted == 40
    assert reasons(staged) == {41: "torn_line", 42: "damaged_archive"}
    assert staged.read == staged.accepted + staged.quarantined == 42
    assert list(staged.quarantine_rows())[1]["line_sha256"] == sha256(data)


@pytest.mark.parametrize("data", [gz(DATA) + b"garbage", zst(DATA) + b"garbage", gz(DATA)[:-4] + b"\1\2\3\4"])
def test_garbage_behind_or_a_wrong_checksum_is_damage(tmp_path: Path, data: bytes) -> None:
    staged = stage_bytes(tmp_path, data)
    assert staged.accepted in {0, 40}  # what precedes the damage comes in chunks
    assert list(reasons(staged).values()) == ["damaged_archive"]


@given(st.integers(0, 400), st.binary(min_size=1, max_size=3), st.sampled_from(["gz", "zst"]))
def test_a_damaged_archive_never_stops_the_ingest(
    tmp_path_factory: pytest.TempPathFactory, at: int, noise: bytes, kind: str
) -> None:
    data = bytearray(gz(DATA) if kind == "gz" else zst(DATA))
    at %= len(data)
    data[at : at + len(noise)] = noise
    staged = stage_bytes(tmp_path_factory.mktemp("damaged"), bytes(data))
    assert staged.read == staged.accepted + staged.quarantined


@pytest.mark.parametrize("compress", [gz, lambda data: zstandard.ZstdCompressor(level=19).compress(data)])
def test_a_bomb_is_read_to_the_limit_and_no_further(tmp_path: Path, compress: object) -> None:
    bomb = compress(DATA + b"0" * 50_000_000)  # type: ignore[operator]
    staged = stage_bytes(tmp_path, bomb, limits=Limits(inflated_bytes=4_000_000, inflated_ratio=10))
    assert staged.accepted == 40
    assert list(reasons(staged).values()) == ["line_too_long", "decompression_bomb"]


def test_a_bomb_of_small_lines_stops_too(tmp_path: Path) -> None:
    bomb = gz(b"{}\n" * 1_000_000)
    staged = stage_bytes(tmp_path, bomb, limits=Limits(inflated_bytes=300_000, inflated_ratio=10))
    assert staged.quarantined < 300_000 / 3 + 2
    assert list(reasons(staged).values())[-1] == "decompression_bomb"


@pytest.mark.parametrize("data", [b"PAR1....PAR1", b"PK\x03\x04zip", b"BZh91AY", b"SQLite format 3\x00.."])
def test_other_containers_are_one_refused_entry(tmp_path: Path, data: bytes) -> None:
    staged = stage_bytes(tmp_path, data, name="a.jsonl")
    assert reasons(staged) == {1: "unsupported_file"}
    assert staged.read == staged.quarantined == 1


def test_folders_are_searched_and_names_tell_what_is_taken(tmp_path: Path) -> None:
    inner = tmp_path / "in" / "deep"
    inner.mkdir(parents=True)
    for name in ("a.jsonl", "b.ndjson.gz", "c.json.zst", "deep/d.open.jsonl", "README.md", ".hidden.jsonl", "e.csv"):
        (tmp_path / "in" / name).write_bytes(DATA)
    (inner / "loop").symlink_to(tmp_path / "in", target_is_directory=True)
    (inner / "link.jsonl").symlink_to(tmp_path / "in" / "a.jsonl")
    (inner / "hard.jsonl").hardlink_to(tmp_path / "in" / "a.jsonl")
    found = find_sources([tmp_path / "in", tmp_path / "in" / "a.jsonl", tmp_path / "in" / "README.md"])
    assert len(found) == 5  # a, b, c, d and the file named by itself; a linked file counts once
    assert len({source.key for source in found}) == 5


def test_a_path_that_is_not_there_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no file and no folder"):
        find_sources([tmp_path / "nothing"])


def test_empty_files_blank_lines_and_windows_line_ends(tmp_path: Path) -> None:
    assert stage_bytes(tmp_path, b"", name="empty.jsonl").read == 0
    assert stage_bytes(tmp_path, gz(b""), name="empty.gz").read == 0
    staged = stage_bytes(tmp_path, b"\r\n\n" + LINES[0] + b"\r\n  \n" + LINES[1] + b"\r\n\nx\r\n \t", name="crlf.jsonl")
    assert (staged.read, staged.accepted, staged.quarantined, staged.blank) == (3, 2, 1, 5)
    assert reasons(staged) == {7: "not_json"}
    assert next(iter(staged.quarantine_rows()))["line_sha256"] == sha256(b"x\r")


def test_an_unterminated_last_line_is_taken_if_it_is_good(tmp_path: Path) -> None:
    assert stage_bytes(tmp_path, DATA[:-1]).accepted == 40
    torn = stage_bytes(tmp_path, DATA[:-9], name="torn.jsonl")
    assert (torn.accepted, reasons(torn)) == (39, {40: "torn_line"})


class Spool:
    """A spool that is ingested again and again, as the pipeline does."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "spool"
        self.folder.mkdir()
        self.marks: dict[str, Mark] = {}
        self._count = 0

    def ingest(self) -> Staged:
        self._count += 1
        sources = find_sources([self.folder], spool=self.folder, marks=self.marks)
        staged = stage(sources, self.folder.parent / f"staged-{self._count}")
        self.marks |= staged.marks
        return staged


def test_a_growing_file_is_read_to_its_last_line_feed_and_resumed(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    path = spool.folder / "a.open.jsonl"
    path.write_bytes(LINES[0] + b"\nbad\n" + LINES[1][:50])
    first = spool.ingest()
    assert (first.read, first.accepted, first.quarantined, first.pending) == (3, 1, 1, 1)
    assert spool.ingest().read == 1  # still pending, nothing else is new
    with path.open("ab") as file:
        file.write(LINES[1][50:] + b"\nworse\n" + LINES[2] + b"\n")
    second = spool.ingest()
    assert staged_lines(second) == sorted(LINES[1:3])
    assert reasons(second) == {4: "not_json"}
    assert (second.pending, spool.ingest().read) == (0, 0)


def test_sealing_a_file_by_renaming_it_reads_nothing_twice_and_skips_nothing(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    path = spool.folder / "a.open.jsonl"
    path.write_bytes(LINES[0] + b"\n" + LINES[1][:20])
    spool.ingest()
    with path.open("ab") as file:
        file.write(LINES[1][20:] + b"\n" + LINES[2][:-5])
    path.rename(spool.folder / "a.jsonl")
    sealed = spool.ingest()
    assert staged_lines(sealed) == [LINES[1]]
    assert reasons(sealed) == {3: "torn_line"}
    assert spool.ingest().read == 0


@pytest.mark.parametrize("pack", [gz, zst, lambda data: b"PK\x03\x04" + data])
def test_a_compressed_file_of_the_spool_is_read_once_and_again_as_a_whole_when_it_changed(
    tmp_path: Path, pack: Callable[[bytes], bytes]
) -> None:
    spool = Spool(tmp_path)
    path = spool.folder / "a.jsonl"
    path.write_bytes(pack(DATA))
    first = spool.ingest().read
    assert first
    assert spool.ingest().read == 0
    with path.open("r+b") as file:  # the same inode
        file.truncate(0)
        file.write(pack(DATA + good(99) + b"\n"))
    assert spool.ingest().read == (first + 1 if first > 1 else 1)


def test_another_file_under_the_same_inode_is_read_from_its_start(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    path = spool.folder / "a.open.jsonl"
    path.write_bytes(LINES[0] + b"\n" + LINES[1] + b"\n")
    spool.ingest()
    with path.open("r+b") as file:  # the same inode, as a file system reuses the number of a deleted file
        file.truncate(0)
        file.write(b"".join(line + b"\n" for line in LINES[5:15]))
    assert staged_lines(spool.ingest()) == sorted(LINES[5:15])
    with path.open("r+b") as file:
        file.truncate(len(LINES[5]) + 1)
    assert staged_lines(spool.ingest()) == [LINES[5]]


def test_a_file_sealed_between_finding_and_reading_is_still_read(tmp_path: Path) -> None:
    path = tmp_path / "a.open.jsonl"
    path.write_bytes(DATA)
    sources = find_sources([path])
    path.rename(tmp_path / "a.jsonl")
    staged = stage(sources, tmp_path / "staged")
    assert (staged.accepted, staged.skipped) == (40, ())
    assert staged.marks[sources[0].key].offset == len(DATA)


def test_a_file_gone_before_it_is_read_is_named_and_keeps_its_mark(tmp_path: Path) -> None:
    path = tmp_path / "a.open.jsonl"
    path.write_bytes(DATA)
    sources = find_sources([path])
    path.unlink()
    (tmp_path / "a.jsonl").write_bytes(b"another file\n")
    staged = stage(sources, tmp_path / "staged")
    assert (staged.read, staged.skipped, dict(staged.marks)) == (0, sources, {})


def test_what_is_appended_while_reading_belongs_to_the_next_ingest(tmp_path: Path) -> None:
    path = tmp_path / "a.open.jsonl"
    path.write_bytes(DATA)
    sources = find_sources([path])
    with path.open("ab") as file:
        file.write(good(99) + b"\n")
    assert stage(sources, tmp_path / "staged").read == 40


def test_gzip_with_a_name_and_comment_in_its_header(tmp_path: Path) -> None:
    path = tmp_path / "named.gz"
    with gzip.open(path, "wb") as file:
        file.write(DATA)
    assert stage(find_sources([path]), tmp_path / "staged").accepted == 40
