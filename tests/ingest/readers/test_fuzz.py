"""Whatever a file holds that is almost of a format: no crash, no hang, and every item is accounted for."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beleg.ingest.readers.events import Maker
from beleg.ingest.readers.files import File
from beleg.ingest.readers.formats import Reading, format_named, formats, recognise
from beleg.ingest.readers.naming import Naming
from beleg.ingest.sources import find_sources
from tests.deep import examples
from tests.ingest.readers.fuzzing import CHANGES, DAMAGES, Change, changed, damaged, seeds
from tests.ingest.readers.support import assert_adds_up, events, stage, write
from tests.ingest.readers.test_leaks import sample_of

FORMATS = sorted(formats())
SAMPLES = {name: sample_of(name).sample("a text") for name in FORMATS}
with tempfile.TemporaryDirectory() as _folder:
    SEEDS = seeds(Path(_folder))


def read_to_its_end(name: str, data: bytes, *, file_name: str = "file") -> None:
    """Recognise it, read it alone and then through the judge."""
    with tempfile.TemporaryDirectory() as folder:
        path = write(Path(folder), file_name, data)
        (source,) = find_sources([path])
        recognise(source)
        for item in format_named(name).read(Reading(File(source), Maker(name), Naming())):
            assert item.refusal is None or not item.events
        staged = stage(Path(folder) / "staged", path, form=name)
        assert_adds_up(staged)
        assert all(made["source"] == name for made in events(staged))


@pytest.mark.deep
@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=examples(25, soak=3000))
@given(changes=CHANGES)
def test_a_changed_document_is_read_to_its_end(name: str, changes: list[Change]) -> None:
    read_to_its_end(name, changed(SAMPLES[name], changes))


@pytest.mark.deep
@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=examples(10, soak=1000))
@given(changes=CHANGES | st.just([]), damages=DAMAGES)
def test_a_damaged_file_is_read_to_its_end(
    name: str, changes: list[Change], damages: list[tuple[str, int, bytes]]
) -> None:
    read_to_its_end(name, damaged(changed(SAMPLES[name], changes), damages))


@pytest.mark.deep
@pytest.mark.parametrize("file_name", SEEDS)
@settings(max_examples=examples(15, soak=2000))
@given(damages=DAMAGES)
def test_a_damaged_binary_file_is_read_to_its_end(file_name: str, damages: list[tuple[str, int, bytes]]) -> None:
    name, data = SEEDS[file_name]
    read_to_its_end(name, damaged(data, damages), file_name=file_name)


@pytest.mark.parametrize("file_name", SEEDS)
def test_the_binary_files_to_begin_with_are_good(file_name: str, tmp_path: Path) -> None:
    name, data = SEEDS[file_name]
    path = write(tmp_path, file_name, data)
    (source,) = find_sources([path])
    form = recognise(source)
    assert form is not None
    assert form.name == name
    staged = stage(tmp_path / "staged", path)
    assert staged.accepted >= 2
    assert staged.quarantined == 0


@pytest.mark.parametrize("other", FORMATS)
@pytest.mark.parametrize("name", FORMATS)
def test_a_file_read_as_another_format_is_accounted_for(name: str, other: str) -> None:
    read_to_its_end(other, SAMPLES[name])
