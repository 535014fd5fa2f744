"""Runs of an evaluation, against a provider over HTTP."""

import shutil
import signal
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import FrameType
from typing import Any

import pytest

from beleg.contract.model import Criterion, Evals, Provider
from beleg.core.errors import UsageError
from beleg.core.lock import Busy
from beleg.evals import results
from beleg.evals.cases import files
from beleg.evals.cases.case import Expectation
from beleg.evals.scoring.journal import Journal
from beleg.evals.scoring.order import Order, Report
from beleg.evals.scoring.run import run
from beleg.lake import catalog
from tests.contract.client.released import FEATURE, tool
from tests.contract.run.double import Act, answers, calls, fails, refuses, says
from tests.evals.scoring.house import CRITERIA, DATASET, House, case
from tests.evals.scoring.model import Model, right

SCORERS = {"number:total", "schema_valid", "cost_usd", "latency_ms", "input_tokens", "output_tokens"}


def go(house: House, **values: Any) -> Report:
    return run(house.settings, house.registry, Order(FEATURE, **values))


def ready(house: House, cases: int = 3, **draft: Any) -> None:
    """Cases and a draft; nothing is published."""
    house.freeze(case(n) for n in range(cases))
    house.draft(**draft)


def test_both_versions_answer_every_case_and_all_scorers_of_both_judge(house: House, model: Model) -> None:
    dataset = house.freeze(case(n) for n in range(4))
    old = Evals(DATASET, (Criterion("total", "exact_match:total", "binary", 0.9),))
    released, drafted = house.publish(evals=old), house.draft()
    report = go(house)
    assert (report.state, report.planned, report.answered, report.left) == ("complete", 8, 8, 0)
    assert sorted(model.asked) == sorted([0, 1, 2, 3] * 2)
    sent = house.sent()
    assert {each.digest: each.side for each in sent} == {released.digest: "baseline", drafted.digest: "candidate"}
    assert {(each.digest, each.scorer) for each in sent} == {
        (digest, scorer) for digest in (released.digest, drafted.digest) for scorer in {*SCORERS, "exact_match:total"}
    }
    assert {each.status for each in sent} == {"scored"}
    assert {each.dataset_digest for each in sent} == {dataset.digest}
    assert {each.score for each in sent if each.scorer == "number:total"} == {1.0}
    assert {each.score for each in sent if each.scorer == "input_tokens"} == {11.0}


def test_runs_are_eval_runs_and_their_money_is_the_lake_s(house: House) -> None:
    ready(house)
    drafted = house.draft()
    report = go(house)
    assert {each["purpose"] for each in house.events("run_started")} == {"eval"}
    assert {each["contract_digest"] for each in house.events("run_started")} == {drafted.digest}
    assert {each["prompt_version"] for each in house.events("run_started")} == {f"draft-{drafted.digest[:12]}"}
    house.ingest()
    with catalog.connect(house.settings) as con:
        costs = dict(con.execute("SELECT run_id, cost_pico_usd FROM run_costs").fetchall())
        lines = con.execute("SELECT purpose, sum(cost_pico_usd) FROM unit_costs GROUP BY purpose").fetchall()
    assert lines == [("eval", report.cost_pico_usd)]
    found = results.read(house.settings, FEATURE, [drafted.digest], report.dataset.digest)
    assert len(found) == 3 * len(SCORERS)
    assert sorted(found, key=lambda each: each.event_id) == sorted(house.sent(), key=lambda each: each.event_id)
    measured = {each.run_id: each.score for each in found if each.scorer == "cost_usd"}
    assert measured == {run_id: int(cost) / 10**12 for run_id, cost in costs.items()}
    assert report.cost_pico_usd == sum(map(int, costs.values())) > 0


def test_what_is_answered_is_not_asked_again(house: House, model: Model) -> None:
    ready(house)
    go(house)
    before = house.sent()
    report = go(house)
    assert (report.before, report.answered, len(model.asked)) == (3, 0, 3)
    house.ingest()
    (house.settings.home / "evals").rename(house.root / "lost journal")
    assert go(house).before == 3
    assert len(model.asked) == 3
    assert house.sent() == before


def test_results_that_the_lake_lacks_are_sent_again(
    house: House, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    ready(house)
    drafted = house.draft()
    report = go(house)
    before = house.sent()
    home = house.root / "made anew"
    shutil.copytree(house.settings.home / "evals", home / "evals")
    monkeypatch.setenv("BELEG_SPOOL", str(home / "spool"))
    house.settings = replace(house.settings, home=home, spool=home / "spool")
    assert go(house).answered == 0
    assert house.sent() == before
    house.ingest()
    assert len(results.read(house.settings, FEATURE, [drafted.digest], report.dataset.digest)) == len(before)
    lines = len(house.events("eval_result"))
    go(house)
    assert len(house.events("eval_result")) == lines
    assert len(model.asked) == 3


def test_more_repetitions_and_cases_ask_only_what_is_new(house: House, model: Model) -> None:
    ready(house)
    go(house, cases=(case(1).case_id,))
    assert model.asked == [1]
    go(house)
    report = go(house, repetitions=2)
    assert (report.planned, report.before, report.answered) == (6, 3, 3)
    assert Counter((each.case_id, each.repetition) for each in house.sent() if each.scorer == "number:total") == {
        (case(n).case_id, repetition): 1 for n in range(3) for repetition in (1, 2)
    }


def test_grown_dataset_asks_only_what_is_new_or_changed(house: House, model: Model) -> None:
    first = house.freeze(case(n) for n in range(3))
    drafted = house.draft()
    model.choose = lambda body, number: refuses() if number == 2 else right(body, number)
    go(house)
    changed = replace(case(1), expected={"/total": Expectation(7)})
    for each in (changed, case(3)):
        files.write_case(house.project, each)
    first.next({**first.members, changed.case_id: changed.digest, case(3).case_id: case(3).digest}, {}).write()
    report = go(house)
    assert (report.dataset.version, report.before, report.answered) == (2, 2, 2)
    assert sorted(model.asked) == [0, 1, 1, 2, 3]
    house.ingest()
    found = results.read(house.settings, FEATURE, [drafted.digest], report.dataset.digest)
    scores = {each.case_id: each.score for each in found if each.scorer == "number:total"}
    assert scores == {case(0).case_id: 1.0, case(1).case_id: 0.0, case(2).case_id: None, case(3).case_id: 1.0}
    before = results.read(house.settings, FEATURE, [drafted.digest], first.digest)
    unchanged = [each for each in before if each.case_id != changed.case_id]
    made = {(each.case_id, each.scorer): (each.event_time, each.run_id) for each in found}
    assert all(made[each.case_id, each.scorer] == (each.event_time, each.run_id) for each in unchanged)


def test_a_case_that_comes_after_all_were_asked_again_joins_that_round(house: House, model: Model) -> None:
    first = house.freeze(case(n) for n in range(2))
    drafted = house.draft()
    go(house)
    go(house, again=True)
    files.write_case(house.project, case(2))
    first.next({**first.members, case(2).case_id: case(2).digest}, {}).write()
    report = go(house)
    house.ingest()
    found = results.read(house.settings, FEATURE, [drafted.digest], report.dataset.digest)
    assert len(found) > 3
    assert {each.attempt for each in found} == {2}


def test_asking_again_is_another_attempt_that_takes_the_place_of_the_first(house: House, model: Model) -> None:
    ready(house, 1)
    drafted = house.draft()
    model.choose = lambda *_: answers({"total": 1, "currency": "EUR"})
    go(house)
    model.choose = right
    report = go(house, again=True)
    house.ingest()
    found = results.read(house.settings, FEATURE, [drafted.digest], report.dataset.digest)
    assert {(each.attempt, each.score) for each in found if each.scorer == "number:total"} == {(2, 1.0)}


def test_new_scorer_of_the_draft_asks_the_baseline_again_since_answers_are_not_kept(house: House, model: Model) -> None:
    house.freeze([case(0)])
    released = house.publish()
    go(house, candidate="1.0.0")
    house.draft(evals=Evals(DATASET, (*CRITERIA, Criterion("exact", "exact_match:total", "binary", 0.9))))
    report = go(house)
    assert report.before == 0
    assert len(model.asked) == 3
    assert {each.attempt for each in house.sent()} == {1}
    assert {each.scorer for each in house.sent() if each.digest == released.digest} == {*SCORERS, "exact_match:total"}


def test_versions_take_turns_at_being_first(house: House, model: Model) -> None:
    house.freeze(case(n) for n in range(4))
    house.suite(workers=1)
    house.publish()
    house.draft()
    go(house)
    order = [each["contract_version"].partition("-")[0] for each in house.events("run_started")]
    assert order[0::2] == ["draft", "1.0.0", "draft", "1.0.0"] or order[0::2] == ["1.0.0", "draft", "1.0.0", "draft"]
    assert model.asked[0::2] == model.asked[1::2]


def test_workers_ask_at_the_same_time(house: House, model: Model) -> None:
    ready(house, 8)
    together = threading.Barrier(4, timeout=60)

    def meet(body: dict[str, Any], number: int) -> Act:
        together.wait()
        return right(body, number)

    model.choose = meet
    assert go(house, workers=4).answered == 8
    assert model.most_at_once == 4
    by_run = Counter(each.run_id for each in house.sent())
    assert set(by_run.values()) == {len(SCORERS)}


# -- inputs -------------------------------------------------------------------------------------------


def test_changed_input_is_stale_by_name_and_nothing_is_called(house: House, model: Model) -> None:
    ready(house)
    house.suite(resolver="receipts:changed")
    report = go(house)
    assert report.stale == [case(1).case_id]
    assert (report.state, report.answered, report.left) == ("complete", 2, 1)
    assert sorted(model.asked) == [0, 2]
    stale = [each for each in house.sent() if each.case_id == case(1).case_id]
    assert {(each.status, each.score, each.run_id) for each in stale} == {("stale", None, None)}
    assert {each.scorer for each in stale} == SCORERS
    written = len(house.sent())
    assert go(house).stale == [case(1).case_id]
    assert len(house.sent()) == written
    house.suite()
    assert go(house).answered == 1
    assert sorted(model.asked) == [0, 1, 2]


def test_keyed_fingerprint_is_checked_under_the_key_of_the_case(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    ring = (
        '{"active": "k2", "keys": {"k1": "00112233445566778899aabbccddeeff", "k2": "ffeeddccbbaa99887766554433221100"}}'
    )
    monkeypatch.setenv("BELEG_HASH_KEYS", ring)
    house.freeze([case(0, key="k1"), case(1, key="gone")])
    house.draft()
    report = go(house)
    assert report.answered == 1
    assert [each.reason for each in report.unusable.values()] == ["unknown_hash_key"]


def test_hostile_resolver_fails_its_cases_by_class_and_tells_nothing(house: House, model: Model) -> None:
    ready(house, 5)
    house.suite(resolver="receipts:hostile")
    report = go(house)
    assert {case_id: each.reason for case_id, each in report.unusable.items()} == {
        case(0).case_id: "LookupError",
        case(1).case_id: "SystemExit",
        case(2).case_id: "no_mapping_of_variables",
        case(3).case_id: "no_fingerprint",
    }
    assert model.asked == [4]
    assert b"PLANTED" not in house.written()
    failed = [each for each in house.sent() if each.status == "failed"]
    assert len(failed) == 4 * len(SCORERS)


def test_resolver_may_be_a_coroutine_function(house: House) -> None:
    ready(house)
    house.suite(resolver="receipts:fetch_later")
    assert go(house).answered == 3


# -- answers ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("act", "reason"),
    [
        (answers({"total": "PLANTED much"}), "beleg.contract.client.errors.InvalidAnswer"),
        (says("PLANTED no JSON"), "beleg.contract.client.errors.InvalidAnswer"),
        (refuses(), "beleg.contract.client.errors.Refused"),
        (fails(400), "beleg.contract.client.errors.NoProvider"),
        (fails(500), "beleg.contract.client.errors.NoProvider"),
    ],
)
def test_answer_that_is_none_fails_for_every_scorer(house: House, model: Model, act: Act, reason: str) -> None:
    ready(house)
    model.choose = lambda body, number: act if number == 1 else right(body, number)
    report = go(house)
    assert report.failed == {reason: 1}
    broken = [each for each in house.sent() if each.case_id == case(1).case_id]
    assert {(each.scorer, each.status, each.score) for each in broken} == {(each, "failed", None) for each in SCORERS}
    assert {each.run_id for each in broken} <= {each["run_id"] for each in house.events("run_finished")}
    assert b"PLANTED" not in house.written()
    assert go(house).answered == 0


def test_repaired_answer_counts_and_its_cost_is_that_of_both_requests(house: House, model: Model) -> None:
    ready(house, 1, providers={"repair_attempts": 1})
    model.choose = lambda body, number: right(body, number) if len(body["messages"]) > 2 else says("no JSON")
    assert go(house).failed == {}
    assert {each.score for each in house.sent() if each.scorer == "input_tokens"} == {22.0}


@pytest.mark.parametrize("status", [401, 403])
def test_refused_key_stops_the_run_and_says_nothing_about_the_version(house: House, model: Model, status: int) -> None:
    ready(house)
    model.choose = lambda *_: fails(status)
    with pytest.raises(UsageError, match="refuses the key"):
        go(house)
    assert house.sent() == []


def test_missing_key_stops_the_run(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    ready(house, providers={"primary": Provider("openai", "gpt-5-mini", "chat", api_key_env="NOT_SET_KEY")})
    with pytest.raises(UsageError, match="NOT_SET_KEY"):
        go(house)
    assert house.sent() == []


def test_tools_of_the_suite_are_handed_over_as_far_as_the_contract_knows_them(house: House, model: Model) -> None:
    ready(house, 1, tools=(tool(),))
    house.suite(tools="receipts:tools")
    wanted = calls(("lookup_vendor", {"vat_id": "DE129273398"}))
    model.choose = lambda body, number: right(body, number) if len(body["messages"]) > 2 else wanted
    assert go(house).failed == {}
    assert [each["function"]["name"] for each in model.bodies[0]["tools"]] == ["lookup_vendor"]
    assert {each.score for each in house.sent() if each.scorer == "number:total"} == {1.0}


def test_hashed_expectation_is_scored_by_equality_and_nothing_but_hashes_is_written(house: House, model: Model) -> None:
    exact = Evals(DATASET, (Criterion("note", "exact_match:note", "binary", 0.9),))
    right_note = case(0, note="PLANTED right")
    house.freeze([right_note, case(1, note="PLANTED right")])
    house.draft(evals=exact)
    model.choose = lambda _, number: answers(
        {"total": 1, "currency": "EUR", "note": f"PLANTED {'wrong' * number or 'right'}"}
    )
    go(house)
    judged = {each.case_id: each for each in house.sent() if each.scorer == "exact_match:note"}
    assert {case_id: each.score for case_id, each in judged.items()} == {
        right_note.case_id: 1.0,
        case(1, note="PLANTED right").case_id: 0.0,
    }
    same = judged[right_note.case_id]
    assert same.expected_hash == same.actual_hash is not None
    assert b"PLANTED" not in house.written()


def test_answers_are_kept_only_where_the_workflow_stores_values(house: House) -> None:
    policies = house.project / "contracts" / "policies"
    policies.mkdir()
    (policies / "workflows.yaml").write_text(
        "workflows: {ocr: {unit: document, result: {run_unit: documents}, values: stored}}"
    )
    ready(house, 2)
    report = go(house)
    journal = Journal(house.settings, FEATURE, report.dataset.digest)
    assert {key.case_id: value["total"] for key, value in journal.answers().items()} == {
        case(0).case_id: 100,
        case(1).case_id: 101,
    }


# -- limits -------------------------------------------------------------------------------------------


def test_budget_stops_before_it_is_passed_and_the_next_run_goes_on(house: House, model: Model) -> None:
    ready(house, 10)
    one = go(house, cases=(case(0).case_id,)).cost_pico_usd
    report = go(house, max_cost_pico_usd=3 * one, workers=4)
    assert (report.state, report.answered, report.left) == ("budget", 3, 6)
    assert report.cost_pico_usd == 3 * one
    assert go(house).state == "complete"
    assert sorted(model.asked) == list(range(10))


def test_budget_that_cannot_be_kept_stops_the_run(house: House, model: Model) -> None:
    def unpriced(body: dict[str, Any], number: int) -> Act:
        return right(body, number)

    model.choose = unpriced
    primary = Provider("openai", "nobody-knows-this", "chat", base_url=house.model.base_url)
    ready(house, 3, providers={"primary": primary})
    model.named = "nobody-knows-this"
    report = go(house, max_cost_pico_usd=10**12, workers=1)
    assert (report.state, report.answered, report.unpriced) == ("unpriced", 1, 1)
    assert {each.status for each in house.sent() if each.scorer == "cost_usd"} == {"missing"}
    assert go(house).state == "complete"


def test_suite_and_order_are_checked_before_anything_is_called(house: House, model: Model) -> None:
    ready(house)
    for order, words in (
        ({"candidate": "9.9.9"}, "never published"),
        ({"cases": ("0" * 24,)}, "no case of"),
        ({"workers": 0}, "--workers"),
        ({"workers": 1000}, "--workers"),
        ({"repetitions": 10_001}, "--repeat"),
    ):
        with pytest.raises(UsageError, match=words):
            go(house, **order)
    for suite, words in (
        ({"resolver": "receipts:nothing"}, "no function"),
        ({"resolver": "nowhere_at_all:f"}, "cannot be imported"),
        ({"resolver": "../evil:f"}, "names no function"),
        ({"workers": "many"}, "whole number"),
        ({"unknown": 1}, "unknown key"),
    ):
        house.suite(**suite)
        with pytest.raises(UsageError, match=words):
            go(house)
    assert model.asked == []


def test_evaluation_without_traces_is_refused(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    ready(house)
    monkeypatch.setenv("BELEG_DISABLED", "1")
    with pytest.raises(UsageError, match="tracing is off"):
        go(house)


def test_second_run_of_the_same_cases_is_refused_while_the_first_goes_on(house: House, model: Model) -> None:
    ready(house)
    refused: list[Busy] = []

    def meanwhile(body: dict[str, Any], number: int) -> Act:
        if not refused:
            try:
                go(house)
            except Busy as error:
                refused.append(error)
        return right(body, number)

    model.choose = meanwhile
    house.suite(workers=1)
    assert go(house).answered == 3
    assert len(refused) == 1
    assert len(model.asked) == 3


@contextmanager
def interrupts() -> Iterator[threading.Event]:
    """Ctrl-C as Python handles it; the event is set once it came through."""
    handled = threading.Event()

    def handle(_number: int, _frame: FrameType | None) -> None:
        handled.set()
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, handle)
    try:
        yield handled
    finally:
        signal.signal(signal.SIGINT, before)


def test_ctrl_c_keeps_what_is_under_way_and_the_next_run_goes_on(house: House, model: Model) -> None:
    ready(house, 20)
    house.suite(workers=1)
    with interrupts() as handled:

        def press(body: dict[str, Any], number: int) -> Act:
            if len(model.asked) == 2:
                signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
                handled.wait(30)
            return right(body, number)

        model.choose = press
        report = go(house)
    assert report.state == "interrupted"
    assert 2 <= report.answered < 20
    assert len(house.sent()) == report.answered * len(SCORERS)
    model.choose = right
    assert go(house).state == "complete"
    assert sorted(model.asked) == list(range(20))
