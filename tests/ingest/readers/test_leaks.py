"""Nothing of a payload leaves a reader, whatever the format and wherever the payload stands."""

import importlib
import logging
from pathlib import Path
from types import ModuleType

import pytest

from beleg.ingest import quarantine
from beleg.ingest.explained import explain
from beleg.ingest.readers.formats import formats, recognise, suffixes
from beleg.ingest.readers.naming import FACTS, Naming, Rule, Taken
from beleg.ingest.sources import find_sources
from beleg.lake.table import LakeTable
from tests.ingest.readers.leaks import MARK, SENTENCE, assert_nowhere, marked_file
from tests.ingest.readers.support import Home, events, stage, write

FORMATS = sorted(formats())
FOLDERS = (
    *("claude-agent-sdk", "coding-agents", "inspect", "langfuse", "langsmith", "litellm", "mlflow", "otlp"),
    "tau-bench",
)
NAMES = {"workflow": "trace", "tenant": "user", "team": "service", "feature": "tag", "input_ref": "span"}
"""Names taken from facts that hold payload here."""
WRONG = {b"2026-": b"20x26 LEAK7f3a-", b"2025-": b"LEAK7f3a", b": 1": b': "LEAK7f3a x1"', b"{}": b'"LEAK7f3a {}"'}
"""What is put in place of what, one after the other."""


def sample_of(name: str) -> ModuleType:
    """The module with a marked file of the format; a format without one is not finished."""
    return importlib.import_module(f"tests.ingest.readers.samples.{name.replace('-', '_')}")


def marked_sample(name: str, folder: Path) -> Path:
    module = sample_of(name)
    data = module.sample(SENTENCE)
    assert MARK.encode() in data, "the sample carries no mark"
    return write(folder / f"files of {MARK}", f"{name}-{module.NAME}", data)


@pytest.mark.parametrize("name", FORMATS)
def test_no_event_of_a_marked_file_holds_the_mark(name: str, tmp_path: Path) -> None:
    path = marked_sample(name, tmp_path)
    (source,) = find_sources([path], foreign=suffixes())
    form = recognise(source)
    assert form is not None
    assert form.name == name, "recognised by its content alone"
    naming = Naming([Rule({}, {word: Taken(fact=fact) for word, fact in NAMES.items()})])
    staged = stage(tmp_path / "staged", path, naming=naming)
    assert (staged.accepted >= 3, staged.quarantined) == (True, 0), list(staged.quarantine_rows())
    assert [made for made in events(staged) if MARK in str(made)] == []


def test_nothing_of_marked_files_of_all_formats_is_stored(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    rules = ", ".join(f"{word}: {{from: {fact}}}" for word, fact in NAMES.items())
    home = Home(tmp_path, naming=f"naming: 1\nrules: [{{{rules}}}]")
    report = home.take(*(marked_sample(name, tmp_path) for name in FORMATS))
    assert report.ingest.quarantined == 0
    captured = capfd.readouterr()
    assert_nowhere(home.settings, caplog.text, captured.out, captured.err)
    sources = {row["source"] for row in home.rows("SELECT DISTINCT source FROM steps")}
    assert sources == set(FORMATS)


def test_nothing_of_refused_items_is_stored(tmp_path: Path) -> None:
    """Sentences where ids, times and numbers should be, so that much is refused."""
    home, refused = Home(tmp_path), 0
    for name in FORMATS:
        data = sample_of(name).sample(SENTENCE)
        if not data.startswith((b"PK", b"SQLite")):
            paths = [
                write(tmp_path, f"{number}-{sample_of(name).NAME}", data.replace(old, new))
                for number, (old, new) in enumerate(WRONG.items())
            ]
            staged = stage(tmp_path / "staged" / name, *paths, form=name)
            quarantine.keep(home.settings, staged, name)
            refused += staged.quarantined
            assert [row for row in staged.quarantine_rows() if MARK in str(row)] == []
            assert [made for made in events(staged) if MARK in str(made)] == []
    assert refused > 50
    assert LakeTable(home.settings, "quarantine").files()
    assert_nowhere(home.settings)


@pytest.mark.parametrize("folder", FOLDERS)
def test_nothing_of_real_files_with_a_mark_in_every_text_is_stored(
    folder: str, test_data: Path, tmp_path: Path
) -> None:
    accepted = 0
    for number, source in enumerate(find_sources([test_data / folder], foreign=suffixes())):
        form = recognise(source)
        if form is None or source.path.suffix in {".csv", ".parquet"}:
            continue
        path = marked_file(source.path, tmp_path / source.path.name.removesuffix(".gz"))
        staged = stage(tmp_path / f"staged-{number}", path, form=form.name)
        assert [made for made in events(staged) if MARK in str(made)] == []
        assert [row for row in staged.quarantine_rows() if MARK in str(row)] == []
        accepted += staged.accepted
    assert accepted > 0


def test_the_search_finds_a_mark_in_every_kind_of_file(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.take(write(tmp_path, "x.jsonl", b'{"event": "step", "schema_version": 1}\n'))
    assert_nowhere(home.settings)
    for content in (MARK.encode(), f"a {MARK}".encode()):
        path = write(home.settings.home, "scratch/found.txt", content)
        with pytest.raises(AssertionError):
            assert_nowhere(home.settings)
        path.unlink()
    with pytest.raises(AssertionError):
        assert_nowhere(home.settings, f"a line with {MARK}")


@pytest.mark.parametrize("name", FORMATS)
def test_a_format_gives_facts_that_exist(name: str, tmp_path: Path) -> None:
    module = sample_of(name)
    path = write(tmp_path, module.NAME, module.sample("word"))
    found = explain([path], name, None)
    assert found.traces
    for trace in found.traces.values():
        unknown = [f for f in trace.facts if f not in FACTS and not f.startswith(("metadata.", "resource."))]
        assert unknown == []
        assert trace.facts["format"] == name
    assert stage(tmp_path / "s", path, form=name).accepted >= len(found.traces)
