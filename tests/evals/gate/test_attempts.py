"""Attempts are counted over editions of the cases, looks are declared or void, and the ledger survives."""

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from beleg.contract.model import Tier
from beleg.core.errors import DamagedError
from beleg.core.settings import Settings
from beleg.evals.gate.attempts import FILE, Attempt, Standing, ledger, standing
from beleg.evals.gate.judge import Report, judge
from beleg.evals.gate.policy import Looks
from tests.evals.gate.support import (
    BASELINE,
    CANDIDATE,
    DATASET_DIGEST,
    EXACT,
    FEATURE,
    cases,
    codes,
    plan,
    results,
    rules,
)

RULES = rules(EXACT)


def attempt(number: int = 0, *, of: int = 100, first: int = 0, **over: object) -> Attempt:
    """The attempt of a candidate; number 0 is the one that is judged now."""
    values = {
        "feature": FEATURE,
        "candidate_digest": f"{number:064x}" if number else CANDIDATE,
        "baseline_digest": BASELINE,
        "policy_digest": RULES.digest,
        "dataset_digest": DATASET_DIGEST,
        "repetitions": 1,
        "answers": 1,
        "case_ids": tuple(each.case_id for each in cases(first + of)[first:]),
        "verdict": "inconclusive",
        "void": False,
        "at": "2030-03-01T12:00:00Z",
    }
    return Attempt(**values | over)  # type: ignore[arg-type]


def stands(*earlier: Attempt, of: int = 100) -> Standing:
    return standing(earlier, plan(EXACT, cases=cases(of)), RULES)


def test_every_candidate_before_counts_once() -> None:
    assert stands() == Standing(1, 1, looked_in_vain=False)
    assert stands(attempt(1), attempt(2), attempt(1), attempt(2)).attempt == 3


def test_the_same_candidate_keeps_its_number_whatever_comes_after() -> None:
    assert stands(attempt(1), attempt(0), attempt(2), attempt(0)).attempt == 2


def test_an_edition_of_the_dataset_resets_nothing_while_half_of_the_cases_stay() -> None:
    assert stands(attempt(1, dataset_digest="e" * 64, first=50)).attempt == 2
    assert stands(attempt(1, dataset_digest="e" * 64, first=51)).attempt == 1


def test_another_feature_is_another_count() -> None:
    assert stands(attempt(1, feature="other")).attempt == 1


def test_changed_rules_are_a_new_attempt() -> None:
    assert stands(attempt(0, policy_digest="e" * 64)).attempt == 2


def judged_after(*earlier: Attempt, looks: Looks = 1, tier: Tier = 1, n: int = 100) -> Report:
    asked = plan(EXACT, cases=cases(n), tier=tier)
    demands = rules(EXACT, tier=tier, looks=looks)
    told = [replace(each, policy_digest=demands.digest) for each in earlier]
    return judge(asked, results(asked, [1.0] * n, [1.0] * n), demands, told)


def test_tier_3_spends_its_level_and_the_others_have_a_ceiling() -> None:
    others = [attempt(number) for number in range(1, 3)]
    assert judged_after(*others).alpha == 0.05
    assert judged_after(*others, tier=3).alpha == pytest.approx(0.05 * 6 / (9.8696044 * 9))
    found = judged_after(*(attempt(number) for number in range(1, 11)))
    assert (found.verdict, codes(found)) == ("inconclusive", ["attempts_used_up"])
    assert judged_after(*(attempt(number) for number in range(1, 10))).verdict == "pass"


def test_answers_asked_again_before_any_gate_were_looks_all_the_same() -> None:
    asked = plan(EXACT, cases=cases(100))
    assert standing((), asked, RULES, answers=3) == Standing(1, 3, looked_in_vain=True)
    told = [replace(each, attempt=7) for each in results(asked, [1.0] * 100, [1.0] * 100)]
    found = judge(asked, told, RULES, ())
    assert (found.verdict, codes(found)) == ("inconclusive", ["repeated_look"])


def test_a_round_of_answers_that_said_nothing_was_no_look() -> None:
    outage = attempt(0, void=True)
    assert standing([outage], plan(EXACT, cases=cases(100)), RULES, answers=2) == Standing(1, 1, looked_in_vain=False)


def test_a_second_look_that_nobody_declared_cannot_pass() -> None:
    smaller = attempt(0, of=60, dataset_digest="e" * 64)
    found = judged_after(smaller)
    assert (found.verdict, codes(found)) == ("inconclusive", ["repeated_look"])
    assert found.standing.look == 2


def test_the_same_look_again_is_no_second_one() -> None:
    assert judged_after(attempt(0)).verdict == "pass"
    assert judged_after(attempt(0, verdict="pass", dataset_digest="e" * 64)).verdict == "pass"


def test_a_look_that_could_say_nothing_is_none() -> None:
    assert judged_after(attempt(0, dataset_digest="e" * 64, void=True)).verdict == "pass"


def test_asking_the_candidate_afresh_is_another_look() -> None:
    asked = plan(EXACT, cases=cases(100))
    again = [replace(each, attempt=2) for each in results(asked, [1.0] * 100, [1.0] * 100)]
    assert codes(judge(asked, again, RULES, [attempt(0)])) == ["repeated_look"]


def test_more_answers_are_another_look() -> None:
    asked = plan(EXACT, cases=cases(100), repetitions=2)
    twice = results(asked, [[1.0] * 2] * 100, [[1.0] * 2] * 100)
    assert "repeated_look" in codes(judge(asked, twice, RULES, [attempt(0)]))


def test_declared_looks_share_the_level() -> None:
    before = attempt(0, of=60, dataset_digest="e" * 64)
    found = judged_after(before, looks=2)
    assert (found.verdict, found.alpha) == ("pass", 0.025)
    third = attempt(0, of=70, dataset_digest="f" * 64)
    assert codes(judged_after(before, third, looks=2)) == ["looks_used_up"]


def test_sequential_looks_pass_by_the_e_value() -> None:
    before: Sequence[Attempt] = [attempt(0, of=60, dataset_digest=f"{number:064x}") for number in range(5)]
    found = judged_after(*before, looks="sequential")
    compared = found.criteria[0].comparison
    assert found.verdict == "pass"
    assert compared is not None
    assert compared.log_e == pytest.approx(3.504044128)
    few = judged_after(looks="sequential", n=60)  # a fixed test would pass from 59
    assert few.verdict == "inconclusive"


def recorded(settings: Settings) -> list[Attempt]:
    with ledger(settings) as book:
        return book.attempts


def test_the_ledger_keeps_every_attempt_once(settings: Settings) -> None:
    for at in ("2030-03-01T12:00:00Z", "2030-03-02T12:00:00Z"):
        with ledger(settings) as book:
            book.record(attempt(1, at=at))
            book.record(attempt(2, at=at))
    assert [each.candidate_digest[-1] for each in recorded(settings)] == ["1", "2"]
    with ledger(settings) as book:
        book.record(attempt(1, verdict="pass"))
    assert len(recorded(settings)) == 3


def test_a_torn_last_line_is_an_attempt_that_was_never_finished(settings: Settings) -> None:
    with ledger(settings) as book:
        book.record(attempt(1))
    path = settings.ledger / FILE
    whole = path.read_bytes()
    for end in (1, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole + whole[:end])
        assert len(recorded(settings)) == 1
        with ledger(settings) as book:
            book.record(attempt(2))
        assert [each.candidate_digest[-1] for each in recorded(settings)] == ["1", "2"]


@pytest.mark.parametrize("line", [b"[]", b"{}", b"\xff", b"", b'{"feature": 1}'])
def test_a_damaged_line_is_told(settings: Settings, line: bytes) -> None:
    settings.ledger.mkdir(parents=True)
    (settings.ledger / FILE).write_bytes(line + b"\n")
    with pytest.raises(DamagedError, match="line 1"):
        recorded(settings)


WRITER = """
import os, signal, sys
from pathlib import Path
from beleg.core.settings import Settings
from beleg.evals.gate.attempts import ledger
from tests.evals.gate.test_attempts import attempt
home, first, die = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3] == "die"
for number in range(first, first + 20):
    with ledger(Settings(home, home / "spool")) as book:
        book.record(attempt(number, case_ids=(str(len(book.attempts)),)))
        if die and number == first + 10:
            os.kill(os.getpid(), signal.SIGKILL)
"""


def test_processes_at_once_number_their_attempts_one_after_the_other(settings: Settings) -> None:
    started = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(settings.home), str(first), how])
        for first, how in ((100, "live"), (200, "die"))
    ]
    assert sorted(each.wait(timeout=60) for each in started) == [-9, 0]
    found = recorded(settings)
    assert len(found) == 31
    assert [each.case_ids for each in found] == [(str(number),) for number in range(31)]


def test_a_line_is_json_that_names_what_was_tried(settings: Settings) -> None:
    with ledger(settings) as book:
        book.record(attempt(1))
    told = json.loads((settings.ledger / FILE).read_text())
    assert told["candidate_digest"] == f"{1:064x}"
    assert not any(Path(str(value)).is_absolute() for value in told.values())
