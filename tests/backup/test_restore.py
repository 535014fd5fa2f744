"""What comes back is what was there, byte for byte, or nothing is changed."""

import json
import shutil
from pathlib import Path

import pytest

from beleg import flow
from beleg.backup import manifest
from beleg.backup.make import backup
from beleg.backup.manifest import Kept
from beleg.backup.restore import restore
from beleg.backup.store import FolderStore
from beleg.core.errors import DamagedError, UsageError
from beleg.retention.forget import forget
from tests.backup.support import beleg, day, elsewhere, path_of
from tests.events import lines
from tests.flow.support import AS_OF, Installation


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Installation:
    """An installation that read its spool, and a backup of it beside it."""
    made = Installation(tmp_path_factory.mktemp("original"))
    made.settings.spool.mkdir(parents=True)
    (made.settings.spool / "a.jsonl").write_bytes(lines(*day(0)))
    flow.run(made.settings, as_of=AS_OF)
    backup(made.settings, str(made.inbox / "place"))
    return made


@pytest.fixture
def home(tmp_path: Path, original: Installation) -> Installation:
    return original.copied_to(tmp_path / "one")


@pytest.fixture
def place(home: Installation) -> Path:
    return home.inbox / "place"


def costs(home: Installation) -> str:
    return str(beleg(home.settings, "costs", "--json").stdout)


def test_the_figures_are_the_same_in_another_folder(tmp_path: Path, home: Installation, place: Path) -> None:
    there = elsewhere(tmp_path / "two")
    done = beleg(there.settings, "restore", str(place), "--json")
    assert json.loads(done.stdout)["publication"] == 1
    assert there.marts() == home.marts()
    assert costs(there) == costs(home)


def test_the_pipeline_goes_on_and_what_the_spool_still_holds_is_known_already(
    tmp_path: Path, home: Installation, place: Path
) -> None:
    (home.settings.spool / "b.jsonl").write_bytes(lines(*day(1)))
    flow.run(home.settings, as_of=AS_OF)
    there = elsewhere(tmp_path / "two")
    shutil.copytree(home.settings.spool, there.settings.spool)
    restore(there.settings, str(place))
    taken = flow.run(there.settings, as_of=AS_OF).ingest
    assert (taken.accepted, taken.duplicates) == (len(day(0)) + len(day(1)), len(day(0)))
    assert there.marts() == home.marts()


def test_a_restored_home_that_is_moved_shows_its_figures_after_a_run(
    tmp_path: Path, home: Installation, place: Path
) -> None:
    there = elsewhere(tmp_path / "two")
    restore(there.settings, str(place))
    moved = elsewhere(tmp_path / "three")
    there.settings.home.rename(moved.settings.home)
    flow.run(moved.settings, as_of=AS_OF)
    assert moved.marts() == home.marts()


def test_a_home_with_data_is_put_aside_only_when_told(home: Installation, place: Path) -> None:
    before = home.marts()
    home.take(*day(1))
    after = home.marts()
    with pytest.raises(UsageError, match="--replace"):
        restore(home.settings, str(place))
    assert home.marts() == after
    done = restore(home.settings, str(place), replace=True)
    assert home.marts() == before
    assert done.put_aside is not None
    assert (done.put_aside / "lake" / "_publication.json").exists()
    assert (home.settings.spool / "a.jsonl").exists()


def test_files_that_are_not_ours_are_put_aside_only_when_told(tmp_path: Path, place: Path) -> None:
    """A folder that somebody named by mistake: none of it moves unasked."""
    there = elsewhere(tmp_path / "two")
    theirs = there.settings.home / "thesis" / "chapter.txt"
    theirs.parent.mkdir(parents=True)
    theirs.write_text("mine")
    with pytest.raises(UsageError, match=r"holds files that are no installation of Beleg \(thesis\); --replace"):
        restore(there.settings, str(place))
    assert theirs.read_text() == "mine"
    assert not there.settings.lake.exists()
    done = restore(there.settings, str(place), replace=True)
    assert done.put_aside is not None
    assert (done.put_aside / "thesis" / "chapter.txt").read_text() == "mine"


def test_a_folder_with_nothing_in_it_is_empty(tmp_path: Path, place: Path) -> None:
    there = elsewhere(tmp_path / "two")
    (there.settings.home / "lake").mkdir(parents=True)
    assert restore(there.settings, str(place)).home == there.settings.home


def test_an_earlier_backup_is_restored_by_its_id(tmp_path: Path, home: Installation, place: Path) -> None:
    first, before = manifest.load(FolderStore(place)).id, home.marts()
    home.take(*day(1))
    backup(home.settings, str(place))
    there = elsewhere(tmp_path / "two")
    restore(there.settings, str(place), backup_id=first)
    assert there.marts() == before
    with pytest.raises(UsageError, match=first):
        restore(elsewhere(tmp_path / "three").settings, str(place), backup_id="yesterday")


@pytest.mark.parametrize(
    ("kind", "fault"),
    [
        (".parquet", "reversed"),
        ("_delta_log", "shortened"),
        ("_publication.json", "removed"),
        ("ledger/", "reversed"),
        *(
            pytest.param(kind, fault, marks=pytest.mark.soak)
            for kind in (".parquet", "_delta_log", "_publication.json", "ledger/")
            for fault in ("reversed", "shortened", "removed")
        ),
    ],
)
def test_damaged_content_is_named_before_anything_is_changed(
    tmp_path: Path, home: Installation, place: Path, kind: str, fault: str
) -> None:
    path, content = path_of(place, kind)
    data = content.read_bytes()
    content.write_bytes(data[::-1] if fault == "reversed" else data[:-1])
    if fault == "removed":
        content.unlink()
    before = home.marts()
    with pytest.raises(DamagedError, match=path):
        restore(home.settings, str(place), replace=True)
    assert home.marts() == before
    content.write_bytes(data)
    restore(home.settings, str(place), replace=True)
    assert home.marts() == before


def test_a_damaged_backup_has_the_exit_code_of_damage(tmp_path: Path, place: Path) -> None:
    path, content = path_of(place, ".parquet")
    content.write_bytes(b"x")
    done = beleg(elsewhere(tmp_path / "two").settings, "restore", str(place))
    assert (done.returncode, path in done.stderr, "--backup ID" in done.stderr) == (4, True, True)


def test_a_damaged_manifest_is_no_backup(tmp_path: Path, home: Installation, place: Path) -> None:
    (name,) = manifest.names(FolderStore(place)).values()
    (place / name).write_text((place / name).read_text().replace("lake/steps", "lake/stops", 1))
    with pytest.raises(DamagedError, match="is damaged"):
        restore(elsewhere(tmp_path / "two").settings, str(place))
    backup(home.settings, str(place))
    restore(elsewhere(tmp_path / "three").settings, str(place))


def test_what_is_no_backup_of_ours_is_refused(tmp_path: Path, home: Installation, place: Path) -> None:
    there = elsewhere(tmp_path / "two")
    with pytest.raises(UsageError, match="holds no backup"):
        restore(there.settings, str(tmp_path / "nowhere"))
    store, made = FolderStore(place), manifest.load(FolderStore(place))
    for change, words in (
        ({"lake_format": 2}, "format 2; it was written by a newer release"),
        ({"manifest_format": 2}, "format 2; we read 1"),
        ({"files": {"../outside": Kept(1, "0" * 64)}}, "outside of an installation"),
        ({"files": {"/outside": Kept(1, "0" * 64)}}, "outside of an installation"),
    ):
        manifest.write(store, manifest.Manifest(**(vars(made) | {"id": manifest.next_id(store)} | change)))
        with pytest.raises(DamagedError, match=words):
            restore(there.settings, str(place))
    assert not there.settings.lake.exists()


def test_what_was_forgotten_since_the_backup_is_named_and_the_put_aside_home_goes_with_the_next_forget(
    home: Installation, place: Path
) -> None:
    forget(home.settings, "ref", "invoice-1", as_of=AS_OF)
    done = restore(home.settings, str(place), replace=True)
    assert [told.split(" at ")[0] for told in done.forgets_undone] == ["ref forgotten-1"]
    assert done.put_aside is not None
    forget(home.settings, "ref", "invoice-1", as_of=AS_OF)
    assert not done.put_aside.exists()
    assert restore(elsewhere(home.inbox / "fresh").settings, str(place)).forgets_undone == ()
