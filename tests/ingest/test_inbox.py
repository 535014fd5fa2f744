"""What lies at an address of another file system is copied and taken in like a file."""

import json
from pathlib import Path

import fsspec
import pytest

from beleg.cli.main import app
from beleg.core.errors import UsageError
from beleg.core.settings import Settings
from beleg.ingest.inbox import local_paths
from tests.events import event, lines
from tests.invoke import run


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("BELEG_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return Settings.load()


def deliver(tmp_path: Path, name: str, *ids: str) -> str:
    """A file at an address of its own; returns the folder's address."""
    folder = f"memory://{tmp_path.name}/events"
    with fsspec.open(f"{folder}/{name}", "wb") as file:
        file.write(lines(*(event("run_started", each, run_id=each) for each in ids)))
    return folder


def test_a_prefix_is_taken_in_and_only_once(settings: Settings, tmp_path: Path) -> None:
    address = deliver(tmp_path, "day/a.jsonl", "one", "two")
    assert json.loads(run(app, "ingest", address, "--json").stdout)["accepted"] == 2
    deliver(tmp_path, "b.jsonl", "three")
    told = json.loads(run(app, "run", address, "--json").stdout)
    assert told["accepted"] - told["duplicates"] == 1


def test_a_version_that_was_copied_before_is_not_copied_again(settings: Settings, tmp_path: Path) -> None:
    address = deliver(tmp_path, "a.jsonl", "one")
    (first,) = local_paths(settings, [address])
    written = first.stat().st_mtime_ns
    assert local_paths(settings, [address]) == [first]
    assert first.stat().st_mtime_ns == written
    deliver(tmp_path, "a.jsonl", "one", "two")
    local_paths(settings, [address])
    assert len(first.read_bytes().splitlines()) == 2


@pytest.mark.parametrize(
    ("address", "told"),
    [("memory://nothing/here", "holds no file"), ("nosuch://bucket/x", "cannot be listed")],
)
def test_an_address_without_files_is_told(settings: Settings, address: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        local_paths(settings, [address])
