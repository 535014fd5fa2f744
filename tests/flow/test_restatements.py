"""What was published, and what restated it since, give what is published now; nothing else is ever restated."""

import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from beleg import flow
from beleg.lake import publication
from beleg.lake.table import LakeTable
from tests.deep import examples
from tests.events import event
from tests.flow.support import AS_OF, Installation, run_events
from tests.flow.test_interrupted import DRIVER, ROOT

NOON = datetime(2030, 1, 10, 12, tzinfo=UTC)
DAY = timedelta(days=1)
DIMENSIONS = 8
"""Columns of a row of unit_costs that are no figures: the day and seven dimensions."""
FIGURES = (
    *("cost_pico_usd", "billed_pico_usd", "steps", "model_steps", "unpriced_steps", "billed_steps", "input_tokens"),
    *("cache_read_tokens", "output_tokens", "runs", "succeeded_runs", "failed_runs", "abandoned_runs", "results"),
)
ROW = "business_day, workflow, purpose, tenant, team, prompt_version, provider, model"
OWN = 1000 * 2_500_000 + 10 * 10_000_000
"""Cost of a step of `run_events`, in pico-USD."""

Cells = Counter[tuple[Any, ...]]


class Books(Installation):
    """An installation with policies of its own, that checks the ledger after each publication."""

    def __init__(self, home: Path, *, timezone: str = "UTC") -> None:
        super().__init__(home, timezone=timezone)
        policies = home / "project" / "contracts" / "policies"
        policies.mkdir(parents=True)
        self.settings = replace(self.settings, project=home / "project")
        self.models, self.workflows = policies / "models.yaml", policies / "workflows.yaml"
        self.price("2.5")
        self.count("documents")

    def price(self, usd: str) -> None:
        self.models.write_text(
            "models:\n  - {provider: openai, model: gpt-4o, valid_from: 2025-01-01, per: million, "
            f"prices: {{input: '{usd}', output: '10'}}}}\n"
        )

    def count(self, kind: str, abandon_after: str = "2h") -> None:
        self.workflows.write_text(
            "workflows:\n"
            f"  ocr: {{unit: thing, per: 1, result: {{run_unit: {kind}}}, abandon_after: {abandon_after}}}\n"
            "  filing: {unit: filed return, per: 1, result: {outcome: filed_return}}\n"
        )

    def figures(self) -> Cells:
        rows = self.ask(f"SELECT {ROW}, {', '.join(FIGURES)} FROM unit_costs")
        named = (
            ((*row[:DIMENSIONS], name), int(v))
            for row in rows
            for name, v in zip(FIGURES, row[DIMENSIONS:], strict=True)
        )
        return Counter(dict(named))

    def restated(self, publication_number: int) -> list[tuple[Any, ...]]:
        return self.ask(
            f"SELECT {ROW}, figure, cause_order, old_value, new_value, delta, reason FROM restatements "
            f"WHERE to_publication = {publication_number} ORDER BY ALL"
        )

    def publish(self, *events: dict[str, Any], as_of: datetime = AS_OF) -> set[str]:
        """Take events and publish; check the ledger against both publications; its reasons."""
        before, old = (
            publication.current(self.settings),
            self.figures() if self.settings.database.exists() else Counter(),
        )
        now = self.take(*events, as_of=as_of).publication
        if before is None or now.number == before.number:
            return set()
        rows = self.restated(now.number)
        check(before, old, self.figures(), rows)
        return {str(row[-1]) for row in rows}

    def reasons(self, figure: str) -> dict[str, int]:
        """Reason → delta of a figure, over everything."""
        rows = self.ask(f"SELECT reason, sum(delta) FROM restatements WHERE figure = '{figure}' GROUP BY reason")
        return {reason: int(delta) for reason, delta in rows}


def complete_days(before: publication.Publication, old: Cells) -> set[date]:
    """The rule of the contract, said once more: ended by as_of, between the first and last day with figures."""
    days: set[date] = {cell[0] for cell in old}
    ended = datetime.fromisoformat(before.as_of).astimezone(ZoneInfo(before.inputs["timezone"])).date()
    return {min(days) + n * DAY for n in range((max(days) - min(days)).days + 1) if min(days) + n * DAY < ended}


def check(before: publication.Publication, old: Cells, new: Cells, rows: list[tuple[Any, ...]]) -> None:
    complete = complete_days(before, old)
    assert {row[0] for row in rows} <= complete
    restated = Counter(old)
    for row in rows:
        cell, (_, old_value, new_value, delta, _reason) = row[: DIMENSIONS + 1], row[DIMENSIONS + 1 :]
        assert restated[cell] == old_value
        assert new_value - old_value == delta != 0
        restated[cell] += int(delta)
    for cell in {*old, *new}:
        if cell[0] in complete:
            assert restated[cell] == new[cell], cell


def open_run(run: str, start: datetime, **fields: Any) -> list[dict[str, Any]]:
    return run_events(run, start, finish=False, **fields)


def revised(one: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return one | {"revision": "2031-01-01T00:00:00Z"} | fields


@pytest.fixture
def books(tmp_path: Path) -> Books:
    return Books(tmp_path)


def test_a_late_run_restates_its_day(books: Books) -> None:
    books.publish(*run_events("a", NOON), *run_events("b", NOON + DAY))
    assert books.publish(*run_events("late", NOON)) == {"late_event"}
    assert books.reasons("cost_pico_usd") == {"late_event": OWN}
    assert books.reasons("runs") == {"late_event": 1}


def test_a_new_day_restates_nothing_nor_does_history_before_the_first(books: Books) -> None:
    books.publish(*run_events("a", NOON))
    assert books.publish(*run_events("next", NOON + DAY)) == set()
    assert books.publish(*run_events("history", NOON - 40 * DAY)) == set()
    assert books.publish(*run_events("gap", NOON - 20 * DAY)) == {"late_event"}


def test_a_running_day_only_grows(books: Books) -> None:
    books.publish(*run_events("a", NOON), as_of=NOON + DAY / 4)
    assert books.publish(*run_events("b", NOON), as_of=NOON + DAY / 3) == set()
    assert books.publish(*run_events("c", NOON), as_of=NOON + DAY) == set()
    assert books.publish(*run_events("d", NOON), as_of=NOON + DAY) == {"late_event"}


def test_the_same_events_again_restate_nothing(books: Books) -> None:
    books.publish(*run_events("a", NOON), *run_events("b", NOON + DAY))
    assert books.publish(*run_events("a", NOON), *run_events("c", NOON + 2 * DAY)) == set()


def test_a_revised_step_is_a_correction_also_where_it_moves_to_another_day(books: Books) -> None:
    start, step, finish = run_events("a", NOON)
    books.publish(start, step, finish, *run_events("b", NOON + 3 * DAY))
    assert books.publish(revised(step, buckets={"input_uncached": 3000, "output": 10})) == {"correction"}
    assert books.reasons("input_tokens") == {"correction": 2000}
    moved = revised(step, event_time="2030-01-12T12:00:00Z", revision="2032-01-01T00:00:00Z")
    assert books.publish(moved) == {"correction"}
    assert books.reasons("steps") == {"correction": 0}


def test_a_revised_start_moves_the_run_and_its_steps(books: Books) -> None:
    start, *rest = run_events("a", NOON, tenant="wrong")
    books.publish(start, *rest, *run_events("b", NOON + DAY))
    assert books.publish(revised(start, tenant="right")) == {"correction"}
    assert books.ask(
        "SELECT tenant, sum(delta) FROM restatements WHERE figure = 'cost_pico_usd' GROUP BY 1 ORDER BY 1"
    ) == [
        ("right", OWN),
        ("wrong", -OWN),
    ]


def test_a_late_start_takes_its_steps_from_no_workflow(books: Books) -> None:
    start, step, finish = run_events("a", NOON)
    books.publish(step, finish, *run_events("b", NOON + DAY))
    assert books.publish(start) == {"late_event"}
    assert books.reasons("cost_pico_usd") == {"late_event": 0}


def test_a_second_report_of_a_call_is_a_duplicate(books: Books) -> None:
    start, step, finish = run_events("a", NOON)
    books.publish(start, step | {"call_key": "k"}, finish, *run_events("b", NOON + DAY))
    again = event("step", "another", "2030-01-10T12:00:02Z", source="A", run_id="a", call_key="k")
    usage = {"provider": "openai", "model": "gpt-4o"}
    same = {"buckets": {"input_uncached": 1000, "output": 10, "cache_read": 0}}
    assert books.publish(again | usage | same) == set()
    # Of the two reports the one with more buckets counts: nothing changed in sum, so nothing was restated.
    smaller = {"buckets": {"input_uncached": 800, "output": 10, "cache_read": 100, "reasoning": 0}}
    third = event("step", "third", "2030-01-10T12:00:03Z", source="0", run_id="a", call_key="k")
    assert books.publish(third | usage | smaller) == {"duplicate", "late_event"}
    assert books.reasons("input_tokens") == {"duplicate": -1000, "late_event": 900}
    assert books.reasons("steps") == {}


def test_another_price_restates_what_it_priced(books: Books) -> None:
    books.publish(*run_events("a", NOON), *run_events("b", NOON + DAY))
    books.price("5")
    assert books.publish() == {"price"}
    assert books.reasons("cost_pico_usd") == {"price": 2 * 1000 * 2_500_000}


def test_price_correction_and_late_event_at_once_come_apart_exactly(books: Books) -> None:
    start, step, finish = run_events("a", NOON)
    books.publish(start, step, finish, *run_events("b", NOON + DAY))
    books.price("5")
    more = revised(step, buckets={"input_uncached": 3000, "output": 10})
    assert books.publish(more, *run_events("late", NOON)) == {"price", "correction", "late_event"}
    # Prices first, for the events as they were; then the events at the prices of now.
    assert books.reasons("cost_pico_usd") == {
        "price": 2 * 1000 * 2_500_000,
        "correction": 2000 * 5_000_000,
        "late_event": 1000 * 5_000_000 + 10 * 10_000_000,
    }


def test_a_model_that_gets_its_price_is_no_longer_unpriced(books: Books) -> None:
    unknown = [e | ({"model": "own"} if e["event"] == "step" else {}) for e in run_events("a", NOON)]
    books.publish(*unknown, *run_events("b", NOON + DAY))
    text = books.models.read_text()
    books.models.write_text(text + text.splitlines()[1].replace("gpt-4o", "own") + "\n")
    assert books.publish() == {"price"}
    assert books.reasons("unpriced_steps") == {"price": -1}


def test_another_result_of_the_workflow_is_policy(books: Books) -> None:
    books.publish(*run_events("a", NOON, units={"documents": 2, "pages": 7}), *run_events("b", NOON + DAY))
    books.count("pages")
    assert books.publish() == {"policy"}
    assert books.reasons("results") == {"policy": 7 - 2 - 1}


def test_another_zone_is_policy(tmp_path: Path) -> None:
    books = Books(tmp_path)
    late = datetime(2030, 1, 10, 23, 30, tzinfo=UTC)
    books.publish(*run_events("a", late), *run_events("b", NOON + DAY), *run_events("c", NOON + 3 * DAY))
    books.settings = replace(books.settings, timezone="Europe/Berlin")
    assert books.publish() == {"policy"}
    assert books.reasons("cost_pico_usd") == {"policy": 0}


def test_outcomes_reported_and_taken_back_are_results(books: Books) -> None:
    filed = {"workflow": "filing", "kind": "filed_return"}
    books.publish(*run_events("a", NOON, workflow="filing"), *run_events("b", NOON + DAY))
    assert books.publish(event("outcome", "o1", "2030-01-10T15:00:00Z", count=3, **filed)) == {"result"}
    back = event("outcome", "o2", "2030-01-11T15:00:00Z", count=0, retracts="o1", **filed)
    assert books.publish(back) == {"result"}
    assert books.reasons("results") == {"result": 0}


def test_silence_and_a_late_finish_after_it(books: Books) -> None:
    night = datetime(2030, 1, 10, 23, 30, tzinfo=UTC)
    start, step, finish = run_events("a", night)
    books.publish(start, step, as_of=night + timedelta(hours=1))
    assert books.publish(as_of=night + timedelta(hours=3)) == {"abandoned"}
    assert books.publish(finish, as_of=night + timedelta(hours=4)) == {"late_event"}
    assert books.reasons("abandoned_runs") == {"abandoned": 1, "late_event": -1}


def test_another_abandon_after_is_policy(books: Books) -> None:
    books.publish(*open_run("a", NOON), *run_events("b", NOON + DAY), as_of=NOON + DAY)
    books.count("documents", abandon_after="90d")
    assert books.publish(as_of=NOON + DAY) == {"policy"}


def test_a_publication_that_was_lost_restates_nothing_and_the_ledger_stays(books: Books) -> None:
    books.publish(*run_events("a", NOON), *run_events("b", NOON + DAY))
    books.publish(*run_events("late", NOON))
    rows = books.ask("SELECT * FROM restatements ORDER BY ALL")
    books.rebuilt()
    assert books.ask("SELECT * FROM restatements ORDER BY ALL") == rows != []


def test_a_month_with_many_restatements_becomes_one_file(books: Books, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("beleg.cost.restatements.FILES_PER_MONTH", 2)
    books.publish(*run_events("a", NOON), *run_events("b", NOON + DAY))
    for n in range(4):
        books.publish(*run_events(f"late{n}", NOON))
    assert books.reasons("runs") == {"late_event": 4}
    assert len(LakeTable(books.settings, "restatements").files()) <= 2


RUNS = [f"r{n}" for n in range(4)]
STARTS = {run: NOON + n * DAY / 2 - timedelta(minutes=n) for n, run in enumerate(RUNS)}


@st.composite
def deliveries(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Some events of some runs, perhaps revised, perhaps on another day, perhaps reported by two sources."""
    found = []
    for run in draw(st.lists(st.sampled_from(RUNS), max_size=3, unique=True)):
        pieces = run_events(
            run, STARTS[run], tenant=draw(st.sampled_from(["x", "y"])), tokens=draw(st.integers(1, 9)) * 100
        )
        for one in draw(st.lists(st.sampled_from(pieces), max_size=3)):
            year = draw(st.integers(2031, 2039))
            changed = one | {"revision": f"{year}-01-01T00:00:00Z"}
            if one["event"] == "step":
                changed |= {
                    "call_key": draw(st.sampled_from([None, "k"])),
                    "source": draw(st.sampled_from(["test", "too"])),
                }
            if draw(st.booleans()):
                moved = datetime.fromisoformat(str(one["event_time"])) + draw(st.integers(-2, 2)) * DAY
                changed |= {"event_time": moved.isoformat().replace("+00:00", "Z")}
            found.append(changed)
    for n in draw(st.lists(st.integers(0, 2), max_size=2, unique=True)):
        at = f"2030-01-1{n}T08:00:00Z"
        taken = {"retracts": f"o{n}", "count": 0} if draw(st.booleans()) else {"count": draw(st.integers(1, 5))}
        name = f"o{n}{'-back' if 'retracts' in taken else ''}"
        filed = {"workflow": "filing", "kind": "filed_return", "occurred_at": at, "outcome_id": name}
        found.append(
            event("outcome", name, at, revision=f"{draw(st.integers(2031, 2039))}-01-01T00:00:00Z", **filed, **taken)
        )
    return found


changes = st.one_of(
    st.tuples(st.just("price"), st.sampled_from(["1", "2.5", "7"])),
    st.tuples(st.just("count"), st.sampled_from(["documents", "pages"])),
    st.tuples(st.just("zone"), st.sampled_from(["UTC", "Pacific/Auckland", "America/New_York"])),
)
steps = st.tuples(deliveries(), st.lists(changes, max_size=1), st.integers(0, 6))


@pytest.mark.deep
@given(st.lists(steps, min_size=2, max_size=5))
@hypothesis_settings(max_examples=examples(2, soak=10), suppress_health_check=list(HealthCheck))
def test_whatever_comes_in_whatever_order_old_figures_and_restatements_give_the_new(
    tmp_path_factory: pytest.TempPathFactory, sequence: list[tuple[list[dict[str, Any]], list[tuple[str, str]], int]]
) -> None:
    books = Books(tmp_path_factory.mktemp("books"))
    books.publish(*[e for run in RUNS[::2] for e in run_events(run, STARTS[run])])
    for events, rules, days in sequence:
        for name, value in rules:
            if name == "zone":
                books.settings = replace(books.settings, timezone=value)
            else:
                getattr(books, name)(value)
        reasons = books.publish(*events, as_of=NOON + days * DAY)
        changed = {name for name, _ in rules}
        assert "price" not in reasons or "price" in changed
        assert "policy" not in reasons or changed & {"count", "zone"}


PLACES = (
    pytest.param("beleg.cost.moves:collect", "before", marks=pytest.mark.soak),
    pytest.param("beleg.cost.restatements:_store", "before", marks=pytest.mark.soak),
    pytest.param("beleg.cost.restatements:_store", "after", marks=pytest.mark.soak),
    ("beleg.lake.publication:publish", "before"),
    pytest.param("beleg.lake.publication:publish", "after", marks=pytest.mark.soak),
)


def pieces() -> Iterator[list[dict[str, Any]]]:
    yield [*run_events("a", NOON), *run_events("b", NOON + DAY)]
    yield run_events("late", NOON)
    yield run_events("later", NOON)


@pytest.mark.parametrize(("step", "when"), PLACES)
def test_a_writer_killed_around_the_ledger_leaves_nothing_doubled_and_nothing_lost(
    tmp_path: Path, step: str, when: str
) -> None:
    books, whole = Installation(tmp_path / "killed"), Installation(tmp_path / "whole")
    first, second, third = pieces()
    for one in (first, second, third):
        whole.take(*one)
    books.take(*first)
    books.take(*second)
    known = ledger(books)
    file = books.write(*third)
    command = [sys.executable, "-c", DRIVER, str(books.settings.home), str(file), step, when, "1", AS_OF.isoformat()]
    assert subprocess.run(command, cwd=ROOT, check=False, capture_output=True).returncode == -signal.SIGKILL
    assert ledger(books) == known
    flow.run(books.settings, [file], as_of=AS_OF)
    assert ledger(books) == ledger(whole)


def ledger(beleg: Installation) -> list[tuple[Any, ...]]:
    return beleg.ask("SELECT * EXCLUDE (restated_at) FROM restatements ORDER BY ALL")
