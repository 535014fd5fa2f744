"""The one thread of the client: it cannot die unseen, and nobody waits for it longer than stated."""

import os
import threading
from collections.abc import Callable

import pytest

from beleg.contract.client.errors import Unreachable
from beleg.contract.client.refresh import Refresher
from tests.contract.client.conftest import Hands


def refresher(fetch: Callable[[], int], hands: Hands, timeout_s: float = 5.0) -> Refresher[int]:
    return Refresher(
        fetch, ttl_s=60, max_age_s=600, timeout_s=timeout_s, retry_s=5, monotonic_s=hands.clock.monotonic_s
    )


def test_failures_are_counted_and_retried_after_a_pause(hands: Hands) -> None:
    outcomes: list[int | Exception] = [1, OSError("away"), OSError("away"), 2]

    def fetch() -> int:
        outcome = outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    made = refresher(fetch, hands)
    made.poll()
    assert (made.value, made.failures, made.due) == (1, 0, False)
    hands.on(seconds=60)
    made.poll()
    made.poll()
    assert (made.value, made.failures, str(made.error), made.age_s) == (1, 1, "away", 60)
    hands.on(seconds=5)
    made.poll()
    hands.on(seconds=5)
    made.poll()
    assert (made.value, made.failures, made.error, made.age_s) == (2, 2, None, 0)


@pytest.mark.parametrize("ending", [SystemExit(3), KeyboardInterrupt(), GeneratorExit()])
def test_fetch_that_ends_its_thread_is_a_counted_failure(hands: Hands, ending: BaseException) -> None:
    def fetch() -> int:
        raise ending

    made = refresher(fetch, hands)
    made.poll()
    assert (made.value, made.failures) == (None, 1)
    assert isinstance(made.error, Unreachable)


def test_fetch_that_hangs_is_given_up_and_the_next_one_succeeds(hands: Hands) -> None:
    gate = threading.Event()
    answers = [1, 2]

    def fetch() -> int:
        answer = answers.pop(0)
        if answer == 1:
            gate.wait(30)
        return answer

    made = refresher(fetch, hands, timeout_s=0.05)
    made.poll()
    assert (made.value, made.failures) == (None, 1)
    assert "no answer within 0.05 s" in str(made.error)
    hands.on(seconds=5)
    made = _again(made)
    assert (made.value, made.failures) == (2, 1)
    gate.set()
    for thread in threading.enumerate():
        if thread.name == "beleg-refresh":
            thread.join(5)
    assert made.value == 2, "what comes too late says nothing any more"


def _again(made: Refresher[int]) -> Refresher[int]:
    made._timeout_s = 5.0
    made.poll()
    return made


def test_late_answer_is_taken_while_nothing_newer_was_asked(hands: Hands) -> None:
    gate = threading.Event()
    made = refresher(lambda: (gate.wait(30), 1)[1], hands, timeout_s=0.05)
    made.poll()
    flight = made._flight
    assert flight is not None
    gate.set()
    assert flight.done.wait(5)
    assert (made.value, made.error) == (1, None)


def test_hanging_fetches_are_bounded(hands: Hands) -> None:
    gate = threading.Event()
    made = refresher(lambda: (gate.wait(30), 1)[1], hands, timeout_s=0.01)
    before = threading.active_count()
    for _ in range(10):
        made.poll()
        hands.on(seconds=5)
    assert threading.active_count() - before == 3
    assert made.failures == 10
    gate.set()


def test_forked_child_asks_for_itself(hands: Hands) -> None:
    made = refresher(lambda: 1, hands)
    made._lock.acquire()  # as a thread of the parent holds it at the very moment of the fork
    pid = os.fork()
    if pid == 0:
        made._fetch = lambda: 7
        made._timeout_s = 5.0
        made.poll()
        os._exit(made.value or 0)
    made._lock.release()
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7


def test_child_of_a_process_with_a_fetch_on_its_way_does_not_wait_for_it(hands: Hands) -> None:
    gate = threading.Event()
    made = refresher(lambda: (gate.wait(30), 1)[1], hands, timeout_s=0.05)
    made.poll()
    pid = os.fork()
    if pid == 0:
        hands.on(seconds=5)
        made._fetch = lambda: 7
        made._timeout_s = 5.0
        made.poll()
        os._exit(made.value or 0)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
    gate.set()


def test_process_that_can_start_no_thread_counts_a_failure(hands: Hands, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    made = refresher(lambda: 1, hands)
    monkeypatch.setattr(threading.Thread, "start", refuse)
    made.poll()
    assert (made.failures, str(made.error)) == (1, "no request can be started: can't start new thread")
