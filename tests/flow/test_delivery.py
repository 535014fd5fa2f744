"""However the same events are delivered, together or piece by piece, the figures are the same."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.events import event
from tests.flow.support import Installation, run_events

NOON = datetime(2030, 1, 10, 12, tzinfo=UTC)
OWN_PICO_USD = 1000 * 2_500_000 + 10 * 10_000_000


def outcome(outcome_id: str, event_id: str, at: str, *, occurred: str | None = None, **fields: Any) -> dict[str, Any]:
    named = {"outcome_id": outcome_id, "workflow": "vat_return", "kind": "filed_return", "occurred_at": occurred or at}
    return event("outcome", event_id, at, **named, **fields)


def step(run: str, step_id: str, at: str, **fields: Any) -> dict[str, Any]:
    usage = {"buckets": {"input_uncached": 1000, "output": 10}, "provider": "openai", "model": "gpt-4o"}
    return event("step", f"{run}-{step_id}", at, run_id=run, step_id=step_id, **usage | fields)


def start(run: str, at: str, **fields: Any) -> dict[str, Any]:
    return event("run_started", fields.pop("event_id", f"{run}-start"), at, run_id=run, **fields)


REPORTED_AGAIN = [
    outcome("R1", "e1", "2030-01-10T10:00:00Z", count=5),
    outcome("R1", "e2", "2030-03-11T10:00:00Z", occurred="2030-03-10T10:00:00Z", count=5),
]
TAKEN_BACK_EARLIER = [
    outcome("R3", "e1", "2030-02-15T10:00:00Z", count=7),
    outcome("R3-back", "e2", "2030-02-20T10:00:00Z", occurred="2030-02-01T10:00:00Z", count=0, retracts="R3"),
    outcome("R4", "e3", "2030-02-15T11:00:00Z", count=1),
]
CHILD_ON_ANOTHER_DAY = [
    start("p", "2030-01-01T23:59:00Z"),
    step("p", "1", "2030-01-01T23:59:01Z"),
    start("c", "2030-01-02T00:00:30Z", parent_run_id="p"),
    step("c", "2", "2030-01-02T00:00:31Z", parent_step_id="1"),
    step("p", "late", "2030-01-01T23:59:02Z", buckets={"input_uncached": 1}),
]
STARTED_TWICE = [
    start("r", "2030-04-08T10:00:00Z"),
    start("r", "2030-04-09T10:00:00Z", event_id="again"),
    event("run_finished", "r-end", "2030-04-09T11:00:00Z", run_id="r"),
]
GRANDCHILD = [
    start("a", "2030-01-01T23:00:00Z"),
    step("a", "1", "2030-01-01T23:00:01Z"),
    start("b", "2030-01-02T23:00:00Z", parent_run_id="a"),
    step("b", "2", "2030-01-02T23:00:01Z", parent_step_id="1", buckets=None, kind="other"),
    start("c", "2030-01-03T23:00:00Z", parent_run_id="b"),
    step("c", "3", "2030-01-03T23:00:01Z", parent_step_id="2"),
]


@pytest.mark.parametrize("backward", [pytest.param(False, marks=pytest.mark.soak), True], ids=["forward", "backward"])
@pytest.mark.parametrize(
    "events",
    [REPORTED_AGAIN, TAKEN_BACK_EARLIER, CHILD_ON_ANOTHER_DAY, STARTED_TWICE, GRANDCHILD],
    ids=["reported-again", "taken-back-earlier", "child-on-another-day", "started-twice", "grandchild"],
)
def test_piece_by_piece_gives_what_all_at_once_gives(
    tmp_path: Path, events: list[dict[str, Any]], backward: bool
) -> None:
    whole, pieces = Installation(tmp_path / "whole"), Installation(tmp_path / "pieces")
    whole.take(*events)
    for single in reversed(events) if backward else events:
        pieces.take(single)
    assert pieces.marts() == whole.marts()


def results(beleg: Installation) -> list[tuple[Any, ...]]:
    return beleg.ask("SELECT business_day::VARCHAR, results FROM unit_costs WHERE results > 0 ORDER BY 1")


def test_an_outcome_reported_again_counts_once_where_it_was_reported_last(tmp_path: Path) -> None:
    beleg = Installation(tmp_path)
    for single in REPORTED_AGAIN:
        beleg.take(single)
    assert results(beleg) == [("2030-03-10", 5)]


def test_an_outcome_taken_back_stays_so_whatever_else_comes_on_its_day(tmp_path: Path) -> None:
    beleg = Installation(tmp_path)
    for single in TAKEN_BACK_EARLIER:
        beleg.take(single)
    assert results(beleg) == [("2030-02-15", 1)]


def test_a_childs_usage_is_not_added_again_to_its_parents_on_another_day(tmp_path: Path) -> None:
    beleg = Installation(tmp_path)
    for single in CHILD_ON_ANOTHER_DAY[:4]:
        beleg.take(single)
    assert beleg.ask("SELECT sum(cost_pico_usd) FROM unit_costs") == [(OWN_PICO_USD,)]


def test_a_run_that_started_twice_is_one_run(tmp_path: Path) -> None:
    beleg = Installation(tmp_path)
    for single in STARTED_TWICE:
        beleg.take(single)
    assert beleg.ask("SELECT day::VARCHAR, status FROM runs") == [("2030-04-08", "succeeded")]


@pytest.mark.parametrize("length", [2, 3])
def test_a_cycle_of_parents_loses_no_cost(tmp_path: Path, length: int) -> None:
    beleg = Installation(tmp_path)
    around = [step("r", str(n), f"2030-01-10T12:00:0{n}Z", parent_step_id=str((n + 1) % length)) for n in range(length)]
    beleg.take(*run_events("r", NOON)[:1], *around)
    assert beleg.ask("SELECT sum(cost_pico_usd) FROM unit_costs") == [(length * OWN_PICO_USD,)]


def test_of_two_reports_of_one_call_the_one_with_tokens_and_a_model_counts(tmp_path: Path) -> None:
    beleg = Installation(tmp_path)
    empty = {"input_uncached": 0, "output": 0, "cache_read": 0, "reasoning": 0}
    beleg.take(
        *run_events("r", NOON)[:1],
        step("r", "x", "2030-01-10T12:00:01Z", call_key="k1"),
        step("r", "y", "2030-01-10T12:00:02Z", call_key="k1", buckets=empty),
        step("r", "z", "2030-01-10T12:00:03Z", call_key="k2"),
        step("r", "w", "2030-01-10T12:00:04Z", call_key="k2", model=None, buckets=empty | {"output": 10}),
    )
    assert beleg.ask("SELECT sum(cost_pico_usd), sum(unpriced_steps) FROM unit_costs") == [(2 * OWN_PICO_USD, 0)]
