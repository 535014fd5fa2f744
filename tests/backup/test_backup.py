"""A backup is one publication, whole, whatever runs beside it; a second one copies only what is new."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from beleg.backup import manifest
from beleg.backup.make import backup
from beleg.backup.restore import restore
from beleg.backup.store import FolderStore, store_at
from beleg.core.errors import DamagedError, UsageError
from beleg.core.lock import Busy, writer
from beleg.trace.spool_files import this_process
from tests.backup.support import ROOT, beleg, day, elsewhere, path_of
from tests.events import lines
from tests.flow.support import Installation

PIPELINE = """
import sys
from datetime import datetime
from pathlib import Path
from beleg import flow
from beleg.core.settings import Settings
home, *files = map(Path, sys.argv[1:])
for file in files:
    print("ready", flush=True)
    sys.stdin.readline()
    flow.run(Settings(home, home / "spool"), [file], as_of=datetime.fromisoformat("2030-06-01T00:00:00Z"))
"""


@pytest.fixture
def home(tmp_path: Path) -> Installation:
    return Installation.begun(tmp_path / "one", *day(0))


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "place"


def test_only_what_is_new_is_copied(home: Installation, place: Path) -> None:
    first = backup(home.settings, str(place))
    again = backup(home.settings, str(place))
    home.take(*day(1))
    third = backup(home.settings, str(place))
    assert first.copied == len({kept.sha256 for kept in first.manifest.files.values()})
    assert (again.copied, again.manifest.files) == (0, first.manifest.files)
    new = {kept.sha256 for kept in third.manifest.files.values()} - {k.sha256 for k in first.manifest.files.values()}
    assert third.copied == len(new) > 0
    assert [made.publication for made in (first.manifest, third.manifest)] == [1, 2]


def test_nothing_that_can_be_made_again_is_in_it(home: Installation, place: Path) -> None:
    (home.settings.home / ".put-aside").mkdir()
    (home.settings.home / ".put-aside" / "old").write_text("x")
    files = backup(home.settings, str(place)).manifest.files
    assert {path.split("/")[0] for path in files} == {"lake", "ledger"}
    assert {
        "lake/_publication.json",
        "lake/_format",
        "ledger/publications.jsonl",
        "ledger/checks.jsonl",
        "ledger/marks.json",
    } >= {path for path in files if path.count("/") == 1 and "ingests" not in path and "tidied" not in path}
    assert not [path for path in files if "_template" in path]


def test_replaced_files_of_the_lake_are_left_out(home: Installation, place: Path) -> None:
    home.take(*day(0)[:3], *day(1))
    lying = {p.name for p in home.settings.lake.glob("run_costs/**/*.parquet")}
    home.take(*(e | {"revision": "2030-02-01T00:00:00Z"} for e in day(0)))
    kept = {Path(path).name for path in backup(home.settings, str(place)).manifest.files}
    assert lying - kept


@pytest.mark.soak
def test_what_a_running_pipeline_publishes_meanwhile_is_in_a_backup_whole_or_not_at_all(
    tmp_path: Path, home: Installation, place: Path
) -> None:
    files = [str(home.write(*day(n))) for n in range(1, 5)]
    command = [sys.executable, "-c", PIPELINE, str(home.settings.home), *files]
    pipeline = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert pipeline.stdin is not None
    assert pipeline.stdout is not None
    ids = []
    for _ in files:  # a run starts, and a backup beside it
        pipeline.stdout.readline()
        pipeline.stdin.write("go\n")
        pipeline.stdin.flush()
        ids.append(backup(home.settings, str(place)).manifest.id)
    pipeline.communicate()
    assert pipeline.returncode == 0
    numbers = set()
    for number, backup_id in enumerate(ids):
        there = elsewhere(tmp_path / f"restored-{number}")
        made = restore(there.settings, str(place), backup_id=backup_id).manifest
        assert there.ask("SELECT count(*) FROM runs") == [(3 * (made.publication or 0),)]
        assert there.marts() == there.rebuilt()
        numbers.add(made.publication)
    assert len(numbers) > 1


def test_ingested_but_not_yet_published_events_are_in_it(
    tmp_path: Path, home: Installation, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spool = home.settings.spool
    spool.mkdir()
    (spool / "a.jsonl").write_bytes(lines(*day(1)))
    assert beleg(home.settings, "run", dying=("beleg.lake.publication:publish", "before", 1)).returncode == -9
    backup(home.settings, str(place))
    there = elsewhere(tmp_path / "two")
    restore(there.settings, str(place))
    assert there.ask("SELECT count(*) FROM runs") == [(3,)]
    there.take()
    assert there.ask("SELECT count(*) FROM runs") == [(6,)]


def test_a_url_of_any_file_system_holds_backups(tmp_path: Path, home: Installation) -> None:
    url = f"memory://{tmp_path.name}/backups"
    backup(home.settings, url, verify=True)
    home.take(*day(1))
    assert backup(home.settings, url, keep=1).removed
    there = elsewhere(tmp_path / "two")
    restore(there.settings, url)
    assert there.marts() == home.marts()
    assert len(manifest.names(store_at(url))) == 1


def test_removed_backups_take_with_them_what_only_they_held(home: Installation, place: Path) -> None:
    first = backup(home.settings, str(place)).manifest
    home.take(*(e | {"revision": "2030-02-01T00:00:00Z"} for e in day(0)))
    second = backup(home.settings, str(place), keep=2)
    assert second.removed == ()
    third = backup(home.settings, str(place), keep=1)
    assert third.removed == (first.id, second.manifest.id)
    named = {kept.name for kept in third.manifest.files.values()}
    assert set(store_at(str(place)).sizes("objects")) == named


def test_damaged_content_is_found_and_copied_anew(home: Installation, place: Path) -> None:
    backup(home.settings, str(place))
    path, content = path_of(place, ".parquet")
    content.write_bytes(content.read_bytes()[::-1])
    with pytest.raises(DamagedError, match=path):
        backup(home.settings, str(place), verify=True)
    assert backup(home.settings, str(place), verify=True).copied == 1


def test_the_half_of_a_file_that_a_dying_store_left_is_copied_again(home: Installation, place: Path) -> None:
    backup(home.settings, str(place))
    _, content = path_of(place, ".parquet")
    content.write_bytes(content.read_bytes()[:10])
    assert backup(home.settings, str(place), verify=True).copied == 1


def test_the_spool_is_in_it_when_asked_for_wherever_it_lies(tmp_path: Path, place: Path) -> None:
    home = Installation(tmp_path / "one")
    home.settings.spool.mkdir(parents=True)
    name = f"{this_process().prefix}~1"
    (home.settings.spool / f"{name}.open.jsonl").write_bytes(lines(*day(0)) + b'{"torn')
    home.take()
    backup(home.settings, str(place), spool=True)
    there = elsewhere(tmp_path / "two")
    restore(there.settings, str(place))
    assert (there.settings.spool / f"{name}.open.jsonl").read_bytes().endswith(b'{"torn')
    assert json.loads(beleg(there.settings, "run", "--json").stdout)["duplicates"] == len(day(0))


def test_a_spool_file_sealed_meanwhile_is_taken_under_its_new_name(
    home: Installation, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    growing = home.settings.spool / "app.open.jsonl"
    growing.parent.mkdir()
    growing.write_bytes(lines(*day(1)))
    from beleg.backup import contents

    real = contents.other_files

    def sealing(*args: object, **kwargs: object) -> list[str]:
        found = list(real(*args, **kwargs))  # type: ignore[arg-type]
        growing.rename(growing.with_name("app.jsonl"))
        return found

    monkeypatch.setattr(contents, "other_files", sealing)
    files = backup(home.settings, str(place), spool=True).manifest.files
    assert [path for path in files if path.startswith("spool/")] == ["spool/app.jsonl"]


def test_a_file_that_the_lake_has_lost_is_named(home: Installation, place: Path) -> None:
    backup(home.settings, str(place))
    lost = next(home.settings.lake.glob("steps/**/*.parquet"))
    whole = lost.read_bytes()
    lost.write_bytes(whole[:-1])
    with pytest.raises(DamagedError, match=f"{lost} has {len(whole) - 1} bytes where .* {len(whole)}"):
        backup(home.settings, str(place))
    lost.unlink()
    with pytest.raises(DamagedError, match=f"{lost} is missing"):
        backup(home.settings, str(place))
    assert len(manifest.names(FolderStore(place))) == 1


def test_a_place_that_cannot_be_right_is_refused(tmp_path: Path, home: Installation, place: Path) -> None:
    with pytest.raises(UsageError, match="inside"):
        backup(home.settings, str(home.settings.home / "backups"))
    with pytest.raises(UsageError, match="holds nothing yet"):
        backup(elsewhere(tmp_path / "empty").settings, str(place))
    backup(home.settings, str(place))
    other = Installation(tmp_path / "other")
    other.take(*day(0))
    with pytest.raises(UsageError, match="an installation that first published"):
        backup(other.settings, str(place))
    for url in ("no-such-store://x", "s3://"):
        done = beleg(home.settings, "backup", url)
        assert (done.returncode in {2, 4}, "Traceback" in done.stderr) == (True, False), done.stderr


def test_a_place_below_a_file_is_a_usage_error(tmp_path: Path, home: Installation) -> None:
    (tmp_path / "file").write_text("")
    done = beleg(home.settings, "backup", str(tmp_path / "file" / "place"))
    assert done.returncode == 2
    assert "is no folder" in done.stderr


def test_a_clock_set_back_does_not_make_an_older_backup_the_newest(
    home: Installation, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = FolderStore(place)
    made = backup(home.settings, str(place)).manifest
    later = manifest.Manifest(**(vars(made) | {"id": "29990101T000000000000Z"}))
    manifest.write(store, later)
    assert backup(home.settings, str(place)).manifest.id == "29990101T000000000001Z"


def test_a_second_backup_meanwhile_is_told_of_the_first(home: Installation, place: Path) -> None:
    from beleg.core.lock import hold

    with hold(home.settings.home / "backup.lock", wait_s=0), pytest.raises(Busy, match=str(os.getpid())):
        backup(home.settings, str(place))


def test_most_is_copied_while_another_writes(home: Installation, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from beleg.backup import make

    there: list[int] = []

    class Stop(Exception):
        pass

    def stopped(*_: object, **__: object) -> None:
        there.append(len(store_at(str(place)).sizes("objects")))
        raise Stop

    monkeypatch.setattr(make, "exclusive", stopped)
    with writer(home.settings.home), pytest.raises(Stop):
        backup(home.settings, str(place))
    assert there == [len(list(home.settings.lake.glob("**/day=*/*.parquet"))) + _months(home)]


def _months(home: Installation) -> int:
    return len(
        [p for p in home.settings.lake.glob("*/**/*.parquet") if "day=" not in str(p) and "_delta" not in str(p)]
    )


def test_the_command_lists_and_tells(home: Installation, place: Path) -> None:
    told = json.loads(beleg(home.settings, "backup", str(place), "--json").stdout)
    listed = json.loads(beleg(home.settings, "backup", str(place), "--list", "--json").stdout)
    assert listed["backups"] == [{k: told[k] for k in listed["backups"][0]}]
    assert told["publication"] == 1
    assert "the rest was there already" in beleg(home.settings, "backup", str(place)).stdout
