"""The flow as a whole: what readers see after it, however the events came and however it was interrupted."""

import random
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from beleg import flow
from beleg.core.errors import UsageError
from beleg.core.settings import Settings
from beleg.lake import catalog, publication
from beleg.lake.snapshot import Snapshot
from tests.deep import examples
from tests.events import event
from tests.flow.support import AS_OF, Installation, run_events

NOON = datetime(2030, 1, 10, 12, tzinfo=UTC)
NEARLY_MIDNIGHT = datetime(2030, 1, 10, 23, 59, 58, tzinfo=UTC)


@pytest.fixture
def beleg(tmp_path: Path) -> Installation:
    return Installation(tmp_path)


def test_a_run_is_one_row_with_its_cost(beleg: Installation) -> None:
    beleg.take(*run_events("a", NOON))
    # gpt-4o: 2.50 USD per million input tokens, 10 USD per million output tokens.
    assert beleg.ask("SELECT run_id, status, cost_pico_usd, latency_ms FROM runs") == [
        ("a", "succeeded", 1000 * 2_500_000 + 10 * 10_000_000, 100)
    ]


def test_nothing_new_publishes_nothing(beleg: Installation) -> None:
    first = beleg.take(*run_events("a", NOON))
    again = beleg.take(*run_events("a", NOON))
    assert again.publication == first.publication
    assert again.touched_days == ()


def test_a_late_event_computes_only_its_day_again(beleg: Installation) -> None:
    for day in range(5):
        beleg.take(*run_events(f"r{day}", NOON + timedelta(days=day)))
    late = beleg.take(*run_events("late", NOON + timedelta(days=1, hours=1)))
    assert late.touched_days == ("2030-01-11",)


def test_a_run_over_midnight_is_one_run_whose_cost_falls_on_the_day_of_the_step(beleg: Installation) -> None:
    start, step, finish = run_events("a", NEARLY_MIDNIGHT, seconds=10)
    beleg.take(start)
    assert beleg.ask("SELECT status, steps FROM runs") == [("abandoned", 0)]
    beleg.take(finish)
    beleg.take(step)
    assert beleg.ask("SELECT status, steps, day::VARCHAR FROM runs") == [("succeeded", 1, "2030-01-10")]
    assert beleg.ask("SELECT workflow, business_day::VARCHAR FROM unit_costs WHERE cost_pico_usd > 0") == [
        ("ocr", "2030-01-11")
    ]


def test_steps_that_come_before_their_run_keep_their_cost_and_find_it_later(beleg: Installation) -> None:
    start, step, finish = run_events("a", NEARLY_MIDNIGHT, seconds=10)
    beleg.take(step)
    assert beleg.ask("SELECT workflow, sum(cost_pico_usd) > 0 FROM unit_costs GROUP BY 1") == [(None, True)]
    beleg.take(start, finish)
    assert beleg.ask("SELECT DISTINCT workflow FROM unit_costs") == [("ocr",)]
    assert beleg.ask("SELECT cost_pico_usd > 0 FROM runs") == [(True,)]


def test_a_start_that_moves_to_another_day_takes_its_run_along(beleg: Installation) -> None:
    start, step, finish = run_events("a", NEARLY_MIDNIGHT, seconds=10)
    beleg.take(start, step, finish)
    moved = start | {"event_time": "2030-01-08T10:00:00Z", "revision": "2030-02-01T00:00:00Z"}
    beleg.take(moved)
    assert beleg.ask("SELECT day::VARCHAR, steps FROM runs") == [("2030-01-08", 1)]
    assert beleg.marts() == beleg.rebuilt()


def test_a_silent_run_becomes_abandoned_without_any_event_and_a_late_finish_corrects_it(beleg: Installation) -> None:
    *begun, finish = run_events("a", NOON)
    assert beleg.take(*begun, as_of=NOON + timedelta(minutes=1)).publication.open_days.keys() == {"2030-01-10"}
    assert beleg.ask("SELECT status FROM runs") == [("running",)]
    flow.publish(beleg.settings, as_of=NOON + timedelta(days=2))
    assert beleg.ask("SELECT status FROM runs") == [("abandoned",)]
    done = beleg.take(finish, as_of=NOON + timedelta(days=3))
    assert beleg.ask("SELECT status FROM runs") == [("succeeded",)]
    assert done.publication.open_days == {}


def test_a_run_that_waits_for_input_is_never_abandoned(beleg: Installation) -> None:
    start, step, _ = run_events("a", NOON)
    beleg.take(start, step, event("run_status", "w", "2030-01-10T12:01:00Z", run_id="a", status="needs_input"))
    assert beleg.ask("SELECT status FROM runs") == [("needs_input",)]


def test_an_outcome_days_later_counts_on_its_own_day_and_can_be_taken_back(beleg: Installation) -> None:
    result = event(
        "outcome", "o1", "2030-02-03T09:00:00Z", workflow="vat_return", kind="filed_return", count=2, outcome_id="o1"
    )
    beleg.take(*run_events("a", NOON, workflow="vat_return"), result)
    results = "SELECT business_day::VARCHAR, results FROM unit_costs WHERE results > 0"
    assert beleg.ask(results) == [("2030-02-03", 2)]
    taken_back = result | {"event_id": "o2", "outcome_id": "o2", "retracts": "o1", "event_time": "2030-02-20T09:00:00Z"}
    taken_back["occurred_at"] = "2030-02-20T09:00:00Z"
    beleg.take(taken_back)
    assert beleg.ask(results) == []
    assert beleg.marts() == beleg.rebuilt()


def test_the_cost_of_child_runs_stands_in_the_subtree_and_a_cycle_ends(beleg: Installation) -> None:
    beleg.take(
        *run_events("top", NOON, parent_run_id="leaf"),
        *run_events("mid", NOON, parent_run_id="top"),
        *run_events("leaf", NOON, parent_run_id="mid"),
        *run_events("alone", NOON),
    )
    own = 1000 * 2_500_000 + 10 * 10_000_000
    costs = dict(beleg.ask("SELECT run_id, subtree_cost_pico_usd FROM runs"))
    assert costs == {"top": 3 * own, "mid": 3 * own, "leaf": 3 * own, "alone": own}


@pytest.mark.parametrize(
    "timezone",
    ["America/St_Johns", *(pytest.param(z, marks=pytest.mark.soak) for z in ("Europe/Berlin", "Pacific/Kiritimati"))],
)
def test_the_days_of_a_range_add_up_to_the_range_in_any_zone(tmp_path: Path, timezone: str) -> None:
    there = Installation(tmp_path, timezone=timezone)
    start = datetime(2030, 3, 29, tzinfo=UTC)
    runs = [run_events(f"r{n}", start + timedelta(hours=n)) for n in range(0, 72, 9)]
    for part in range(3):
        there.take(*[e for events in runs[part::3] for e in events])
    assert there.ask("SELECT sum(cost_pico_usd), sum(runs) FROM unit_costs") == there.ask(
        "SELECT (SELECT sum(cost_pico_usd) FROM step_costs), (SELECT count(*) FROM run_costs)"
    )
    assert there.marts() == there.rebuilt()


def test_another_zone_moves_business_days_of_everything(tmp_path: Path) -> None:
    there = Installation(tmp_path)
    there.take(*run_events("a", datetime(2030, 1, 31, 23, 30, tzinfo=UTC)))
    berlin = Installation(tmp_path / "berlin", timezone="Europe/Berlin").settings
    moved = type(there.settings)(there.settings.home, there.settings.spool, timezone=berlin.timezone)
    flow.publish(moved, as_of=AS_OF)
    assert there.ask("SELECT DISTINCT business_day::VARCHAR, month FROM unit_costs") == [("2030-02-01", "2030-02")]


def test_a_lost_database_file_is_made_again_without_a_new_publication(beleg: Installation) -> None:
    first = beleg.take(*run_events("a", NOON))
    beleg.settings.database.unlink()
    assert flow.publish(beleg.settings, as_of=AS_OF) == first.publication
    assert beleg.ask("SELECT count(*) FROM runs") == [(1,)]


def test_a_moved_home_says_what_to_do_and_is_healed_by_a_run(tmp_path: Path) -> None:
    beleg = Installation(tmp_path)
    beleg.take(*run_events("a", NOON))
    moved = beleg.settings.home.rename(tmp_path / "moved")
    beleg.settings = Settings(moved, moved / "spool")
    with pytest.raises(UsageError, match="`beleg run` points it to its new place"):
        beleg.ask("SELECT 1")
    flow.publish(beleg.settings, as_of=AS_OF)
    assert beleg.ask("SELECT count(*) FROM runs") == [(1,)]


def test_marts_have_the_same_bytes_whatever_the_order_of_the_files(tmp_path: Path) -> None:
    runs = [run_events(f"r{n}", NOON + timedelta(hours=7 * n), tenant=f"t{n % 2}") for n in range(6)]
    one, other = Installation(tmp_path / "one"), Installation(tmp_path / "other")
    one.take(*[e for events in runs for e in events])
    for part in (2, 0, 1):
        other.take(*[events[part] for events in reversed(runs)])
    for mart in ("step_costs", "run_costs", "unit_costs"):
        assert _bytes(one, mart) == _bytes(other, mart)


def _bytes(there: Installation, mart: str) -> dict[str, bytes]:
    now = publication.current(there.settings)
    assert now is not None
    table = Snapshot.published(there.settings, now)
    return {str(f.partition): (table.table(mart).root / f.path).read_bytes() for f in table.files(mart)}


moments = st.integers(0, 60).map(lambda hours: NOON + timedelta(hours=2 * hours, minutes=59, seconds=57))


@st.composite
def histories(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Events of some runs, over midnights, some unfinished, some with children, some revised."""
    events: list[dict[str, Any]] = []
    for n in range(draw(st.integers(1, 4))):
        parent = draw(st.sampled_from([None, "r0"]))
        seconds = draw(st.sampled_from([1.0, 5.0, 100_000.0]))
        made = run_events(f"r{n}", draw(moments), seconds=seconds, finish=draw(st.booleans()), parent_run_id=parent)
        events += draw(st.lists(st.sampled_from(made), min_size=1, max_size=4))
    changed = draw(st.sampled_from(events))
    return [*events, changed | {"event_time": "2030-01-12T23:59:59Z", "revision": "2030-05-01T00:00:00Z"}]


@pytest.mark.deep
@hypothesis_settings(max_examples=examples(3, soak=15), deadline=None)
@given(histories(), st.integers(1, 4), st.integers(0, 10**6))
def test_computing_only_touched_days_gives_what_computing_all_gives(
    tmp_path_factory: pytest.TempPathFactory, events: list[dict[str, Any]], pieces: int, seed: int
) -> None:
    beleg = Installation(tmp_path_factory.mktemp("flow"))
    random.Random(seed).shuffle(events)
    for n in range(pieces):
        beleg.take(*events[n::pieces], as_of=AS_OF)
    assert beleg.marts() == beleg.rebuilt()


def test_the_figures_reconcile(beleg: Installation) -> None:
    for n in range(4):
        beleg.take(*run_events(f"r{n}", NOON + timedelta(hours=9 * n)))
    with catalog.connect(beleg.settings) as con:
        by_day = (
            "SELECT {day} AS day, sum(cost_pico_usd) FROM {table} GROUP BY ALL HAVING sum(cost_pico_usd) > 0 ORDER BY 1"
        )
        steps = con.execute(by_day.format(day="day", table="step_costs")).fetchall()
        marts = con.execute(by_day.format(day="business_day", table="unit_costs")).fetchall()
        runs = con.execute("SELECT sum(cost_pico_usd) FROM run_costs").fetchall()
    assert steps == marts
    assert runs == [(sum(cost for _, cost in steps),)]
