"""Rates carry intervals that are honest for few trials too."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beleg.ask.rates import Rate


@pytest.mark.parametrize(
    ("hits", "of", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_intervals_are_those_of_the_textbook(hits: int, of: int, low: float, high: float) -> None:
    """Newcombe, Statistics in Medicine 17 (1998), table I, method 3."""
    assert Rate(hits, of).interval == pytest.approx((low, high), abs=1e-4)


def test_without_trials_nothing_is_known() -> None:
    assert Rate(0, 0).record() == {"count": 0, "of": 0, "share": None, "low": None, "high": None}


@given(st.integers(1, 10**7).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_the_share_lies_in_an_interval_that_is_never_a_point(counts: tuple[int, int]) -> None:
    rate = Rate(*counts)
    low, high = rate.interval or (1.0, 0.0)
    assert 0 <= low <= (rate.share or 0) <= high <= 1
    assert low < high
