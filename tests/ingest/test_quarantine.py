"""The quarantine: what is kept of a refused line, what resolves it, and another try."""

import json
import shutil
from pathlib import Path
from typing import Any

import duckdb
import pytest
from typer.testing import CliRunner

from beleg.core.errors import CheckFailed, UsageError
from beleg.core.settings import Settings
from beleg.ingest import quarantine
from beleg.ingest.quarantine import Share, counts, find, keep, load
from beleg.ingest.retry import Retried, retry
from beleg.ingest.sources import Mark, find_sources
from beleg.ingest.stage import Staged, stage
from beleg.lake.table import LakeTable
from tests.ingest.support import ALL_EVENTS, dump, good, gz, sha256, zst

BAD = b'{"event":"step"}'


class Home:
    """An installation into which files are staged, and whose quarantine is kept."""

    def __init__(self, settings: Settings, folder: Path) -> None:
        self.settings, self.folder = settings, folder
        self.marks: dict[str, Mark] = {}
        self._ingests = 0

    def write(self, name: str, *lines: bytes) -> Path:
        path = self.folder / name
        path.write_bytes(b"".join(line + b"\n" for line in lines))
        return path

    def ingest(self, *paths: Path, spool: Path | None = None) -> Staged:
        self._ingests += 1
        sources = find_sources(paths, spool=spool, marks=self.marks)
        staged = stage(sources, self.folder / f"staged-{self._ingests}", project=self.settings.project)
        keep(self.settings, staged, f"ingest-{self._ingests}")
        self.marks |= staged.marks
        return staged

    def states(self) -> list[tuple[int, str, str | None]]:
        return [(r["line_number"], r["status"], r["resolution"]) for r in load(self.settings, status=None)]

    def stored_rows(self) -> int:
        return sum(file.rows for file in LakeTable(self.settings, "quarantine").files())


@pytest.fixture
def home(settings: Settings, tmp_path: Path) -> Home:
    folder = tmp_path / "in"
    folder.mkdir()
    return Home(settings, folder)


def test_a_refused_line_is_kept_by_place_and_digest(home: Home) -> None:
    path = home.write("a.jsonl", good(1), b"", b"hello", good(2), BAD)
    home.ingest(path)
    first, second = load(home.settings)
    assert {k: first[k] for k in ("file", "byte_offset", "line_number", "length", "line_sha256", "occurrence")} == {
        "file": str(path),
        "byte_offset": len(good(1)) + 2,
        "line_number": 3,
        "length": 5,
        "line_sha256": sha256(b"hello"),
        "occurrence": 1,
    }
    assert (first["reason"], first["status"], first["ingest_id"]) == ("not_json", "open", "ingest-1")
    assert second["reason"] == "unknown_version"
    assert [(c["reason"], c["open"], c["resolved"], c["files"]) for c in counts(home.settings)] == [
        ("not_json", 1, 0, 1),
        ("unknown_version", 1, 0, 1),
    ]


def test_the_same_file_again_or_under_another_name_adds_nothing(home: Home) -> None:
    path = home.write("a.jsonl", BAD, BAD, good(1), BAD, b"other")
    home.ingest(path)
    assert [row["occurrence"] for row in load(home.settings)] == [1, 2, 3, 1]
    copy = home.folder / "copy.jsonl"
    shutil.copy(path, copy)
    home.ingest(path)
    home.ingest(copy)
    home.ingest(home.write("both.jsonl", BAD), path, copy)
    (home.folder / "packed").write_bytes(gz(path.read_bytes()))
    home.ingest(home.folder / "packed")
    assert home.stored_rows() == 4


def test_equal_lines_of_a_growing_file_are_counted_through(home: Home) -> None:
    spool = home.folder / "spool"
    spool.mkdir()
    path = spool / "a.open.jsonl"
    path.write_bytes(BAD + b"\n")
    home.ingest(spool, spool=spool)
    with path.open("ab") as file:
        file.write(good(1) + b"\n" + BAD + b"\n")
    home.ingest(spool, spool=spool)
    with path.open("ab") as file:
        file.write(BAD + b"\n")
    path.rename(spool / "a.jsonl")
    home.ingest(spool, spool=spool)
    assert [row["occurrence"] for row in load(home.settings)] == [3, 1, 2]  # the sealed name sorts first
    assert [s for _, s, _ in home.states()] == ["open"] * 3


def test_a_mended_file_resolves_its_lines_and_a_damaged_one_does_not(home: Home) -> None:
    path = home.write("a.jsonl", good(1), b"bad one", good(2), b"bad two", good(3), b"bad three")
    other = home.write("b.jsonl", b"elsewhere")
    home.ingest(path, other)
    home.write("a.jsonl", good(1), good(9), good(2), b"bad two", good(3))
    home.ingest(path)
    assert home.states() == [(2, "resolved", "mended"), (4, "open", None), (6, "open", None), (1, "open", None)]


def test_a_torn_line_that_was_completed_is_mended(home: Home) -> None:
    path = home.folder / "a.jsonl"
    path.write_bytes(good(1) + b"\n" + good(2)[:-4])
    home.ingest(path)
    assert [row["reason"] for row in load(home.settings)] == ["torn_line"]
    path.write_bytes(good(1) + b"\n" + good(2) + b"\n")
    home.ingest(path)
    assert home.states() == [(2, "resolved", "mended")]


def test_a_line_that_is_bad_again_is_open_again(home: Home) -> None:
    path = home.write("a.jsonl", BAD)
    home.ingest(path)
    home.write("a.jsonl", good(1))
    home.ingest(path)
    home.ingest(home.write("backup.jsonl", BAD))
    assert [(r["status"], Path(r["file"]).name) for r in load(home.settings, status=None)] == [("open", "backup.jsonl")]
    assert home.stored_rows() == 3


def test_a_fetched_anew_archive_resolves_its_damage(home: Home) -> None:
    path = home.folder / "a.gz"
    path.write_bytes(gz(good(1) + b"\n")[:-6])
    home.ingest(path)
    assert [row["reason"] for row in load(home.settings)] == ["damaged_archive"]
    path.write_bytes(gz(good(1) + b"\n" + good(2) + b"\n"))
    home.ingest(path)
    assert {status for _, status, _ in home.states()} == {"resolved"}


@pytest.mark.parametrize("pack", [bytes, gz, zst])
def test_a_line_is_shown_only_while_its_source_holds_exactly_it(home: Home, pack: Any) -> None:
    path = home.folder / "a.jsonl"
    lines = [good(1), b"hello", b"hello", good(2), b"world \xff"]
    path.write_bytes(pack(b"".join(line + b"\n" for line in lines)))
    home.ingest(path)
    first = sha256(b"hello")[:10]
    assert find(home.settings, first)[1] == b"hello"
    assert find(home.settings, f"{first}:2")[0]["line_number"] == 3
    assert find(home.settings, sha256(lines[-1]))[1] == b"world \xff"
    path.write_bytes(pack(b"".join(line + b"\n" for line in [good(1), b"hello, again", *lines[2:]])))
    assert find(home.settings, first)[1] is None
    path.unlink()
    assert find(home.settings, f"{first}:2")[1] is None
    for wrong in ("", "zz", "00", f"{first}:7"):
        with pytest.raises(UsageError, match="fits"):
            find(home.settings, wrong)


def test_many_small_files_become_one(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quarantine, "_FILES", 3)
    for number in range(6):
        home.ingest(home.write(f"{number}.jsonl", b"bad %d" % number))
    assert len(LakeTable(home.settings, "quarantine").files()) <= 3
    assert home.stored_rows() == len(load(home.settings)) == 6


def test_the_share_of_bad_lines_has_a_limit() -> None:
    share = Share()
    share.check(accepted=0, quarantined=19)
    share.check(accepted=380, quarantined=20)
    with pytest.raises(CheckFailed, match=r"20 of 399 lines were refused, more than 5\.0%"):
        share.check(accepted=379, quarantined=20)


def stored_steps(settings: Settings) -> int:
    table = LakeTable(settings, "steps")
    with duckdb.connect(":memory:") as con:
        return int(con.execute(f"SELECT count(*) FROM {table.relation(table.files())}").fetchall()[0][0])


def test_retry_takes_what_a_new_shape_allows_and_adds_up(home: Home, tmp_path: Path) -> None:
    letter = dump({**ALL_EVENTS["artifact"], "kind": "letter", "content": {"to": "x"}})
    path = home.write("a.jsonl", letter, BAD, b"gone later")
    lost = home.write("lost.jsonl", b"lost")
    home.ingest(path, lost)
    lost.unlink()
    shapes = tmp_path / "project" / "contracts" / "events" / "artifact" / "shapes"
    shapes.mkdir(parents=True)
    (shapes / "letter.schema.json").write_text('{"type": "object"}')
    settings = Settings(home.settings.home, home.settings.spool, tmp_path / "project")
    assert retry(settings) == Retried(tried=4, accepted=1, mended=0, refused=2, gone=1)
    assert [row["resolution"] for row in load(settings, status="resolved")] == ["accepted"]
    assert retry(settings) == Retried(tried=3, accepted=0, mended=0, refused=2, gone=1)
    assert retry(settings, reason="not_json") == Retried(tried=2, accepted=0, mended=0, refused=1, gone=1)


def test_retry_reads_a_source_that_was_mended_as_a_whole(home: Home) -> None:
    path = home.write("a.jsonl", good(1), b"first", b"second")
    home.ingest(path)
    home.write("a.jsonl", good(1), good(2), b"second")
    assert retry(home.settings) == Retried(tried=2, accepted=0, mended=1, refused=1, gone=0)
    assert stored_steps(home.settings) == 2


def test_retry_of_a_table_maps_it_again(home: Home) -> None:
    from beleg.ingest.table import stage_table

    table = home.folder / "t.csv"
    table.write_text("id,at\n1,2030-01-01T00:00:00Z\n2,01.01.2030\n")
    mapping = home.folder / "m.yaml"
    mapping.write_text(
        "mapping: 1\nsource: t\nevents:\n- event: step\n  fields:\n    event_id: {column: id}\n"
        "    run_id: {column: id}\n    step_id: {column: id}\n    event_time: {column: at, unit: iso}\n"
        "    kind: {value: tool}\n    status: {value: succeeded}\n"
    )
    keep(home.settings, stage_table([table], mapping, home.folder / "staged"), "ingest")
    (row,) = load(home.settings)
    assert (row["reason"], row["line_number"], row["mapping"]) == ("unmapped_cell", 3, str(mapping))
    assert retry(home.settings) == Retried(1, 0, 0, 1, 0)
    table.write_text("id,at\n1,2030-01-01T00:00:00Z\n2,2030-01-01T00:00:00Z\n")
    assert retry(home.settings) == Retried(1, 0, 1, 0, 0)
    assert stored_steps(home.settings) == 2


def test_the_command_lists_shows_and_retries(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    import typer

    from beleg.cli import quarantine as command

    app = typer.Typer()
    command.register(app)
    app.command("other")(lambda: None)
    monkeypatch.setenv("BELEG_HOME", str(home.settings.home))
    path = home.write("a.jsonl", good(1), b"steer \x1b[2J the terminal", BAD)
    home.ingest(path)

    def run(*arguments: str) -> str:
        result = CliRunner().invoke(app, ["quarantine", *arguments])
        assert result.exit_code == 0, result.output
        return result.stdout

    assert [r["reason"] for r in json.loads(run("list", "--json"))["reasons"]] == ["not_json", "unknown_version"]
    (line,) = json.loads(run("list", "--reason", "not_json", "--json"))["lines"]
    assert "not_json" in run("list")
    assert "a.jsonl:2" in run("list", "--file", str(path))
    shown = run("show", line["id"])
    assert "read from its source" in shown
    assert "steer \\x1b[2J the terminal" in shown
    assert json.loads(run("show", line["id"], "--json"))["line_is_from"] == "source"
    assert json.loads(run("retry", "--json")) == {
        "schema_version": 1,
        "tried": 2,
        "accepted": 0,
        "mended": 0,
        "refused": 2,
        "gone": 0,
    }
    path.unlink()
    assert "keeps no copy" in run("show", line["id"])
    assert "2 without their source" in run("retry")
