"""Sensors ask for a run once for each thing to take, and again a few times if it failed."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from pipelines.definitions import defs
from pipelines.requests import ATTEMPTS, TAG
from pipelines.schedules import nightly_schedule
from pipelines.sensors import inbox_sensor, spool_sensor
from tests.events import lines
from tests.flow.support import run_events
from tests.pipeline.support import Pipeline

pytestmark = pytest.mark.filterwarnings("ignore")
NOON = datetime(2026, 1, 10, 12, tzinfo=UTC)


def look(pipeline: Pipeline) -> dg.RunRequest | None:
    context = dg.build_sensor_context(pipeline.instance, resources={"installation": pipeline.resource})
    found = spool_sensor(context)
    return found if isinstance(found, dg.RunRequest) else None


def ran(pipeline: Pipeline, request: dg.RunRequest, status: dg.DagsterRunStatus) -> None:
    """A run of a request, as it ended."""
    pipeline.instance.create_run_for_job(
        defs.resolve_job_def("refresh"), tags={**request.tags, "dagster/partition": "2026-01-10"}, status=status
    )


def test_an_empty_spool_asks_for_nothing(pipeline: Pipeline) -> None:
    assert look(pipeline) is None


def test_a_growing_file_counts_up_to_its_last_line_feed(pipeline: Pipeline) -> None:
    path = pipeline.arrive(*run_events("a", NOON), name="x.open.jsonl")
    asked = look(pipeline)
    assert asked is not None
    assert asked.run_key == asked.tags[TAG]
    assert pipeline.refresh().success
    assert look(pipeline) is None
    with path.open("ab") as file:
        file.write(b'{"event": "half')
    assert look(pipeline) is None
    with path.open("ab") as file:
        file.write(b'"}\n')
    again = look(pipeline)
    assert again is not None
    assert again.run_key != asked.run_key


def test_the_same_unread_bytes_are_asked_for_once_and_again_if_the_run_failed(pipeline: Pipeline) -> None:
    pipeline.arrive(*run_events("a", NOON))
    keys = []
    for _ in range(ATTEMPTS):
        asked = look(pipeline)
        assert asked is not None
        keys.append(asked.run_key)
        ran(pipeline, asked, dg.DagsterRunStatus.FAILURE)
    assert look(pipeline) is None
    assert keys == [keys[0], f"{keys[0]}__attempt2", f"{keys[0]}__attempt3"]
    pipeline.arrive(*run_events("b", NOON))
    assert look(pipeline) is not None


def test_while_a_run_takes_it_nothing_is_asked_for(pipeline: Pipeline) -> None:
    pipeline.arrive(*run_events("a", NOON))
    asked = look(pipeline)
    assert asked is not None
    ran(pipeline, asked, dg.DagsterRunStatus.STARTED)
    assert look(pipeline) is None


@pytest.mark.parametrize("scheme", ["", "memory://"])
def test_files_delivered_to_a_folder_or_a_prefix_are_taken_once(
    pipeline: Pipeline, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scheme: str
) -> None:
    import fsspec

    address = f"{scheme}{tmp_path}/delivered"
    monkeypatch.setenv("BELEG_INBOX", f" {address} ,")
    cursor: str | None = None

    def tick() -> list[Any]:
        nonlocal cursor
        found = inbox_sensor(dg.build_sensor_context(pipeline.instance, cursor=cursor))
        assert isinstance(found, dg.SensorResult)
        cursor = found.cursor
        return list(found.run_requests or ())

    assert tick() == []
    for name in ("one.jsonl", "note.txt"):
        with fsspec.open(f"{address}/{name}", "wb", auto_mkdir=True) as file:
            file.write(lines(*run_events("a", NOON)))
    (asked,) = tick()
    assert asked.run_config["ops"]["events"]["config"]["urls"] == [
        f"{scheme or 'file://'}{tmp_path}/delivered/one.jsonl"
    ]
    assert pipeline.refresh(**asked.run_config).success
    ran(pipeline, asked, dg.DagsterRunStatus.SUCCESS)
    assert tick() == []
    assert pipeline.ask("SELECT count(*) FROM runs") == [(1,)]
    with fsspec.open(f"{address}/two.jsonl", "wb") as file:
        file.write(lines(*run_events("b", NOON)))
    (more,) = tick()
    assert [url.rpartition("/")[2] for url in more.run_config["ops"]["events"]["config"]["urls"]] == ["two.jsonl"]


def test_what_arrives_while_a_run_takes_the_rest_is_a_batch_of_its_own(
    pipeline: Pipeline, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BELEG_INBOX", str(tmp_path))
    cursor: str | None = None
    asked: list[dg.RunRequest] = []

    def names() -> list[list[str]]:
        nonlocal cursor, asked
        found = inbox_sensor(dg.build_sensor_context(pipeline.instance, cursor=cursor))
        assert isinstance(found, dg.SensorResult)
        cursor, asked = found.cursor, list(found.run_requests or ())
        urls = [one.run_config["ops"]["events"]["config"]["urls"] for one in asked]
        return [sorted(url.rpartition("/")[2] for url in batch) for batch in urls]

    (tmp_path / "a.jsonl").write_bytes(lines(*run_events("a", NOON)))
    assert names() == [["a.jsonl"]]
    ran(pipeline, asked[0], dg.DagsterRunStatus.STARTED)
    (tmp_path / "b.jsonl").write_bytes(lines(*run_events("b", NOON)))
    assert names() == [["b.jsonl"]]
    for run in pipeline.instance.get_runs():
        pipeline.instance.delete_run(run.run_id)
    assert names() == [["a.jsonl"], ["b.jsonl"]]  # nobody took either
    for one in asked:
        ran(pipeline, one, dg.DagsterRunStatus.SUCCESS)
    assert names() == []
    (tmp_path / "c.jsonl").write_bytes(lines(*run_events("c", NOON)))
    assert names() == [["c.jsonl"]]


def test_an_inbox_nobody_can_list_says_what_to_do(pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BELEG_INBOX", "nosuchscheme://bucket")
    with pytest.raises(Exception, match="name a folder or a prefix"):
        inbox_sensor(dg.build_sensor_context(pipeline.instance))


def test_the_night_has_one_run_whatever_asks_for_it_twice() -> None:
    at = datetime(2026, 3, 29, 2, 15, tzinfo=UTC)
    first, second = (nightly_schedule(dg.build_schedule_context(scheduled_execution_time=at)) for _ in "ab")
    assert isinstance(first, dg.RunRequest)
    assert isinstance(second, dg.RunRequest)
    assert first.run_key == second.run_key == "nightly-2026-03-29T02:15+0000"
