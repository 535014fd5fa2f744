"""The stages one by one, as a scheduler calls them: the same rows as one run, and nothing done twice."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from beleg import flow
from beleg.core.contracts import mart_sql
from beleg.cost import plan
from beleg.cost.build import MARTS, STAGES, needed
from beleg.lake import publication
from beleg.lake.snapshot import Snapshot
from tests.flow.support import AS_OF, Installation, run_events

NOON = datetime(2030, 1, 10, 12, tzinfo=UTC)
MIDNIGHT = datetime(2030, 1, 10, 23, 59, 58, tzinfo=UTC)


@pytest.fixture
def beleg(tmp_path: Path) -> Installation:
    there = Installation(tmp_path)
    there.take(*run_events("a", NOON), *run_events("b", MIDNIGHT, seconds=10, parent_run_id="a"))
    return there


def later(beleg: Installation) -> Path:
    return beleg.write(
        *run_events("c", MIDNIGHT, seconds=10, parent_run_id="b"), *run_events("d", NOON + timedelta(days=30))
    )


def published(beleg: Installation) -> publication.Publication:
    found = publication.current(beleg.settings)
    assert found is not None
    return found


def versions(beleg: Installation) -> dict[str, int]:
    return Snapshot.latest(beleg.settings).versions


def test_stages_one_by_one_give_the_rows_of_one_run(beleg: Installation, tmp_path: Path) -> None:
    flow.ingest(beleg.settings, [later(beleg)])
    before = published(beleg)
    days = {mart: flow.build(beleg.settings, mart, as_of=AS_OF).days for mart in MARTS}
    assert published(beleg) == before
    flow.check(beleg.settings)
    made = flow.publish(beleg.settings, as_of=AS_OF)
    assert made.number == before.number + 1
    assert days["step_costs"] == ("2030-01-10", "2030-01-11", "2030-02-09")
    whole = Installation(tmp_path / "whole")
    whole.take(*run_events("a", NOON), *run_events("b", MIDNIGHT, seconds=10, parent_run_id="a"))
    flow.run(whole.settings, [later(whole)], as_of=AS_OF)
    assert beleg.marts() == whole.marts()


def test_a_stage_repeated_writes_nothing_and_still_tells_its_days(beleg: Installation) -> None:
    flow.ingest(beleg.settings, [later(beleg)])
    first = flow.build(beleg.settings, "unit_costs", as_of=AS_OF)
    made = versions(beleg)
    assert flow.build(beleg.settings, "unit_costs") == first
    assert flow.build(beleg.settings, "run_costs").days == ("2030-01-10", "2030-01-11", "2030-02-09")
    assert versions(beleg) == made


def test_a_stage_builds_what_it_stands_on(beleg: Installation) -> None:
    flow.ingest(beleg.settings, [later(beleg)])
    before = versions(beleg)
    flow.build(beleg.settings, "unit_costs", as_of=AS_OF)
    moved = {name for name, version in versions(beleg).items() if version != before.get(name)}
    assert moved == {"run_days", "step_costs", "run_costs", "run_lookup", "unit_costs"}


def test_a_run_between_two_stages_leaves_nothing_to_do(beleg: Installation) -> None:
    file = later(beleg)
    flow.ingest(beleg.settings, [file])
    flow.build(beleg.settings, "step_costs", as_of=AS_OF)
    between = flow.run(beleg.settings, [file], as_of=AS_OF).publication
    marts = beleg.marts()
    assert flow.build(beleg.settings, "unit_costs").days == ()
    assert flow.publish(beleg.settings) == between
    assert beleg.marts() == marts


def test_events_that_come_between_two_stages_are_in_the_publication(beleg: Installation) -> None:
    flow.ingest(beleg.settings, [later(beleg)])
    flow.build(beleg.settings, "run_costs", as_of=AS_OF)
    flow.ingest(beleg.settings, [beleg.write(*run_events("e", NOON + timedelta(days=3)))])
    flow.build(beleg.settings, "unit_costs", as_of=AS_OF)
    flow.publish(beleg.settings, as_of=AS_OF)
    assert beleg.ask("SELECT count(*) FROM runs") == [(5,)]
    assert beleg.marts() == beleg.rebuilt()


def test_a_range_asked_for_is_computed_though_nothing_changed(beleg: Installation) -> None:
    before, marts = published(beleg), beleg.marts()
    built = flow.build(beleg.settings, "step_costs", days=["2030-01-11", "2030-01-12"], as_of=AS_OF)
    assert "2030-01-11" in built.days
    assert "2030-01-12" in built.days
    assert flow.publish(beleg.settings, as_of=AS_OF).number == before.number + 1
    assert beleg.marts() == marts


def test_a_plan_no_one_can_read_is_made_again(beleg: Installation) -> None:
    flow.ingest(beleg.settings, [later(beleg)])
    flow.build(beleg.settings, "run_costs", as_of=AS_OF)
    path = beleg.settings.lake / "_plan.json"
    path.write_text(path.read_text()[:40])
    assert plan.load(beleg.settings) is None
    flow.publish(beleg.settings, as_of=AS_OF)
    assert not path.exists()
    assert beleg.marts() == beleg.rebuilt()


@pytest.mark.parametrize("mart", MARTS)
def test_a_mart_is_made_after_all_marts_its_query_reads(mart: str) -> None:
    read = set(re.findall(r"(?:FROM|JOIN) (\w+)", mart_sql(mart))) & set(MARTS)
    assert read <= needed([mart]) - {mart}
    built = [name for stage in STAGES for name in stage]
    assert all(built.index(below) < built.index(mart) for below in needed([mart]) - {mart, "run_lookup"})
