"""Pace and purse by themselves."""

import threading

from hypothesis import given
from hypothesis import strategies as st

from beleg.evals.scoring.pace import Pace
from beleg.evals.scoring.purse import Purse


class Time:
    """A clock that moves only by waiting."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def pace(self, per_minute: int | None) -> Pace:
        return Pace(per_minute, monotonic_s=lambda: self.now_s, sleep=self.wait)

    def wait(self, seconds: float) -> None:
        self.now_s += seconds


@given(st.integers(1, 600), st.lists(st.integers(0, 3), min_size=1, max_size=200))
def test_no_minute_holds_more_requests_than_allowed(per_minute: int, extra: list[int]) -> None:
    time = Time()
    pace = time.pace(per_minute)
    made: list[float] = []
    for more in extra:
        pace.wait()
        made.append(time.now_s)
        pace.owe(more)
    owed = [at for at, more in zip(made, extra, strict=True) for _ in range(1 + more)]
    for start in made:
        window = [at for at in made if start <= at < start + 60 - 1e-6]
        assert len(window) <= per_minute
    assert made[-1] >= (len(owed) - 1 - extra[-1]) * 60 / per_minute - 1e-6


def test_without_limit_nobody_waits() -> None:
    time = Time()
    pace = time.pace(None)
    for _ in range(1000):
        pace.wait()
        pace.owe(5)
    assert time.now_s == 0


@given(st.integers(0, 1000), st.lists(st.integers(0, 100), max_size=50))
def test_budget_is_never_passed_by_more_than_answers_dearer_than_all_before(limit: int, costs: list[int]) -> None:
    purse = Purse(limit)
    dearest = 0
    for cost in costs:
        if purse.begin() is not None:
            break
        purse.end(cost)
        assert purse.spent_pico_usd <= limit + max(cost - dearest, 0)
        dearest = max(dearest, cost)


def test_until_a_price_is_known_one_answer_is_begun_at_a_time() -> None:
    purse = Purse(100)
    assert purse.begin() is None
    second = threading.Thread(target=purse.begin)
    second.start()
    purse.end(40)
    second.join(30)
    assert not second.is_alive()
    assert purse.begin() == "budget"  # 40 spent, 40 under way, 40 more would be 120
    purse.end(40)
    assert purse.spent_pico_usd == 80


def test_cost_that_is_unknown_ends_a_budget_and_matters_to_nobody_without_one() -> None:
    bounded, free = Purse(100), Purse(None)
    for purse in (bounded, free):
        assert purse.begin() is None
        purse.end(None)
    assert bounded.begin() == "unpriced"
    assert free.begin() is None
