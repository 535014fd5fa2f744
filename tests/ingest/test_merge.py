"""Merging into the lake: one row per identity, whatever the order, split or repetition of the files."""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from beleg.core.progress import silent
from beleg.core.settings import Settings
from beleg.ingest import merge
from beleg.ingest.run import IngestReport, store
from beleg.ingest.sources import find_sources
from beleg.ingest.stage import stage
from beleg.lake.engine import connect
from beleg.lake.snapshot import Snapshot
from tests.deep import examples
from tests.events import event, lines

COLUMNS = "source, event_id, event_time, revision, run_id, status, day"


class Lake:
    """An installation that takes events and tells what it holds."""

    def __init__(self, home: Path) -> None:
        self.settings = Settings(home=home, spool=home / "spool")
        self.ingests = 0

    def take(self, *events: dict[str, Any]) -> IngestReport:
        self.ingests += 1
        folder = self.settings.home / "in" / str(self.ingests)
        folder.mkdir(parents=True)
        (folder / "events.jsonl").write_bytes(lines(*events))
        staged = stage(find_sources([folder]), folder / "staged", workers=1)
        lake = Snapshot.latest(self.settings)
        return store(self.settings, staged, f"ingest-{self.ingests}", lake=lake, on_progress=silent)

    def rows(self, table: str = "run_statuses", columns: str = COLUMNS) -> list[tuple[Any, ...]]:
        lake = Snapshot.latest(self.settings)
        with connect(self.settings.home / "scratch") as con:
            return con.execute(f"SELECT {columns} FROM {lake.relation(table)} ORDER BY ALL").fetchall()

    def files(self, day: str, table: str = "run_statuses") -> int:
        return len(Snapshot.latest(self.settings).files(table, {day}))


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(tmp_path / "home")


def test_what_fits_no_memory_side_by_side_is_merged_one_table_after_the_other(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("beleg.ingest.run.MEMORY_LIMIT", "40MB")  # DuckDB reads JSON with buffers of 128 MB
    assert lake.take(*(status(f"s{day}", day) for day in range(1, 29))).accepted == 28
    assert len(lake.rows()) == 28


def status(event_id: str, day: int = 1, *, hour: int = 12, run_id: str = "run", **fields: Any) -> dict[str, Any]:
    return event("run_status", event_id, f"2030-01-{day:02d}T{hour:02d}:00:00Z", run_id=run_id, **fields)


def adds_up(lake: Lake, report: IngestReport, before: int) -> bool:
    return len(lake.rows()) - before == report.accepted - report.duplicates - report.superseded


def test_the_same_events_twice_add_nothing_and_rewrite_nothing(lake: Lake) -> None:
    lake.take(status("a"), status("b"))
    before = Snapshot.latest(lake.settings).versions
    again = lake.take(status("b"), status("a"))
    assert (again.accepted, again.duplicates, again.superseded) == (2, 2, 0)
    assert Snapshot.latest(lake.settings).versions == before


def test_a_duplicate_within_one_file_is_counted_once(lake: Lake) -> None:
    report = lake.take(status("a"), status("a"), status("a"))
    assert (report.accepted, report.duplicates, report.superseded) == (3, 2, 0)
    assert len(lake.rows()) == 1


def test_a_later_revision_replaces_an_earlier_one_in_either_order(tmp_path: Path) -> None:
    old, new = status("a", run_id="old"), status("a", run_id="new", revision="2030-02-01T00:00:00Z")
    forward, backward = Lake(tmp_path / "forward"), Lake(tmp_path / "backward")
    assert [forward.take(e).superseded for e in (old, new)] == [0, 1]
    assert [backward.take(e).superseded for e in (new, old)] == [0, 1]
    assert forward.rows() == backward.rows()
    assert [row[4] for row in forward.rows()] == ["new"]


def test_an_event_that_moves_to_another_day_leaves_its_old_day(lake: Lake) -> None:
    lake.take(status("a", 1), status("b", 1))
    report = lake.take(status("a", 20, revision="2030-02-01T00:00:00Z"))
    assert report.superseded == 1
    assert [(row[1], row[6].day) for row in lake.rows()] == [("a", 20), ("b", 1)]


def test_an_ingest_that_begins_and_ends_on_one_day_may_hold_others_between(lake: Lake) -> None:
    east = event("run_status", "east", "2030-01-02T01:30:00+02:00", run_id="run")
    lake.take(status("first", 1), status("later", 3), east, status("last", 1))
    assert [(row[1], row[6].day) for row in lake.rows()] == [("east", 1), ("first", 1), ("last", 1), ("later", 3)]
    assert len(list(lake.settings.lake.glob("run_statuses/**/*.parquet"))) == 2  # nothing is left of a first try


def test_days_are_those_of_utc_where_every_time_has_an_offset(lake: Lake) -> None:
    lake.take(*(event("run_status", i, "2030-01-02T01:30:00+02:00", run_id="run") for i in "ab"))
    assert [row[6].day for row in lake.rows()] == [1, 1]


def test_the_same_id_from_another_source_is_another_event(lake: Lake) -> None:
    lake.take(status("a"), status("a", source="other"))
    assert [row[0] for row in lake.rows()] == ["other", "test"]


def test_one_id_may_name_events_of_different_types(lake: Lake) -> None:
    lake.take(event("run_started", "a"), event("run_finished", "a"), status("a"))
    assert [len(lake.rows(t, "event_id")) for t in ("runs_started", "runs_finished", "run_statuses")] == [1, 1, 1]


def test_a_day_that_only_gains_rows_gains_a_file_until_it_has_gathered_many(lake: Lake) -> None:
    for n in range(merge.FILES_PER_DAY):
        lake.take(status(f"e{n}"))
    assert lake.files("2030-01-01") == merge.FILES_PER_DAY
    lake.take(status("one more"))
    assert lake.files("2030-01-01") == 1
    assert len(lake.rows()) == merge.FILES_PER_DAY + 1


def test_ids_that_tell_their_day_need_no_key(lake: Lake) -> None:
    told = f"{1893499200_000:012x}"
    tells_its_day = f"{told[:8]}-{told[8:]}-7abc-8def-0123456789ab"
    tells_another = "0190b5d0-0000-7000-8000-000000000000"
    lake.take(status(tells_its_day), status(tells_another), status("plain"))
    keys = lake.rows("keys", "event_table, day")
    assert [(table, day.isoformat()) for table, day in keys] == [("run_statuses", "2030-01-01")] * 2


def test_many_small_files_of_keys_become_one(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(merge, "KEY_FILES", 3)
    for n in range(7):
        lake.take(status(f"e{n}", day=n + 1))
    assert len(lake.rows("keys", "key_hash")) == 7
    assert len(Snapshot.latest(lake.settings).files("keys")) <= 3
    lake.take(status("e0", 20, revision="2030-02-01T00:00:00Z"))
    assert sorted(row[6].day for row in lake.rows()) == [2, 3, 4, 5, 6, 7, 20]


versions = st.builds(
    status,
    st.sampled_from(["a", "b", "c", "0190b5d0-0000-7000-8000-000000000001"]),
    st.integers(1, 4),
    hour=st.integers(0, 1),
    run_id=st.sampled_from(["r1", "r2"]),
    revision=st.sampled_from([None, "2030-03-01T00:00:00Z", "2030-03-02T00:00:00+02:00"]),
)


@pytest.mark.deep
@hypothesis_settings(max_examples=examples(10, soak=25), deadline=None)
@given(st.lists(versions, min_size=1, max_size=12), st.integers(0, 10**6), st.lists(st.integers(1, 4), max_size=4))
def test_any_order_split_or_repetition_gives_the_same_rows(
    tmp_path_factory: pytest.TempPathFactory, events: list[dict[str, Any]], seed: int, cuts: Sequence[int]
) -> None:
    whole, pieces = (Lake(tmp_path_factory.mktemp("lake")) for _ in range(2))
    before = len(whole.rows())
    assert adds_up(whole, whole.take(*events), before)
    shuffled = events + random.Random(seed).choices(events, k=2)
    random.Random(seed).shuffle(shuffled)
    while shuffled:
        size = cuts[len(shuffled) % len(cuts)] if cuts else len(shuffled)
        before = len(pieces.rows())
        assert adds_up(pieces, pieces.take(*shuffled[:size]), before)
        shuffled = shuffled[size:]
    assert whole.rows() == pieces.rows()
